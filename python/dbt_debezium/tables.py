"""Which tables the landed messages hold: their columns, keys and simple types.

Types come from a message's schema block where it has one. Without one a value keeps its JSON type,
which is enough to look at data (`preview`); a project that is to last states its types (S19).
"""

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa  # type: ignore[import-untyped] # it has none
from msgspec import Raw, Struct

from dbt_debezium.envelope import flatten_message
from dbt_debezium.flatten import texts
from dbt_debezium.json_text import PAYLOAD, shield

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JSON_TEXT = "string from json"
"""The type of a column whose values are kept as JSON text."""
CONNECT_TYPES = {
    "int8": "smallint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "float32": "float",
    "double": "double",
    "float64": "double",
    "boolean": "boolean",
    "string": "string",
    "bytes": "binary from base64",
}
INTEGERS = ("smallint", "int", "bigint")
"""Each holds what those before it hold."""
DECIMAL = "org.apache.kafka.connect.data.Decimal"
BITS = "io.debezium.data.Bits"
GEOMETRY = "struct<wkb:binary,srid:int> from io.debezium.data.geometry.Geometry"
SPARSE_VECTOR = "struct<dimensions:int,vector:map<int,double>> from io.debezium.data.SparseVector"
LOGICAL_TYPES = {
    "io.debezium.data.SparseDoubleVector": SPARSE_VECTOR,
    "io.debezium.data.SparseVector": SPARSE_VECTOR,
    # Each value has a scale of its own: one decimal type would lose digits.
    "io.debezium.data.VariableScaleDecimal": "string from io.debezium.data.VariableScaleDecimal",
    "io.debezium.data.geometry.Geography": GEOMETRY,
    "io.debezium.data.geometry.Geometry": GEOMETRY,
    "io.debezium.data.geometry.Point": (
        "struct<x:double,y:double,wkb:binary,srid:int> from io.debezium.data.geometry.Point"
    ),
    "io.debezium.time.Date": "date from io.debezium.time.Date",
    "io.debezium.time.IsoDate": "date from io.debezium.time.IsoDate",
    "io.debezium.time.IsoTime": "string from io.debezium.time.IsoTime",
    "io.debezium.time.IsoTimestamp": "timestamp_ntz from io.debezium.time.IsoTimestamp",
    "io.debezium.time.MicroTime": "string from io.debezium.time.MicroTime",
    "io.debezium.time.MicroTimestamp": "timestamp_ntz from io.debezium.time.MicroTimestamp",
    "io.debezium.time.NanoTime": "string from io.debezium.time.NanoTime",
    "io.debezium.time.NanoTimestamp": "timestamp_ntz from io.debezium.time.NanoTimestamp",
    "io.debezium.time.Time": "string from io.debezium.time.Time",
    "io.debezium.time.Timestamp": "timestamp_ntz from io.debezium.time.Timestamp",
    "io.debezium.time.ZonedTimestamp": "timestamp",
    "org.apache.kafka.connect.data.Date": "date from io.debezium.time.Date",
    "org.apache.kafka.connect.data.Time": "string from io.debezium.time.Time",
    "org.apache.kafka.connect.data.Timestamp": "timestamp_ntz from io.debezium.time.Timestamp",
}
"""Logical types by the name in the schema. Those that are not here are what their Connect type is:
text (uuid, json, xml, enum and set, ltree, tsvector, times with zone, intervals) or numbers (years,
durations)."""
COLUMN_TYPE = "__debezium.source.column.type"
COLUMN_COMMENT = "__debezium.source.column.comment"
UNLIMITED = 2**31 - 1
"""Length of a bit varying that has none."""
LARGEST_PRECISION = 38
LARGEST = 2**63


class TableFacts(Struct):
    """One table of one source, as its messages show it."""

    source: str
    schema: str | None
    table: str
    columns: dict[str, set[str]] = {}
    """The JSON types seen in each column, in the columns' order in the source."""
    connect_types: dict[str, str] = {}
    """Column types by a schema block; empty when no message has one."""
    is_keyless: bool = False
    """A message that changes a row came without a key."""
    key_columns: list[str] = []
    """The fields of the messages' keys."""
    comments: dict[str, str] = {}
    """What the source says of a column, where the connector passes it on."""

    @property
    def place(self) -> tuple[str, str | None, str]:
        return self.source, self.schema, self.table

    def types(self) -> dict[str, str]:
        """The columns with their types for `row_history`.

        >>> TableFacts("s", None, "t", {"a": {"int"}, "b": {"int", "string"}, "c": set()}).types()
        {'a': 'bigint', 'b': 'string from json', 'c': 'string'}
        """
        return {
            name: sent_as(self.connect_types[name], json_types)
            if name in self.connect_types
            else type_of(json_types)
            for name, json_types in self.columns.items()
        }

    def merge(self, other: "TableFacts") -> None:
        """Add what other messages of the table, or the same table of another source, have shown."""
        for name, json_types in other.columns.items():
            self.columns.setdefault(name, set()).update(json_types)
        self.merge_types(other.connect_types)
        self.is_keyless |= other.is_keyless
        self.key_columns += [name for name in other.key_columns if name not in self.key_columns]
        self.comments.update(other.comments)

    def merge_types(self, connect_types: dict[str, str]) -> None:
        """Add the types of another schema; of two that differ, what holds the values of both."""
        for name, connect_type in connect_types.items():
            known = self.connect_types.setdefault(name, connect_type)
            if known != connect_type:
                self.connect_types[name] = wider(known, connect_type)


