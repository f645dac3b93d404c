"""Which tables the messages of a lake show, by Spark."""

from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa  # type: ignore[import-untyped] # it has none

from dbt_debezium.functions.flatten import one_settings
from dbt_debezium.registry.store import landed_schemas
from dbt_debezium.registry.texts import NO_SCHEMAS, Schemas, message_texts
from dbt_debezium.scaffold.tables import TableFacts, observe
from dbt_debezium.settings import DEFAULTS, Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def observe_batch(
    topic: pa.Array,
    key: pa.Array,
    value: pa.Array,
    headers: pa.Array,
    settings_text: pa.Array,
    schemas: Schemas = NO_SCHEMAS,
) -> pa.Array:
    """Look at a batch of messages.

    Returns:
        For the first message of the batch what the whole batch shows, as JSON; null for the others.
    """
    topics = topic.to_pylist()
    keys, values, errors, _ = message_texts(topics, key, value, headers, schemas)
    messages = (
        message
        for place, message in enumerate(zip(topics, keys, values, strict=True))
        if place not in errors
    )
    shown = msgspec.json.encode(list(observe(messages, one_settings(settings_text)))).decode()
    return pa.array([shown, *[None] * (len(topic) - 1)], pa.string())


def landed_tables(spark: "SparkSession", settings: Settings = DEFAULTS) -> list[TableFacts]:
    """What all landed messages show of each table, in order of source, schema and table."""
    # mapInArrow would say the same without the nulls, but needs pandas.
    from pyspark.sql.functions import arrow_udf, col, lit  # type: ignore[attr-defined] # not in its stub

    messages = spark.table("landing.message")
    schemas = landed_schemas(spark)

    def observe_known(
        topic: pa.Array, key: pa.Array, value: pa.Array, headers: pa.Array, settings_text: pa.Array
    ) -> pa.Array:
        return observe_batch(topic, key, value, headers, settings_text, schemas)

    # Taken for deterministic, Spark would call it for the filter and once more for what passed.
    shown_by_batch = arrow_udf(observe_known, "string").asNondeterministic()
    settings_text = lit(msgspec.json.encode(settings).decode())
    shown = shown_by_batch("topic", "key", "value", "headers", settings_text)
    batches = messages.select(shown.alias("facts"))
    tables: dict[tuple[str, str | None, str], TableFacts] = {}
    for (found,) in batches.where(col("facts").isNotNull()).collect():
        for facts in msgspec.json.decode(found, type=list[TableFacts]):
            if facts.place in tables:
                tables[facts.place].merge(facts)
            else:
                tables[facts.place] = facts
    # Of other tables the schema-change topic tells too.
    changed = [facts for facts in tables.values() if facts.columns or not facts.announced]
    return sorted(changed, key=lambda facts: [part or "" for part in facts.place])
