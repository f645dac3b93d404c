"""The one row of `landing.lease`, which all machines of a catalog see, and its compare-and-set.

Iceberg is asked through its Java library, because a statement of Spark costs ten times as much;
through Spark Connect there are statements alone. A replacement names the snapshot that was read. It
fails if another one has been committed since.
"""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.errors import is_of_spark
from dbt_debezium.lake_format import FORMAT, PROPERTY, read_format
from dbt_debezium.spark.catalogs import DEFAULT_CATALOG
from dbt_debezium.spark.remote import has_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt_debezium.readers import Reader

TABLE: Final = "landing.lease"
SNAPSHOT: Final = "current-snapshot-id"
"""Among the properties of a table, as Iceberg shows them to Spark."""

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
    'dbt_debezium.read_by' = 'runs',
    '{PROPERTY}' = '{FORMAT}'
)
"""
MARK: Final = f"alter table {TABLE} set tblproperties ('{PROPERTY}' = '{FORMAT}')"


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
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Seen:
    """The row, and the table as it was read."""

    row: LeaseRow | None
    """None before the first run."""
    table: Any
    """An `org.apache.iceberg.Table`; through Spark Connect its snapshot, if it has one."""
    lake_format: int
    """Of the whole lake."""


def read_row(spark: "SparkSession") -> Seen | None:
    """The row as it is now; None where the catalog has no such table.

    Raises:
        NewerLakeError: a newer version has written the lake.
    """
    if not spark.catalog.tableExists(TABLE):
        return None
    if not has_java(spark):
        return _seen_remotely(spark)
    jvm: Any = spark._jvm
    table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
        spark._jsparkSession, f"{spark.conf.get(DEFAULT_CATALOG)}.{TABLE}"
    )
    lake_format = read_format(table.properties().get(PROPERTY))
    records = jvm.org.apache.iceberg.data.IcebergGenerics.read(table).build()
    try:
        iterator = records.iterator()
        return Seen(_row(iterator.next()) if iterator.hasNext() else None, table, lake_format)
    finally:
        records.close()


def read_lease(lake: "Reader") -> LeaseRow | None:
    """The row as a reader finds it, who may write to none; None before the first run."""
    if not lake.has(TABLE):
        return None
    # Engines hand out times in the zone of this machine, or without any.
    micros = [f"unix_micros({one}) as {one}" if one in TIMES else one for one in LeaseRow.__slots__]
    rows = lake.rows(f"select {', '.join(micros)} from {TABLE}")
    return _of_micros(rows[0]) if rows else None


def create_table(spark: "SparkSession") -> None:
    """Create the table where it is not there. Of two machines, one creates it."""
    spark.sql(f"create schema if not exists {TABLE.partition('.')[0]}")
    spark.sql(CREATE_TABLE)


def record_format(spark: "SparkSession") -> None:
    """Keep versions out that know nothing of this one's tables."""
    spark.sql(MARK)


def replace_row(spark: "SparkSession", seen: Seen, row: LeaseRow) -> bool:
    """Put a row in the place of the one that was seen.

    Returns:
        False where another one has been put there since.
    """
    try:
        if has_java(spark):
            _replace(spark._jvm, seen.table, row)
        else:
            _replace_remotely(spark, seen.table, row)
    except Exception as error:
        if not is_of_spark(error):
            raise
        # Whatever the catalog says of a commit: what it holds now tells whether it came about.
        now = read_row(spark)
        if now is not None and now.row == row:
            return True
        if now is not None and now.row == seen.row:
            raise
        return False
    return True


def snapshot_of(spark: "SparkSession", table: str) -> int | None:
    """The newest snapshot of a table; None of one that nobody has written to. It begins no job."""
    (row,) = spark.sql(f"show tblproperties {table} ('{SNAPSHOT}')").collect()
    return _snapshot_id(row["value"])


def _snapshot_id(value: str) -> int | None:
    return None if value == "none" else int(value)


def _replace(jvm: Any, table: Any, row: LeaseRow) -> None:
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
    overwrite.commit()


def _seen_remotely(spark: "SparkSession") -> Seen:
    properties = {
        one["key"]: one["value"] for one in spark.sql(f"show tblproperties {TABLE}").collect()
    }
    lake_format = read_format(properties.get(PROPERTY))
    snapshot = _snapshot_id(properties[SNAPSHOT])
    if snapshot is None:
        return Seen(None, None, lake_format)
    table = spark.read.option("versionAsOf", snapshot).table(TABLE)
    # Spark would hand out times in the zone of this machine.
    micros = [f"unix_micros({one}) as {one}" if one in TIMES else one for one in LeaseRow.__slots__]
    found = table.selectExpr(*micros).head()
    if found is None:
        return Seen(None, snapshot, lake_format)
    return Seen(_of_micros(found.asDict()), snapshot, lake_format)


def _of_micros(row: dict[str, Any]) -> LeaseRow:
    moments = {
        name: None if row[name] is None else EPOCH + timedelta(microseconds=row[name])
        for name in TIMES
    }
    return LeaseRow(**{**row, **moments})


def _replace_remotely(spark: "SparkSession", snapshot: int | None, row: LeaseRow) -> None:
    from pyspark.sql import functions as F  # noqa: N812 - as all of Spark writes it

    values = {name: getattr(row, name) for name in LeaseRow.__slots__}
    for name in TIMES:
        if values[name] is not None:
            values[name] = (values[name] - EPOCH) // timedelta(microseconds=1)
    kinds = dict.fromkeys(TIMES, "bigint") | {"landing_id": "int"}
    micros = spark.createDataFrame(
        [tuple(values.values())], ", ".join(f"{one} {kinds.get(one, 'string')}" for one in values)
    )
    times = [f"timestamp_micros({one}) as {one}" if one in TIMES else one for one in values]
    writer = micros.selectExpr(*times).writeTo(TABLE).option("isolation-level", "serializable")
    if snapshot is not None:
        writer = writer.option("validate-from-snapshot-id", str(snapshot))
    writer.overwrite(F.lit(True))


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
