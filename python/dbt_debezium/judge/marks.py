"""Marks: what has landed of one source, as far as the judge must know it. No rows, no messages.

A mark is one row of a narrow table, with `kind` and the columns that its class below lists. A
column that two kinds share means the same in both. Marks come in this order:

1. facts of the whole source: `source`, `partition`, `range`, `unreadable`, `unlanded_table`,
   `snapshot_table`, `snapshot_partition`, `log_range`, `unfinished`, `decision`, `missing_row`, in
   any order;
2. links of the chain, by `place_of`: those without a position come last.

Positions of one source have one width, so they compare as text. The position of a transaction is
where the source committed it (S2). Marks are given again in each run until their transaction is
published. Of the newest published transaction the `end` marks are still given, because a connector
that restarts may send its END again.
"""

from dataclasses import dataclass, fields
from types import UnionType
from typing import ClassVar, Final, Literal, TypeAlias, get_args, get_type_hints


@dataclass(frozen=True, slots=True)
class Source:
    """One row: the source itself."""

    kind: ClassVar[str] = "source"
    connector: str | None
    """None until a change has landed, or a logical message inside a transaction: markers name
    neither connector nor source, so nothing shows yet whose they are."""
    first_position: str | None
    """The first commit that an END, or a change that names the commit before its own, shows. Where
    END is the order, the first place of a change, written as that of a snapshot before any END."""
    asks_for_blocking_snapshot: bool = False
    reaches_the_end: bool = False
    """Whether all that the source has sent has landed, as the setting `landing_reaches_the_end` or
    `--complete` says."""
    sends_no_truncates: bool = False
    """Whether the setting `sources_without_truncate` lists it."""
    refused_proofs: tuple[str, ...] = ()
    """The setting of that name."""


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
class UnlandedTable:
    """One row per table of which ENDs count changes, while nothing of its topic has landed."""

    kind: ClassVar[str] = "unlanded_table"
    data_collection: str
    last_position: str
    """The newest transaction that counts changes of it."""


@dataclass(frozen=True, slots=True)
class SnapshotTable:
    """One row per initial snapshot and table that it read."""

    kind: ClassVar[str] = "snapshot_table"
    snapshot_position: str
    """Its place in the chain, as in its `snapshot` mark."""
    data_collection: str
    read_count: int
    """Of rows, without copies."""
    read_markers: tuple[str, ...]
    """What `source.snapshot` says of them, beside `true`: `first`, `last` and so on (S4)."""


@dataclass(frozen=True, slots=True)
class SnapshotPartition:
    """One row per initial snapshot and partition of a table's topic. Offsets may be None."""

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


@dataclass(frozen=True, slots=True)
class Table:
    """One row per transaction and table: what END counts of it, and what has landed."""

    kind: ClassVar[str] = "table"
    position: str | None
    transaction_id: str
    data_collection: str
    expected_count: int
    """By the END that counts most. A connector that counts from 1 again sends several (S13)."""
    least_expected_count: int
    received_count: int
    """Distinct changes (S1)."""
    has_every_number: bool
    """Whether `data_collection_order` is exactly 1 to `received_count`."""
    copies_agree: bool
    """Whether copies of one change have the same content and the same numbers."""
    previous_position: str | None = None
    """The commit before its own, where a change names it."""
    key_leave_count: int = 0
    """Deletes that say which key their row has now (S9)."""
    key_enter_count: int = 0
    closes_window: bool = False
    """Whether one of its changes ends the window of an incremental snapshot (S6)."""
    first_place: str | None = None
    """Of its changes, where `Traits.change_place` is their own."""
    last_place: str | None = None
    log: str | None = None
    """That numbers the transaction, as its changes say, and its number there."""
    log_number: int | None = None
    has_one_order: bool = True
    """Whether each change of the whole transaction has a `total_order` of its own."""


@dataclass(frozen=True, slots=True)
class Begin:
    """One row per BEGIN and partition offset."""

    kind: ClassVar[str] = "begin"
    position: str | None
    transaction_id: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class End:
    """One row per END and partition offset."""

    kind: ClassVar[str] = "end"
    position: str | None
    transaction_id: str
    partition: int
    offset: int
    event_count: int
    """Of changes and logical messages, of tables that do not land too."""
    has_true_sum: bool = True
    """Whether the counts of its tables add up to it."""
    log: str | None = None
    """That numbers the transaction, and its number there."""
    log_number: int | None = None
    surrounding_partitions: tuple[int, ...] = ()
    """Partitions of the transaction topic in which no END can be missing around this position: of
    two markers without a gap between them, the transaction of the first ended before it, and that
    of the second did not. The beginning of a partition counts as a first marker."""
    following_place: str | None = None
    """The place of the first change of the next transaction behind this END that has changes."""


