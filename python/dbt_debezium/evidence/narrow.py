"""The narrow rows of which evidence is made: one per delivery, without values of rows."""

from typing import Final

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types

from dbt_debezium.json_values import json_decoder
from dbt_debezium.messages.announced import emptied_tables, new_names
from dbt_debezium.messages.flat import Flat

COLUMNS: Final = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("partition", pa.int64(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("source", pa.string()),
        pa.field("connector", pa.string()),
        pa.field("database_name", pa.string()),
        pa.field("data_collection", pa.string()),
        pa.field("operation", pa.string()),
        pa.field("snapshot", pa.string()),
        pa.field("unit_kind", pa.string()),
        pa.field("unit_id", pa.string()),
        pa.field("transaction_id", pa.string()),
        pa.field("is_whole_transaction", pa.bool_()),
        pa.field("marker", pa.string()),
        pa.field("event_count", pa.int64()),
        pa.field("collection_counts", pa.map_(pa.string(), pa.int64())),
        pa.field("commit_position", pa.string()),
        pa.field("log_position", pa.string()),
        pa.field("previous_commit_position", pa.string()),
        pa.field("event_position", pa.string()),
        pa.field("total_order", pa.int64()),
        pa.field("data_collection_order", pa.int64()),
        pa.field("committed_at_micros", pa.int64()),
        pa.field("landed_at_micros", pa.int64()),
        pa.field("leaves_key", pa.bool_()),
        pa.field("enters_key", pa.bool_()),
        pa.field("signal_type", pa.string()),
        pa.field("asks_blocking", pa.bool_()),
        pa.field("emptied_tables", pa.list_(pa.string())),
        pa.field("new_names", pa.list_(pa.string())),
        pa.field("event_hash", pa.int64(), nullable=False),
        pa.field("content_hash", pa.int64(), nullable=False),
        pa.field("order_hash", pa.int64(), nullable=False),
    ]
)
"""Fields of `Flat` have their names and meaning, the others are these:

- `unit_kind` and `unit_id` are what `unit_of` says, the hashes what `hashes_of` says.
- `landed_at_micros`: of a read or a signal, when its landing had read the partition, in
  microseconds; None where it was no cluster that was read, and of other messages.
- `leaves_key`: whether `new_row_key` is there. `enters_key`: whether `old_row_key` is.
- `asks_blocking`: whether a signal asks for a blocking snapshot.
- `emptied_tables`: of a statement of DDL that says its place, the tables that it drops or renames.
- `new_names`: of such a one, the names that it gives tables. A table of that name is not empty.
"""


class _SignalData(msgspec.Struct):
    type: str | None = None


_signal_data = json_decoder(_SignalData)


def asks_blocking(flat: Flat) -> bool:
    """Whether a signal asks for a blocking snapshot (S7).

    >>> asks_blocking(Flat("change", signal_type="execute-snapshot",
    ...     signal_data='{"type": "BLOCKING"}'))
    True
    """
    if flat.signal_type != "execute-snapshot" or flat.snapshot is not None:
        return False
    try:
        data = _signal_data(flat.signal_data or "{}")
    except msgspec.DecodeError:
        return False
    return (data.type or "").lower() == "blocking"


def emptied_by(flat: Flat) -> list[str] | None:
    """The tables whose rows a statement of DDL ends, as a TRUNCATE does (S8).

    Only where it says its place in the stream: what a snapshot announces ends nothing.
    """
    if flat.kind != "schema_change" or flat.snapshot is not None or flat.table_changes is None:
        return None
    if flat.transaction_id is None or flat.event_position is None:
        return None
    return emptied_tables(flat.table_changes) or None


def named_by(flat: Flat) -> list[str] | None:
    """The names that a statement of DDL gives tables. To swap two tables, as tools that change a
    schema online do, takes one statement, of which each rename is a message of its own."""
    if flat.kind != "schema_change" or flat.table_changes is None:
        return None
    return new_names(flat.table_changes) or None
