"""Rows without their envelope, as the transform ExtractNewRecordState leaves them.

Such a message does not say which transaction changed the row, or where it stands in the log.
"""

from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Raw

from dbt_debezium.errors import EnvelopeError
from dbt_debezium.json_text import key_fields, scalar_text
from dbt_debezium.messages.column_types import schema_name

DETAIL: Final = (
    "value: the row alone, as ExtractNewRecordState leaves it (after.state.only in Confluent "
    "Cloud); expected before, after, source and op"
)
METADATA: Final = frozenset(
    {
        *("op", "deleted", "table", "db", "schema", "name", "connector", "version", "snapshot"),
        *("ts_ms", "ts_us", "ts_ns", "sequence", "transaction_id", "total_order"),
        *("lsn", "txId", "commit_lsn", "change_lsn", "event_serial_no", "scn", "commit_scn"),
        *("gtid", "file", "pos", "row", "server_id", "id", "data_collection_order"),
    }
)
"""What its settings add to the row: `add.fields`, after `__` and perhaps the block's name."""
BLOCKS: Final = ("source_", "transaction_")
ROW_SCHEMA: Final = ".Value"
"""How Debezium's name for the schema of a row ends; that of a change ends in `.Envelope`."""


def is_flattened(key: str | None, value: str, fields: Mapping[str, Raw]) -> bool:
    """Whether a message is a row: by added metadata, by its schema, or by having its key's columns.

    >>> is_flattened(None, "", {"id": Raw(b"1"), "__deleted": Raw(b'"false"')})
    True
    >>> is_flattened('{"id":1}', "", {"id": Raw(b"1"), "v": Raw(b'"a"')})
    True
    >>> is_flattened('{"id":1}', "", {"id": Raw(b"2"), "v": Raw(b'"a"')})
    False
    """
    return (
        has_metadata(fields)
        or (schema_name(value) or "").endswith(ROW_SCHEMA)
        or _has_key(key, fields)
    )


def has_metadata(names: Collection[str]) -> bool:
    """Whether one of the names is that of added metadata.

    >>> has_metadata(["id", "__source_ts_ms"]), has_metadata(["id", "__typename"])
    (True, False)
    """
    for name in names:
        if name.startswith("__"):
            bare = name[2:]
            for block in BLOCKS:
                bare = bare.removeprefix(block)
            if bare in METADATA or name[2:] in METADATA:
                return True
    return False


def _has_key(key: str | None, fields: Mapping[str, Raw]) -> bool:
    try:
        columns = key_fields("key", key) if key else {}
    except EnvelopeError:
        return False
    return bool(columns) and all(
        name in fields and scalar_text(value) == scalar_text(fields[name])
        for name, value in columns.items()
    )