@dataclass(frozen=True, slots=True)
class Truncate:
    """One row per TRUNCATE that is a transaction by itself, without BEGIN and END.

    Its position is behind that of the last END before it in its log.
    """

    kind: ClassVar[str] = "truncate"
    position: str
    transaction_id: str
    place: str
    log: str | None
    log_number: int | None
    following_end_offset: int | None
    """Of the next END behind its position."""


@dataclass(frozen=True, slots=True)
class Event:
    """One row per change of a transaction whose counts do not fit, in the order of the log (S3)."""

    kind: ClassVar[str] = "event"
    position: str | None
    transaction_id: str
    data_collection: str
    total_orders: tuple[int, ...]
    """That its copies carry."""
    table_orders: tuple[int, ...]
    """`data_collection_order`, likewise."""
    has_one_content: bool
    """Whether its copies say the same of its row."""
    has_place: bool
    """Whether it has a place in the log; without one, nothing shows which of two came first."""


@dataclass(frozen=True, slots=True)
class Uncounted:
    """One row per transaction whose changes nothing counts (S15)."""

    kind: ClassVar[str] = "uncounted"
    position: str | None
    """None until something shows its place: in PostgreSQL the next transaction names its end."""
    transaction_id: str
    last_place: str
    """Of its changes that have landed; empty where they name no commit before their own."""
    proof: Literal["watermark", "none"]
    """`watermark`: places are in the order of commits. `none`: nothing shows that."""
    previous_position: str | None = None
    """The commit before its own, where a change names it."""
    older_position: str | None = None
    """The highest place of a change of what comes before it and is not published."""
    is_group: bool = False
    """Whether it is all that lies between two places where a transaction is known to end."""
    boundary_place: str | None = None
    """Of a group, what shows its end; None before that has landed."""
    has_torn_key: bool = False
    """Whether a row leaves its key and arrives under no other one, or the reverse (S9)."""
    closes_window: bool = False
    has_known_end: bool = True
    """Whether it ended at its position. Else it stands there only to hold what a new stream has
    sent behind it, because the one that it was sent in broke off."""


@dataclass(frozen=True, slots=True)
class Unplaced:
    """One row per transaction whose place is not known although its END has landed, or never comes.

    `position` is where it holds what follows it.
    """

    kind: ClassVar[str] = "unplaced"
    position: str | None
    transaction_id: str
    reason: Literal[
        "end_not_sent",
        "no_commit_position",
        "several_partitions",
        "topic_made_again",
        "unordered_partitions",
        "unplaced_truncate",
    ]


@dataclass(frozen=True, slots=True)
class Message:
    """One row per logical message outside of transactions, which PostgreSQL counts as a commit."""

    kind: ClassVar[str] = "message"
    position: str
    previous_position: str | None
    """The commit before it. Some versions name the message itself."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One row per initial snapshot: its place in the chain."""

    kind: ClassVar[str] = "snapshot"
    position: str
    place: str | None = None
    """In the log, where `Traits.change_place` is that of a change."""


Fact: TypeAlias = (
    Source
    | Partition
    | Range
    | Unreadable
    | UnlandedTable
    | SnapshotTable
    | SnapshotPartition
    | LogRange
    | Unfinished
    | Decision
    | MissingRow
)
TransactionMark: TypeAlias = Begin | End | Table | Event | Unplaced
Link: TypeAlias = TransactionMark | Truncate | Uncounted | Message | Snapshot
Mark: TypeAlias = Fact | Link

KINDS: Final = {one.kind: one for one in get_args(Mark)}
LINK_KINDS: Final = (
    "begin",
    "end",
    "table",
    "event",
    "truncate",
    "uncounted",
    "unplaced",
    "message",
    "snapshot",
)


def place_of(link: Link) -> tuple[bool, str, int, str]:
    """Where a link stands in the order of marks.

    Where a commit ends the next record can begin: at one position come a transaction, a message
    behind it, a snapshot, and a message that names no commit, since it is the first of a stream.

    >>> place_of(Snapshot("0042")) < place_of(Message("0042", None))
    True
    """
    match link:
        case Message():
            order, transaction_id = 1 if link.previous_position is not None else 3, ""
        case Snapshot():
            order, transaction_id = 2, ""
        case _:
            order, transaction_id = 0, link.transaction_id
    return link.position is None, link.position or "", order, transaction_id


def columns() -> dict[str, UnionType | type]:
    """The columns of the narrow table with their types, beside `kind`.

    >>> columns()["previous_position"]
    str | None
    """
    found: dict[str, UnionType | type] = {}
    for one in KINDS.values():
        hints = get_type_hints(one)
        found |= {field.name: hints[field.name] for field in fields(one)}
    return found
