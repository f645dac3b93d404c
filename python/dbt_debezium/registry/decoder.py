"""Bytes of Avro as the text that JsonConverter would have written of the same message."""

import io
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import fastavro
import msgspec

from dbt_debezium.dumps.connect_json import elements, entries, float32, scalar
from dbt_debezium.json_text import DEEPEST_LEVELS, is_too_deep
from dbt_debezium.json_values import json_decoder
from dbt_debezium.registry.connect_schema import (
    NAMED,
    Schema,
    SchemaError,
    connect_schema,
    full_name,
    is_map_entry,
    resolved,
)

Convert = Callable[[Any], Any]

MOST_KNOWN: Final = 10_000
WRAPPER: Final = {"schema", "payload"}
"""The members of Kafka Connect's wrapper."""
_decode_schema = json_decoder(object)
_encode = msgspec.json.Encoder().encode


class MisfitError(ValueError):
    """Bytes that do not fit their schema."""


class Decoder:
    """What reads messages of one schema.

    >>> decode = Decoder('{"type": "record", "name": "Key", "fields": [{"name": "id", '
    ...     '"type": "int"}]}')
    >>> decode.payload(b"\\x02")
    '{"id":1}'
    """

    def __init__(self, text: str) -> None:
        """Raises SchemaError: the text is no Avro schema, or none that Kafka Connect writes."""
        if is_too_deep(text):
            raise SchemaError(f"over {DEEPEST_LEVELS} levels")
        try:
            schema = _decode_schema(text)
            block = connect_schema(schema)
            self._schema = fastavro.parse_schema(_plain(schema))
            self._head = f'{{"schema":{_encode(_read_part(block)).decode()},"payload":'
            fields = {field["field"] for field in block.get("fields", ())}
            self._convert = _conversion(schema, "", {})
        except (msgspec.DecodeError, fastavro.schema.SchemaParseException) as error:
            raise SchemaError(f"no Avro schema ({type(error).__name__})") from error
        except SchemaError:
            raise
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
            raise SchemaError("no Avro schema") from error
        self.key_text = self.text if fields == WRAPPER else self.payload
        """Of a key: as JSON, with its schema block only where it would be taken for one."""

    def text(self, datum: bytes) -> str:
        """The message as JSON with its schema block.

        Raises:
            MisfitError: the bytes do not fit the schema.
        """
        return f"{self._head}{self.payload(datum)}}}"

    def payload(self, datum: bytes) -> str:
        """The message as JSON.

        Raises:
            MisfitError: the bytes do not fit the schema.
        """
        bytes_left = io.BytesIO(datum)
        try:
            value: Any = fastavro.schemaless_reader(bytes_left, self._schema, None)
            payload = _encode(self._convert(value) if self._convert else value).decode()
        except (ArithmeticError, EOFError, LookupError, TypeError, ValueError) as error:
            raise MisfitError from error
        if bytes_left.tell() != len(datum):
            raise MisfitError
        return payload


@lru_cache(MOST_KNOWN)
def decoder(text: str) -> Decoder | SchemaError:
    """The decoder of a schema, or why there is none."""
    try:
        return Decoder(text)
    except SchemaError as error:
        return error


def _read_part(block: Schema) -> Schema:
    """The schema block as far as anybody reads it: of an envelope the columns of its row.

    It is short, since each message is searched for its end.
    """
    after = [field for field in block.get("fields", ()) if field["field"] == "after"]
    return block | {"fields": after} if after else block


def _plain(schema: Any) -> Any:
    """The schema as far as it says where bytes begin and end.

    Without logical types, whose values would become Python's dates and decimals, and without
    defaults, which only a reader with another schema asks for. A type of which nothing is left but
    its name is that name, which fastavro reads a fifth faster.

    >>> _plain(["null", {"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}])
    ['null', 'long']
    """
    if isinstance(schema, list):
        return [_plain(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        name: schema[name] for name in ("name", "namespace", "symbols", "size") if name in schema
    }
    kept["type"] = _plain(schema["type"])
    if len(kept) == 1 and not {"items", "values", "fields"} & schema.keys():
        return kept["type"]
    for inner in ("items", "values"):
        if inner in schema:
            kept[inner] = _plain(schema[inner])
    if "fields" in schema:
        kept["fields"] = [
            {"name": field["name"], "type": _plain(field["type"])} for field in schema["fields"]
        ]
    return kept


def _conversion(schema: Any, namespace: str, named: dict[str, Schema]) -> Convert | None:
    """What makes JsonConverter's values of fastavro's; None where they are the same.

    Bytes become base64 when they are encoded.
    """
    found, inner, _ = resolved(schema, namespace, named)
    kind = found["type"]
    if kind in NAMED:
        named[full_name(found, namespace)] = found
    if kind == "float":
        return float32
    if kind == "double":
        return scalar
    if kind == "record":
        return _record_conversion(found, inner, named)
    if kind == "array" and is_map_entry(found["items"]):
        return _entry_conversion(found["items"], inner, named)
    if kind == "array":
        convert = _conversion(found["items"], inner, named)
        return convert and elements(convert)
    if kind == "map":
        convert = _conversion(found["values"], inner, named)
        return convert and entries(convert)
    return None


def _record_conversion(record: Schema, namespace: str, named: dict[str, Schema]) -> Convert | None:
    converts: dict[str, Convert] = {}
    for field in record["fields"]:
        convert = _conversion(field["type"], namespace, named)
        if convert is not None:
            converts[field["name"]] = convert
    return _in_place(converts) if converts else None


def _in_place(converts: Mapping[str, Convert]) -> Convert:
    def convert(value: Any) -> Any:
        if value is not None:
            for name, one in converts.items():
                value[name] = one(value[name])
        return value

    return convert


def _entry_conversion(entry: Schema, namespace: str, named: dict[str, Schema]) -> Convert:
    """A map whose keys are no texts: JsonConverter writes a list of pairs."""
    convert = _record_conversion(entry, namespace, named)

    def pairs(value: Any) -> Any:
        if value is None:
            return None
        found = [convert(one) if convert else one for one in value]
        return [[one["key"], one["value"]] for one in found]

    return pairs
