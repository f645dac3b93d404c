"""From dump files into the table `landing.message`, each message of a file exactly once.

The messages of a dump lie in the inbox, in a file that is named by the hash of the dump. A landing
reads them into one commit, which notes the hashes in its snapshot, so they have landed exactly when
their messages have. `landing.file` keeps the hashes for as long as the lake lives. A file that grew
has another hash and lands again whole; the models drop what was delivered twice.

All of this is in the catalog: another machine that lands the same file adds nothing.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped] # ships no types
from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped] # it has no types
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark writes it

from dbt_debezium.dumps import Dump
from dbt_debezium.errors import DebeziumError, innermost
from dbt_debezium.home import lake_dir
from dbt_debezium.landing.inbox import Inbox, OnProgress, local_path, open_inbox, take
from dbt_debezium.landing.write import message_batches, remove_files, write_messages
from dbt_debezium.lease import HeldLease, Lease, writing
from dbt_debezium.lease.holding import SNAPSHOT_PROPERTY, TOKEN
from dbt_debezium.lease.row import snapshot_of
from dbt_debezium.spark.catalogs import DEFAULT_CATALOG, catalog_of_session
from dbt_debezium.spark.outages import outage_of
from dbt_debezium.spark.remote import has_java
from dbt_debezium.table_properties import METADATA_PROPERTIES

TABLE = "landing.message"
RANGE = "landing.range"
TABLE_READ = "landing.table_read"
FILE = "landing.file"
FILES_PER_COMMIT = 1000
"""A killed commit is read again whole."""
LANDED_FILES: Final = "dbt-debezium.files"
LANDING_ID: Final = "dbt-debezium.landing_id"
"""What the snapshot of a landing says of itself: hashes of dumps, and its number."""

ARRIVING: Final = "arriving_"
"""How tables begin in which a landing through Spark Connect gathers its messages."""

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
COLUMNS = """
    landing_id bigint comment 'Which landing brought it; later landings have larger ones.',
    topic string,
    partition int,
    offset bigint,
    timestamp timestamp comment 'The broker''s, UTC; null when the dump has none.',
    key binary comment 'Its bytes; null when the message has no key.',
    value binary comment 'Its bytes; null for a tombstone.',
    headers array<struct<key: string, value: binary>> comment 'Empty when there are none.'
