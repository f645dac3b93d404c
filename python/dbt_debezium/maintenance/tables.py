"""The tables of this project in a lake, as Iceberg's own metadata describes them.

They are asked through Iceberg's Java library, in the process where Spark plans: a statement of SQL
costs thirty times as much.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from dbt_debezium.errors import DebeziumError
from dbt_debezium.spark.catalogs import DEFAULT_CATALOG
from dbt_debezium.spark.remote import has_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

READ_BY: Final = "dbt_debezium.read_by"
"""A property of each of our tables; one without it is somebody else's."""

HISTORY: Final = "dbt_debezium.model_mark"
"""A property of each history."""

BRANCH: Final = "next"
"""Of a plain public table: what a run has written to it and not yet moved to `main`."""

ReadBy = Literal["queries", "runs"]


class Snapshot(NamedTuple):
    """One snapshot of a table."""

    committed_at: int
    """Milliseconds since 1970."""
    snapshot_id: int


@dataclass(frozen=True, slots=True)
class LakeTable:
    """One table."""

    name: str
    """`schema.table`."""
    read_by: ReadBy
    iceberg: Any
    """Its `org.apache.iceberg.Table`."""

    @property
    def is_history(self) -> bool:
        """Whether it holds the versions of a captured table's rows."""
        return self.iceberg.properties().get(HISTORY) is not None

    @property
    def data_file_count(self) -> int:
        """Of its newest snapshot."""
        return self._total("total-data-files")

    @property
    def delete_file_count(self) -> int:
        """Files of its newest snapshot that name rows of others which are gone."""
        return self._total("total-delete-files")

    @property
    def commit_count(self) -> int:
        """How many commits have changed its rows or files, those of removed snapshots too."""
        return int(self.iceberg.operations().current().lastSequenceNumber())

    def _total(self, name: str) -> int:
        snapshot = self.iceberg.currentSnapshot()
        return int(snapshot.summary().get(name) or 0) if snapshot is not None else 0

    def snapshots(self) -> Iterator[Snapshot]:
        """Its snapshots in the order of their commits, the oldest first."""
        for one in _each(self.iceberg.snapshots()):
            yield Snapshot(one.timestampMillis(), one.snapshotId())

    def shown(self) -> Iterator[Snapshot]:
        """Those that readers of `main` have seen, with the time from which on, in that order."""
        for one in _each(self.iceberg.history()):
            yield Snapshot(one.timestampMillis(), one.snapshotId())

    def has_column(self, name: str) -> bool:
        return self.iceberg.schema().findField(name) is not None


def plain_schema(public_schema: str) -> str:
    """The schema of the plain tables beside the public views (docs/decisions/0022)."""
    return f"{public_schema}_tables"


def lake_tables(spark: "SparkSession", schemas: Sequence[str]) -> Iterator[LakeTable]:
    """Our tables in these schemas, by name.

    Raises:
        DebeziumError: the session is one of Spark Connect, which has no Java library beside it.
    """
    there = {row.namespace for row in spark.sql("show schemas").collect()}
    for schema in (one for one in schemas if one in there):
        rows = spark.sql(f"show tables in {schema}").collect()
        for name in sorted(row.tableName for row in rows):
            if (table := lake_table(spark, f"{schema}.{name}")) is not None:
                yield table


def lake_table(spark: "SparkSession", name: str) -> LakeTable | None:
    """A table of ours; None of one that is somebody else's."""
    if not has_java(spark):
        raise DebeziumError(
            "maintain: Spark Connect has no way to Iceberg's own library; "
            "use another target on the same catalog, such as prod"
        )
    # A thread that has not started Spark knows no default catalog (Spark 4.1).
    whole_name = f"{spark.conf.get(DEFAULT_CATALOG)}.{name}"
    jvm: Any = spark._jvm
    util = jvm.org.apache.iceberg.spark.Spark3Util
    iceberg = util.loadIcebergTable(spark._jsparkSession, whole_name)
    read_by = iceberg.properties().get(READ_BY)
    return LakeTable(name, read_by, iceberg) if read_by in ("queries", "runs") else None


def _each(iterable: Any) -> Iterator[Any]:
    """What a Java iterable holds."""
    iterator = iterable.iterator()
    while iterator.hasNext():
        yield iterator.next()
