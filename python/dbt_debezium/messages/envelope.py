"""One Kafka message in, one flat row out, whatever the message holds. No Spark in this module.

Messages are told apart by their shape, not by their topic: topics can be renamed and shared.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, Union

import msgspec
from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType, ValidationError

from dbt_debezium.connectors import SOURCES, cdl
from dbt_debezium.connectors.base import (
    Source,
    Transaction,
    image,
    micros,
    snapshot_marker,
)
from dbt_debezium.connectors.generic import GenericSource, read_generic
from dbt_debezium.connectors.lenient import without_unreadable_times
from dbt_debezium.connectors.unsupported import UNSUPPORTED
from dbt_debezium.errors import EnvelopeError
from dbt_debezium.json_text import (
    STAND_IN,
    canonical_key,
    canonical_key_and_names,
    check_limits,
    check_size,
    json_string,
    key_fields,
    located,
    said,
    shield,
    unshield,
    utf8,
    without_schema,
)
from dbt_debezium.json_values import json_decoder
from dbt_debezium.messages.announced import emptied_tables
from dbt_debezium.messages.column_types import sent_types, untyped_columns
from dbt_debezium.messages.flat import Flat
from dbt_debezium.messages.forms import avro_json, changed_columns, flattened, other_producers
from dbt_debezium.messages.forms.cloud_events import read_cloud_event
from dbt_debezium.messages.forms.double_encoded import read_double_encoded
from dbt_debezium.messages.forms.registry_json import read_registry_json
from dbt_debezium.messages.internal_topics import INTERNAL_SOURCE, is_internal
from dbt_debezium.messages.keys import header_key, opened_key, other_key, with_key_columns
from dbt_debezium.messages.signal_rows import SIGNAL_FIELDS, SIGNALS, row_signal
from dbt_debezium.messages.transaction_records import (
    known_transaction_id,
    read_transaction_record,
    source_of_record,
)
from dbt_debezium.settings import DEFAULTS, Settings

Headers: TypeAlias = Sequence[tuple[str, str | None]]

OPERATIONS: Final = ("c", "r", "u", "d", "t", "m")
HEARTBEAT_TOPIC: Final = "__debezium-heartbeat"
NEW_KEY: Final = "__debezium.newkey"
OLD_KEY: Final = "__debezium.oldkey"
LONGEST_DETAIL: Final = 200
NO_SIGNAL: Final = (None, None)
MOST_OPENED: Final = 3
"""A CloudEvent may be double-encoded, and so may the event inside of it."""
MAY_BE_OPENED: Final = ("bad_json", "not_envelope", "other_format")
SIGN_OF_PARTS: Final = changed_columns.SIGN


if TYPE_CHECKING:
    AnySource: TypeAlias = Source
else:
    AnySource = Union[(*SOURCES.values(),)]


class _Envelope(Struct):
    op: str | UnsetType | None = UNSET
    source: AnySource | None = None
    transaction: Transaction | None = None
    before: Raw = Raw()
    after: Raw = Raw()
    message_version: Raw = Raw()


class _Value(_Envelope):
    payload: _Envelope | UnsetType | None = UNSET


class _GenericEnvelope(Struct):
    op: str | None = None
    source: Raw = Raw()
    transaction: Transaction | None = None
    before: Raw = Raw()
    after: Raw = Raw()


class _SchemaChange(Struct):
    source: AnySource | None = None
    database_name: str | None = msgspec.field(name="databaseName", default=None)
    schema_name: str | None = msgspec.field(name="schemaName", default=None)


_new_tuple = tuple.__new__
_decode_value = json_decoder(_Value)
_decode_generic = json_decoder(_GenericEnvelope)
_decode_schema_change = json_decoder(_SchemaChange)
_decode_fields = json_decoder(dict[str, Raw] | None)


def flatten_message(
    topic: str,
    key: str | None,
    value: str | None,
    headers: Headers,
    settings: Settings = DEFAULTS,
) -> Flat:
    """Read one message; what cannot be read becomes a quarantined row with its reason.

    Args:
        topic: the message's topic.
        key: the message's key as JSON text, with or without Kafka Connect's schema wrapper.
        value: the message's value, likewise.
        headers: name and JSON text of each header.
        settings: what the project says of its connectors.

    >>> flatten_message("shop.public.orders", '{"id":1}', None, []).kind
    'tombstone'
    >>> flatten_message("shop.public.orders", '{"id":1}', '{"op":"x"}', []).quarantine_detail
    'source: expected an object with connector and name'
    """
    try:
        try:
            return _read(topic, key, value, headers, settings)
        except EnvelopeError as error:
            return _read_other_form(topic, key, value, headers, settings, error)
    except Exception as error:  # one message must never stop the others
        return Flat("quarantined", "internal_error", type(error).__name__)


def _read_other_form(
    topic: str,
    key: str | None,
    value: str | None,
    headers: Headers,
    settings: Settings,
    error: EnvelopeError,
    may_be_opened: int = MOST_OPENED,
) -> Flat:
    """Read a message that is not in Debezium's own form, or say by name what form it is in."""
    if value is not None and may_be_opened and error.reason in MAY_BE_OPENED:
        opened: str | None = value
        try:
            opened = _opened(value)
            if opened is not None:
                return _read(topic, key, opened, headers, settings)
        except EnvelopeError as inner_error:
            return _read_other_form(
                topic, key, opened, headers, settings, inner_error, may_be_opened - 1
            )
    if error.reason == "bad_json":
        patient = _read_patiently(topic, key, value, headers, settings)
        if patient is not None:
            return patient
    if is_internal(topic, key, value):
        return Flat("internal", source=INTERNAL_SOURCE)
    return _quarantined(topic, key, value, error, settings)


