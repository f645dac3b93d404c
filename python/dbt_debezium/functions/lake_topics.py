"""`place_topics` for Spark SQL: what has landed of all topics in, one row for each topic out."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udtf

from dbt_debezium.evidence.lake_topics import LakeTopic, Seen, lake_topics, prefix_of
from dbt_debezium.evidence.topics import SentChanges, SentEnd
from dbt_debezium.functions.columns import sql_columns

TEXTS: Final = pa.list_(pa.string())
GIVEN: Final = pa.schema(
    [
        ("said", pa.string()),
        ("topic", pa.string()),
        ("source", pa.string()),
        ("connector", pa.string()),
        ("database_name", pa.string()),
        ("kind", pa.string()),
        ("landing_id", pa.int64()),
        ("offset", pa.int64()),
        ("message_count", pa.int64()),
        ("transaction_id", pa.string()),
        ("data_collection", pa.string()),
        ("position", pa.string()),
        ("collection_counts", pa.map_(pa.string(), pa.int64())),
        ("sources", TEXTS),
        ("is_leading", pa.bool_()),
        ("has_controls", pa.bool_()),
    ]
)
"""The columns of a row. What it is about stands in `said`:

- `seen`: messages of this run, by topic, source, connector, database and kind.
- `known`: a topic, as an earlier run has placed it; `source` is its topic_source, `kind` its
  marker_source.
- `published`: a source that has a commit.
- `fetched`: a topic that a landing has read.
- `end`: an END of a topic that no name places.
- `changes`: of a transaction with such an END and one table.
- `settings`: in `source` what `connector_settings` says of the project.
"""
SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("sources", TEXTS),
        ("topic_source", pa.string()),
        ("marker_source", pa.string()),
        ("shown_prefixes", TEXTS),
        ("is_leading", pa.bool_()),
        ("has_controls", pa.bool_()),
        ("marker_count", pa.int64()),
        ("role", pa.string()),
        ("judged_sources", TEXTS),
    ]
)


class PlaceTopics:
    """The table function. It is given the rows of the whole lake, in batches."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []

    def eval(self, rows: pa.Table) -> Iterator[pa.Table]:
        """Take in a batch; nothing is known before the last one."""
        self._rows += rows.to_pylist()
        return iter(())

    def terminate(self) -> Iterator[pa.Table]:
        """Place the topics; nothing in a task of Spark that no row has come to."""
        if self._rows:
            found = [one._asdict() for one in placed(self._rows)]
            yield pa.Table.from_pylist(found, schema=SCHEMA)


def placed(rows: list[dict[str, Any]]) -> list[LakeTopic]:
    """The topics that rows of GIVEN tell of."""
    by: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by.setdefault(row["said"], []).append(row)
    return lake_topics(
        [Seen(*(row[name] for name in Seen._fields)) for row in by.get("seen", ())],
        [
            LakeTopic(
                row["topic"],
                tuple(row["sources"] or ()),
                row["source"],
                row["kind"],
                is_leading=row["is_leading"],
                has_controls=row["has_controls"],
            )
            for row in by.get("known", ())
        ],
        published={row["source"] for row in by.get("published", ())},
        fetched=[row["topic"] for row in by.get("fetched", ())],
        ends=[
            SentEnd(
                row["topic"],
                row["connector"],
                row["database_name"],
                row["transaction_id"],
                row["position"],
                dict(row["collection_counts"] or ()),
            )
            for row in by.get("end", ())
        ],
        changes=[
            SentChanges(
                prefix_of(row["source"], row["connector"], row["database_name"]),
                row["connector"],
                row["database_name"],
                row["transaction_id"],
                row["data_collection"],
                row["message_count"],
                row["position"],
            )
            for row in by.get("changes", ())
        ],
        settings=_transaction_topics(by.get("settings", ())),
    )


def _transaction_topics(rows: Iterable[dict[str, Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in rows:
        found |= msgspec.json.decode(row["source"])["transaction_topics"]
    return found


def register(spark: SparkSession) -> None:
    """Make `place_topics(table(…) partition by 'lake')` known to the session's SQL."""
    function: Any = arrow_udtf(PlaceTopics, returnType=sql_columns(SCHEMA))
    spark.udtf.register("place_topics", function)
