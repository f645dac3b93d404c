"""Marks: what has landed of one source, as far as the judge must know it. No rows, no messages.

`Facts` are those of the source as a whole, which are few, in any order. Links of its chain come in
the order of `place_of`: those without a position come last. A field that two classes share means
the same in both.

Positions of one source have one width, so they compare as text. The position of a transaction is
where the source committed it (S2). Marks are given again in each run until their transaction or
snapshot is published, or a later snapshot.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from dbt_debezium.judge.places import PAST_ALL
from dbt_debezium.judge.traits import Traits
from dbt_debezium.judge.verdicts import Proof
from dbt_debezium.reasons.hold_reason import HoldReason

LogNumber: TypeAlias = tuple[str, int]
"""A log that numbers transactions, and a number in it."""

# --- facts


@dataclass(frozen=True, slots=True)
class TablePartition:
    """One row per partition of a table's topic from which something has landed."""

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
    """Whether the cluster had nothing after what has landed, long after the newest read of an
    incremental snapshot and the newest signal landed."""


@dataclass(frozen=True, slots=True)
class Range:
    """One row per run of offsets that have landed without a gap."""

    topic: str
    partition: int
    first: int
    last: int
    """Inclusive."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """One row per message that is quarantined, but for those in the transaction topic: it may have
    been anything."""

    topic: str
    partition: int
    offset: int
    after_place: str
    """The highest place of a change before it in its partition; NOWHERE where none has one."""
    before_place: str
    """The place of the next change after it that is no copy of another; else EVERYWHERE."""
    before_position: str
    """Likewise where that change stands in the log itself."""
    known_place: str
    """What was published when the message landed: `ChainEnd.position` if a change names the commit
    before its own, else `ChainEnd.reached_place`; NOWHERE before the first commit."""
    may_be_a_first_read: bool
    """Whether no change stands before it in its partition."""


@dataclass(frozen=True, slots=True)
class SnapshotTable:
    """One row per initial or blocking snapshot and table that it read."""

    snapshot_position: str
    """Of an initial one its place in the chain, as in `Snapshot`; of a blocking one that of its
    reads, as in `BlockingSnapshot`."""
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

    snapshot_position: str
    topic: str
    partition: int
    first_read_offset: int | None
    """Of the snapshot's reads in it; None without any."""
    last_read_offset: int | None
    older_offset: int | None
    """The last message before the reads that was sent before the snapshot. In a partition
    without its reads: the last one before `newer_offset`."""
    newer_offset: int | None
    """The first message after the reads that is no read and no tombstone. Without its reads there:
    the first that is newer than the snapshot."""
    first_offset: int | None
    """The first message that is no tombstone, whatever it is."""
    is_quiet: bool = False
    """Whether the cluster had nothing after what has landed, long after the last read landed."""


