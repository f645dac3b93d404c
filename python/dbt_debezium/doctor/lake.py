"""The lake: what has landed, what is published, and whether executors can read messages."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.doctor.finding import Finding
from dbt_debezium.functions.flatten import register
from dbt_debezium.lake_format import FORMAT
from dbt_debezium.landing.land import TABLE
from dbt_debezium.lease.row import read_row
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.status.notices import idle_decisions, unplaced_topics, unpublished_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


NO_HEADERS: Final = "cast(array() as array<struct<key: string, value: binary>>)"
"""As a landing writes them: a list without a type is none that the reader of messages knows."""


def format_findings(spark: "SparkSession") -> Iterator[Finding]:
    """Of the format of a lake. Of a newer one this version cannot say more."""
    if seen := read_row(spark):
        yield Finding(
            "ok",
            f"lake: its tables have format {seen.lake_format}; this version writes format {FORMAT}",
        )


def lake_findings(
    spark: "SparkSession", report: Sequence[dict[str, Any]], schema: str
) -> Iterator[Finding]:
    """Of one lake.

    Args:
        spark: a session on it.
        report: what `cut_report` says of it.
        schema: the schema that models are built in.
    """
    register(spark)
    spark.sql(
        f"select flatten_message('t', binary('{{}}'), binary('{{}}'), {NO_HEADERS}, '{{}}') "
        "from range(1)"
    ).collect()
    yield Finding("ok", f"spark: {spark.version} reads messages with Python")
    if not spark.catalog.tableExists(TABLE):
        yield Finding("note", "lake: nothing has landed; run `dbt-debezium land`")
        return
    if not report:
        yield Finding("note", "lake: nothing is published; run `dbt-debezium run`")
    for entry in report:
        yield Finding(
            "ok",
            f"lake: {entry['source']} is published up to commit {entry['commit_number']:,} "
            f"({entry['committed_at'] or 'no commit yet'})",
        )
    lake = SparkReader(spark)
    if unpublished := unpublished_run(lake, schema):
        yield Finding("wrong", f"lake: {unpublished}; `dbt-debezium run` says why")
    for sentence in unplaced_topics(lake, schema):
        yield Finding("wrong", sentence)
    for sentence in idle_decisions(lake, report, schema):
        yield Finding("note", sentence)