def _read(
    topic: str,
    key: str | None,
    value: str | None,
    headers: Headers,
    settings: Settings,
) -> Flat:
    if value is None:
        if is_internal(topic, key, value):
            return Flat("internal", source=INTERNAL_SOURCE)
        return Flat("tombstone", row_key=_readable_key(key))
    check_size("value", value)
    sent = value
    value = without_schema(value)
    check_limits("value", value)
    is_cut = value is not sent
    wrapper = mistyped = None
    try:
        wrapper = _decode_value(value)
    except ValidationError as error:
        mistyped = error
        if (readable := without_unreadable_times(value)) is not None:
            value = readable
            try:
                wrapper = _decode_value(value)
            except ValidationError as other_error:
                mistyped = other_error
    except DecodeError as error:
        raise _unparsable(value, error) from None
    if wrapper is not None:
        envelope = wrapper if wrapper.op is not UNSET else wrapper.payload
        if (
            isinstance(envelope, _Envelope)
            and envelope.op is not UNSET
            and not envelope.message_version
        ):
            is_wrapped = is_cut or envelope is not wrapper
            column_types = sent_types(sent) if is_wrapped else None
            return _change(envelope, envelope.op, key, headers, column_types)

    payload, fields = _payload(value)
    if fields is None:
        return Flat("tombstone", row_key=_readable_key(key))
    if "message_version" in fields or "DATA_STORE" in fields:
        return _cdl_change(topic, payload, fields, settings)
    if "op" in fields and mistyped is not None:
        order = _generic_order(_nested(fields.get("source")), settings)
        if order is None:
            raise _mistyped(fields, mistyped)
        generic = _read_generic_envelope(payload, order)
        column_types = None if bytes(payload) == sent.encode() else sent_types(sent)
        return _change(generic, generic.op or None, key, headers, column_types)
    return _control(topic, key, payload, fields, settings)


def _generic_order(source: dict[str, Raw], settings: Settings) -> Sequence[str] | None:
    """The fields that order the change of a connector that we do not know, by a setting."""
    connector = json_string(source.get("connector"))
    is_known = connector is None or connector in SOURCES
    return None if is_known else settings.generic_order(json_string(source.get("name")))


def _read_generic_envelope(payload: Raw, order: Sequence[str]) -> _Envelope:
    try:
        envelope = _decode_generic(payload)
        source = read_generic(envelope.source, order)
    except ValidationError as error:
        raise EnvelopeError("bad_type", located(error)) from None
    return _Envelope(envelope.op, source, envelope.transaction, envelope.before, envelope.after)


