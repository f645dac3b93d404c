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
from dbt_debezium.json_text import shield

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
}
LOGICAL_TYPES = {
    "io.debezium.time.Date": "date from io.debezium.time.Date",
    "io.debezium.time.Timestamp": "timestamp_ntz from io.debezium.time.Timestamp",
    "io.debezium.time.MicroTimestamp": "timestamp_ntz from io.debezium.time.MicroTimestamp",
    "io.debezium.time.ZonedTimestamp": "timestamp",
    "org.apache.kafka.connect.data.Date": "date from io.debezium.time.Date",
    "org.apache.kafka.connect.data.Timestamp": "timestamp_ntz from io.debezium.time.Timestamp",
}
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

    @property
    def place(self) -> tuple[str, str | None, str]:
        return self.source, self.schema, self.table

    def types(self) -> dict[str, str]:
        """The columns with their types for `row_history`.

        >>> TableFacts("s", None, "t", {"a": {"int"}, "b": {"int", "string"}, "c": set()}).types()
        {'a': 'bigint', 'b': 'string from json', 'c': 'string'}
        """
        return {
            name: self.connect_types.get(name) or type_of(json_types)
            for name, json_types in self.columns.items()
        }

    def merge(self, other: "TableFacts") -> None:
        """Add what other messages of the table, or the same table of another source, have shown."""
        for name, json_types in other.columns.items():
            self.columns.setdefault(name, set()).update(json_types)
        for name, connect_type in other.connect_types.items():
            if self.connect_types.setdefault(name, connect_type) != connect_type:
                self.connect_types[name] = JSON_TEXT
        self.is_keyless |= other.is_keyless


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


class _Wrapped(Struct):
    schema: _Field | None = None
    payload: Raw = Raw()


_decode_image = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_wrapped = msgspec.json.Decoder(_Wrapped).decode


def schema_block_types(value: str) -> dict[str, str]:
    """Column types by the schema block of a message; empty when it has none."""
    try:
        schema = _decode_wrapped(value).schema
    except msgspec.DecodeError:
        return {}
    for image in (schema.fields or []) if schema else []:
        if image.field_name == "after":
            return {
                column.field_name: LOGICAL_TYPES.get(column.name or "")
                or (
                    CONNECT_TYPES.get(column.type or "", JSON_TEXT)
                    if column.type != "bytes"
                    else "string"
                )
                for column in image.fields or []
                if column.field_name
            }
    return {}


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
    for topic, key, value in messages:
        flat = flatten_message(topic, key, value, [])
        if flat.kind != "change" or value is None or not flat.source or not flat.table_name:
            continue
        place = (flat.source, flat.schema_name, flat.table_name)
        facts = tables.get(place)
        if facts is None:
            facts = tables[place] = TableFacts(*place)
            facts.connect_types = schema_block_types(value)
        if flat.operation != "t" and flat.row_key is None:
            facts.is_keyless = True
        # Without a key `before` is a true image; with one its other columns may be made up (S12).
        images = [flat.after] if flat.row_key else [flat.before, flat.after]
        for image in filter(None, images):
            for name, column in read_image(image).items():
                json_types = facts.columns.setdefault(name, set())
                if (shown := json_type(bytes(column))) is not None:
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
