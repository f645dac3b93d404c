"""Messages of Huawei CDL: rows of PostgreSQL without BEGIN, END, counts or tombstones (S22).

A change of key is one UPDATE, whose `before` holds the old one. Only inserts are documented in
full; updates and deletes are written after the description of the fields.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from histories.plan import Event, Transaction

ROWS: Final = "rows"
"""The topic of a source whose tables share one partition."""
OPERATIONS: Final = {"c": "INSERT", "u": "UPDATE", "d": "DELETE"}


def value_text(
    source: str, version: str, transaction: Transaction, event: Event, millis: int
) -> str:
    """One message.

    Args:
        source: its name, which 1.0 does not say.
        version: 1.0 or 2.0.
        transaction: that of the event.
        event: what happened.
        millis: when it was committed.
    """
    if version == "1.0":
        return _text(
            {
                "DATA_STORE": "POSTGRESQL",
                "SEG_OWNER": "public",
                "TABLE_NAME": event.table,
                "TIMESTAMP": millis,
                "OPERATION": OPERATIONS[event.operation],
                "transaction": {
                    "properties": [
                        {"name": "lsn", "value": event.lsn},
                        {"name": "txId", "value": transaction.id},
                    ]
                },
                "data": event.after,
                "HEARTBEAT_IDENTIFIER": "279fb050-0143-45c1-b184-50bc48c2461c",
            },
            version,
            event,
        )
    block = {
        "version": "1.4.0.Final",
        "connector": "postgresql",
        "name": source,
        "ts_ms": millis,
        "snapshot": "false",
        "db": "bank",
        "schema": "public",
        "table": event.table,
        "txId": transaction.id,
        "lsn": event.lsn,
    }
    fields = {"after": event.after, "source": block, "op": event.operation, "ts_ms": millis}
    return _text(fields, version, event)


def _text(fields: Mapping[str, object], version: str, event: Event) -> str:
    common = {
        "before": event.before,
        "LOB_COLUMNS": None,
        "unique": event.key,
        "message_version": version,
        "message_type": "0",
    }
    return msgspec.json.encode({**fields, **common}).decode()
