"""Huawei MRS CDL: two formats of one service, told apart by `message_version` (S22).

1.0 is CDL's own format, 2.0 a Debezium envelope with CDL's fields. Neither has BEGIN, END, a
transaction block or an order inside a transaction: a row's place is its LSN, and its transaction
the `txId`. Only an INSERT of each version is documented in full; updates and deletes are read after
the description of the fields.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw, Struct, field

from dbt_debezium.connectors.base import (
    Natural,
    image,
    micros,
    snapshot_marker,
)
from dbt_debezium.connectors.lenient import time_or_none
from dbt_debezium.errors import EnvelopeError
from dbt_debezium.json_text import canonical_key
from dbt_debezium.json_values import json_decoder, json_members

CONNECTOR: Final = "cdl"
STORES: Final = ("postgresql", "opengauss")
"""Databases that have the 2.0 format."""
OPERATIONS: Final[Mapping[str, str]] = {"INSERT": "c", "UPDATE": "u", "DELETE": "d"}
POSITION_DIGITS: Final = 20
WORD: Final = re.compile(r"[^\s,;|\[\]\"'`]+")

_natural = json_decoder(Natural)
_any = json_decoder(object)


class CdlChange(NamedTuple):
    """One row change, as both versions have it."""

    source: str
    database: str | None
    schema: str
    table: str
    operation: str
    snapshot: str | None
    transaction_id: str | None
    position: str
    committed_at_micros: int | None
    row_key: str | None
    old_row_key: str | None
    before: str | None
    after: str | None


class _Property(Struct):
    name: str
    value: Raw = Raw()


class _Properties(Struct):
    properties: list[_Property] | None = None


class _Common(Struct):
    before: Raw = Raw()
    key: Raw = field(name="unique", default=Raw())
    message_type: str | None = None
    lob_columns: Raw = field(name="LOB_COLUMNS", default=Raw())


class _Version1(_Common):
    store: str | None = field(name="DATA_STORE", default=None)
    schema: str | None = field(name="SEG_OWNER", default=None)
    table: str | None = field(name="TABLE_NAME", default=None)
    timestamp: Raw = field(name="TIMESTAMP", default=Raw())
    operation: str | None = field(name="OPERATION", default=None)
    transaction: _Properties | None = None
    row: Raw = field(name="data", default=Raw())


class _Source(Struct):
    connector: str | None = None
    name: str | None = None
    db: str | None = None
    schema: str | None = None
    table: str | None = None
    snapshot: bool | str | None = None
    tx_id: Natural = field(name="txId", default=None)
    lsn: Natural = None
    ts_ms: Raw = Raw()


class _Version2(_Common):
    op: str | None = None
    source: _Source | None = None
    row: Raw = field(name="after", default=Raw())


_decode_version = json_decoder(str | None)
_decode_1 = json_decoder(_Version1)
_decode_2 = json_decoder(_Version2)


def read(payload: Raw, fields: Mapping[str, Raw], source: str) -> CdlChange:
    """Read one message.

    Args:
        payload: the message without Kafka Connect's schema wrapper.
        fields: its fields.
        source: that of 1.0, which names none.

    Raises:
        EnvelopeError: it is neither version, or no row change whose place is known.
        msgspec.ValidationError: a field is of the wrong type.
    """
    version = _decode_version(fields.get("message_version", Raw(b"null")))
    if version == "1.0":
        return _read_1(_decode_1(payload), source)
    if version == "2.0":
        return _read_2(_decode_2(payload))
    raise EnvelopeError("other_format", "message_version: expected '1.0' or '2.0'")


def _read_1(message: _Version1, source: str) -> CdlChange:
    _check_type(message.message_type)
    operation = OPERATIONS.get(message.operation or "")
    if operation is None:
        known = ", ".join(OPERATIONS)
        raise EnvelopeError("unknown_op", f"OPERATION: not known; known: {known}")
    if not (message.store and message.schema and message.table):
        raise EnvelopeError("no_source", "value: expected DATA_STORE, SEG_OWNER and TABLE_NAME")
    properties = message.transaction.properties if message.transaction else None
    return _change(
        message,
        (source, None, message.schema, message.table),
        operation,
        None,  # 1.0 has no mark for rows of a snapshot
        _property(properties, "txId"),
        _property(properties, "lsn"),
        message.timestamp,
        message.row,
    )


def _read_2(message: _Version2) -> CdlChange:
    _check_type(message.message_type)
    if message.op not in OPERATIONS.values():
        known = ", ".join(OPERATIONS.values())
        raise EnvelopeError("unknown_op", f"op: not known in CDL; known: {known}")
    source = message.source
    if source is None or not (source.name and source.schema and source.table):
        raise EnvelopeError("no_source", "source: expected an object with name, schema and table")
    if (source.connector or "").lower() not in STORES:
        raise EnvelopeError(
            "unknown_connector",
            f"source.connector: not known in CDL 2.0; known: {STORES[0]}, {STORES[1]}",
        )
    return _change(
        message,
        (source.name, source.db, source.schema, source.table),
        message.op or "",
        snapshot_marker(source.snapshot, message.op or ""),
        source.tx_id,
        source.lsn,
        source.ts_ms,
        message.row,
    )


def _change(
    message: _Common,
    place: tuple[str, str | None, str, str],
    operation: str,
    snapshot: str | None,
    transaction: int | str | None,
    lsn: int | str | None,
    ts_ms: Raw,
    row: Raw,
) -> CdlChange:
    source, database, schema, table = place
    if lsn is None:
        raise EnvelopeError("no_position", "lsn: expected once; no other position is known in CDL")
    before, after = image("before", message.before), image("data", row)
    row_key = _key(message.key)
    if after is None and operation != "d":
        raise EnvelopeError("no_after", "data: expected the row that INSERT and UPDATE leave")
    if operation == "d" and before is None and row_key is None:
        raise EnvelopeError("delete_without_identity", "before: expected the row, or unique")
    if after is not None:
        _check_lobs(message.lob_columns, after)
    position = str(int(lsn)).zfill(POSITION_DIGITS)
    return CdlChange(
        source=source,
        database=database,
        schema=schema,
        table=table,
        operation=operation,
        snapshot=snapshot,
        # Without transaction each row stands by itself (S22).
        transaction_id=None if snapshot else str(int(transaction or 0) or position),
        position=position,
        committed_at_micros=micros(None, time_or_none(ts_ms)),
        row_key=row_key,
        old_row_key=_old_key(row_key, before) if operation == "u" else None,
        before=before,
        after=after,
    )


def _check_type(message_type: str | None) -> None:
    if message_type != "0":
        raise EnvelopeError("other_format", "message_type: only '0', a row change, is known")


def _property(properties: list[_Property] | None, name: str) -> int | str | None:
    """The one property of this name; None when it is missing or stands there twice."""
    values = [one.value for one in properties or [] if one.name == name]
    return _natural(values[0]) if len(values) == 1 and values[0] else None


def _key(key: Raw) -> str | None:
    return canonical_key("unique", str(key, "utf-8")) if key else None


def _old_key(row_key: str | None, before: str | None) -> str | None:
    """The key that the row had before an update; None where that is not known, or the same."""
    if row_key is None or before is None:
        return None
    names, columns = json_members(row_key), json_members(before)
    if not names.keys() <= columns.keys():
        return None
    text = ",".join(
        f"{msgspec.json.encode(name).decode()}:{str(columns[name], 'utf-8')}" for name in names
    )
    old_key = canonical_key("before", f"{{{text}}}")
    return None if old_key == row_key else old_key


def _check_lobs(lob_columns: Raw, after: str) -> None:
    """Refuse a row that may lack large values: what CDL means by LOB_COLUMNS is not documented."""
    listed = _any(lob_columns) if lob_columns else None
    if listed is None:
        return
    text = listed if isinstance(listed, str) else str(lob_columns, "utf-8")
    columns = json_members(after)
    if any(bytes(columns.get(name, b"null")) == b"null" for name in WORD.findall(text)):
        raise EnvelopeError(
            "lob_not_sent", "LOB_COLUMNS: a column named there has no value, which may be unchanged"
        )
