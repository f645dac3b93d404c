"""Messages of JsonConverter with schema blocks as an Avro converter of Connect writes them.

The mapping is that of Confluent's and Apicurio's AvroData: `connect.name`, `connect.type`,
`connect.parameters` and `connect.default` keep what Avro has no word for.
"""

import io
import json
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

import fastavro

from dbt_debezium.messages.column_types import DECIMAL

KINDS = {
    "int8": "int", "int16": "int", "int32": "int", "int64": "long", "float": "float",
    "double": "double", "boolean": "boolean", "string": "string", "bytes": "bytes",
}  # fmt: skip
LOGICAL = {
    DECIMAL: "decimal",
    "org.apache.kafka.connect.data.Date": "date",
    "org.apache.kafka.connect.data.Time": "time-millis",
    "org.apache.kafka.connect.data.Timestamp": "timestamp-millis",
}


class Writer:
    """Gives each schema block a number, and writes payloads of it."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        """Avro's schemas by number."""
        self._known: dict[str, tuple[int, Any]] = {}

    def written(self, wrapped: str | None) -> bytes | None:
        """A key or value in Confluent's framing."""
        if wrapped is None:
            return None
        document = json.loads(wrapped)
        block = document["schema"]
        text = json.dumps(block)
        if text not in self._known:
            schema = avro_schema(block, set())
            number = len(self._known) + 1
            self.texts[str(number)] = json.dumps(schema)
            self._known[text] = number, fastavro.parse_schema(without_logical_types(schema))
        number, schema = self._known[text]
        file = io.BytesIO()
        file.write(b"\0" + number.to_bytes(4, "big"))
        fastavro.schemaless_writer(file, schema, avro_value(block, document["payload"]))
        return file.getvalue()


def avro_schema(block: Mapping[str, Any], names: set[str]) -> Any:
    """The Avro schema of a schema block.

    Args:
        block: the schema block.
        names: records that are defined already; a second use is their name.
    """
    kind, name = block["type"], str(block.get("name") or "")
    schema: Any
    if kind == "struct":
        if name in names:
            return ["null", name] if block.get("optional") else name
        names.add(name)
        space, _, short = name.rpartition(".")
        schema = {
            "type": "record",
            "name": short,
            "namespace": space,
            "fields": [avro_field(field, names) for field in block["fields"]],
        }
    elif kind == "array":
        schema = {"type": "array", "items": avro_schema(block["items"], names)}
    elif kind == "map" and block["keys"]["type"] == "string":
        schema = {"type": "map", "values": avro_schema(block["values"], names)}
    elif kind == "map":
        entry = {
            "type": "record",
            "name": "MapEntry",
            "namespace": "io.confluent.connect.avro",
            "fields": [
                {"name": part, "type": avro_schema(block[f"{part}s"], names)}
                for part in ("key", "value")
            ],
        }
        schema = {"type": "array", "items": entry}
    else:
        schema = {"type": KINDS[kind]}
        if kind in ("int8", "int16"):
            schema["connect.type"] = kind
    if name:
        schema["connect.name"] = name
    if block.get("parameters"):
        schema["connect.parameters"] = block["parameters"]
    if name == DECIMAL:
        precision = int(block["parameters"].get("connect.decimal.precision", 64))
        schema |= {"scale": int(block["parameters"]["scale"]), "precision": precision}
    if name in LOGICAL:
        schema["logicalType"] = LOGICAL[name]
    default = block.get("default")
    if default is not None:
        schema["connect.default"] = avro_default(block, default)
    if not block.get("optional"):
        return schema
    return ["null", schema] if default is None else [schema, "null"]


def avro_field(block: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    """A field of a record."""
    field = {"name": block["field"], "type": avro_schema(block, names)}
    if block.get("default") is not None:
        field["default"] = avro_default(block, block["default"])
    elif block.get("optional"):
        field["default"] = None
    return field


def avro_default(block: Mapping[str, Any], value: Any) -> Any:
    """A default, whose bytes are a text with a character for each."""
    return b64decode(value).decode("latin-1") if block["type"] == "bytes" else value


def avro_value(block: Mapping[str, Any], value: Any) -> Any:
    """A value of JsonConverter as fastavro takes it."""
    if value is None:
        return None
    kind = block["type"]
    if kind == "struct":
        return {
            field["field"]: avro_value(field, value[field["field"]]) for field in block["fields"]
        }
    if kind == "array":
        return [avro_value(block["items"], item) for item in value]
    if kind == "map" and isinstance(value, dict):
        return {name: avro_value(block["values"], item) for name, item in value.items()}
    if kind == "map":
        return [
            {"key": avro_value(block["keys"], key), "value": avro_value(block["values"], item)}
            for key, item in value
        ]
    if kind == "bytes":
        return b64decode(value)
    return float(value) if kind in ("float", "double") else value


def without_logical_types(schema: Any) -> Any:
    """The schema for values that are numbers and bytes already."""
    if isinstance(schema, list):
        return [without_logical_types(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: without_logical_types(value) if name in ("type", "items", "values") else value
        for name, value in schema.items()
        if name not in ("logicalType", "fields", "default")
    } | (
        {
            "fields": [
                {"name": field["name"], "type": without_logical_types(field["type"])}
                for field in schema["fields"]
            ]
        }
        if "fields" in schema
        else {}
    )
