"""An Avro schema as the schema block that Kafka Connect's JsonConverter writes.

Connect's Avro converters keep what Avro has no word for in properties: `connect.name` is the
logical type, `connect.type` a smaller integer (Confluent's and Apicurio's AvroData). Without them
(`connect.meta.data=false`) Avro's own logical types say it.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Final

from dbt_debezium.messages.column_types import DECIMAL

Schema = dict[str, Any]

TYPES: Final = {
    "boolean": "boolean",
    "bytes": "bytes",
    "double": "double",
    "enum": "string",
    "fixed": "bytes",
    "float": "float",
    "int": "int32",
    "long": "int64",
    "string": "string",
}
SMALL: Final = ("int8", "int16")
LOGICAL: Final = {
    "date": "org.apache.kafka.connect.data.Date",
    "decimal": DECIMAL,
    "local-timestamp-micros": "io.debezium.time.MicroTimestamp",
    "local-timestamp-millis": "io.debezium.time.Timestamp",
    "time-micros": "io.debezium.time.MicroTime",
    "time-millis": "org.apache.kafka.connect.data.Time",
    "timestamp-micros": "io.debezium.time.MicroTimestamp",
    "timestamp-millis": "org.apache.kafka.connect.data.Timestamp",
}
"""Avro's logical types by what JsonConverter would call the same number."""
NAMED: Final = ("record", "enum", "fixed")


class SchemaError(ValueError):
    """Why a schema cannot be read. It holds names of fields and types, and no value."""


def full_name(schema: Mapping[str, Any], namespace: str) -> str:
    """The name of a record, an enum or a fixed.

    >>> full_name({"name": "Value", "namespace": "shop"}, ""), full_name({"name": "a.B"}, "c")
    ('shop.Value', 'a.B')
    """
    name = str(schema["name"])
    space = str(schema.get("namespace", namespace))
    return name if "." in name or not space else f"{space}.{name}"


def resolved(schema: Any, namespace: str, named: Mapping[str, Schema]) -> tuple[Schema, str, bool]:
    """A type as an object, with the namespace inside of it, and whether it may be null.

    Args:
        schema: a type of an Avro schema: a name, a union or an object.
        namespace: in which names stand without one.
        named: the named types that were met, by full name.

    Raises:
        SchemaError: a union of several types, or a name that is not known.
    """
    if isinstance(schema, list):
        branches = [branch for branch in schema if branch != "null"]
        if len(branches) != 1:
            raise SchemaError("a union of several types")
        found, inner, _ = resolved(branches[0], namespace, named)
        return found, inner, True
    if isinstance(schema, str):
        if schema in TYPES or schema == "null":
            return {"type": schema}, namespace, schema == "null"
        name = schema if "." in schema or not namespace else f"{namespace}.{schema}"
        known = named.get(name) or named.get(schema)
        if known is None:
            raise SchemaError(f"the type {schema}, which it does not define")
        return known, name.rpartition(".")[0], False
    if isinstance(schema.get("type"), (dict, list)):
        return resolved(schema["type"], namespace, named)
    if schema["type"] not in (*TYPES, *NAMED, "array", "map", "null"):
        return resolved(schema["type"], namespace, named)
    if schema["type"] in NAMED:
        return schema, full_name(schema, namespace).rpartition(".")[0], False
    return schema, namespace, schema["type"] == "null"


def is_map_entry(schema: Any) -> bool:
    """Whether a list's items are the entries of a map whose keys are no texts."""
    if not isinstance(schema, dict) or schema.get("type") != "record":
        return False
    if [field["name"] for field in schema["fields"]] != ["key", "value"]:
        return False
    is_marked = schema.get("connect.internal.type") == "MapEntry"
    return is_marked or str(schema["name"]).rpartition(".")[2] == "MapEntry"


