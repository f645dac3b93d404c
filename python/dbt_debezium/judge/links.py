"""Marks of the links of a chain, which come in its order: `marks` says what marks are."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from dbt_debezium.reasons.hold_reason import HoldReason


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
    """Whether one of its changes ends the window of an incremental snapshot (S6). What names the
    commit before its window is a `window` mark."""
    first_place: str | None = None
    """Of its changes; None where none tells a place."""
    last_place: str | None = None
    log: str | None = None
    """That numbers the transaction, as its changes say, and its number there."""
    log_number: int | None = None
    has_one_order: bool = True
    """Whether each change of the whole transaction has a `total_order` of its own."""
    is_unanswered: bool = False
    """Whether the transaction asks for a blocking snapshot of which no read has landed (S7)."""
    committed_at: int | None = None
    """In microseconds, by the source's clock."""
    lacks_window_place: bool = False
    """Whether the transaction closes a window, and the reads that wait name a place in the log that
    it does not tell."""
    is_counted_apart: bool = False
    """Whether one END of the transaction counts the table, and another does not, but counts tables
    that the first does not."""


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
    committed_at: int | None = None
    is_leading: bool = True
    """Whether its topic is the one whose offsets link transactions. Those of a copy of it, as
    MirrorMaker makes, compare with none."""


@dataclass(frozen=True, slots=True)
class Truncate:
    """One row per TRUNCATE that is a transaction by itself, without END.

    Its position is behind that of the last END before it in its log, or behind its BEGIN where it
    has one. A BEGIN that stays alone has a row, too: it may be that of a TRUNCATE that has not
    landed, and in MariaDB each statement of DDL has one.
    """

    kind: ClassVar[str] = "truncate"
    position: str
    transaction_id: str
    place: str | None
    """Of a BEGIN alone, that of the next transaction with changes."""
    log: str | None
    log_number: int | None
    following_end_offset: int | None
    """Of the next END behind its position."""
    has_landed: bool = True
    """Whether it has, and is not a BEGIN alone."""
    has_next_marker: bool = False
    """Whether the marker behind its BEGIN has landed, which is not its END."""


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
    """Whether it ended at its position. Else it has none, or stands there only to hold what a new
    stream has sent behind it, because the one that it was sent in broke off."""
    lacks_window_place: bool = False
    last_change: str | None = None
    """The highest place in the log of its changes that have landed, where `last_place` is another
    one."""


@dataclass(frozen=True, slots=True)
class Unplaced:
    """One row per transaction whose place is not known although it has landed.

    `position` is where it holds what follows it.
    """

    kind: ClassVar[str] = "unplaced"
    position: str | None
    transaction_id: str
    reason: HoldReason
    proof: Literal["counted", "watermark", "none"] = "counted"
    """Of one that an operator releases (S16)."""


@dataclass(frozen=True, slots=True)
class Message:
    """One row per logical message outside of transactions, which PostgreSQL counts as a commit."""

    kind: ClassVar[str] = "message"
    position: str
    previous_position: str | None
    """The commit before it. Some versions name the message itself."""
    committed_at: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One row per initial snapshot: its place in the chain."""

    kind: ClassVar[str] = "snapshot"
    position: str
    place: str | None = None
    """Of its reads in the log."""


@dataclass(frozen=True, slots=True)
class BlockingSnapshot:
    """One row per blocking snapshot, behind the transaction that was open as it was signalled."""

    kind: ClassVar[str] = "blocking_snapshot"
    position: str
    """Of that transaction; of the reads, where nothing shows it."""
    snapshot_position: str
    """Of the reads."""
    committed_at: int | None
    """Of the last read."""
    has_signal: bool = True
    """Whether something shows which transaction that is."""


TransactionMark: TypeAlias = Begin | End | Table | Event | Unplaced
Link: TypeAlias = TransactionMark | Truncate | Uncounted | Message | Snapshot | BlockingSnapshot
