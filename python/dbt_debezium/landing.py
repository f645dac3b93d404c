"""From dump files into the table `landing.message`, each message of a file exactly once.

The messages of a dump lie in the inbox, in a file that is named by the hash of the dump. One
Structured Streaming query reads what is new there. Its checkpoint knows which names were read, and
Iceberg's sink knows which of its batches were written, so a landing that was killed anywhere is
finished by the next one. A file that grew has another hash and lands again whole; the models drop
what was delivered twice.

Maintenance must not expire the newest streaming snapshot of the table while a killed landing is
unfinished: the sink finds its last batch by looking through the table's snapshots.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped] # it has no types
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark writes it
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from dbt_debezium.dumps import Dump
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import lake_dir
from dbt_debezium.inbox import Inbox, OnProgress, local_path, open_inbox, take
from dbt_debezium.lease import Lease, jvm_lease
from dbt_debezium.session import innermost

TABLE = "landing.message"
RANGE = "landing.range"
TABLE_READ = "landing.table_read"
FILES_PER_COMMIT = 1000
"""A commit costs 0.5 CPU-s, however many files it takes; a killed one is read again whole."""

DEFAULT_CATALOG = "spark.sql.defaultCatalog"
PARALLEL_LISTING = "spark.sql.sources.parallelPartitionDiscovery.threshold"

METADATA_PROPERTIES = """
    -- Each commit leaves a metadata file behind.
    'write.metadata.delete-after-commit.enabled' = 'true',
    'write.metadata.previous-versions-max' = '20',
    'dbt_debezium.read_by' = 'queries'
"""
"""Of each table that landings write; the macro metadata_properties has those of the others."""
PROPERTIES = f"""
using iceberg
-- Maintenance joins the files of a partition, of which a landing brings one at least.
partitioned by (truncate(1000, landing_id))
tblproperties (
    'format-version' = '2',
    -- A landing is in one partition: shuffling by it would leave all rows to one task.
    'write.distribution-mode' = 'none',
    {METADATA_PROPERTIES}
)
"""
CREATE_TABLE = f"""
create table {TABLE} (
    landing_id bigint comment 'Which landing brought it; later landings have larger ones.',
    topic string,
    partition int,
    offset bigint,
    timestamp timestamp comment 'The broker''s, UTC; null when the dump has none.',
    key binary comment 'Its bytes; null when the message has no key.',
    value binary comment 'Its bytes; null for a tombstone.',
    headers array<struct<key: string, value: binary>> comment 'Empty when there are none.'
)
{PROPERTIES}
"""
REWRITE_AS_BYTES = f"""
replace table {TABLE} {PROPERTIES} as
select
    landing_id, topic, partition, offset, timestamp,
    cast(key as binary) as key,
    cast(value as binary) as value,
    cast(headers as array<struct<key: string, value: binary>>) as headers
