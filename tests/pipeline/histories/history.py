"""A history from its seed."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from random import Random

from histories.connector import Connector
from histories.kafka import land
from histories.knobs import Knobs, Profile
from histories.law import Cut, ExpectedCut, TracelessError, expected_cuts
from histories.messages import json_text
from histories.plan import LANDED_TABLES, TABLES, Plan
from histories.replay import commits
from histories.source import Source, commit_all, draw_segments


@dataclass(frozen=True)
class Case:
    """One source, and what may be shown of it after each landing."""

    plan: Plan
    cuts: list[ExpectedCut | None]


@dataclass(frozen=True)
class History(Case):
    """A case with what the database did, and why."""

    source: Source
    knobs: Knobs


def judged(plan: Plan) -> Case:
    """A case of a plan, however it came about.

    Raises:
        UnsoundError: nothing tells what is missing.
        ContradictionError: the events cannot have happened.
    """
    cuts = expected_cuts(plan)
    for _ in commits(plan):
        pass
    return Case(plan, cuts)


def make_history(seed: int, number: int, profile: Profile) -> History:
    """The history of a seed and a number: always the same."""
    rng, knobs, source, plan = _drawn(seed, number, profile)
    return History(plan, _landed(rng, knobs, plan), source, knobs)


def make_streams(seed: int, number: int, profile: Profile) -> History:
    """The same without a judgement: nothing here knows what can be proven of it.

    A stream that begins anew is known as such from the start (docs/limits.md): it begins with a
    change; and one of the streams before it has landed, of the transaction that broke off where it
    names the last commit.
    """
    rng, knobs, source, plan = _drawn(seed, number, profile)
    land(rng, knobs, plan.entries, shows_every_partition=True)
    for at, epoch in enumerate(plan.epochs):
        if at == 0 or epoch.snapshot_lsn is not None:
            continue
        traces = [
            entry.landing
            for entry in plan.entries
            if entry.kind == "event"
            and entry.topic in LANDED_TABLES
            and entry.epoch < at
            and (epoch.predecessor is None or entry.transaction == plan.epochs[at - 1].torn)
        ]
        if not traces or not _begins_with_change(plan, at):
            return make_streams(seed, number + 1_000_000, profile)
        first = min((landing for landing in traces if landing is not None), default=None)
        for entry in plan.entries:
            if entry.epoch >= at:
                entry.landing = _later(entry.landing, first)
                entry.again = _later(entry.again, first)
    return History(plan, [], source, knobs)


def _begins_with_change(plan: Plan, epoch: int) -> bool:
    """Whether its first transaction shows that it names none, or BEGIN of another that it broke."""
    first = plan.transactions[plan.epochs[epoch].chain[0]]
    is_broken = plan.has_metadata and plan.epochs[epoch - 1].torn is not None
    return is_broken or any(event.table in LANDED_TABLES for event in first.events)


def _later(landing: int | None, first: int | None) -> int | None:
    return None if landing is None or first is None else max(landing, first)


def _drawn(seed: int, number: int, profile: Profile) -> tuple[Random, Knobs, Source, Plan]:
    rng = Random(f"{seed}:{number}")
    knobs = profile.draw(rng)
    segments = draw_segments(rng, knobs)
    source = commit_all(rng, knobs, [task for segment in segments for task in segment.tasks])
    connector = Connector(rng, knobs, source)
    connector.run(segments)
    is_ordered = connector.has_one_partition
    plan = Plan(
        # Settings know watermark sources by the end of their names.
        f"h{number:05d}{'w' if is_ordered else ''}",
        source.transactions,
        connector.epochs,
        connector.entries,
        knobs.landing_count,
        profile.second_begin,
        knobs.connector,
        knobs.connector == "sqlserver" or (knobs.connector == "db2" and rng.random() < 0.5),
        messages_name_themselves=knobs.connector == "postgresql" and number % 2 == 0,
        has_metadata=connector.has_metadata,
    )
    if knobs.connector == "cdl":
        plan.versions = _versions(rng, knobs)
        plan.proof = "watermark" if is_ordered else "none"
    return rng, knobs, source, plan


def _versions(rng: Random, knobs: Knobs) -> tuple[str, ...]:
    """Of CDL; with both, they take turns."""
    if rng.random() >= knobs.first_version:
        return ("2.0",)
    return ("1.0", "2.0") if rng.random() < knobs.second_version else ("1.0",)


def _landed(rng: Random, knobs: Knobs, plan: Plan) -> list[ExpectedCut | None]:
    """Draw landings in which nothing is missing without a trace: there, no rule helps."""
    for shows_every_partition in (rng.random() < 0.6, True):
        land(rng, knobs, plan.entries, shows_every_partition=shows_every_partition)
        with suppress(TracelessError):
            return expected_cuts(plan)
    # Garbage is all that has landed of some partition yet.
    for entry in plan.entries:
        entry.landing, entry.again = 0, None
    return expected_cuts(plan)


def make_histories(seed: int, numbers: Iterable[int], profile: Profile) -> Iterator[History]:
    return (make_history(seed, number, profile) for number in numbers)


def permuted(history: History, number: int) -> Case:
    """The same history in other partitions, landed in other parts and with other copies."""
    rng = Random(f"{history.plan.name}:{number}")
    plan = deepcopy(history.plan)
    plan.name = f"{plan.name}p{number}"
    partition_count = rng.randint(1, 3)
    for entry in plan.entries:
        entry.partition %= partition_count
    return Case(plan, _landed(rng, history.knobs, plan))


TextRows = list[tuple[str, str, int]]
"""Table, row as JSON text with its columns in order, and how often it is there."""


def expected_rows(plan: Plan, cuts: Iterable[Cut]) -> dict[Cut, TextRows]:
    """What the tables hold at each of these cuts."""
    wanted = set(cuts)
    rows: dict[Cut, TextRows] = {}
    for commit in commits(plan):
        cut = Cut(commit.epoch, commit.count)
        if cut in wanted:
            rows[cut] = [
                (table, row_text(table, row), count)
                for table, some in commit.state.rows().items()
                for row, count in some
            ]
    return rows


def row_text(table: str, row: dict[str, int | str | None]) -> str:
    return json_text({name: row[name] for name in TABLES[table].columns})
