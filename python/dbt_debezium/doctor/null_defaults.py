"""Columns in which Kafka Connect may have written the default in place of null.

JsonConverter does so unless `replace.null.with.default=false`, and a message does not show it
(Kafka Connect 4.3.1). A column that holds a null shows that the setting is right.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.landing.land import TABLE
from dbt_debezium.names import listed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAMPLED_LANDINGS: Final = 50
"""The newest ones: to look at all of a large lake would take long."""
SAMPLED_OFFSETS: Final = 20
"""Of each partition, at the end of what these landings brought."""
SAMPLE: Final = f"""
with newest as (
    select topic, partition, `offset`, value from {TABLE}
    where landing_id > (select max(landing_id) from {TABLE}) - {SAMPLED_LANDINGS}
)
select newest.topic, cast(newest.value as string) as value
from newest
inner join (
    select topic, partition, max(`offset`) as last_offset from newest
    group by topic, partition
) as ending
    on newest.topic = ending.topic and newest.partition = ending.partition
where newest.`offset` > ending.last_offset - {SAMPLED_OFFSETS} and newest.value is not null
"""


def null_default_sentences(spark: "SparkSession") -> list[str]:
    """One sentence for all topics that have such columns."""
    if not spark.catalog.tableExists(TABLE):
        return []
    columns: dict[str, set[str]] = defaultdict(set)
    with_null: set[str] = set()
    for topic, text in spark.sql(SAMPLE).collect():
        for name, is_null in columns_with_default(text):
            columns[topic].add(name)
            if is_null:
                with_null.add(topic)
    found = sorted(
        f"{topic}.{name}" for topic in columns.keys() - with_null for name in columns[topic]
    )
    if not found:
        return []
    return [
        f"{listed(found, 'columns')}: may be null and have a default, which Kafka Connect writes "
        "in place of null; set value.converter.replace.null.with.default=false at the connector, "
        "unless it is set"
    ]


def columns_with_default(text: str) -> Iterator[tuple[str, bool]]:
    """Columns of a change with a schema block that may be null and have a default.

    Yields:
        The column's name, and whether the row has a null there.

    >>> fields = [{"field": "a", "optional": True, "default": 1}, {"field": "b", "optional": True}]
    >>> after = {"field": "after", "type": "struct", "fields": fields}
    >>> payload = {"after": {"a": 1, "b": None}}
    >>> [*columns_with_default(json.dumps({"schema": {"fields": [after]}, "payload": payload}))]
    [('a', False)]
    """
    try:
        message = json.loads(text)
        blocks: Iterable[Mapping[str, Any]] = message["schema"]["fields"]
        row = message["payload"]["after"] or {}
        (after,) = (block for block in blocks if block["field"] == "after")
        fields: Iterable[Mapping[str, Any]] = after["fields"]
        for field in fields:
            if field.get("optional") and field.get("default") is not None:
                yield field["field"], row.get(field["field"], "") is None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        # No change with a schema block: nothing tells its defaults.
        return