from {TABLE}
"""

HEADER = T.StructType(
    [T.StructField("key", T.StringType()), T.StructField("value", T.StringType())]
)
LINE = T.StructType(
    [
        T.StructField("topic", T.StringType()),
        T.StructField("partition", T.IntegerType()),
        T.StructField("offset", T.LongType()),
        T.StructField("timestamp", T.LongType()),
        T.StructField("key", T.StringType()),
        T.StructField("value", T.StringType()),
        T.StructField("headers", T.ArrayType(HEADER)),
    ]
)
"""A line of the inbox: `dumps.form.Message` as JSON."""


@dataclass(frozen=True, slots=True)
class Landed:
    """What one call of `land` did."""

    message_count: int
    """Rows this call added; with them those that a killed landing had not written yet."""
    file_count: int
    """Files of the path whose content had not landed."""
    skipped_files: tuple[str, ...]
    """A sentence for each file of the folder that is no dump."""
    landing_id: int | None
    """None when nothing was to be landed."""


def land(spark: SparkSession, path: str | Path, on_progress: OnProgress | None = None) -> Landed:
    """Append the messages in a dump, a file or a folder of files, to `landing.message`.

    All or nothing as far as reading goes: when one line of one file is bad, no file is landed.

    Raises:
        DebeziumError: the path is not what can be read, a line is not a message, another run is
            going on, or Spark cannot write.
    """
    source = local_path(path)
    with Lease(lake_dir(), f"land {path}"):
        inbox = open_inbox()
        fresh, skipped = take(source, inbox, on_progress)
        if not inbox.has_unread():
            return Landed(0, 0, skipped, None)
        return land_inbox(spark, inbox, fresh, skipped, on_progress)


def land_inbox(
    spark: SparkSession,
    inbox: Inbox,
    fresh: Sequence[Dump],
    skipped: tuple[str, ...],
    on_progress: OnProgress | None = None,
) -> Landed:
    """Append what is unread in the inbox, under a lease that the caller holds.

    Args:
        fresh: the dumps that were taken into it.
        skipped: a sentence for each file that is none.

    Raises:
        DebeziumError: Spark cannot write.
    """
    lake = lake_dir().absolute()
    with jvm_lease(getattr(spark, "_jvm", None), lake):
        _open_table(spark, lake)
        landing_id = next_landing_id(spark, lake)
        message_count = sum(dump.message_count for dump in fresh)
        _stream(spark, lake, landing_id, lambda done: _tell(on_progress, done, message_count))
    inbox.empty()
    landed_count = spark.table(TABLE).where(f"landing_id = {landing_id}").count()
    return Landed(landed_count, len(fresh), skipped, landing_id)


def _tell(on_progress: OnProgress | None, done: int, message_count: int) -> None:
    if on_progress:
        on_progress("land", min(done, message_count), message_count)


def create_landing_table(spark: SparkSession) -> None:
    """Create `landing.message` where it is not there, and rewrite one whose messages are text."""
    spark.sql(f"create schema if not exists {TABLE.partition('.')[0]}")
    if not spark.catalog.tableExists(TABLE):
        spark.sql(CREATE_TABLE)
    elif spark.table(TABLE).schema["value"].dataType == T.StringType():
        # Iceberg makes no bytes of a text column. The table is replaced in one commit.
        spark.sql(REWRITE_AS_BYTES)


def next_landing_id(spark: SparkSession, lake: Path) -> int:
    """A number no landing had, above all that were given out.

    The file counts beside the tables, since retention may take the newest rows out of them. A
    landing that was killed may have its number in landing.range or landing.table_read alone.
    """
    counter = lake / "checkpoints" / "landing_id"
    given_out = int(counter.read_text()) if counter.exists() else 0
    for table in (TABLE, RANGE, TABLE_READ):
        if spark.catalog.tableExists(table):
            (newest,) = spark.sql(f"select max(landing_id) from {table}").head() or (None,)
            given_out = max(given_out, int(newest or 0))
    landing_id = given_out + 1
    counter.parent.mkdir(parents=True, exist_ok=True)
    unfinished = counter.with_name("_landing_id")
    unfinished.write_text(str(landing_id))
    unfinished.rename(counter)
    return landing_id


def _open_table(spark: SparkSession, lake: Path) -> None:
    """Create `landing.message`, unless files have landed in one that is gone.

    Raises:
        DebeziumError: it is gone, and the checkpoint knows what landed in it.
    """
    checkpoint = lake / "checkpoints" / "landing"
    if checkpoint.exists() and not spark.catalog.tableExists(TABLE):
        raise DebeziumError(
            f"land: table {TABLE} is gone, and {checkpoint} knows what was landed into it; "
            f"remove {checkpoint} and {lake / 'inbox'} to land all files again"
        )
    create_landing_table(spark)


def _stream(
    spark: SparkSession, lake: Path, landing_id: int, on_messages: Callable[[int], None]
) -> None:
    """Land what is unread in the inbox, and return when it is committed."""
    lines = (
        spark.readStream.format("text")
        # By default a carriage return ends a line, too.
        .option("lineSep", "\n")
        .option("maxFilesPerTrigger", FILES_PER_COMMIT)
        # Names are hashes. By default a name is forgotten after 7 days, and would land again.
        .option("fileNameOnly", "true")
        .option("maxFileAge", "36500d")
        .load(str(lake / "inbox"))
    )
    writer = (
        messages(lines, landing_id)
        .writeStream.format("iceberg")
        .outputMode("append")
        .trigger(availableNow=True)
        .option("checkpointLocation", str(lake / "checkpoints" / "landing"))
        .option("fanout-enabled", "true")
    )
    # Above 32 files Spark looks at each one in a task of its own: 7 ms of CPU per file.
    usual = spark.conf.get(PARALLEL_LISTING)
    spark.conf.set(PARALLEL_LISTING, 2 * FILES_PER_COMMIT)
    try:
        # In a thread that has not started the session, toTable takes spark_catalog for the default.
        query = writer.toTable(f"{spark.conf.get(DEFAULT_CATALOG)}.{TABLE}")
    finally:
        spark.conf.set(PARALLEL_LISTING, usual or "32")
    try:
        while not query.awaitTermination(1):
            on_messages(_read_count(query))
        on_messages(_read_count(query))
    except StreamingQueryException as error:
        raise DebeziumError(
            f"land: Spark could not write {TABLE} ({innermost(error)}); "
            "mend that and land again, which continues where it stopped"
        ) from error
    except (Py4JError, OSError) as error:
        raise DebeziumError(
            "land: Spark's Java process ended, most likely because memory ran out; "
            "set DBT_DEBEZIUM_DRIVER_MEMORY higher and land again, which continues where it stopped"
        ) from error
    finally:
        with contextlib.suppress(Py4JError, OSError):
            query.stop()


def _read_count(query: StreamingQuery) -> int:
    return sum(progress.numInputRows for progress in query.recentProgress)


def messages(lines: DataFrame, landing_id: int) -> DataFrame:
    """Turn lines of the inbox, in a column called value, into rows of `landing.message`.

    A line that is not JSON fails the query.
    """
    # By default a text longer than 20 million characters is an error.
    options = {"mode": "FAILFAST", "maxStringLen": str(2**31 - 1)}
    return (
        lines.select(F.from_json("value", LINE, options).alias("line"))
        .select("line.*")
        .select(
            F.lit(landing_id).cast("bigint").alias("landing_id"),
            "topic",
            "partition",
            "offset",
            F.timestamp_millis("timestamp").alias("timestamp"),
            F.col("key").cast("binary").alias("key"),
            F.col("value").cast("binary").alias("value"),
            F.col("headers").cast("array<struct<key: string, value: binary>>").alias("headers"),
        )
    )
