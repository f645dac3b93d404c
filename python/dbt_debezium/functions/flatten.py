"""`flatten_message` for Spark SQL: Arrow arrays in, one struct for each message out."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # ships no types
from pyspark.sql import SparkSession
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]  # missing in its stub

from dbt_debezium.errors import DebeziumError
from dbt_debezium.messages.effects import asks_blocking, emptied_by, named_by
from dbt_debezium.messages.envelope import (
    LONGEST_DETAIL,
    NEW_KEY,
    OLD_KEY,
    Headers,
    flatten_message,
)
from dbt_debezium.messages.flat import Flat
from dbt_debezium.messages.hashing import fingerprint, hash_key, hasher
from dbt_debezium.messages.repeated_names import has_repeated_names
from dbt_debezium.messages.units import hashes_of, unit_of
from dbt_debezium.registry.store import landed_schemas
from dbt_debezium.registry.texts import NO_SCHEMAS, Schemas, message_texts, texts
from dbt_debezium.settings import DEFAULTS, Settings

FINGERPRINT = "spark.dbt_debezium.hashes"
"""The setting in which `hash_key_fingerprint` finds which key the session hashes with. Called after
a key, Spark would say of each that it is redacted where `spark.redaction.regex` covers keys."""
COUNTS = T.MapType(T.StringType(), T.LongType())
NOT_TEXT: dict[str, T.DataType] = {
    "is_whole_transaction": T.BooleanType(),
    "event_count": T.LongType(),
    "collection_counts": COUNTS,
    "total_order": T.LongType(),
    "data_collection_order": T.LongType(),
    "committed_at_micros": T.LongType(),
}
TEXTS = T.ArrayType(T.StringType())
FLAT_TYPE = T.StructType(
    [
        T.StructField(name, NOT_TEXT.get(name, T.StringType()), nullable=name != "kind")
        for name in Flat._fields
    ]
    + [
        T.StructField("has_repeated_names", T.BooleanType(), nullable=False),
        T.StructField("unit_kind", T.StringType()),
        T.StructField("unit_id", T.StringType()),
        T.StructField("event_hash", T.LongType()),
        T.StructField("content_hash", T.LongType()),
        T.StructField("order_hash", T.LongType()),
        T.StructField("asks_blocking", T.BooleanType(), nullable=False),
        T.StructField("emptied_tables", TEXTS),
        T.StructField("new_names", TEXTS),
    ]
)
"""The fields of `Flat`, in its order, what `has_repeated_names` says, and what of `evidence.narrow`
follows from the message alone. `event_hash` is null of what is known by its delivery alone."""

ARROW_TYPES: dict[T.DataType, pa.DataType] = {
    T.StringType(): pa.string(),
    T.LongType(): pa.int64(),
    T.BooleanType(): pa.bool_(),
    COUNTS: pa.map_(pa.string(), pa.int64()),
    TEXTS: pa.list_(pa.string()),
}
ARROW_FIELDS = [
    pa.field(column.name, ARROW_TYPES[column.dataType], nullable=column.nullable)
    for column in FLAT_TYPE
]


def flatten_batch(
    topic: pa.Array,
    key: pa.Array,
    value: pa.Array,
    headers: pa.Array,
    settings_text: pa.Array,
    schemas: Schemas = NO_SCHEMAS,
    key_of_hashes: bytes | None = None,
) -> pa.Array:
    """Read a batch of messages, each on its own.

    Args:
        topic: text.
        key: bytes, or text in a lake whose landings were text.
        value: likewise.
        headers: lists of structs of a text and bytes, key and value.
        settings_text: the same JSON text for each message, as `one_settings` takes it.
        schemas: what is known of the registries.
        key_of_hashes: the key that values of hashed columns are hashed with.

    Returns:
        One struct of type FLAT_TYPE for each message, in the messages' order.
    """
    settings = one_settings(settings_text)
    hashed = hasher(settings, key_of_hashes) if settings.hashed else None
    topics = texts(topic)
    keys, values, errors, decoded = message_texts(topics, key, value, headers, schemas)
    messages = zip((name or "" for name in topics), keys, values, key_headers(headers), strict=True)
    rows: list[tuple[object, ...]] = []
    for place, (message, key_text, value_text) in enumerate(
        zip(messages, keys, values, strict=True)
    ):
        if place in errors:
            error = errors[place]
            refused = Flat("quarantined", error.reason, error.detail[:LONGEST_DETAIL])
            rows.append(row_of(refused, is_repeated=False))
            continue
        flat = flatten_message(*message, settings)
        # Avro names each field once.
        named_text = None if place in decoded else value_text
        is_repeated = has_repeated_names(key_text, named_text, flat)
        try:
            rows.append(row_of(flat if hashed is None else hashed(flat), is_repeated))
        except Exception as error:  # as in flatten_message
            refused = Flat("quarantined", "internal_error", type(error).__name__)
            rows.append(row_of(refused, is_repeated))
    columns: Sequence[Sequence[object]] = list(zip(*rows, strict=True)) or [()] * len(ARROW_FIELDS)
    return pa.StructArray.from_arrays(
        [column_array(*column) for column in zip(columns, ARROW_FIELDS, strict=True)],
        fields=ARROW_FIELDS,
    )


def row_of(flat: Flat, is_repeated: bool) -> tuple[object, ...]:
    """A message as the columns of FLAT_TYPE."""
    unit = unit_of(flat)
    return (
        *flat,
        is_repeated,
        unit and unit.kind,
        unit and unit.id,
        *hashes_of(flat),
        asks_blocking(flat),
        emptied_by(flat),
        named_by(flat),
    )


def one_settings(texts: pa.Array) -> Settings:
    """A project's settings, from an array that has the same JSON text all through.

    >>> one_settings(pa.array(['{"cdl_sources":{"bank_*":"bank"}}'] * 2)).cdl_source("bank_1")
    'bank'
    """
    return msgspec.json.decode(texts[0].as_py(), type=Settings) if texts else DEFAULTS


def key_headers(headers: pa.Array) -> list[Headers]:
    """Each message's headers that show a key change; most messages have none."""
    found: list[list[tuple[str, str | None]]] = [[]] * len(headers)
    if pa.types.is_null(headers.type):
        return list(found)
    entries = pc.list_flatten(headers)
    wanted = pc.is_in(pc.struct_field(entries, "key"), pa.array([NEW_KEY, OLD_KEY]))
    names = pc.struct_field(entries, "key").filter(wanted).to_pylist()
    values = texts(pc.struct_field(entries, "value").filter(wanted))
    messages = pc.list_parent_indices(headers).filter(wanted).to_pylist()
    for message, name, value in zip(messages, names, values, strict=True):
        found[message] = [*found[message], (name, value)]
    return list(found)


def column_array(values: Sequence[object], field: pa.Field) -> pa.Array:
    """One column of the batch."""
    if pa.types.is_map(field.type):
        values = [list(value.items()) if isinstance(value, dict) else None for value in values]
    return pa.array(values, type=field.type)


def flattener(schemas: Schemas, key_of_hashes: bytes | None = None) -> Any:
    """`flatten_batch` for Spark, with what is known of the registries, and the key of hashes."""

    def flatten(
        topic: pa.Array, key: pa.Array, value: pa.Array, headers: pa.Array, settings_text: pa.Array
    ) -> pa.Array:
        return flatten_batch(topic, key, value, headers, settings_text, schemas, key_of_hashes)

    return arrow_udf(flatten, FLAT_TYPE)


def register(spark: SparkSession) -> None:
    """Make `flatten_message`, with the arguments of `flatten_batch`, known to the session's SQL.

    It knows the schemas that have landed by now, and those of later landings when it is registered
    again.
    """
    try:
        key = hash_key()
    except DebeziumError:
        key = None  # `check_hash_key` refuses it where columns are hashed
    spark.udf.register("flatten_message", flattener(landed_schemas(spark), key))
    spark.conf.set(FINGERPRINT, fingerprint(key) if key else "")
