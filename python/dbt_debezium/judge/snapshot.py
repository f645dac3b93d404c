"""Have all reads of an initial or a blocking snapshot landed? (S4, S5, S7)"""

from dataclasses import dataclass, field

from dbt_debezium.judge.marks import Facts, Range, SnapshotPartition, SnapshotTable
from dbt_debezium.judge.partitions import has_every_partition
from dbt_debezium.reasons.hold_reason import HoldReason


@dataclass(slots=True)
class SnapshotReads:
    """All that is known of one."""

    position: str
    is_first: bool
    """Whether nothing shows that the source sent anything before it."""
    tables: list[SnapshotTable] = field(default_factory=list)
    partitions: list[SnapshotPartition] = field(default_factory=list)

    @property
    def is_blocking(self) -> bool:
        return self.tables[0].is_blocking

    def hold_reason(self, topics: "Topics") -> HoldReason | None:
        """Why it may lack reads; None where it is whole."""
        if any(table.is_torn for table in self.tables) or not self._has_every_marker():
            return "snapshot_incomplete"
        read_topics = {one.topic for one in self.partitions if one.first_read_offset is not None}
        if self.is_blocking:
            # It is of some tables only. No other topic waits for the first one.
            if not topics.reach_the_end and not self._may_have_first():
                return "snapshot_incomplete"
            partitions = [one for one in self.partitions if one.topic in read_topics]
        else:
            if topics.unlanded_after(self.position):
                return "snapshot_incomplete"
            partitions = [one for one in self.partitions if topics.may_have_reads(one.topic)]
        if topics.reach_the_end:
            partitions = [one for one in partitions if one.first_read_offset is not None]
            is_whole = all(self._shows_every_read(one, topics) for one in partitions)
            return None if is_whole else "snapshot_incomplete"
        if not all(topics.have_every_partition(topic) for topic in read_topics):
            return "snapshot_incomplete"
        if not all(self._shows_every_read(one, topics) for one in partitions):
            return "snapshot_incomplete"
        if not all(self._has_moved_on(one) for one in partitions):
            return "snapshot_unconfirmed"
        return None

    def lacking_tables(self, topics: "Topics") -> tuple[str, ...]:
        """Tables of which nothing has landed."""
        return () if self.is_blocking else tuple(topics.unlanded_after(self.position))

    def lacking_topics(self, topics: "Topics") -> tuple[str, ...]:
        """Topics that may lack reads in the offsets that have landed."""
        lacking = {
            one.topic
            for one in self.partitions
            if not self._shows_every_read(one, topics)
            or not (topics.reach_the_end or topics.have_every_partition(one.topic))
        }
        return tuple(sorted(lacking))

    def _has_every_marker(self) -> bool:
        """Whether each table's last read has landed, and the snapshot's."""
        has_last = any("last" in table.read_markers for table in self.tables)
        return has_last and all(map(has_last_read, self.tables))

    def _may_have_first(self) -> bool:
        """Whether its first read can have landed: a table of one row may have the last marker."""
        return any("first" in one.read_markers or one.read_count == 1 for one in self.tables)

    def _has_moved_on(self, one: SnapshotPartition) -> bool:
        """Whether no more reads can come into a partition that has some."""
        return one.newer_offset is not None or one.first_read_offset is None or one.is_quiet

    def _shows_every_read(self, one: SnapshotPartition, topics: "Topics") -> bool:
        """Whether neither a gap nor a message that cannot be read may be a read.

        Before the first snapshot of a source nothing is in a partition, so one without reads may
        have had none. Those of a later one are to come as long as nothing newer shows, and the
        partition is not quiet.
        """
        older, newer = one.older_offset, one.newer_offset
        has_reads = one.first_read_offset is not None
        if not has_reads and self.is_first:
            older, newer = None, one.first_offset
        first = 0 if older is None else older + 1
        if newer is not None:
            last = newer
        elif one.last_read_offset is not None:
            last = one.last_read_offset
        elif one.is_quiet:
            last = first - 1
        elif self.is_first:
            last = first
        else:
            return False
        return topics.are_known(one.topic, one.partition, first, last, newer)


def has_last_read(table: SnapshotTable) -> bool:
    """Whether the last read of a table has landed. The first table marks its only row as `first`
    (Debezium 3.6.3)."""
    has_marker = "last" in table.read_markers or "last_in_data_collection" in table.read_markers
    return has_marker or (table.read_markers == ("first",) and table.read_count == 1)


class Topics:
    """What has landed of the topics of tables, by offset."""

    def __init__(self, facts: Facts, *, is_ordered_by_end: bool) -> None:
        """Take in what has landed.

        Args:
            facts: of the source.
            is_ordered_by_end: whether nothing tells where an END stands to a snapshot.
        """
        self.reach_the_end = facts.reaches_the_end
        self._facts = facts
        self._signal_topics = {one.topic for one in facts.partitions if one.is_of_signals}
        self._is_ordered_by_end = is_ordered_by_end

    def unlanded_after(self, position: str) -> list[str]:
        """Tables that have no topic yet, and of which an END after a snapshot counts changes."""
        if self.reach_the_end:
            return []
        return [
            name
            for name, last_position in self._facts.unlanded_tables.items()
            if self._is_ordered_by_end or last_position > position
        ]

    def have_every_partition(self, topic: str) -> bool:
        return has_every_partition(
            [one.partition for one in self._facts.partitions if one.topic == topic]
        )

    def may_have_reads(self, topic: str) -> bool:
        """Whether it is no topic of signals, which no snapshot reads."""
        return topic not in self._signal_topics

    def are_known(
        self, topic: str, partition: int, first: int, last: int, before: int | None
    ) -> bool:
        """Whether each message between two offsets has landed and can be read.

        Args:
            topic: its name.
            partition: its number.
            first: inclusive.
            last: inclusive; of no message the offset before `first`.
            before: up to where all must be readable; None for all that have landed.
        """
        place = (topic, partition)
        lost = (one.offset for one in self._facts.unreadable if (one.topic, one.partition) == place)
        if any(first <= at and (before is None or at <= before) for at in lost):
            return False
        runs = [one for one in self._facts.ranges if (one.topic, one.partition) == place]
        nothing = Range(topic, partition, 0, -1)
        return any(one.first <= first and last <= one.last for one in runs or [nothing])