@dataclass(frozen=True, slots=True)
class LogNumbers:
    """A run of numbers of a log that numbers its transactions, such as a server's GTIDs.

    A number is known when an END, a truncate or a statement of DDL with it has landed.
    """

    log: str
    first: int
    last: int
    """Inclusive."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One row per transaction or snapshot on which operators decided: their latest decision (S16).

    Either its id or its position is None.
    """

    decision: Literal["release", "discard", "new_epoch"]
    transaction_id: str | None = None
    snapshot_position: str | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts of one source."""

    traits: Traits | None
    """None until a change has landed, or a logical message inside a transaction: markers name
    neither connector nor source, so nothing shows yet whose they are (S0)."""
    first_position: str | None
    """The earliest position that anything of the stream shows; a snapshot before it is the first.
    PostgreSQL: the lowest position of a transaction, or of a commit that a change names as the one
    before. SQL Server, Db2, CDL: also the lowest place of a change, empty for one without a place.
    If END is the order: the lowest place of a change, written as that of a snapshot before any END.
    """
    reaches_the_end: bool = False
    """Whether all that the source has sent has landed, as the setting `landing_reaches_the_end` or
    `--complete` says."""
    sends_no_truncates: bool = False
    """Whether the setting `sources_without_truncate` lists it."""
    refused_proofs: tuple[str, ...] = ()
    """The setting of that name."""
    partitions: tuple[TablePartition, ...] = ()
    ranges: tuple[Range, ...] = ()
    """Of topics of tables and others, but not of the transaction topic."""
    unreadable: tuple[Unreadable, ...] = ()
    marker_partition_count: int = 1
    """Of the transaction topic, with partitions of which nothing has landed yet."""
    marker_ranges: tuple[Range, ...] = ()
    """Of the transaction topic."""
    unreadable_markers: tuple[int, ...] = ()
    """Offsets of messages in the transaction topic that cannot be read."""
    unfinished: tuple[int, ...] = ()
    """Offsets of BEGINs without END (PostgreSQL): after one another stream may have begun."""
    log_numbers: tuple[LogNumbers, ...] = ()
    unlanded_tables: Mapping[str, str] = field(default_factory=dict)
    """Tables of which ENDs count changes, while nothing of their topics has landed. To each the
    position of the newest transaction that counts some."""
    windows: tuple[str | None, ...] = ()
    """Commits that reads of an incremental snapshot name as the one before them (S6); None before
    the first commit of a stream. What follows such a commit closes their window, whether a
    change of it has landed or not."""
    snapshot_tables: tuple[SnapshotTable, ...] = ()
    snapshot_partitions: tuple[SnapshotPartition, ...] = ()
    decisions: tuple[Decision, ...] = ()
    failed: Mapping[str, HoldReason] = field(default_factory=dict)
    """Transactions with a change that its table cannot take (S12), and why. A run has found it out,
    and failed."""
    failed_snapshots: Mapping[str, HoldReason] = field(default_factory=dict)
    """Likewise positions of snapshots, also of those that nothing orders (S22)."""


# --- links


@dataclass(frozen=True, slots=True)
class Table:
    """What END counts of a table in a transaction, and what has landed."""

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
    key_leave_count: int = 0
    """Deletes that say which key their row has now (S9)."""
    key_enter_count: int = 0
    is_counted_apart: bool = False
    """Whether one END of the transaction counts the table, and another does not, but counts tables
    that the first does not."""


@dataclass(frozen=True, slots=True)
class Event:
    """A change of a transaction whose counts do not fit."""

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
class Counted:
    """A transaction that END counts, also before its END has landed; and any with a
    `misplacement`, whatever counts it."""

    position: str | None
    transaction_id: str
    tables: tuple[Table, ...] = ()
    events: tuple[Event, ...] = ()
    """In the order of the log (S3)."""
    has_end: bool = False
    event_count: int = 0
    """Of changes and logical messages, of tables that do not land too, by the END that counts
    least."""
    has_true_sum: bool = True
    """Whether what an END counts of tables adds up to that, of each END."""
    end_offsets: tuple[int, ...] = ()
    """Of its ENDs, in order, in the topic whose offsets link transactions. Those of a copy of it,
    as MirrorMaker makes, compare with none."""
    begins_again: bool = False
    """Whether a BEGIN follows another without an END between them: a restart inside it."""
    surrounding_partitions: tuple[int, ...] = ()
    """Partitions of the transaction topic in which no END can be missing around this position: of
    two markers without a gap between them, the transaction of the first ended before it, and that
    of the second did not. The beginning of a partition counts as a first marker."""
    following_place: str = PAST_ALL
    """The place of the first change of the next transaction after its END that has changes."""
    previous_position: str | None = None
    """The commit before its own, where a change names it."""
    first_change: str | None = None
    """The lowest and the highest place of a change; None where none tells one. Such a transaction
    names no commit either."""
    last_place: str | None = None
    log_number: LogNumber | None = None
    """The log that numbers it, and its number there."""
    has_one_order: bool = True
    """Whether each change has a `total_order` of its own."""
    closes_window: bool = False
    """Whether one of its changes ends the window of an incremental snapshot (S6). What names the
    commit before its window is in `Facts.windows`."""
    lacks_window_place: bool = False
    """Whether it closes a window, and the reads that wait name a place in the log that it does not
    tell."""
    is_unanswered: bool = False
    """Whether it asks for a blocking snapshot of which no read has landed (S7)."""
    committed_at: int | None = None
    """In microseconds, by the source's clock: by its first END, else by its changes."""
    misplacement: HoldReason | None = None
    """Why it waits whatever has landed of it. `position` is where it holds what follows it."""
    proof: Proof = "counted"
    """Of one that an operator releases (S16)."""