def _change(
    envelope: _Envelope,
    operation: str | None,
    key: str | None,
    headers: Headers,
    column_types: str | None,
) -> Flat:
    source, transaction = envelope.source, envelope.transaction
    # First, because a row without its envelope may have a column `op`, whose value is not said.
    if source is None or not source.name or not source.connector:
        raise EnvelopeError("no_source", "source: expected an object with connector and name")
    if operation is None or operation not in OPERATIONS:
        said_op = "null" if operation is None else repr(operation)[:20]
        known = ", ".join(OPERATIONS)
        raise EnvelopeError("unknown_op", f"op: {said_op} is not an operation; known: {known}")
    is_message = operation == "m"
    source_name, schema, data_collection = source.named()
    if not is_message and not (source.table and schema):
        raise EnvelopeError("no_source", "source: expected schema and table")

    snapshot = snapshot_marker(source.snapshot, operation)
    (
        transaction_id,
        commit_position,
        previous_commit_position,
        event_position,
        is_whole,
        log_position,
    ) = source.place(transaction, snapshot, operation)
    # What tells no transaction either is held, as any transaction may lack it.
    if event_position is None and not is_message and (transaction_id or snapshot):
        check_order(source, transaction, snapshot)
    before = image("before", envelope.before)
    after = image("after", envelope.after)
    row = after or before
    if row is not None and SIGN_OF_PARTS in row and changed_columns.has_changed_columns_only(row):
        raise EnvelopeError("changed_columns_only", f"after: {changed_columns.DETAIL}")
    try:
        row_key, key_names = canonical_key_and_names("key", key)
    except EnvelopeError as error:
        if is_message:
            key, row_key, key_names = None, _readable_key(key), ()
        else:
            key, row_key, key_names = other_key(key or "", row, error)
    new_row_key = old_row_key = None
    for name, text in headers:
        if name == NEW_KEY:
            new_row_key = header_key(NEW_KEY, text, row_key)
        elif name == OLD_KEY:
            old_row_key = header_key(OLD_KEY, text, row_key)

    if after is None and operation in ("c", "r", "u"):
        raise EnvelopeError("no_after", f"after: expected the row that op {operation} leaves")
    if operation == "d" and before is None and row_key is None:
        raise EnvelopeError("delete_without_identity", "before: expected the row, or a message key")
    if after is not None:
        for name in key_names:
            if name not in after and key is not None:
                after = with_key_columns(after, key_fields("key", key))
                break
        column_types = column_types or untyped_columns(after)
    signal_type, signal_data = (after and row_signal(after)) or NO_SIGNAL

    total_order = data_collection_order = None
    if transaction is not None:
        total_order, data_collection_order = transaction.orders()
    if is_whole:
        total_order = data_collection_order = 1
    # By place and past NamedTuple's own constructor: by name it takes 1.4 µs more.
    return _new_tuple(
        Flat,
        (
            "logical_message" if is_message else "change",
            None,  # quarantine_reason
            None,  # quarantine_detail
            source.connector,
            source_name,
            source.db,
            schema or None,
            source.table or None,
            None if is_message else data_collection,
            None if is_message else operation,
            snapshot,
            transaction_id,
            is_whole,
            None,  # marker
            None,  # event_count
            None,  # collection_counts
            commit_position,
            log_position,
            previous_commit_position,
            event_position,
            total_order,
            data_collection_order,
            micros(source.ts_us, source.ts_ms),
            row_key,
            new_row_key,
            old_row_key,
            before,
            after,
            column_types,
            None,  # table_changes
            signal_type,
            signal_data,
            None,  # notification
        ),
    )


def check_order(source: Source, transaction: Transaction | None, snapshot: str | None) -> None:
    """Refuse a change that has no position, where nothing else says what comes before it.

    Raises:
        EnvelopeError: neither its place in the log nor its transaction block orders it.
    """
    if snapshot is None and transaction is not None and transaction.total_order is not None:
        return
    where = ", ".join(f"source.{name}" for name in source.missing_fields())
    what = "change without a transaction block" if snapshot is None else "read"
    raise EnvelopeError("no_position", f"{where}: missing, and needed for the place of a {what}")


