"""What is new in an Iceberg table since a snapshot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dbt_debezium.errors import DebeziumError, innermost

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

ADDS_NOTHING: Final = {"replace", "delete"}
"""Operations of snapshots that bring no row: compaction, and retention of the table's own."""


@dataclass(frozen=True, slots=True)
class News:
    """The rows that a table may have beyond what has landed."""

    rows: "DataFrame"
    position: str
    """The snapshot that they reach."""
    may_have_landed: bool
    """Whether rows among them may have landed before: the snapshots do not tell."""


def news_of(spark: "SparkSession", where: str, table: str, landed: str | None) -> News | None:
    """The rows since a snapshot; None where there are none.

    Args:
        where: begins the sentence of an error.
        table: as Spark names it.
        landed: the snapshot up to which it has landed; None for nothing.

    Raises:
        DebeziumError: it is no Iceberg table, or not there.
    """
    from pyspark.errors import PySparkException

    try:
        snapshots = {
            str(row.snapshot_id): row
            for row in spark.sql(
                f"select snapshot_id, parent_id, operation from {table}.snapshots"
            ).collect()
        }
        current = spark.sql(f"select snapshot_id from {table}.refs where name = 'main'").head()
    except PySparkException as error:
        raise DebeziumError(
            f"{where}: {table} cannot be read as an Iceberg table ({innermost(error)}); name one "
            "of a catalog that profiles.yml configures, or Parquet files as `files`"
        ) from error
    if current is None or str(current.snapshot_id) == landed:
        return None
    newest = str(current.snapshot_id)
    since = _since(snapshots, newest, landed)
    reader = spark.read.format("iceberg")
    if since is None:
        # All that is there.
        rows = reader.option("versionAsOf", newest).load(table)
        return News(rows, newest, may_have_landed=landed is not None)
    if all(snapshots[one].operation in ADDS_NOTHING for one in since):
        rows = reader.option("versionAsOf", newest).load(table).limit(0)
        return News(rows, newest, may_have_landed=False)
    if any(snapshots[one].operation == "overwrite" for one in since):
        rows = reader.option("versionAsOf", newest).load(table)
        return News(rows, newest, may_have_landed=True)
    rows = (
        reader.option("start-snapshot-id", str(landed))
        .option("end-snapshot-id", newest)
        .load(table)
    )
    return News(rows, newest, may_have_landed=False)


def _since(snapshots: "Mapping[str, Row]", newest: str, landed: str | None) -> Sequence[str] | None:
    """The snapshots behind the one that has landed; None where it is not among their ancestors."""
    found: list[str] = []
    at: str | None = newest
    while at is not None and at in snapshots:
        if at == landed:
            return found
        found.append(at)
        parent = snapshots[at].parent_id
        at = None if parent is None else str(parent)
    return None
