"""Keys and values of a batch of messages as text, whatever they are as bytes."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # ships no types

from dbt_debezium.errors import EnvelopeError
from dbt_debezium.json_text import LARGEST_BYTES
from dbt_debezium.messages.internal_topics import is_internal
from dbt_debezium.registry.connect_schema import SchemaError
from dbt_debezium.registry.decoder import Decoder, MisfitError, decoder
from dbt_debezium.registry.found import Found
from dbt_debezium.registry.framing import HEADERS, MAGIC, PREFIX_LENGTH, framed_id, header_id

Schemas = Mapping[tuple[str, str], Found]
"""By topic and id."""
NO_SCHEMAS: Final[Schemas] = {}
JSON_START: Final = b"{"
NO_IDS: Final[Mapping[str, str]] = {}


class Texts(NamedTuple):
    """Keys and values of a batch, in the order of its messages."""

    keys: list[str | None]
    values: list[str | None]
    errors: dict[int, EnvelopeError]
    """Why a message cannot be read, by its place in the batch."""
    decoded: set[int]
    """Messages whose value was Avro."""


def message_texts(
    topics: Sequence[str | None],
    key: pa.Array,
    value: pa.Array,
    headers: pa.Array,
    schemas: Schemas,
) -> Texts:
    """The text of each key and value; of Avro the text that JsonConverter would have written.

    Args:
        topics: of the messages.
        key: bytes, or text in a lake whose landings were text.
        value: likewise.
        headers: lists of structs of a text and bytes, key and value.
        schemas: what is known of the registries.
    """
    ids = header_ids(headers)
    framed = {*ids, *_begin_with_zero(key), *_begin_with_zero(value)}
    if not framed:
        return Texts(texts(key), texts(value), {}, set())
    found = Texts([], [], {}, set())
    reader = _Reader(schemas)
    rows = zip(topics, bytes_of(key), bytes_of(value), strict=True)
    for index, (topic, key_bytes, value_bytes) in enumerate(rows):
        if index not in framed:
            found.keys.append(_text(key_bytes))
            found.values.append(_text(value_bytes))
            continue
        in_headers = ids.get(index, NO_IDS)
        try:
            value_text, is_avro = reader.text(topic, "value", value_bytes, in_headers)
            key_text, _ = reader.text(topic, "key", key_bytes, in_headers)
            if is_avro:
                found.decoded.add(index)
        except EnvelopeError as error:
            key_text, value_text = _text(key_bytes), _text(value_bytes)
            # A tombstone changes no row. What Kafka keeps for itself may begin with zero bytes too.
            if value_bytes is not None and not is_internal(topic or "", key_text, value_text):
                found.errors[index] = error
        found.keys.append(key_text)
        found.values.append(value_text)
    return found


class _Known(NamedTuple):
    id: str
    decoder: Decoder
    start: int
    """Where Avro begins in the bytes."""


class _Reader:
    """Finds the schema of each message of a batch."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._known: dict[tuple[str | None, str, bytes | str], _Known | EnvelopeError] = {}

    def text(
        self, topic: str | None, part: str, sent: bytes | None, in_headers: Mapping[str, str]
    ) -> tuple[str | None, bool]:
        """A part of a message as text, and whether it was Avro.

        Raises:
            EnvelopeError: its schema is not known, or does not fit its bytes.
        """
        known = None if sent is None else self._decoder(topic, part, sent, in_headers.get(part))
        if sent is None or known is None:
            return _text(sent), False
        read = known.decoder.key_text if part == "key" else known.decoder.text
        try:
            return read(sent[known.start :]), True
        except MisfitError:
            detail = f"{part}: its bytes do not fit schema {known.id}"
            raise EnvelopeError("bad_avro", detail) from None

    def _decoder(
        self, topic: str | None, part: str, sent: bytes, in_header: str | None
    ) -> _Known | None:
        """What decodes a part of a message; None where it is text, or too long to be read.

        Raises:
            EnvelopeError: its schema is not known, or cannot be read.
        """
        if in_header is None and sent[:1] != MAGIC:
            return None
        found = self._known.get((topic, part, in_header or sent[:PREFIX_LENGTH]))
        if type(found) is _Known and len(sent) <= LARGEST_BYTES:
            return found
        schema_id = in_header or framed_id(sent)
        start = 0 if in_header else PREFIX_LENGTH
        if schema_id is None or len(sent) > LARGEST_BYTES:
            return None
        schema = self._schemas.get((topic or "", schema_id))
        if (schema is None or schema.kind == "JSON") and sent.startswith(JSON_START, start):
            return None
        if found is None:
            found = _known(part, schema_id, schema, start)
            self._known[topic, part, in_header or sent[:PREFIX_LENGTH]] = found
        if isinstance(found, EnvelopeError):
            raise found
        return found


def _known(part: str, schema_id: str, schema: Found | None, start: int) -> _Known | EnvelopeError:
    if schema is None:
        return EnvelopeError(
            "unknown_schema", f"{part}: schema {schema_id} is not in landing.schema"
        )
    if schema.kind != "AVRO":
        detail = f"{part}: {schema.kind} of a schema registry, schema {schema_id}"
        return EnvelopeError("other_format", detail)
    known = decoder(schema.text)
    if isinstance(known, SchemaError):
        return EnvelopeError("bad_avro", f"{part}: schema {schema_id}: {known}")
    return _Known(schema_id, known, start)


def texts(array: pa.Array) -> list[str | None]:
    """The array's texts; a byte that is not UTF-8, which Spark does not refuse, as a surrogate."""
    try:
        return array.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]  # pyarrow is untyped
    except (UnicodeDecodeError, pa.ArrowInvalid):
        return [_text(one) for one in bytes_of(array)]


def bytes_of(array: pa.Array) -> list[bytes | None]:
    """The array's values as bytes."""
    return array.cast(pa.binary()).to_pylist()  # type: ignore[no-any-return]  # pyarrow is untyped


def header_ids(headers: pa.Array) -> dict[int, dict[str, str]]:
    """The ids in the headers of messages, by place and part; of most messages there are none."""
    found: dict[int, dict[str, str]] = {}
    if pa.types.is_null(headers.type):
        return found
    entries = pc.list_flatten(headers)
    wanted = pc.is_in(pc.struct_field(entries, "key"), pa.array(list(HEADERS)))
    if not pc.any(wanted).as_py():
        return found
    places = pc.list_parent_indices(headers).filter(wanted).to_pylist()
    names = pc.struct_field(entries, "key").filter(wanted).to_pylist()
    values = bytes_of(pc.struct_field(entries, "value").filter(wanted))
    for place, name, value in zip(places, names, values, strict=True):
        part, kind = HEADERS[name]
        if (schema_id := header_id(kind, value)) is not None:
            found.setdefault(place, {})[part] = schema_id
    return found


def _begin_with_zero(array: pa.Array) -> list[int]:
    if pa.types.is_null(array.type):
        return []
    found = pc.indices_nonzero(pc.starts_with(array, MAGIC.decode()))
    return found.to_pylist()  # type: ignore[no-any-return]  # pyarrow is untyped


def _text(sent: bytes | None) -> str | None:
    return None if sent is None else sent.decode("utf-8", "surrogateescape")