"""
CREATE_TABLE = f"create table {TABLE} ({COLUMNS}) {PROPERTIES}"
CREATE_RANGE = f"""
create table if not exists {RANGE} (
    landing_id bigint comment 'Which landing fetched it, or its end: maintenance joins them.',
    topic string,
    topic_id string comment 'Another one after the topic was deleted and created again.',
    partition int,
    start_offset bigint comment 'First offset that was fetched.',
    end_offset bigint comment 'One past the last offset that was fetched.',
    log_start_offset bigint comment 'First offset that the cluster still had.',
    log_end_offset bigint comment 'One past the last committed offset that the cluster had.',
    cleanup_policy string comment 'delete, compact or both; null where the cluster did not say.',
    is_sure_end boolean comment 'Whether the cluster surely had nothing behind end_offset.',
    fetched_at timestamp comment 'When the cluster was asked for the offsets, UTC.',
    is_landed boolean comment 'Whether the messages of the range are in landing.message.'
)
using iceberg
partitioned by (truncate(1000, landing_id))
tblproperties (
    'format-version' = '2',
    'write.distribution-mode' = 'none',
    {METADATA_PROPERTIES}
)
"""
CREATE_FILE = f"""
create table if not exists {FILE} (
    landing_id bigint comment 'Which landing brought it.',
    identity string comment 'The hash by which a dump is known again.'
)
using iceberg
tblproperties (
    'format-version' = '2',
    {METADATA_PROPERTIES}
)
"""
NEW_FILES = f"""
select landing_id, explode(split(files, ',')) as identity
from (
    select
        cast(summary['{LANDING_ID}'] as bigint) as landing_id,
        summary['{LANDED_FILES}'] as files
    from {TABLE}.snapshots
)
where landing_id > (select coalesce(max(landing_id), 0) from {FILE})
"""
"""Dumps whose messages are there, and that `landing.file` does not have yet."""


class UnseenLandingError(DebeziumError):
    """Another landing came first, so nothing of this one has been added."""


@dataclass(slots=True)
class Base:
    """`landing.message` before a command looked at what has landed, and what it has landed since.

    The messages of a command are new beside these alone, so nobody else may add any meanwhile.
    """

    snapshot_id: int | None
    """None for a table without messages."""
    newest: int
    """The largest number of a landing that brought messages; 0 where nothing has landed."""


@dataclass(frozen=True, slots=True)
class Landed:
    """What one call of `land` did."""

    message_count: int
    """Rows this call added; with them those that a killed landing had not written yet."""
    file_count: int
    """Files whose messages these are."""
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
        inbox = open_inbox(catalog_of_session(spark))
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
    with writing(spark) as lease:
        create_tables(spark, inbox)
        base = landed_base(spark)
        waiting = sorted(inbox.waiting())
        landed = landed_files(spark, waiting)
        inbox.empty(landed)
        new = [one for one in waiting if one not in landed]
        some = [new[at : at + FILES_PER_COMMIT] for at in range(0, len(new), FILES_PER_COMMIT)]
        message_count, landing_id = 0, None
        total = sum(dump.message_count for dump in fresh)
        for identities in some:
            landing_id = next_landing(spark, lease, base)
            message_count += _land_files(spark, inbox, identities, landing_id, base, lease)
            if on_progress:
                on_progress("land", min(message_count, total), total)
    return Landed(message_count, len(new), skipped, landing_id)


def create_landing_tables(spark: SparkSession) -> None:
    """Create `landing.message` and `landing.range` where they are not there.

    A run would make the second one, and the next run would take that for something that has landed.
    """
    spark.sql(f"create schema if not exists {TABLE.partition('.')[0]}")
    for table, statement in ((TABLE, CREATE_TABLE), (RANGE, CREATE_RANGE)):
        if not spark.catalog.tableExists(table):
            spark.sql(statement)


def landed_base(spark: SparkSession) -> Base:
    """What is in `landing.message`. To be asked before a command looks at what has landed."""
    if has_java(spark):
        snapshot = _iceberg(spark, TABLE).currentSnapshot()
        snapshot_id = None if snapshot is None else int(snapshot.snapshotId())
    else:
        snapshot_id = snapshot_of(spark, TABLE)
    if snapshot_id is None:
        return Base(None, 0)
    table = spark.read.option("versionAsOf", snapshot_id).table(TABLE)
    # Iceberg knows it from the statistics of its files.
    (newest,) = table.agg(F.max("landing_id")).head() or (None,)
    return Base(snapshot_id, int(newest or 0))


def next_landing(spark: SparkSession, lease: HeldLease, base: Base) -> int:
    """The number of a landing: none had it, and it is above all that were given out.

    Raises:
        LostLeaseError: another run has taken the lease.
    """
    given_out = base.newest
    if not lease.knows_landing_ids:
        # Its table is new, or was lost. A killed landing may have its number in landing.range or
        # landing.table_read alone.
        for table in (RANGE, TABLE_READ):
            if spark.catalog.tableExists(table):
                (newest,) = spark.sql(f"select max(landing_id) from {table}").head() or (None,)
                given_out = max(given_out, int(newest or 0))
    return lease.new_landing_id(given_out)


def append_landing(
    spark: SparkSession,
    rows: DataFrame,
    landing_id: int,
    base: Base,
    notes: Mapping[str, str] | None = None,
) -> int:
    """Append the rows of a landing to `landing.message`, in one commit and in the order of numbers.

    A run may have read what later landings brought, and would never look at this one; and another
    landing may have brought the same messages. So Iceberg refuses the commit once any landing is
    there that this command has not seen, however long its process has slept.

    Args:
        notes: what else the snapshot is to say of itself.

    Returns:
        How many rows.

    Raises:
        UnseenLandingError: another landing is there. Nothing has been added.
        PySparkException: Spark cannot write.
    """
    writer = (
        rows.writeTo(TABLE)
        .option("fanout-enabled", "true")
        .option("isolation-level", "serializable")
        .option(f"snapshot-property.{LANDING_ID}", str(landing_id))
    )
    for name, value in (notes or {}).items():
        writer = writer.option(f"snapshot-property.{name}", value)
    if base.snapshot_id is not None:
        writer = writer.option("validate-from-snapshot-id", str(base.snapshot_id))
    with refused_if_unseen(spark, landing_id, base):
        # The base has no such rows, so none is removed. Iceberg refuses if some have been added.
        writer.overwrite(F.expr(f"landing_id > {base.newest}L"))
        count = spark.table(TABLE).where(f"landing_id = {landing_id}").count()
    # One without messages keeps no other landing out, so one with a smaller number may still come.
    if count:
        base.newest = landing_id
    return count


@contextlib.contextmanager
def refused_if_unseen(spark: SparkSession, landing_id: int, base: Base) -> Iterator[None]:
    """Turn Iceberg's commit conflict into `UnseenLandingError`, where another landing is there."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        rows = spark.table(TABLE).where(f"landing_id > {base.newest}L")
        newer = [row.landing_id for row in rows.select("landing_id").distinct().collect()]
        if landing_id in newer:
            # The catalog has taken the commit, and its answer was lost.
            raise DebeziumError(
                f"{TABLE}: landing {landing_id} was written, although Spark failed "
                f"({innermost(error)}); land again, which continues after it"
            ) from error
        if newer:
            raise UnseenLandingError(
                f"{TABLE}: landing {min(newer)} of another run came before landing {landing_id} "
                "of this one was written, so this one was left out; land again"
            ) from error
        raise


def landed_files(spark: SparkSession, identities: Sequence[str]) -> set[str]:
    """Those of some dumps whose messages are in `landing.message`."""
    asked = spark.createDataFrame([(one,) for one in identities], "identity string")
    known = spark.sql(f"select identity from {FILE} union all select identity from ({NEW_FILES})")
    return {row.identity for row in asked.join(known, "identity", "left_semi").collect()}