def _cdl_change(topic: str, payload: Raw, fields: dict[str, Raw], settings: Settings) -> Flat:
    try:
        change = cdl.read(payload, fields, settings.cdl_source(topic))
    except ValidationError as error:
        raise EnvelopeError("bad_type", located(error)) from None
    except DecodeError as error:
        raise _unparsable(str(payload, "utf-8"), error) from None
    is_row = not settings.is_cdl_heartbeat(change.schema, change.table)
    return Flat(
        "change" if is_row else "heartbeat",
        connector=cdl.CONNECTOR,
        source=change.source,
        database_name=change.database,
        schema_name=change.schema,
        table_name=change.table,
        data_collection=f"{change.schema}.{change.table}" if is_row else None,
        operation=change.operation if is_row else None,
        snapshot=change.snapshot,
        transaction_id=change.transaction_id,
        is_whole_transaction=False if is_row else None,
        event_position=change.position,
        committed_at_micros=change.committed_at_micros,
        row_key=change.row_key,
        old_row_key=change.old_row_key,
        before=change.before if is_row else None,
        after=change.after if is_row else None,
        column_types=untyped_columns(change.after) if is_row and change.after else None,
    )


def _payload(value: str) -> tuple[Raw, dict[str, Raw] | None]:
    """The message without Kafka Connect's schema wrapper: its text and its fields."""
    payload = Raw(value.encode())
    try:
        fields = _decode_fields(payload)
        if fields is not None and "op" not in fields and "payload" in fields:
            payload = fields["payload"]
            fields = _decode_fields(payload)
    except ValidationError:
        raise EnvelopeError("bad_json", "value: expected an object") from None
    except DecodeError as error:
        raise _unparsable(value, error) from None
    return payload, fields


def _control(
    topic: str, key: str | None, payload: Raw, fields: dict[str, Raw], settings: Settings
) -> Flat:
    """A message without `op`."""
    row_key = _readable_key(key)
    if "id" in fields and json_string(fields.get("status")) in ("BEGIN", "END"):
        return read_transaction_record(topic, row_key, payload, settings)
    if "ddl" in fields or "tableChanges" in fields:
        if "position" in fields and "name" not in _nested(fields.get("source")):
            # The connector's own memory (`schema.history.internal.kafka.topic`).
            return Flat("internal", source=INTERNAL_SOURCE, row_key=row_key)
        return _schema_change(topic, row_key, payload, fields)
    if "aggregate_type" in fields and "type" in fields:
        name = json_string(_nested(fields.get("additional_data")).get("connector_name"))
        text = str(payload, "utf-8")
        return Flat("notification", source=name, row_key=row_key, notification=text)
    signal_type = json_string(fields.get("type")) or ""
    if signal_type.lower() in SIGNALS and fields.keys() <= SIGNAL_FIELDS:
        return _signal(key, signal_type, fields.get("data"))
    if HEARTBEAT_TOPIC in topic or fields.keys() == {"ts_ms"}:
        name = None if row_key is None else json_string(_nested(row_key).get("serverName"))
        if not name and HEARTBEAT_TOPIC + "." in topic:
            name = utf8(topic.partition(HEARTBEAT_TOPIC + ".")[2])
        return Flat("heartbeat", source=name, row_key=row_key)
    if not fields:
        raise EnvelopeError("bad_json", "value: expected an envelope, got an empty object")
    raise EnvelopeError(
        "not_envelope",
        "value: expected op, or status with id, or ddl, or aggregate_type with type, or only ts_ms",
    )