def connect_schema(
    schema: Any,
    namespace: str = "",
    named: dict[str, Schema] | None = None,
    depth: int = 0,
    met: Iterator[int] | None = None,
) -> Schema:
    """The schema block of a type.

    Args:
        schema: a type of an Avro schema.
        namespace: in which names stand without one.
        named: takes the named types that are met.
        depth: levels above.
        met: counts the types.

    Raises:
        SchemaError: Kafka Connect has no such type, it contains itself, or it has too many.

    >>> connect_schema({"type": "int", "connect.name": "io.debezium.time.Date"})
    {'type': 'int32', 'optional': False, 'name': 'io.debezium.time.Date'}
    >>> connect_schema(["null", {"type": "bytes", "logicalType": "decimal", "precision": 4,
    ...     "scale": 2}])["parameters"]
    {'scale': '2', 'connect.decimal.precision': '4'}
    """
    if depth > DEEPEST:
        raise SchemaError("a type that contains itself, or over 50 levels")
    named = {} if named is None else named
    met = count(1) if met is None else met
    # Each named type is written out wherever it is used: of fifty, each with two fields of the one
    # before it, that would be 2^50.
    if next(met) > MOST_TYPES:
        raise SchemaError(f"over {MOST_TYPES} types, each counted wherever it is used")
    found, inner, is_optional = resolved(schema, namespace, named)
    kind = found["type"]
    if kind in NAMED:
        named[full_name(found, namespace)] = found
    block: Schema = {"type": TYPES.get(kind, kind), "optional": is_optional}
    if kind == "fixed" and not found["size"] > 0:
        raise SchemaError("a fixed of no bytes")
    if kind == "null":
        raise SchemaError("a field that is always null")
    if kind == "int" and found.get("connect.type") in SMALL:
        block["type"] = found["connect.type"]
    elif kind == "record":
        block |= {"type": "struct", "fields": _fields(found, inner, named, depth, met)}
    elif kind == "map":
        block |= {
            "keys": {"type": "string", "optional": False},
            "values": connect_schema(found["values"], inner, named, depth + 1, met),
        }
    elif kind == "array" and is_map_entry(found["items"]):
        entry = {one["field"]: one for one in _fields(found["items"], inner, named, depth, met)}
        block |= {"type": "map", "keys": entry["key"], "values": entry["value"]}
    elif kind == "array":
        block["items"] = connect_schema(found["items"], inner, named, depth + 1, met)
        if takes_no_bytes(block["items"]):
            raise SchemaError("a list of what takes no bytes, so that its length could be any")
    name = found.get("connect.name") or LOGICAL.get(found.get("logicalType", ""))
    if name is None and kind == "record":
        name = full_name(found, namespace)
    if name is not None:
        block["name"] = name
    if parameters := _parameters(found, name):
        block["parameters"] = parameters
    if "connect.default" in found:
        block["default"] = _default(kind, found["connect.default"])
    return block


DEEPEST: Final = 50
MOST_TYPES: Final = 10_000
"""A table of 1,000 columns has some 2,100: its columns twice, and the rest of the envelope."""


def takes_no_bytes(block: Schema) -> bool:
    """Whether values of a type are nothing in Avro, as records without fields are.

    >>> takes_no_bytes({"type": "struct", "optional": False, "fields": []})
    True
    """
    is_struct = block["type"] == "struct" and not block["optional"]
    return is_struct and all(map(takes_no_bytes, block["fields"]))


def _fields(
    record: Schema, namespace: str, named: dict[str, Schema], depth: int, met: Iterator[int]
) -> list[Schema]:
    fields = []
    for field in record["fields"]:
        try:
            block = connect_schema(field["type"], namespace, named, depth + 1, met)
        except SchemaError as error:
            raise SchemaError(f"{field['name']}: {error}") from None
        if field.get("default") is not None and "default" not in block:
            found, _, _ = resolved(field["type"], namespace, named)
            block["default"] = _default(found["type"], field["default"])
        fields.append(block | {"field": field["name"]})
    return fields


def _parameters(schema: Schema, name: str | None) -> dict[str, str]:
    parameters = {key: str(value) for key, value in schema.get("connect.parameters", {}).items()}
    if name == DECIMAL:
        parameters.setdefault("scale", str(schema.get("scale", 0)))
        if "precision" in schema:
            parameters.setdefault("connect.decimal.precision", str(schema["precision"]))
    return parameters


def _default(kind: str, value: Any) -> Any:
    """A default, whose bytes Avro writes as text, a character for each byte."""
    if kind in ("bytes", "fixed") and isinstance(value, str):
        return b64encode(value.encode("latin-1", "replace")).decode()
    return value
