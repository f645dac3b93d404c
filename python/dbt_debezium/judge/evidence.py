"""What is known of a source as a whole, before its chain is judged."""

from functools import cached_property

from dbt_debezium.judge.accounting import Log
from dbt_debezium.judge.decisions import Decisions, settles
from dbt_debezium.judge.markers import Markers
from dbt_debezium.judge.marks import Facts
from dbt_debezium.judge.partitions import Partitions
from dbt_debezium.judge.places import NOWHERE
from dbt_debezium.judge.snapshot import SnapshotReads, Topics
from dbt_debezium.judge.traits import Traits
from dbt_debezium.judge.unread import UnreadMessages
from dbt_debezium.judge.verdicts import ChainEnd
from dbt_debezium.reasons.hold_reason import HoldReason


class Evidence:
    """The facts of one source. They are as many as its partitions, gaps and snapshots."""

    def __init__(self, facts: Facts, end: ChainEnd) -> None:
        self.facts = facts
        traits = facts.traits or Traits("commit")
        self.partitions = Partitions(traits, facts)
        self.unread = UnreadMessages(traits, facts)
        self.log = Log(facts.log_numbers)
        self.markers = Markers(facts)
        self.decisions = Decisions(facts.decisions)
        self._topics = Topics(facts, is_ordered_by_end=traits.is_ordered_by_end)
        self._snapshots = _snapshots(facts, end)
        newest = end.newest_position or NOWHERE
        self._initial = [
            at for at, one in self._snapshots.items() if not one.is_blocking and at >= newest
        ]
        """Those that are not late."""

    def snapshot_hold_reason(self, position: str) -> HoldReason | None:
        """Why the snapshot at a position waits; None where it is whole, and its tables can take
        it, or an operator says so."""
        if settles(self.decisions.on_snapshot(position)):
            return None
        reason = self._snapshots[position].hold_reason(self._topics)
        return reason or self.facts.failed_snapshots.get(position)

    def lacking(self, position: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Topics that may lack reads of the snapshot at a position, and tables without a topic."""
        one = self._snapshots[position]
        return one.lacking_topics(self._topics), one.lacking_tables(self._topics)

    def is_superseded(self, position: str) -> bool:
        """Whether a snapshot that is published stands at a position or after it."""
        return any(at >= position for at in self._whole)

    def is_replaced(self, position: str) -> bool:
        """Whether a snapshot that is published stands after a position."""
        return any(at > position for at in self._whole)

    @cached_property
    def _whole(self) -> list[str]:
        """Initial snapshots that are published."""
        return [
            at
            for at in self._initial
            if self.snapshot_hold_reason(at) is None and self.decisions.on_snapshot(at) != "discard"
        ]


def _snapshots(facts: Facts, end: ChainEnd) -> dict[str, SnapshotReads]:
    """All snapshots of which reads have landed, by their positions."""
    found: dict[str, SnapshotReads] = {}

    def at(position: str) -> SnapshotReads:
        return found.setdefault(position, SnapshotReads(position, is_first=False))

    for table in facts.snapshot_tables:
        at(table.snapshot_position).tables.append(table)
    for partition in facts.snapshot_partitions:
        at(partition.snapshot_position).partitions.append(partition)
    if found and end == ChainEnd():
        first = found[min(found)]
        first.is_first = facts.first_position is None or facts.first_position > first.position
    return found
