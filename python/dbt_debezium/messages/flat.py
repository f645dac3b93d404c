"""One message as one flat row."""

from typing import Literal, NamedTuple

Kind = Literal[
    "change",
    "transaction_marker",
    "tombstone",
    "logical_message",
    "heartbeat",
    "internal",
    "schema_change",
    "signal",
    "notification",
    "quarantined",
]


class Flat(NamedTuple):
    """One message. A NamedTuple, since a frozen dataclass of so many fields takes 5 µs to make."""

    kind: Kind
    quarantine_reason: str | None = None
    quarantine_detail: str | None = None
    """A sentence that never holds a value of a row."""

    connector: str | None = None
    source: str | None = None
    """The connector's topic prefix, for SQL Server with the database: `prefix.database`. None in a
    tombstone: its topic tells. In a BEGIN the prefix alone."""
    database_name: str | None = None
    schema_name: str | None = None
    """For MySQL the database."""
    table_name: str | None = None
    data_collection: str | None = None
    """Of a change: the name by which END's counts have its table."""

    operation: str | None = None
    """Of a change: c, r, u, d, t."""
    snapshot: str | None = None
    """Of a change that was read, not streamed: which read of the snapshot."""

    transaction_id: str | None = None
    """None for a snapshot read, which belongs to no transaction."""
    is_whole_transaction: bool | None = None
    """Of a change: whether it is a transaction by itself, which has no BEGIN and no END."""
    marker: str | None = None
    """BEGIN or END."""
    event_count: int | None = None
    collection_counts: dict[str, int] | None = None
    """Of an END: changes of each table, by the connector's name for it."""

    commit_position: str | None = None
    """Of an END or a change, where it tells it. Positions of one source have one width, so they
    compare as text."""
    log_position: str | None = None
    """Of a transaction without commit position: `<log>#<number>`, its place in the log that numbers
    it. A source may have several logs, and only END's place in its topic orders them all."""
    previous_commit_position: str | None = None
    """Of a change: commit position of the transaction before its own."""
    event_position: str | None = None
    total_order: int | None = None
    """1-based place among all changes of the transaction, over all tables."""
    data_collection_order: int | None = None
    """1-based place among the transaction's changes of this table."""
    committed_at_micros: int | None = None
    """Microseconds since 1970-01-01 UTC, by the source's clock."""

    row_key: str | None = None
    """The message key as canonical JSON, numbers as texts: equal keys have equal text."""
    new_row_key: str | None = None
    """Of the delete in a key change: the key that the row has after it."""
    old_row_key: str | None = None
    """Of the create in a key change: the key that the row had before it."""
    before: str | None = None
    """JSON exactly as sent, like `after`."""
    after: str | None = None
    """With columns of the key before the others, where it was sent without them."""

    column_types: str | None = None
    """Of a change: the columns of its table with their types by the schema block, as a JSON
    object; without one those of `after`, with empty types."""
    table_changes: str | None = None
    """Of a schema change: the JSON list of its tables as they are after it."""
    signal_type: str | None = None
    """Of a signal, or of a change whose row is one: execute-snapshot, stop-snapshot and so on."""
    signal_data: str | None = None
    """Its argument as JSON text, which an operator wrote."""
    notification: str | None = None
    """Of a notification: the whole of it as JSON text."""
