"""One Kafka message in, one flat row out, whatever the message holds. No Spark in this module.

Messages are told apart by their shape, not by their topic: topics can be renamed and shared.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple, TypeAlias, Union

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, ValidationError

from dbt_debezium.connectors import SOURCES
from dbt_debezium.connectors.base import Integer, Mark, Natural, Source, Transaction, integer
from dbt_debezium.errors import EnvelopeError
from dbt_debezium.json_text import (
    STAND_IN,
    canonical_key,
    check_levels,
    check_size,
    said,
    shield,
    unshield,
    without_schema,
)

Kind = Literal[
    "change",
    "transaction_marker",
    "tombstone",
    "logical_message",
    "heartbeat",
    "schema_change",
    "notification",
    "quarantined",
]
Headers: TypeAlias = Sequence[tuple[str, str | None]]

REASONS: Final = frozenset(
    {
        "bad_json",
        "bad_type",
        "delete_without_identity",
        "internal_error",
        "no_after",
        "no_source",
        "not_envelope",
        "other_format",
        "too_deep",
        "too_large",
        "unknown_connector",
        "unknown_op",
    }
)
"""Why a message is quarantined."""

OPERATIONS: Final = ("c", "r", "u", "d", "t", "m")
SNAPSHOTS: Final[dict[bool | str | None, str | None]] = {
    None: None,
    False: None,
    "false": None,
    True: "true",
    "true": "true",
    "first": "first",
    "first_in_data_collection": "first_in_data_collection",
    "last_in_data_collection": "last_in_data_collection",
    "last": "last",
    "incremental": "incremental",
}
HEARTBEAT_TOPIC: Final = "__debezium-heartbeat"
NEW_KEY: Final = "__debezium.newkey"
OLD_KEY: Final = "__debezium.oldkey"
LONGEST_DETAIL: Final = 200


class Flat(NamedTuple):
    """One message. A NamedTuple, since a frozen dataclass of so many fields takes 5 µs to make."""

    kind: Kind
    quarantine_reason: str | None = None
    quarantine_detail: str | None = None
    """A sentence that never holds a value of a row."""

    connector: str | None = None
    source: str | None = None
    """The connector's topic prefix. None in a tombstone: its topic tells."""
    database_name: str | None = None
    schema_name: str | None = None
    table_name: str | None = None

    operation: str | None = None
    """Of a change: c, r, u, d, t."""
    snapshot: str | None = None
    """Of a change that was read, not streamed: which read of the snapshot."""

    transaction_id: str | None = None
    """None for a snapshot read, which belongs to no transaction."""
    marker: str | None = None
    """BEGIN or END."""
    event_count: int | None = None
    collection_counts: dict[str, int] | None = None
    """Of an END: changes of each table, by the connector's name for it."""

    commit_position: str | None = None
    """Of an END. Positions have one width, so they compare as text."""
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
    """The message key as canonical JSON: equal keys have equal text."""
    new_row_key: str | None = None
    """Of the delete in a key change: the key that the row has after it."""
    old_row_key: str | None = None
    """Of the create in a key change: the key that the row had before it."""
    before: str | None = None
    """JSON exactly as sent, like `after`."""
    after: str | None = None


class _Unnamed(Source, tag_field="connector", tag=""):
    """Never sent. With two members or more, msgspec insists that `connector` is there."""

    connector: ClassVar[str] = ""


if TYPE_CHECKING:
    AnySource: TypeAlias = Source
else:
    AnySource = Union[_Unnamed, *SOURCES.values()]


class _Envelope(Struct):
    op: str | UnsetType | None = UNSET
    source: AnySource | None = None
    transaction: Transaction | None = None
    before: Raw = Raw()
    after: Raw = Raw()
    message_version: Raw = Raw()


class _Value(_Envelope):
    payload: _Envelope | UnsetType | None = UNSET


class _CollectionCount(Struct):
    data_collection: str
    event_count: Natural


class _Marker(Struct):
    status: str
    id: str
    event_count: Natural = None
    data_collections: list[_CollectionCount] | None = None
    ts_ms: Integer = None


_VALUE = msgspec.json.Decoder(_Value)
_FIELDS = msgspec.json.Decoder(dict[str, Raw] | None)
_TEXT = msgspec.json.Decoder(str)
_MARKER = msgspec.json.Decoder(_Marker)


