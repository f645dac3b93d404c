"""What is published against what should be: one full outer join per table, for all sources."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everywhere

from histories.plan import TABLES


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """One row, or one cut, that is not as expected."""

    source: str
    table: str
    """`published_cut` for a cut."""
    expected: str | None
    """The row as JSON and how often it is there; None when it should not be."""
    found: str | None

    def __str__(self) -> str:
        return f"{self.source} {self.table}: expected {self.expected}, found {self.found}"


LIMIT = 200
"""How many differences of each table are told."""


def differences(
    spark: SparkSession, expected: Path, landing: int, unjudged: Collection[str] = ()
) -> list[Difference]:
    """Compare the public schema with what `write_expected` wrote for a landing.

    Args:
        spark: the session of the lake.
        expected: the folder of the expectation.
        landing: the landing that was built last.
        unjudged: sources that are in the lake too, and not compared.
    """
    found = _cut_differences(spark, expected, landing, unjudged)
    for table in TABLES:
        found += _row_differences(spark, expected, landing, table, unjudged)
    return sorted(found, key=str)


def _cut_differences(
    spark: SparkSession, expected: Path, landing: int, unjudged: Collection[str]
) -> list[Difference]:
    wanted = spark.read.parquet(str(expected / f"cuts_{landing}.parquet")).alias("wanted")
    shown = (
        spark.table("public.published_cut")
        .where(~F.col("source").isin(*unjudged))
        .select("source", "commit_number", "commit_position", "transaction_id", "proof")
        .alias("shown")
    )
    same = (
        F.col("wanted.source").isNotNull()
        & F.col("shown.source").isNotNull()
        # Not compared: a number that is not determined, and the position that a snapshot is given.
        & F.coalesce(F.col("wanted.commit_number") == F.col("shown.commit_number"), F.lit(True))
        & F.coalesce(F.col("wanted.commit_position") == F.col("shown.commit_position"), F.lit(True))
        & F.col("wanted.transaction_id").eqNullSafe(F.col("shown.transaction_id"))
        & (F.col("wanted.proof") == F.col("shown.proof"))
    )
    joined = wanted.join(shown, F.col("wanted.source") == F.col("shown.source"), how="full_outer")
    return _told(joined.where(~same), "published_cut")


def _row_differences(
    spark: SparkSession, expected: Path, landing: int, table: str, unjudged: Collection[str]
) -> list[Difference]:
    wanted = (
        spark.read.parquet(str(expected / f"rows_{landing}.parquet"))
        .where(F.col("table_name") == table)
        .select("source", "row", "row_count")
        .alias("wanted")
    )
    columns = [F.col(name) for name in TABLES[table].columns]
    shown = (
        spark.table(f"public.{table}")
        .where(~F.col("_change.source").isin(*unjudged))
        .groupBy(
            F.col("_change.source").alias("source"),
            F.to_json(F.struct(*columns), {"ignoreNullFields": "false"}).alias("row"),
        )
        .agg(F.count(F.lit(1)).alias("row_count"))
        .alias("shown")
    )
    joined = wanted.join(
        shown,
        (F.col("wanted.source") == F.col("shown.source"))
        & (F.col("wanted.row") == F.col("shown.row")),
        how="full_outer",
    )
    same = F.col("wanted.row_count").eqNullSafe(F.col("shown.row_count"))
    return _told(joined.where(~same), table)


def _told(joined: DataFrame, table: str) -> list[Difference]:
    sides = [
        F.when(F.col(f"{side}.source").isNotNull(), F.to_json(F.struct(f"{side}.*"))).alias(side)
        for side in ("wanted", "shown")
    ]
    source = F.coalesce("wanted.source", "shown.source").alias("source")
    return [
        Difference(row["source"], table, row["wanted"], row["shown"])
        for row in joined.select(source, *sides).limit(LIMIT).collect()
    ]


def failing(found: list[Difference]) -> list[str]:
    """The histories that differ, each once."""
    return sorted({difference.source.partition(".")[0] for difference in found})