def _schema_change(topic: str, row_key: str | None, payload: Raw, fields: dict[str, Raw]) -> Flat:
    """Its DDL is not kept: it may hold values. What cannot be read of it holds no row back."""
    flat = Flat(
        "schema_change",
        connector=json_string(_nested(fields.get("source")).get("connector")),
        source=json_string(_nested(fields.get("source")).get("name")) or utf8(topic),
        database_name=json_string(fields.get("databaseName")),
        schema_name=json_string(fields.get("schemaName")),
        row_key=row_key,
        table_changes=_list_text(fields.get("tableChanges")),
    )
    try:
        change = _decode_schema_change(payload)
        source = change.source
        if source is None or not source.name:
            return flat
        snapshot = snapshot_marker(source.snapshot, "")
        # It names a transaction where it ends rows, as a TRUNCATE without GTID does (S8).
        ends_rows = snapshot is None and emptied_tables(flat.table_changes or "")
        place = source.place(None, snapshot, "t" if ends_rows else "")
        source_name, schema, _ = source.named()
        return flat._replace(
            source=source_name,
            database_name=source.db or change.database_name,
            schema_name=schema or change.schema_name,
            snapshot=snapshot,
            transaction_id=place.transaction_id,
            commit_position=place.commit_position,
            log_position=place.log_position,
            event_position=place.event_position,
            committed_at_micros=micros(source.ts_us, source.ts_ms),
        )
    except (DecodeError, EnvelopeError):
        return flat


def _signal(key: str | None, signal_type: str, data: Raw | None) -> Flat:
    """A record of a Kafka signal topic. Its key is the topic prefix, as plain text or as JSON."""
    text = str(data, "utf-8") if data else None
    return Flat(
        "signal",
        source=_plain_key(key),
        signal_type=signal_type.lower(),
        signal_data=None if text == "null" else json_string(data) or text,
    )


def _plain_key(key: str | None) -> str | None:
    """A key that is one text: bare, as a JSON string, or in Kafka Connect's wrapper."""
    try:
        check_size("key", key or "")
        check_limits("key", key or "")
    except EnvelopeError:
        return None
    if not key or key[0] not in '"{':
        return key and utf8(key)
    return json_string(_nested(key).get("payload", Raw(key.encode("utf-8", "replace"))))


def _mistyped(fields: dict[str, Raw], error: ValidationError) -> EnvelopeError:
    """Why a change does not have the types of an envelope."""
    source = _nested(fields.get("source"))
    # A changefeed of CockroachDB in the form of an envelope names no connector.
    connector = json_string(source.get("connector")) or json_string(source.get("origin"))
    if source and not connector:
        return EnvelopeError("no_source", "source.connector: expected the connector's name")
    if connector in UNSUPPORTED:
        return EnvelopeError(
            "unsupported_connector", f"source.connector: {UNSUPPORTED[connector]}, is not read"
        )
    if connector and connector not in SOURCES:
        known = ", ".join(SOURCES)
        return EnvelopeError(
            "unknown_connector",
            f"source.connector: {connector!r:.40} is not known; known: {known}; "
            "generic_sources gives sources of others an order",
        )
    return EnvelopeError("bad_type", located(error))


def _unparsable(value: str, error: DecodeError) -> EnvelopeError:
    # Avro and Protobuf records of a schema registry start with a zero byte.
    if value.startswith("\x00"):
        return EnvelopeError("other_format", "value: expected JSON text, got a binary format")
    return EnvelopeError("bad_json", f"value: {said(error)}")


def _by_name(
    topic: str, key: str | None, value: str, fields: dict[str, Raw], error: EnvelopeError
) -> EnvelopeError:
    """The refusal of a message in a form that is known and not read; else the refusal as it is."""
    if error.reason == "bad_type" and avro_json.is_avro_json(fields):
        return EnvelopeError("other_format", avro_json.DETAIL)
    if error.reason in ("not_envelope", "no_source") and (
        detail := other_producers.detail_of(topic, fields)
    ):
        return EnvelopeError("other_producer", detail)
    is_row = "before" not in fields and "after" not in fields
    if is_row and error.reason in ("bad_type", "no_source", "unknown_op"):
        if flattened.has_metadata(fields):
            return EnvelopeError("flattened", flattened.DETAIL)
    elif is_row and error.reason == "not_envelope" and flattened.is_flattened(key, value, fields):
        return EnvelopeError("flattened", flattened.DETAIL)
    return error


def _opened(value: str) -> str | None:
    """What another converter has put around a message taken off once; None when it has not."""
    return read_double_encoded(value) or read_registry_json(value) or read_cloud_event(value)


