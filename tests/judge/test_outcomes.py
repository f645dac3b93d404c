"""Each message of a run has one outcome, and what is held comes to the next run again. No Spark."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa  # type: ignore[import-untyped] # it has none
import pytest
from histories.history import make_history
from histories.knobs import PROFILES
from landed import Delivery
from narrow import table_of
from replay import landings, runs_of
from runs import Runs
from scenario import play, played, read_scenario

from dbt_debezium.evidence import UnitVerdict, judge_source
from dbt_debezium.evidence.groups import FOREIGN
from dbt_debezium.evidence.narrow import COLUMNS
from dbt_debezium.messages.units import unit_of

SEED = 7
SCENARIOS = sorted((Path(__file__).parent / "scenarios").glob("S*.md"))
Outcomes: TypeAlias = Counter[tuple[str, int, str]]


def counted(found: pa.Table) -> Outcomes:
    """The counts that a run returns."""
    return Counter(
        {
            (one["topic"], one["partition"], one["outcome"]): one["message_count"]
            for one in found.to_pylist()
        }
    )


def told(runs: Runs) -> Outcomes:
    assert runs.judged is not None
    return counted(runs.judged.outcomes)


def expected(runs: Runs) -> Outcomes:
    """What became of each message of the latest run, message by message."""
    assert runs.judged is not None
    waiting = {(one.kind, one.id) for one in runs.judged.state.open}
    units: dict[tuple[str, str], UnitVerdict] = {}
    for unit in runs.units:
        units.setdefault((unit.unit_kind, unit.unit_id), unit)
    found: dict[Delivery, str] = {}
    seen = set()
    for row in runs.rows:
        at: Delivery = row[:3]  # type: ignore[assignment] # as COLUMNS has it
        if row[COLUMNS.names.index("unit_kind")] == FOREIGN:
            continue
        flat = runs.flat(at)
        belongs = unit_of(flat)
        verdict = units.get(belongs) if belongs else None
        identity = (belongs, flat.event_position, row[COLUMNS.names.index("event_hash")])
        is_copy = flat.kind == "change" and identity in seen
        seen.add(identity)
        if flat.kind in ("quarantined", "tombstone"):
            found[at] = flat.kind
        elif belongs in waiting or (flat.kind == "change" and belongs is None):
            found[at] = "held"
        elif flat.kind != "change":
            found[at] = "control"
        elif is_copy or (verdict and verdict.verdict == "late"):
            found[at] = "duplicate"
        elif verdict and verdict.verdict == "discarded":
            found[at] = "quarantined"
        elif verdict is None or verdict.verdict != "commit":
            found[at] = "superseded"
        else:
            found[at] = "applied"
    return Counter((*at[:2], outcome) for at, outcome in found.items())


def histories(profile: str, count: int) -> Iterator[Iterator[Runs]]:
    """Runs of histories, each as it has just ended."""

    def run(number: int) -> Iterator[Runs]:
        case = make_history(SEED, number, PROFILES[profile])
        runs = runs_of(case.plan)
        for landed in landings(case):
            runs.run(landed)
            yield runs

    return (run(number) for number in range(count))


@pytest.mark.parametrize("profile", PROFILES)
def test_each_message_has_the_outcome_that_it_has_alone(profile: str) -> None:
    for some in histories(profile, 8):
        for runs in some:
            assert told(runs) == expected(runs)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_each_message_of_a_scenario_has_the_outcome_that_it_has_alone(path: Path) -> None:
    for runs, got, _ in play(read_scenario(path)):
        assert got[0].startswith("refused") or told(runs) == expected(runs)


@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_held_is_given_to_the_next_run_and_nothing_else(profile: str) -> None:
    for some in histories(profile, 8):
        held = 0
        for runs in some:
            assert runs.reread == held
            held = sum(many for (*_, outcome), many in told(runs).items() if outcome == "held")


def test_a_delivery_that_came_again_is_a_duplicate_and_one_that_can_be_read_now_is_none() -> None:
    runs = played(
        """
        transaction 0  BEGIN 701
        orders 0       create 1, in 701, at 110, numbers 1 1, follows nothing
        transaction 0  END 701, at 140, counts orders 1
        """
    )
    kind = COLUMNS.names.index("kind")
    change, begin, end = sorted(runs.rows, key=lambda row: row[kind] != "change")
    lost = (*change[:kind], "quarantined", *[None] * (len(COLUMNS.names) - kind - 4), 1, 0, 0)
    rows = table_of([lost, lost, change, begin, end, change])
    assert counted(judge_source(rows, runs.before, runs.known).outcomes) == {
        ("shop.public.orders", 0, "quarantined"): 1,
        ("shop.public.orders", 0, "applied"): 1,
        ("shop.public.orders", 0, "duplicate"): 2,
        ("shop.transaction", 0, "control"): 2,
    }