def flatten_message(topic: str, key: str | None, value: str | None, headers: Headers) -> Flat:
    """Read one message; what cannot be read becomes a quarantined row with its reason.

    Args:
        topic: the message's topic.
        key: the message's key as JSON text, with or without Kafka Connect's schema wrapper.
        value: the message's value, likewise.
        headers: name and JSON text of each header.

    >>> flatten_message("shop.public.orders", '{"id":1}', None, []).kind
    'tombstone'
    >>> flatten_message("shop.public.orders", '{"id":1}', '{"op":"x"}', []).quarantine_detail
    "op: 'x' is not an operation; known: c, r, u, d, t, m"
    """
    try:
        try:
            return _read(topic, key, value, headers)
        except EnvelopeError as error:
            patient = None
            if error.reason == "bad_json":
                patient = _read_patiently(topic, key, value, headers)
            return patient or _quarantined(topic, value, error)
    except Exception as error:  # one message must never stop the others
        return Flat("quarantined", "internal_error", type(error).__name__)


def _read(topic: str, key: str | None, value: str | None, headers: Headers) -> Flat:
    if value is None:
        return Flat("tombstone", row_key=_readable_key(key))
    check_size("value", value)
    value = without_schema(value)
    check_levels("value", value)
    mistyped = None
    try:
        wrapper = _VALUE.decode(value)
    except ValidationError as error:
        mistyped = error
    except (DecodeError, UnicodeEncodeError) as error:
        raise _unparsable(value, error) from None
    else:
        envelope = wrapper if wrapper.op is not UNSET else wrapper.payload
        if (
            isinstance(envelope, _Envelope)
            and envelope.op is not UNSET
            and not envelope.message_version
        ):
            return _change(envelope, envelope.op, key, headers)

    payload, fields = _payload(value)
    if fields is None:
        return Flat("tombstone", row_key=_readable_key(key))
    if "message_version" in fields or "DATA_STORE" in fields:
        raise EnvelopeError("other_format", "value: Huawei CDL is not read yet")
    if "op" in fields and mistyped is not None:
        raise _mistyped(fields, mistyped)
    return _control(topic, key, payload, fields)


def _change(envelope: _Envelope, operation: str | None, key: str | None, headers: Headers) -> Flat:
    source, transaction = envelope.source, envelope.transaction
    if operation is None or operation not in OPERATIONS:
        said_op = "null" if operation is None else repr(operation)[:20]
        known = ", ".join(OPERATIONS)
        raise EnvelopeError("unknown_op", f"op: {said_op} is not an operation; known: {known}")
    if source is None or not source.name or not source.connector:
        raise EnvelopeError("no_source", "source: expected an object with connector and name")
    is_message = operation == "m"
    if not is_message and not (source.table and (source.schema or not source.has_schemas)):
        raise EnvelopeError("no_source", "source: expected schema and table")

    snapshot = _snapshot(source.snapshot, operation)
    transaction_id, previous_commit_position, event_position = source.place(
        transaction, snapshot is not None
    )
    row_key = canonical_key("key", key)
    new_row_key = old_row_key = None
    for name, text in headers:
        if name == NEW_KEY:
            new_row_key = canonical_key(f"header {NEW_KEY}", text)
        elif name == OLD_KEY:
            old_row_key = canonical_key(f"header {OLD_KEY}", text)

    before = _row("before", envelope.before)
    after = _row("after", envelope.after)
    if after is None and operation in ("c", "r", "u"):
        raise EnvelopeError("no_after", f"after: expected the row that op {operation} leaves")
    if operation == "d" and before is None and row_key is None:
        raise EnvelopeError("delete_without_identity", "before: expected the row, or a message key")

    total_order = data_collection_order = None
    if transaction is not None:
        total_order = integer("total_order", transaction.total_order)
        data_collection_order = integer("data_collection_order", transaction.data_collection_order)
    # By place: by name it takes 1 µs more.
    return Flat(
        "logical_message" if is_message else "change",
        None,  # quarantine_reason
        None,  # quarantine_detail
        source.connector,
        source.name,
        source.db,
        source.schema or None,
        source.table or None,
        None if is_message else operation,
        snapshot,
        transaction_id,
        None,  # marker
        None,  # event_count
        None,  # collection_counts
        None,  # commit_position
        previous_commit_position,
        event_position,
        total_order,
        data_collection_order,
        _micros(source.ts_us, source.ts_ms),
        row_key,
        new_row_key,
        old_row_key,
        before,
        after,
    )


