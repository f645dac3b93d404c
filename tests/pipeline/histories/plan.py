"""One history as a structure: everything that messages, states and cuts are made from.

A part can be taken out, and what is rendered from the rest is a lawful history again.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Value: TypeAlias = int | str | None
Row: TypeAlias = dict[str, Value]
Operation = Literal["c", "u", "d", "t", "m"]
Kind = Literal[
    "begin",
    "event",
    "end",
    "tombstone",
    "read",
    "window_read",
    "message",
    "ddl",
    "heartbeat",
    "garbage",
    "other_begin",
    "other_end",
]
"""The last two are of another database of the connector, whose log has equal LSNs."""

ConnectorName = Literal["postgresql", "sqlserver", "db2", "mysql", "cdl"]

SecondBegin = Literal["harmless", "evidence"]
"""What a transaction needs beside exact counts of which a BEGIN follows another without an END
between them (S13): nothing; or that every partition is past it, and nothing there that cannot be
read may be of it."""

PLACEHOLDER: Final = "__debezium_unavailable_value"
AUDIT: Final = "audit"
SIGNAL: Final = "debezium_signal"
MESSAGE: Final = ""
"""The table of a logical message."""


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    """Without a key a table is a bag, with REPLICA IDENTITY FULL."""
    filler: Row
    """What `before` of a delete says of the columns that are not in the key."""

    def key_of(self, row: Row) -> Row | None:
        return {name: row[name] for name in self.key} if self.key else None


TABLES: Final = {
    table.name: table
    for table in (
        Table(
            "account",
            ("id", "owner", "balance", "note"),
            ("id",),
            {"owner": None, "balance": 0, "note": None},
        ),
        Table(
            "transfer", ("id", "src", "dst", "amount"), ("id",), {"src": 0, "dst": 0, "amount": 0}
        ),
        Table("tally", ("kind", "n"), (), {}),
        Table("pair", ("a", "b", "v"), ("a", "b"), {"v": None}),
    )
}
LANDED_TABLES: Final = frozenset({*TABLES, SIGNAL})
"""Tables whose changes land."""


@dataclass(slots=True)
class Event:
    """One row-level event, or one logical message."""

    table: str
    operation: Operation
    key: Row | None = None
    before: Row | None = None
    after: Row | None = None
    new_key: Row | None = None
    old_key: Row | None = None
    lsn: int = 0
    row: int = 0
    """Of MySQL, where several rows share a place in the log."""


@dataclass(slots=True)
class Transaction:
    """A commit of the source; without an id a logical message outside of one, or MySQL's DDL."""

    id: int | None
    events: list[Event]
    begin_lsn: int = 0
    end_lsn: int = 0
    """End of the commit record; LSN of the message."""
    number: int | None = None
    """Of its GTID, where it has one."""


@dataclass(slots=True)
class Epoch:
    """One start of the connector without offsets."""

    snapshot_lsn: int | None
    """None: it streams from the beginning of the database."""
    is_interrupted: bool = False
    """Its snapshot was given up before the end, so that nothing was streamed."""
    chain: list[int] = field(default_factory=list)
    """The transactions it streams, in commit order, with messages between them."""
    predecessor: int | None = None
    """What its first transaction names as the end of the one before it."""
    torn: int | None = None
    """The transaction in which its stream ended."""


@dataclass(slots=True)
class Entry:
    """One message as it was sent."""

    kind: Kind
    epoch: int
    topic: str
    """Without the prefix: a table, `transaction`, `message`, `ddl`, `heartbeat`."""
    transaction: int | None = None
    event: int | None = None
    counted_from: int = 0
    """The event at which the counters began, after a restart that reset them."""
    row: Row | None = None
    """What a read says."""
    marker: str | None = None
    text: str | None = None
    """Of garbage."""
    partition: int = 0
    landing: int | None = None
    """The landing that brings it, from 0; None when it never arrives."""
    again: int | None = None
    """A later landing that brings the same delivery again."""
    predecessor: int | None = None
    """What it names in place of the end of the transaction before its own."""


@dataclass(slots=True)
class Plan:
    name: str
    """The source's name, which is the topic prefix."""
    transactions: list[Transaction]
    epochs: list[Epoch]
    entries: list[Entry]
    """In the order of sending."""
    landing_count: int
    second_begin: SecondBegin
    connector: ConnectorName = "postgresql"
    names_database: bool = False
    """Whether END has the database before schema and table."""
    versions: tuple[str, ...] = ()
    """Of CDL's messages."""
    proof: Literal["counted", "watermark", "none"] = "counted"
    messages_name_themselves: bool = False
    """Whether messages of PostgreSQL outside of transactions name their own LSN."""
    has_metadata: bool = True
    """Whether there are transaction blocks, BEGIN and END."""

    def offsets(self) -> list[int]:
        """Each entry's offset in its partition."""
        following: dict[tuple[str, int], int] = {}
        offsets = []
        for entry in self.entries:
            place = (entry.topic, entry.partition)
            offsets.append(following.get(place, 0))
            following[place] = offsets[-1] + 1
        return offsets

    def previous_lsns(self) -> dict[int, int | None]:
        """For each streamed transaction the commit before, which events of PostgreSQL name."""
        return {number: lsn for (_, number), lsn in self.named_lsns().items()}

    def named_lsns(self) -> dict[tuple[int, int], int | None]:
        """The same for each epoch and transaction, as two epochs may send one."""
        named: dict[tuple[int, int], int | None] = {}
        for at, epoch in enumerate(self.epochs):
            before = epoch.predecessor
            for number in epoch.chain:
                named[at, number] = before
                before = self.transactions[number].end_lsn
        return named


def counters(transaction: Transaction, counted_from: int = 0) -> list[tuple[int, int]]:
    """`total_order` and `data_collection_order` of each event that is counted."""
    of_table: Counter[str] = Counter()
    counted = []
    for total_order, event in enumerate(transaction.events[counted_from:], start=1):
        of_table[event.table] += 1
        counted.append((total_order, of_table[event.table]))
    return counted
