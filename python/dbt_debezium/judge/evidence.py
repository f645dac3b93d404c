"""What is known of a source as a whole, before its chain is judged."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeVar

from dbt_debezium.errors import DebeziumError
from dbt_debezium.judge.accounting import Log
from dbt_debezium.judge.decisions import Decisions, settles
from dbt_debezium.judge.markers import Markers
from dbt_debezium.judge.marks import (
    Decision,
    Fact,
    LogRange,
    MissingRow,
    Partition,
    Range,
    SnapshotPartition,
    SnapshotTable,
    Source,
    Unfinished,
    UnlandedTable,
    Unreadable,
    Window,
)
from dbt_debezium.judge.partitions import Partitions
from dbt_debezium.judge.places import NOWHERE
from dbt_debezium.judge.snapshot import SnapshotReads, Topics
from dbt_debezium.judge.traits import Traits, traits_of
from dbt_debezium.judge.unread import Unread
from dbt_debezium.judge.verdicts import ChainEnd
from dbt_debezium.reasons.hold_reason import HoldReason

AnyFact = TypeVar("AnyFact", bound=Fact)


class Evidence:
    """The facts of one source. They are as many as its partitions, gaps and snapshots."""

    def __init__(self, facts: Sequence[Fact], end: ChainEnd) -> None:
        """Sort the facts, and prove the snapshots that have landed.

        Raises:
            DebeziumError: the source has something that the judge cannot order yet.
        """
        source = _one_source(facts)
        partitions, ranges = _of_kind(facts, Partition), _of_kind(facts, Range)
        unreadable = _of_kind(facts, Unreadable)
        self.traits = None if source.connector is None else traits_of(source.connector)
        """None until a change shows whose the markers are (S0)."""
        self.source = source
        traits = self.traits or Traits("commit")
        self.partitions = Partitions(traits, partitions, reaches_the_end=source.reaches_the_end)
        self.unread = Unread(traits, unreadable, partitions)
        self.log = Log(_of_kind(facts, LogRange), has_others=source.has_several_logs)
        self.markers = Markers(
            ranges, unreadable, _of_kind(facts, Unfinished), source.marker_partition_count
        )
        self.windows = [one.previous_position for one in _of_kind(facts, Window)]
        """Commits behind which a window of an incremental snapshot is open."""
        self.decisions = Decisions(_of_kind(facts, Decision))
        self.missing_rows = {one.transaction_id for one in _of_kind(facts, MissingRow)}
        """Transactions that an earlier run has failed on."""
        topics = Topics(
            partitions,
            ranges,
            unreadable,
            _of_kind(facts, UnlandedTable),
            is_ordered_by_end=traits.is_ordered_by_end,
            reaches_the_end=source.reaches_the_end,
        )
        snapshots = _snapshots(facts, source, end)
        self._reasons = {one.position: one.hold_reason(topics) for one in snapshots}
        self._lacking_topics = {one.position: one.lacking_topics(topics) for one in snapshots}
        newest = end.position or end.snapshot_position or NOWHERE
        self._initial = [
            one.position for one in snapshots if not one.is_blocking and one.position >= newest
        ]
        """Those that are not late."""

    def snapshot_hold_reason(self, position: str) -> HoldReason | None:
        """Why the snapshot at a position waits; None where it is whole, or an operator says so."""
        is_settled = settles(self.decisions.on_snapshot(position))
        return None if is_settled else self._reasons[position]

    def lacking_topics(self, position: str) -> tuple[str, ...]:
        """Topics that may lack reads of the snapshot at a position."""
        return self._lacking_topics[position]

    def is_superseded(self, position: str) -> bool:
        """Whether a snapshot that is published stands at a position or behind it."""
        return any(at >= position for at in self._whole)

    def is_replaced(self, position: str) -> bool:
        """Whether a snapshot that is published stands behind a position."""
        return any(at > position for at in self._whole)

    @cached_property
    def _whole(self) -> list[str]:
        """Initial snapshots that are published."""
        return [
            at
            for at in self._initial
            if self.snapshot_hold_reason(at) is None and self.decisions.on_snapshot(at) != "discard"
        ]


def _one_source(facts: Iterable[Fact]) -> Source:
    sources = [one for one in facts if isinstance(one, Source)]
    if len(sources) != 1:
        raise DebeziumError(f"judge: {len(sources)} marks of kind 'source'; expected exactly one")
    return sources[0]


def _snapshots(facts: Iterable[Fact], source: Source, end: ChainEnd) -> list[SnapshotReads]:
    found: dict[str, SnapshotReads] = {}
    for fact in facts:
        if isinstance(fact, SnapshotTable | SnapshotPartition):
            position = fact.snapshot_position
            snapshot = found.setdefault(position, SnapshotReads(position, is_first=False))
            if isinstance(fact, SnapshotTable):
                snapshot.tables.append(fact)
            else:
                snapshot.partitions.append(fact)
    if found and end == ChainEnd():
        first = found[min(found)]
        first.is_first = source.first_position is None or source.first_position > first.position
    return [*found.values()]


def _of_kind(facts: Iterable[Fact], kind: type[AnyFact]) -> list[AnyFact]:
    return [fact for fact in facts if isinstance(fact, kind)]
