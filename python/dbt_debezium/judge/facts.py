"""Marks of a source as a whole, which are few: `marks` says what marks are."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Source:
    """One row: the source itself."""

    kind: ClassVar[str] = "source"
    connector: str | None
    """None until a change has landed, or a logical message inside a transaction: markers name
    neither connector nor source, so nothing shows yet whose they are."""
    first_position: str | None
    """The first commit that an END, or a change that names the commit before its own, shows. Where
    changes name none, the first place of a change too, empty for one without a place. Where END is
    the order, that alone, written as the place of a snapshot before any END."""
    reaches_the_end: bool = False
    """Whether all that the source has sent has landed, as the setting `landing_reaches_the_end` or
    `--complete` says."""
    sends_no_truncates: bool = False
    """Whether the setting `sources_without_truncate` lists it."""
    refused_proofs: tuple[str, ...] = ()
    """The setting of that name."""
    marker_partition_count: int = 1
    """Of the transaction topic, with partitions of which nothing has landed yet."""
    has_several_logs: bool = False
    """Whether several logs number transactions, such as tagged GTIDs. Then the numbers of one do
    not show that nothing of another is missing."""


@dataclass(frozen=True, slots=True)
class Partition:
    """One row per partition of a table's topic from which something has landed."""

    kind: ClassVar[str] = "partition"
    topic: str
    partition: int
    has_changes: bool
    """Whether a row's change or read has landed from it, so that it is not garbage alone."""
    reached_place: str | None
    """The highest place of a change in it; None without any. What a place is, `Traits` says."""
    has_window_reads: bool = False
    """Whether a read of an incremental snapshot has landed from it."""
    is_of_signals: bool = False
    """Whether its table is one of signals, which no snapshot reads."""
    is_silent: bool = False
    """Whether the cluster had nothing behind what has landed, long after the newest read of an
    incremental snapshot and the newest signal landed."""


@dataclass(frozen=True, slots=True)
class Range:
    """One row per run of offsets that have landed without a gap, of any topic of the source."""

    kind: ClassVar[str] = "range"
    topic: str
    partition: int
    first_offset: int
    last_offset: int
    """Inclusive."""
    is_of_markers: bool = False
    """Whether the topic is the transaction topic."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """One row per message that is quarantined: it may have been anything."""

    kind: ClassVar[str] = "unreadable"
    topic: str
    partition: int
    offset: int
    after_place: str | None
    """The highest place of a change before it in its partition; None where none has one."""
    before_place: str | None
    """The place of the next change behind it that is no copy of another."""
    is_of_markers: bool = False
    may_be_a_first_read: bool = False
    """Whether no change stands before it in its partition."""
    before_position: str | None = None
    """Where the next change behind it stands in the log itself."""
    known_place: str | None = None
    """How far the chain had come when the message landed: `ChainEnd.position` where a change names
    the commit before its own, else `ChainEnd.reached_place`."""


@dataclass(frozen=True, slots=True)
class Window:
    """One row per commit that reads of an incremental snapshot name as the one before them (S6).

    What follows that commit closes their window, whether a change of it has landed or not.
    """

    kind: ClassVar[str] = "window"
    previous_position: str | None
    """None in front of the first commit of a stream."""


@dataclass(frozen=True, slots=True)
class UnlandedTable:
    """One row per table of which ENDs count changes, while nothing of its topic has landed."""

    kind: ClassVar[str] = "unlanded_table"
    data_collection: str
    last_position: str
    """The newest transaction that counts changes of it."""


@dataclass(frozen=True, slots=True)
class SnapshotTable:
    """One row per initial or blocking snapshot and table that it read."""

    kind: ClassVar[str] = "snapshot_table"
    snapshot_position: str
    """Of an initial one its place in the chain, as in its `snapshot` mark; of a blocking one that
    of its reads, as in its `blocking_snapshot` mark."""
    data_collection: str
    read_count: int
    """Of rows, without copies."""
    read_markers: tuple[str, ...]
    """What `source.snapshot` says of them and of their copies, beside `true`: `first`, `last` and
    others, each once, in order (S4). A snapshot that began again on an idle server reads the same
    rows at the same place."""
    is_blocking: bool = False
    """Whether a signal inside the stream asked for the snapshot (S7)."""
    is_torn: bool = False
    """Whether messages of the source have lost a field: some reads tell a place and others none, or
    some messages of a table have a schema and others none. So reads may be of other snapshots."""


@dataclass(frozen=True, slots=True)
class SnapshotPartition:
    """One row per snapshot, as above, and partition of a table's topic. Offsets may be None."""

    kind: ClassVar[str] = "snapshot_partition"
    snapshot_position: str
    topic: str
    partition: int
    first_read_offset: int | None
    """Of the snapshot's reads in it; None without any."""
    last_read_offset: int | None
    older_offset: int | None
    """The last message in front of the reads that was sent before the snapshot. In a partition
    without its reads: the last one in front of `newer_offset`."""
    newer_offset: int | None
    """The first message of the stream behind the reads that is no tombstone. In a partition without
    its reads: the first that is newer than the snapshot."""
    first_offset: int | None
    """The first message that is no tombstone, whatever it is."""
    is_quiet: bool = False
    """Whether the cluster had nothing behind what has landed, long after the last read landed."""


@dataclass(frozen=True, slots=True)
class LogRange:
    """One row per run of numbers of a log that numbers its transactions, such as a server's GTIDs.

    A number is known when an END, a truncate or a statement of DDL with it has landed.
    """

    kind: ClassVar[str] = "log_range"
    log: str
    first_number: int
    last_number: int
    """Inclusive."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """One row per BEGIN without END of a connector whose stream can break off in a transaction."""

    kind: ClassVar[str] = "unfinished"
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Decision:
    """One row per transaction or snapshot on which operators decided: their latest decision (S16).

    Either its id or its position is None.
    """

    kind: ClassVar[str] = "decision"
    decision: Literal["release", "discard", "new_epoch"]
    transaction_id: str | None = None
    snapshot_position: str | None = None


@dataclass(frozen=True, slots=True)
class MissingRow:
    """One row per transaction that removes a row which its keyless table does not hold (S12).

    A run has found it out, and failed.
    """

    kind: ClassVar[str] = "missing_row"
    transaction_id: str


Fact: TypeAlias = (
    Source
    | Partition
    | Range
    | Unreadable
    | Window
    | UnlandedTable
    | SnapshotTable
    | SnapshotPartition
    | LogRange
    | Unfinished
    | Decision
    | MissingRow
)
