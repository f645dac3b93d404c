"""The one row of `landing.lease`, which all machines of a catalog see, and its compare-and-set.

Iceberg is asked through its Java library, because a statement of Spark costs ten times as much.
A replacement names the snapshot that was read. It fails if another one has been committed since.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped] # it has no types

from dbt_debezium.errors import DebeziumError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE: Final = "landing.lease"
DEFAULT_CATALOG: Final = "spark.sql.defaultCatalog"

CREATE_TABLE: Final = f"""
create table if not exists {TABLE} (
    token string comment 'Of the run that holds the lake, another one for each; null: none does.',
    machine string comment 'Names the lock file that the holder has locked.',
    holder string comment 'Its host and process.',
    command string comment 'What it runs.',
    taken_at timestamp comment 'By the clock of the holder, like the two others, UTC.',
    heartbeat_at timestamp comment 'When it last renewed its lease.',
    expires_at timestamp comment 'Others may take the lease some time after this.',
    landing_id int comment 'The newest number that a landing got; no other landing gets it.'
)
using iceberg
tblproperties (
    'format-version' = '2',
    'write.metadata.delete-after-commit.enabled' = 'true',
    'write.metadata.previous-versions-max' = '20',
    'dbt_debezium.read_by' = 'runs'
)
"""


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """Columns of the table. A row without a token but with a holder was taken from it by force."""

    token: str | None
    machine: str | None
    holder: str | None
    command: str | None
    taken_at: datetime | None
    heartbeat_at: datetime | None
    expires_at: datetime | None
    landing_id: int

    def __str__(self) -> str:
        return f"{self.holder}, {self.command}"


FREE: Final = LeaseRow(None, None, None, None, None, None, None, 0)
TIMES: Final = ("taken_at", "heartbeat_at", "expires_at")


@dataclass(frozen=True, slots=True)
class Seen:
    """The row, and the table as it was read."""

    row: LeaseRow | None
    """None before the first run."""
    table: Any
    """An `org.apache.iceberg.Table`."""


def read_row(spark: "SparkSession") -> Seen | None:
    """The row as it is now; None where the catalog has no such table."""
    if not spark.catalog.tableExists(TABLE):
        return None
    jvm = java_of(spark)
    table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
        spark._jsparkSession, f"{spark.conf.get(DEFAULT_CATALOG)}.{TABLE}"
    )
    records = jvm.org.apache.iceberg.data.IcebergGenerics.read(table).build()
    try:
        iterator = records.iterator()
        return Seen(_row(iterator.next()) if iterator.hasNext() else None, table)
    finally:
        records.close()


def create_table(spark: "SparkSession") -> None:
    """Create the table where it is not there. Of two machines, one creates it."""
    spark.sql(f"create schema if not exists {TABLE.partition('.')[0]}")
    spark.sql(CREATE_TABLE)


def replace_row(spark: "SparkSession", seen: Seen, row: LeaseRow) -> bool:
    """Put a row in the place of the one that was seen.

    Returns:
        False where another one has been put there since.
    """
    table, jvm = seen.table, java_of(spark)
    overwrite = (
        table.newOverwrite()
        .overwriteByRowFilter(jvm.org.apache.iceberg.expressions.Expressions.alwaysTrue())
        .addFile(_written(jvm, table, row))
        .validateNoConflictingData()
        .validateNoConflictingDeletes()
    )
    snapshot = table.currentSnapshot()
    if snapshot is not None:
        overwrite = overwrite.validateFromSnapshot(snapshot.snapshotId())
    try:
        overwrite.commit()
    except Py4JJavaError:
        # Whatever the catalog says of a commit: what it holds now tells whether it came about.
        now = read_row(spark)
        if now is not None and now.row == row:
            return True
        if now is not None and now.row == seen.row:
            raise
        return False
    return True


def java_of(spark: "SparkSession") -> Any:
    """py4j's view of the Java process.

    Raises:
        DebeziumError: the session is one of Spark Connect.
    """
    jvm: Any = getattr(spark, "_jvm", None)
    if jvm is None:
        raise DebeziumError(
            "lake: its lease cannot be taken through Spark Connect; "
            "use a target of method session to write"
        )
    return jvm


def _written(jvm: Any, table: Any, row: LeaseRow) -> Any:
    """A data file with the row, which no snapshot names yet."""
    record = jvm.org.apache.iceberg.data.GenericRecord.create(table.schema())
    for name in LeaseRow.__slots__:
        value = getattr(row, name)
        if isinstance(value, datetime):
            value = jvm.java.time.OffsetDateTime.parse(value.isoformat())
        record.setField(name, value)
    path = table.locationProvider().newDataLocation(f"{uuid.uuid4().hex}.parquet")
    file = jvm.org.apache.iceberg.encryption.EncryptedFiles.plainAsEncryptedOutput(
        table.io().newOutputFile(path)
    )
    factory = getattr(jvm.org.apache.iceberg.data, "GenericFileWriterFactory$Builder")(table)
    writer = factory.build().newDataWriter(file, table.spec(), None)
    writer.write(record)
    writer.close()
    return writer.toDataFile()


def _row(record: Any) -> LeaseRow:
    values = {name: record.getField(name) for name in LeaseRow.__slots__}
    for name in TIMES:
        if values[name] is not None:
            values[name] = datetime.fromisoformat(values[name].toString())
    return LeaseRow(**values)
