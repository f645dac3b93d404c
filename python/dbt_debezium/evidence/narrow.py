"""The narrow rows of which evidence is made: one per delivery, without values of rows."""

from typing import Final

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types

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

- `unit_kind` and `unit_id` are what `unit_of` says, the hashes what `hashes_of` says; of a message
  without an event `event_hash` is that of its delivery.
- `landed_at_micros`: of a read or a signal, when its landing had read the partition, in
  microseconds; None where it was no cluster that was read, and of other messages.
- `leaves_key`: whether `new_row_key` is there. `enters_key`: whether `old_row_key` is.
- `asks_blocking`, `emptied_tables` and `new_names` are what `messages.effects` says.
"""