def _snapshot(marker: bool | str | None, operation: str) -> str | None:
    if marker not in SNAPSHOTS:
        known = ", ".join(text for text in SNAPSHOTS if isinstance(text, str))
        raise EnvelopeError("bad_type", f"source.snapshot: expected one of {known}")
    snapshot = SNAPSHOTS[marker]
    return "true" if snapshot is None and operation == "r" else snapshot


def _row(name: str, row: Raw) -> str | None:
    if not row:
        return None
    text = str(row, "utf-8")
    if text[0] == "{":
        return text
    if text == "null":
        return None
    raise EnvelopeError("bad_type", f"{name}: expected an object or null")


def _micros(ts_us: int | str | None, ts_ms: int | str | None) -> int | None:
    micros = integer("source.ts_us", ts_us)
    if micros is None:
        millis = integer("ts_ms", ts_ms)
        micros = None if millis is None else integer("ts_ms in microseconds", millis * 1000)
    return micros


def _payload(value: str) -> tuple[Raw, dict[str, Raw] | None]:
    """The message without Kafka Connect's schema wrapper: its text and its fields."""
    payload = Raw(value.encode())
    try:
        fields = _FIELDS.decode(payload)
        if fields is not None and "op" not in fields and "payload" in fields:
            payload = fields["payload"]
            fields = _FIELDS.decode(payload)
    except ValidationError:
        raise EnvelopeError("bad_json", "value: expected an object") from None
    except DecodeError as error:
        raise _unparsable(value, error) from None
    return payload, fields


def _control(topic: str, key: str | None, payload: Raw, fields: dict[str, Raw]) -> Flat:
    """A message without `op`."""
    row_key = _readable_key(key)
    if "id" in fields and _text(fields.get("status")) in ("BEGIN", "END"):
        return _marker(topic, row_key, payload)
    if "ddl" in fields or "tableChanges" in fields:
        name = _text(_nested(fields.get("source")).get("name"))
        return Flat("schema_change", source=name or _utf8(topic), row_key=row_key)
    if "aggregate_type" in fields and "type" in fields:
        name = _text(_nested(fields.get("additional_data")).get("connector_name"))
        return Flat("notification", source=name, row_key=row_key)
    if topic.startswith(HEARTBEAT_TOPIC) or fields.keys() == {"ts_ms"}:
        name = None if row_key is None else _text(_nested(row_key).get("serverName"))
        if not name and topic.startswith(HEARTBEAT_TOPIC + "."):
            name = _utf8(topic.removeprefix(HEARTBEAT_TOPIC + "."))
        return Flat("heartbeat", source=name, row_key=row_key)
    if not fields:
        raise EnvelopeError("bad_json", "value: expected an envelope, got an empty object")
    raise EnvelopeError(
        "not_envelope",
        "value: expected op, or status with id, or ddl, or aggregate_type with type, or only ts_ms",
    )


def _marker(topic: str, row_key: str | None, payload: Raw) -> Flat:
    try:
        marker = _MARKER.decode(payload)
    except ValidationError as error:
        raise EnvelopeError("bad_type", _located(error)) from None
    known = _known_transaction_id(marker.id)
    if known is None:
        connectors = ", ".join(SOURCES)
        raise EnvelopeError(
            "unknown_connector", f"id: not in a form of the known connectors: {connectors}"
        )
    connector, (transaction_id, position) = known

    event_count = None
    collection_counts: dict[str, int] | None = None
    if marker.status == "END":
        event_count = integer("event_count", marker.event_count)
        # An END without its counts would pass for a transaction that changed no table.
        if event_count is None or (marker.data_collections is None and event_count > 0):
            raise EnvelopeError("bad_type", "event_count, data_collections: expected in an END")
        collection_counts = {}
        for item in marker.data_collections or []:
            count = integer("data_collections.event_count", item.event_count)
            if count is None:
                raise EnvelopeError("bad_type", "data_collections.event_count: expected an integer")
            counted = collection_counts.get(item.data_collection, 0) + count
            collection_counts[item.data_collection] = integer("data_collections", counted) or 0
    return Flat(
        kind="transaction_marker",
        connector=connector,
        source=_source_of_marker(topic),
        transaction_id=transaction_id,
        marker=marker.status,
        event_count=event_count,
        collection_counts=collection_counts,
        commit_position=position if marker.status == "END" else None,
        committed_at_micros=_micros(None, marker.ts_ms),
        row_key=row_key,
    )