def type_of(json_types: set[str]) -> str:
    """The Spark type that holds values of these JSON types, for `row_history`."""
    if not json_types or json_types == {"string"}:
        return "string"
    if json_types == {"boolean"}:
        return "boolean"
    if json_types == {"int"}:
        return "bigint"
    if json_types <= {"int", "float"}:
        return "double"
    return JSON_TEXT


def wider(one: str, other: str) -> str:
    """The type that holds the values of both.

    >>> wider("int", "smallint"), wider("int", "string")
    ('int', 'string from json')
    """
    if one in INTEGERS and other in INTEGERS:
        return max(one, other, key=INTEGERS.index)
    return JSON_TEXT


def sent_as(connect_type: str, json_types: set[str]) -> str:
    """The type with its encoding, which the converter can change: `decimal.format=NUMERIC`.

    >>> sent_as("decimal(4,2) from org.apache.kafka.connect.data.Decimal(2)", {"float", "int"})
    'decimal(4,2)'
    """
    spark_type, _, encoding = connect_type.partition(" from ")
    if encoding.startswith(DECIMAL) and json_types and "string" not in json_types:
        return spark_type
    return connect_type


def json_type(text: bytes) -> str | None:
    """The JSON type of a value by its text; None for null, which says nothing.

    A number that no column of Spark holds exactly is `other`, and so kept as text.

    >>> [json_type(text) for text in (b"1", b"1e400", b"1.5", b"true", b"[1]", b"null", b'"a"')]
    ['int', 'other', 'float', 'boolean', 'other', None, 'string']
    """
    if text == b"null":
        return None
    if text in {b"true", b"false"}:
        return "boolean"
    if text[:1] == b'"':
        return "string"
    if text[:1] in b"{[":
        return "other"
    if text.lstrip(b"-").isdigit():
        return "int" if -LARGEST <= int(text) < LARGEST else "other"
    return "float" if math.isfinite(float(text)) else "other"


class _Field(Struct):
    type: str | None = None
    name: str | None = None
    field_name: str | None = msgspec.field(name="field", default=None)
    fields: list["_Field"] | None = None
    items: "_Field | None" = None
    keys: "_Field | None" = None
    values: "_Field | None" = None
    parameters: dict[str, str] | None = None


class _Wrapped(Struct):
    schema: _Field | None = None
    payload: Raw = Raw()


_decode_image = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_wrapped = msgspec.json.Decoder(_Wrapped).decode


def connect_type(schema: _Field) -> str:
    """The type of a column by its schema, for `row_history`.

    >>> connect_type(_Field(type="array", items=_Field(type="int32", name="io.debezium.time.Date")))
    'array<date> from array<io.debezium.time.Date>'
    """
    parameters = schema.parameters or {}
    if schema.name in LOGICAL_TYPES:
        return LOGICAL_TYPES[schema.name]
    if schema.name == DECIMAL:
        return decimal_type(parameters)
    if schema.name == BITS:
        return bits_type(parameters)
    if schema.type == "array" and schema.items:
        item_type, _, encoding = connect_type(schema.items).partition(" from ")
        if encoding.startswith(("array", "map", "json")):
            return JSON_TEXT
        # Iceberg has no smallint.
        item_type = item_type.replace("smallint", "int")
        return f"array<{item_type}> from array" + (f"<{encoding}>" if encoding else "")
    if schema.type == "map" and schema.keys and schema.values:
        is_text = schema.keys.type == schema.values.type == "string"
        return "map<string,string> from map" if is_text else JSON_TEXT
    if schema.type == "int64" and "BIGINT UNSIGNED" in parameters.get(COLUMN_TYPE, "").upper():
        return "decimal(20,0) from unsigned bigint"
    return CONNECT_TYPES.get(schema.type or "", JSON_TEXT)


def decimal_type(parameters: dict[str, str]) -> str:
    """The type of a decimal in bytes.

    >>> decimal_type({"scale": "2", "connect.decimal.precision": "10"})
    'decimal(10,2) from org.apache.kafka.connect.data.Decimal(2)'
    >>> decimal_type({"scale": "5", "connect.decimal.precision": "3"})
    'decimal(5,5) from org.apache.kafka.connect.data.Decimal(5)'
    >>> decimal_type({"scale": "2046"})
    'string from org.apache.kafka.connect.data.Decimal(2046)'
    """
    try:
        scale = int(parameters.get("scale", "0"))
        precision = int(parameters.get("connect.decimal.precision", LARGEST_PRECISION))
    except ValueError:
        return "string"
    if scale > LARGEST_PRECISION:
        return f"string from {DECIMAL}({scale})"
    precision = min(max(precision - min(scale, 0), scale, 1), LARGEST_PRECISION)
    return f"decimal({precision},{max(scale, 0)}) from {DECIMAL}({scale})"


