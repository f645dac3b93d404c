"""Operators decide on what random sources hold: readers see what was decided, and nothing else.

Many decide before all of a transaction has landed: what lands later of it is left out. Sources of
PostgreSQL lose their slots, so that a new stream begins behind a transaction without END.

`make slow` has those of test_random_landings.py, on which nobody decides, in the same lake.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import pytest
from arrivals import Arrival, write_arrivals
from compare import check_all_counts
from figures import record
from lake import open_lake, tables_of
from operators import Operator, places_of
from oracle import Row
from random_streams import GARBAGE, KINDS, Source, State, advance, counted_messages, draw
from test_random_landings import SETTINGS, shown_states, some_sources
from test_random_landings import differences as undecided_differences

from dbt_debezium.scaffold.captured import Group

pytestmark = pytest.mark.slow

SEED = 1
PATIENCE = 0.5
"""How likely nothing is decided yet while more lands."""
Cuts = Mapping[str, Row]
Shown = Mapping[str, State]
NOTHING: Row = {"transaction_id": None, "commit_number": 0, "held": []}


def draw_operators(numbers: Iterable[int], part_count: int) -> list[Operator]:
    """Half of them of PostgreSQL, which alone loses slots."""
    every = set(numbers)
    operators = []
    for number in sorted(every | {number * len(KINDS) for number in every}):
        rng = Random(f"{SEED} decisions {number}")
        operators.append(Operator(draw(rng, number, part_count, is_decided=True), rng))
    return operators


def decide(operators: Sequence[Operator], cuts: Cuts, shown: Shown, patience: float) -> list[str]:
    """What operators decide after a run, as lines of the seed."""
    lines = []
    for operator in operators:
        name = operator.source.name
        if operator.rng.random() >= patience:
            decided = operator.decide(cuts.get(name, NOTHING), shown.get(name, {}))
            lines += [
                f"{name},{one},{what},Ann,2026-11-21,drawn\n" for one, what in decided.items()
            ]
    return lines


def differences(
    operators: Sequence[Operator], cuts: Cuts, shown: Shown, landed: int
) -> Iterator[str]:
    """What is wrong after a run.

    Args:
        operators: one for each source.
        cuts: of each source, as `status` shows them.
        shown: what readers see.
        landed: how many parts of each source.
    """
    for operator in operators:
        source, name = operator.source, operator.source.name
        operator.see(cuts.get(name, NOTHING))
        reached = {name: operator.reached}
        yield from advance(name, operator.states(), shown.get(name, {}), reached)
        operator.reached = reached[name]
        messages = [message for part in source.parts[:landed] for message in part]
        count = counted_messages(source.prefix, messages)
        yield from check_all_counts(cuts, source.prefix, count)


def unfinished(operators: Sequence[Operator], cuts: Cuts, shown: Shown) -> Iterator[str]:
    """Sources that do not come to their end although nobody has anything left to decide.

    On snapshots nobody decides: one of which a read is lost waits.
    """
    for operator in operators:
        source, name, states = operator.source, operator.source.name, operator.states()
        rows = shown.get(name, {})
        following = operator.following(cuts.get(name, NOTHING), rows)
        waits_for_snapshot = following and following[0].transaction_id is None
        if not waits_for_snapshot and rows not in states[len(states) - 1 - source.is_behind :]:
            yield f"{name} does not show its end: {source.quirks} {operator.decisions}"


def check_operators(
    folder: Path, operators: Sequence[Operator], run_count: int, others: Sequence[Source] = ()
) -> None:
    """That no promise is broken after any run; all sources land in lock-step, in a new lake.

    Args:
        folder: for the lake, its project and the landings.
        operators: one for each source.
        run_count: after how many runs to stop, if not before as nothing is left to decide.
        others: sources on which nobody decides.
    """
    decided = [operator.source for operator in operators]
    sources = [*decided, *others]
    messages = [message for one in sources for part in one.parts for message in part]
    readable = [message for message in messages if message["value"] != GARBAGE]
    tables = tables_of(readable, [Group("r*", "some")], SETTINGS)
    part_count = len(decided[0].parts)
    most_parts = max(len(one.parts) for one in sources)
    reached = dict.fromkeys((one.prefix for one in others), 0)
    wrong: list[str] = []
    landed = 0
    with open_lake(folder, tables, SETTINGS) as lake:
        for number in range(run_count):
            if landed < most_parts:
                arriving = [one for one in sources if landed < len(one.parts)]
                arrivals = [Arrival(one.prefix, one.parts[landed], []) for one in arriving]
                write_arrivals(folder / f"landing_{landed}", arrivals, combined="all")
                lake.land(folder / f"landing_{landed}")
                if landed < part_count:
                    for operator in operators:
                        operator.landed |= places_of(operator.source.parts[landed])
                landed += 1
            if not lake.build(command="build" if number + 1 == run_count else "run"):
                wrong += lake.lines
                # What is wrong with the rows is seen without the project's tests.
                assert lake.build(command="run"), lake.lines
            shown, cuts = shown_states(lake), lake.cuts()
            counted = sum(len(part) for one in sources for part in one.parts[:landed])
            assert lake.counted() == counted, f"landing {landed}"
            found = [*differences(operators, cuts, shown, min(landed, part_count))]
            for one in others:
                rows = shown.get(one.name, {})
                what = undecided_differences(one, landed - 1, reached, rows, cuts)
                found += [f"{one.prefix}: {line}" for line in what]
            wrong += [f"landing {landed}: {line}" for line in found]
            lines = decide(operators, cuts, shown, PATIENCE if landed < part_count else 0)
            with (lake.project / "seeds" / "operator_decision.csv").open("a") as file:
                file.writelines(lines)
            print(f"landing {landed}: {len(lines)} decisions, {len(wrong)} wrong")
            if lines:
                assert lake.build(command="seed"), lake.lines
            elif landed == most_parts:
                wrong += unfinished(operators, cuts, shown)
                break
    assert wrong == [], "\n".join(wrong)


def test_readers_see_only_states_that_were_and_what_operators_decided(tmp_path: Path) -> None:
    operators = draw_operators(range(1, 40), part_count=2)
    check_operators(tmp_path, operators, run_count=3, others=some_sources())


def test_a_begin_that_lands_alone_and_comes_again_is_counted_once(tmp_path: Path) -> None:
    """A run had found no source for it, so that it and its repetition seemed to be of two."""
    operators = [one for one in draw_operators([60], part_count=3) if "r0060" in one.source.name]
    check_operators(tmp_path, operators, run_count=20)


@pytest.mark.proof
def test_a_thousand_sources_on_which_operators_decide(tmp_path: Path) -> None:
    operators = draw_operators(range(1, 540), part_count=3)
    check_operators(tmp_path, operators, run_count=20)
    decision_count = sum(len(operator.decisions) for operator in operators)
    record(
        "Operators who release, discard and declare new epochs of random sources, half of them of "
        "PostgreSQL, see what they decided",
        f"{len(operators):,} sources in 3 landings, {decision_count:,} decisions: 0 wrong, 0 lost",
        seed=SEED,
    )