def record_files(spark: SparkSession) -> None:
    """Keep which dumps have landed; snapshots, which say it first, are removed some day."""
    if spark.catalog.tableExists(FILE) and spark.catalog.tableExists(TABLE):
        spark.sql(f"insert into {FILE} {NEW_FILES}")


def create_tables(spark: SparkSession, inbox: Inbox) -> None:
    """Create what a landing of dumps writes, unless dumps have landed in a table that is gone.

    Raises:
        DebeziumError: it is gone, and the catalog knows what landed in it.
    """
    if spark.catalog.tableExists(FILE) and not spark.catalog.tableExists(TABLE):
        raise DebeziumError(
            f"land: table {TABLE} is gone, and {FILE} knows what was landed into it; drop {FILE} "
            f"and remove {inbox.folder} to land all files again"
        )
    create_landing_tables(spark)
    spark.sql(CREATE_FILE)


def _land_files(
    spark: SparkSession,
    inbox: Inbox,
    identities: Sequence[str],
    landing_id: int,
    base: Base,
    lease: HeldLease,
) -> int:
    """One commit; how many messages it brought."""
    paths = inbox.paths(identities)
    notes = {LANDED_FILES: ",".join(identities)}
    try:
        if has_java(spark):
            count = _commit_files(spark, paths, landing_id, base, lease, notes)
        else:
            count = _send_files(spark, paths, landing_id, base, lease, notes)
    except (PySparkException, Py4JJavaError) as error:
        raise outage_of(error, spark) or _unwritten(innermost(error)) from error
    except (Py4JError, ConnectionError) as error:
        raise DebeziumError(
            "land: Spark's Java process ended, most likely because memory ran out; "
            "set DBT_DEBEZIUM_DRIVER_MEMORY higher and land again, which continues where it stopped"
        ) from error
    except OSError as error:
        raise _unwritten(error.strerror or str(error)) from error
    record_files(spark)
    inbox.empty(identities)
    return count


def _commit_files(
    spark: SparkSession,
    paths: Sequence[Path],
    landing_id: int,
    base: Base,
    lease: HeldLease,
    notes: Mapping[str, str],
) -> int:
    """Have the Java process beside this one commit data files that this one writes."""
    jvm: Any = spark._jvm
    table = _iceberg(spark, TABLE)
    files, count = write_messages(jvm, table, paths, landing_id)
    # As `append_landing` has Spark do it.
    overwrite = (
        table.newOverwrite()
        .overwriteByRowFilter(
            jvm.org.apache.iceberg.expressions.Expressions.greaterThan("landing_id", base.newest)
        )
        .validateNoConflictingData()
        .validateNoConflictingDeletes()
        .set(LANDING_ID, str(landing_id))
        .set(TOKEN.removeprefix(SNAPSHOT_PROPERTY), lease.token)
    )
    for name, value in notes.items():
        overwrite = overwrite.set(name, value)
    if base.snapshot_id is not None:
        overwrite = overwrite.validateFromSnapshot(base.snapshot_id)
    for file in files:
        overwrite = overwrite.addFile(file)
    try:
        with refused_if_unseen(spark, landing_id, base):
            overwrite.commit()
    except UnseenLandingError:
        remove_files(table, [file.location() for file in files])
        raise
    base.newest = landing_id
    return count


def _send_files(
    spark: SparkSession,
    paths: Sequence[Path],
    landing_id: int,
    base: Base,
    lease: HeldLease,
    notes: Mapping[str, str],
) -> int:
    """Send messages through Spark Connect, a batch at a time, and commit them all at once.

    A server sees no files of this machine. So batches gather in a table of their own, and the
    memory of neither side holds more than one.
    """
    for row in spark.sql(f"show tables in landing like '{ARRIVING}*'").collect():
        # Of a landing that was killed.
        spark.sql(f"drop table landing.{row.tableName} purge")
    name = f"landing.{ARRIVING}{lease.token}"
    spark.sql(f"create table {name} ({COLUMNS}) using iceberg")
    try:
        for batch in message_batches(paths, landing_id):
            lease.keep()
            sent = spark.createDataFrame(pa.Table.from_batches([batch]))
            sent.writeTo(name).append()
        return append_landing(spark, spark.table(name), landing_id, base, notes)
    finally:
        # The next landing does it where this one cannot.
        with contextlib.suppress(PySparkException):
            spark.sql(f"drop table {name} purge")


def _unwritten(why: str) -> DebeziumError:
    return DebeziumError(
        f"land: Spark could not write {TABLE} ({why}); "
        "mend that and land again, which continues where it stopped"
    )


def _iceberg(spark: SparkSession, name: str) -> Any:
    """A table as an `org.apache.iceberg.Table`, as it is now."""
    jvm: Any = spark._jvm
    return jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
        spark._jsparkSession, f"{spark.conf.get(DEFAULT_CATALOG)}.{name}"
    )