def opened_value(value: str) -> str:
    r"""A message's value in Debezium's own form, without what other converters put around it.

    >>> opened_value(r'"{\"op\":\"c\"}"'), opened_value('{"op":"c"}')
    ('{"op":"c"}', '{"op":"c"}')
    """
    for _ in range(MOST_OPENED):
        try:
            opened = _opened(value)
        except EnvelopeError:
            break
        if opened is None:
            break
        value = opened
    return value


def _quarantined(
    topic: str, key: str | None, value: str | None, error: EnvelopeError, settings: Settings
) -> Flat:
    """The message's refusal, with the coordinates that can be read all the same."""
    flat = Flat("quarantined", error.reason, error.detail[:LONGEST_DETAIL])
    if value is None or error.reason in ("too_large", "too_deep"):
        return flat
    try:
        fields = _payload(value)[1] or {}
    except (EnvelopeError, UnicodeEncodeError):
        return flat
    error = _by_name(topic, key, value, fields, error)
    flat = flat._replace(
        quarantine_reason=error.reason, quarantine_detail=error.detail[:LONGEST_DETAIL]
    )
    if json_string(fields.get("status")) in ("BEGIN", "END"):
        known = known_transaction_id(
            json_string(fields.get("id")) or "", source_of_record(topic, settings), settings
        )
        return flat._replace(
            source=source_of_record(topic, settings),
            connector=known[0].connector if known and known[0].has_own_transaction_ids else None,
            transaction_id=known and known[1][0],
        )
    if "message_version" in fields and "source" not in fields:
        return flat._replace(
            connector=cdl.CONNECTOR,
            source=settings.cdl_source(topic),
            schema_name=json_string(fields.get("SEG_OWNER")),
            table_name=json_string(fields.get("TABLE_NAME")),
        )
    source = _nested(fields.get("source"))
    connector = json_string(source.get("connector"))
    known_source = SOURCES.get(connector or "", Source)
    if _generic_order(source, settings) is not None:
        known_source, connector = GenericSource, GenericSource.connector
    named = known_source(
        *(json_string(source.get(name)) for name in ("name", "db", "schema", "table"))
    )
    source_name, schema, _ = named.named()
    operation = json_string(fields.get("op"))
    mark = None
    if known_source is not Source:
        transaction_id = json_string(_nested(fields.get("transaction")).get("id"))
        mark = known_source.read_transaction_id(transaction_id or "")
    return flat._replace(
        connector=cdl.CONNECTOR if "message_version" in fields else connector,
        source=source_name,
        database_name=named.db,
        schema_name=schema,
        table_name=named.table,
        operation=operation if operation in OPERATIONS else None,
        transaction_id=mark and mark[0],
    )


def _read_patiently(
    topic: str,
    key: str | None,
    value: str | None,
    headers: Headers,
    settings: Settings,
) -> Flat | None:
    """Read a message in which msgspec refuses an escaped lone surrogate, or the cut was wrong."""

    def prepared(text: str | None) -> str | None:
        # The space keeps the schema from being cut off.
        return text and " " + shield(text)

    if any(STAND_IN in text for text in (key, value, *(text for _, text in headers)) if text):
        return None
    shielded_headers = [(name, prepared(text)) for name, text in headers]
    try:
        flat = _read(topic, prepared(key), prepared(value), shielded_headers, settings)
    except EnvelopeError:
        return None
    return Flat._make(unshield(part) if isinstance(part, str) else part for part in flat)


def _readable_key(key: str | None) -> str | None:
    try:
        return canonical_key("key", key)
    except EnvelopeError:
        opened = opened_key(key or "")
        return None if opened is None else _readable_key(opened)


def _nested(text: Raw | str | None) -> dict[str, Raw]:
    """The fields of a JSON object; none when it is something else."""
    try:
        return _decode_fields(text) or {} if text is not None else {}
    except DecodeError:
        return {}


def _list_text(text: Raw | None) -> str | None:
    """A JSON list as sent; None when it is something else."""
    sent = str(text, "utf-8") if text else ""
    return sent if sent.startswith("[") else None