def bits_type(parameters: dict[str, str]) -> str:
    """The type of a bit string, with its length where all values have it.

    >>> bits_type({"length": "5"}), bits_type({"length": "2147483647"})
    ('string from io.debezium.data.Bits(5)', 'string from io.debezium.data.Bits')
    """
    length = parameters.get("length", "")
    is_varying = "VAR" in parameters.get(COLUMN_TYPE, "").upper()
    if is_varying or not length.isdecimal() or int(length) == UNLIMITED:
        return f"string from {BITS}"
    return f"string from {BITS}({int(length)})"


def schema_block_columns(value: str) -> list[_Field]:
    """The columns by the schema block of a message; none when it has no such block."""
    try:
        schema = _decode_wrapped(value).schema
    except msgspec.DecodeError:
        return []
    for image in (schema.fields or []) if schema else []:
        if image.field_name == "after":
            return [column for column in image.fields or [] if column.field_name]
    return []


def read_image(image: str) -> dict[str, Raw]:
    """The columns of an image with their values' JSON text."""
    try:
        return _decode_image(image)
    except msgspec.DecodeError:
        # The envelope was read, so what is left to refuse are lone surrogates.
        return _decode_image(shield(image))


def observe(
    messages: Iterable[tuple[str, str | None, str | None]],
) -> Iterator[TableFacts]:
    """Look at messages, and yield what they show of each table, once per table.

    Args:
        messages: topic, key and value of each.
    """
    tables: dict[tuple[str, str | None, str], TableFacts] = {}
    known_schemas: set[tuple[tuple[str, str | None, str], str]] = set()
    for topic, key, value in messages:
        flat = flatten_message(topic, key, value, [])
        if flat.kind != "change" or value is None or not flat.source or not flat.table_name:
            continue
        facts = TableFacts(flat.source, flat.schema_name, flat.table_name)
        facts = tables.setdefault(facts.place, facts)
        # Most messages of a table have one schema block, of 5 kB.
        schema = value[: max(value.find(PAYLOAD), 0)]
        if (facts.place, schema) not in known_schemas:
            known_schemas.add((facts.place, schema))
            columns = schema_block_columns(value)
            facts.merge_types({column.field_name or "": connect_type(column) for column in columns})
            for column in columns:
                if comment := (column.parameters or {}).get(COLUMN_COMMENT):
                    facts.comments[column.field_name or ""] = comment
        if flat.row_key is None:
            facts.is_keyless |= flat.operation != "t"
        elif not facts.key_columns:
            facts.key_columns = list(read_image(flat.row_key))
        # Without a key `before` is a true image; with one its other columns may be made up (S12).
        images = [flat.after] if flat.row_key else [flat.before, flat.after]
        for image in filter(None, images):
            for name, text in read_image(image).items():
                json_types = facts.columns.setdefault(name, set())
                if (shown := json_type(bytes(text))) is not None:
                    json_types.add(shown)
    yield from tables.values()


def observe_batch(topic: pa.Array, key: pa.Array, value: pa.Array) -> pa.Array:
    """Look at a batch of messages.

    Returns:
        For the first message of the batch what the whole batch shows, as JSON; null for the others.
    """
    messages = zip(topic.to_pylist(), texts(key), texts(value), strict=True)
    shown = msgspec.json.encode(list(observe(messages))).decode()
    return pa.array([shown, *[None] * (len(topic) - 1)], pa.string())


def landed_tables(spark: "SparkSession") -> list[TableFacts]:
    """What all landed messages show of each table, in order of source, schema and table."""
    # mapInArrow would say the same without the nulls, but needs pandas.
    from pyspark.sql.functions import arrow_udf, col  # type: ignore[attr-defined] # not in its stub

    messages = spark.table("landing.message")
    # Taken for deterministic, Spark would call it for the filter and once more for what passed.
    shown_by_batch = arrow_udf(observe_batch, "string").asNondeterministic()
    batches = messages.select(shown_by_batch("topic", "key", "value").alias("facts"))
    tables: dict[tuple[str, str | None, str], TableFacts] = {}
    for (shown,) in batches.where(col("facts").isNotNull()).collect():
        for facts in msgspec.json.decode(shown, type=list[TableFacts]):
            if facts.place in tables:
                tables[facts.place].merge(facts)
            else:
                tables[facts.place] = facts
    return sorted(tables.values(), key=lambda facts: [part or "" for part in facts.place])