def _source_of_marker(topic: str) -> str:
    return _utf8(topic.removesuffix(".transaction") or topic)


def _known_transaction_id(transaction_id: str) -> tuple[str, Mark] | None:
    """Transaction records name no connector: the form of the id tells."""
    for connector, source in SOURCES.items():
        mark = source.read_transaction_id(transaction_id)
        if mark is not None:
            return connector, mark
    return None


def _mistyped(fields: dict[str, Raw], error: ValidationError) -> EnvelopeError:
    """Why a change does not have the types of an envelope."""
    source = _nested(fields.get("source"))
    connector = _text(source.get("connector"))
    if source and not connector:
        return EnvelopeError("no_source", "source.connector: expected the connector's name")
    if connector and connector not in SOURCES:
        known = ", ".join(SOURCES)
        return EnvelopeError(
            "unknown_connector", f"source.connector: {connector!r:.40} is not known; known: {known}"
        )
    return EnvelopeError("bad_type", _located(error))


def _located(error: ValidationError) -> str:
    """msgspec's sentence, the field first: it names types, never values.

    >>> _located(ValidationError("Expected `int | null`, got `bool` - at `$.source.lsn`"))
    'source.lsn: expected int | null, got bool'
    """
    problem, _, path = str(error).replace("`", "").partition(" - at $")
    where = path.removeprefix(".payload").removeprefix(".") or "value"
    return f"{where}: {problem[:1].lower()}{problem[1:]}"


def _unparsable(value: str, error: Exception) -> EnvelopeError:
    # Avro and Protobuf records of a schema registry start with a zero byte.
    if value.startswith("\x00"):
        return EnvelopeError("other_format", "value: expected JSON text, got a binary format")
    return EnvelopeError("bad_json", f"value: {said(error)}")


def _quarantined(topic: str, value: str | None, error: EnvelopeError) -> Flat:
    """The message's refusal, with the coordinates that can be read all the same."""
    flat = Flat("quarantined", error.reason, error.detail[:LONGEST_DETAIL])
    if value is None or error.reason in ("too_large", "too_deep"):
        return flat
    try:
        fields = _payload(value)[1] or {}
    except (EnvelopeError, UnicodeEncodeError):
        return flat
    if _text(fields.get("status")) in ("BEGIN", "END"):
        known = _known_transaction_id(_text(fields.get("id")) or "")
        return flat._replace(
            source=_source_of_marker(topic),
            connector=known and known[0],
            transaction_id=known and known[1][0],
        )
    source = _nested(fields.get("source"))
    connector = _text(source.get("connector"))
    known_source = SOURCES.get(connector or "")
    transaction_id = _text(_nested(fields.get("transaction")).get("id"))
    mark = known_source.read_transaction_id(transaction_id or "") if known_source else None
    return flat._replace(
        connector=connector,
        source=_text(source.get("name")),
        database_name=_text(source.get("db")),
        schema_name=_text(source.get("schema")),
        table_name=_text(source.get("table")),
        operation=_text(fields.get("op")),
        transaction_id=mark and mark[0],
    )


def _read_patiently(
    topic: str, key: str | None, value: str | None, headers: Headers
) -> Flat | None:
    """Read a message in which msgspec refuses an escaped lone surrogate, or the cut was wrong."""

    def prepared(text: str | None) -> str | None:
        # The space keeps the schema from being cut off.
        return text and " " + shield(text)

    if any(STAND_IN in text for text in (key, value, *(text for _, text in headers)) if text):
        return None
    shielded_headers = [(name, prepared(text)) for name, text in headers]
    try:
        flat = _read(topic, prepared(key), prepared(value), shielded_headers)
    except EnvelopeError:
        return None
    return Flat._make(unshield(part) if isinstance(part, str) else part for part in flat)


def _readable_key(key: str | None) -> str | None:
    try:
        return canonical_key("key", key)
    except EnvelopeError:
        return None


def _nested(text: Raw | str | None) -> dict[str, Raw]:
    """The fields of a JSON object; none when it is something else."""
    try:
        return _FIELDS.decode(text) or {} if text is not None else {}
    except (DecodeError, UnicodeEncodeError):
        return {}


def _text(text: Raw | None) -> str | None:
    """A JSON string; None when it is something else."""
    try:
        return None if text is None else _TEXT.decode(text)
    except DecodeError:
        return None


def _utf8(topic: str) -> str:
    return topic if topic.isascii() else topic.encode("utf-8", "replace").decode()