@dataclass(frozen=True, slots=True)
class Truncate:
    """A TRUNCATE that is a transaction by itself, without END.

    Its position is after that of the last END before it in its log, or after its BEGIN where it
    has one. A BEGIN that stays alone is one, too: it may be that of a TRUNCATE that has not
    landed, and in MariaDB each statement of DDL has one.
    """

    position: str
    transaction_id: str
    first_place: str
    """Of a BEGIN alone, that of the next transaction with changes."""
    last_place: str | None
    """None of a BEGIN alone."""
    log_number: LogNumber | None
    following_end_offset: int | None
    """Of the next END after its position."""
    has_landed: bool = True
    """Whether it has, and is not a BEGIN alone."""
    has_next_marker: bool = False
    """Whether the marker after its BEGIN has landed, which is not its END."""
    proof: ClassVar[Literal["counted"]] = "counted"
    committed_at: ClassVar[None] = None


@dataclass(frozen=True, slots=True)
class Uncounted:
    """A transaction whose changes nothing counts (S15)."""

    position: str | None
    """None until something shows its place: in PostgreSQL the next transaction names its end."""
    transaction_id: str
    compared_place: str
    """What partitions must have left, a place as `Traits.change_place` has it: in PostgreSQL the
    least commit that its changes name, empty for none; else the place of its last change."""
    proof: Literal["watermark", "none"]
    """`watermark`: places are in the order of commits. `none`: nothing shows that."""
    previous_position: str | None = None
    """The commit before its own, where a change names it."""
    older_position: str | None = None
    """The highest place of a change of what comes before it and is not published."""
    has_torn_key: bool = False
    """Whether a row leaves its key and arrives under no other one, or the reverse (S9)."""
    closes_window: bool = False
    is_unanswered: bool = False
    committed_at: int | None = None
    is_group: bool = False
    """Whether it is all that lies between two places where a transaction is known to end."""
    boundary_place: str | None = None
    """Of a group, what shows its end; None before that has landed."""
    has_known_end: bool = True
    """False if it has no position, or a placeholder: its stream broke off inside the transaction,
    and the placeholder makes everything that the new stream sent wait."""
    lacks_window_place: bool = False
    last_change: str | None = None
    """The highest place in the log of its changes that have landed, where `compared_place` is
    another one."""


@dataclass(frozen=True, slots=True)
class Message:
    """A logical message outside of transactions, which PostgreSQL counts as a commit."""

    position: str
    previous_position: str | None
    """The commit before it. Some versions name the message itself."""
    committed_at: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An initial snapshot: its place in the chain."""

    position: str
    place: str | None = None
    """Of its reads in the log."""


@dataclass(frozen=True, slots=True)
class BlockingSnapshot:
    """A blocking snapshot, right after the transaction that the connector had streamed when it
    began to read: the one that asked for the snapshot, or a later one."""

    position: str
    """Of that transaction; of the reads, where nothing shows it."""
    snapshot_position: str
    """Of the reads."""
    committed_at: int | None
    """Of the last read."""
    has_signal: bool = True
    """Whether something shows which transaction that is."""


AnyTransaction: TypeAlias = Counted | Uncounted | Truncate
Link: TypeAlias = AnyTransaction | Message | Snapshot | BlockingSnapshot


def place_of(link: Link) -> tuple[bool, str, int, str]:
    """Where a link stands in the order of marks.

    The next record can begin where a commit ends. So at one position come a transaction, a message
    after it, an initial snapshot, a blocking one, and a message that names no commit, since it is
    the first of a stream.

    >>> place_of(Snapshot("0042")) < place_of(Message("0042", None))
    True
    """
    match link:
        case Message():
            order, transaction_id = 1 if link.previous_position is not None else 4, ""
        case Snapshot():
            order, transaction_id = 2, ""
        case BlockingSnapshot():
            order, transaction_id = 3, link.snapshot_position
        case _:
            order, transaction_id = 0, link.transaction_id
    return link.position is None, link.position or "", order, transaction_id
