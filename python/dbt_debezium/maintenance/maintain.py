"""Which maintenance a lake gets, and when.

Whether it is due follows from the pointer, to which each run commits twice: a property of it says
after how many commits all tables were maintained. What is to be done follows from the tables
themselves. So it does not matter who did it last, or on which machine, or whether it was killed.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from py4j.protocol import Py4JError  # type: ignore[import-untyped] # it has no types

from dbt_debezium.errors import innermost
from dbt_debezium.home import lake_dir
from dbt_debezium.landing.land import RANGE, TABLE, TABLE_READ, record_files
from dbt_debezium.lease import HeldLease, Lease, writing
from dbt_debezium.maintenance.files import file_count, has_small_files, join_files
from dbt_debezium.maintenance.orphans import remove_orphans
from dbt_debezium.maintenance.places import Places, add_others, places_of
from dbt_debezium.maintenance.ranges import join_ranges
from dbt_debezium.maintenance.removed_files import RemovedFiles
from dbt_debezium.maintenance.retention import (
    Retention,
    announce,
    history_starts,
    kept_since,
    newest_commit,
    newest_message,
    old_landings,
    other_readers,
    remove_rows,
    unpublished_refresh,
)
from dbt_debezium.maintenance.snapshots import (
    MINUTE,
    removable_snapshots,
    remove_branch,
    remove_snapshots,
)
from dbt_debezium.maintenance.table_places import folder_of, remedy_of
from dbt_debezium.maintenance.tables import LakeTable, lake_table, lake_tables, plain_schema
from dbt_debezium.maintenance.views import LakeView, lake_views
from dbt_debezium.settings import FOREVER, Settings
from dbt_debezium.status.lake_size import MAINTAINED_AT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SNAPSHOTS_PER_RUN: Final = 2
"""Of the pointer: one when a run begins, one when it publishes."""
MAINTAINED: Final = "dbt_debezium.maintained_after_commits"
"""A property of the pointer: how many commits it had when all tables had been maintained."""
REMOVED_ON: Final = "dbt_debezium.removed_on"
"""A property of the pointer: the day, UTC, on which a round has removed old rows."""
LANDING: Final = TABLE.partition(".")[0]


class Published(NamedTuple):
    """What readers see; both are 0 before anything is published."""

    cut_id: int
    landing_id: int


OnTable = Callable[[str, int, int], None]
"""Called with a table's name, its number, and how many there are."""


@dataclass(frozen=True, slots=True)
class Maintained:
    """What was done to one table, or would be."""

    name: str
    snapshot_count: int
    """Of those that were removed."""
    files_before: int
    files_after: int
    row_count: int = 0
    """Rows that were removed, because they were older than they are kept."""
    orphan_count: int = 0
    """Files that nothing names any more: of killed runs, or of a view's earlier metadata."""
    left_count: int = 0
    """Files that only removed snapshots name, and that stay because they are in other folders."""

    @property
    def row_noun(self) -> str:
        """What its old rows are."""
        return "old message" if self.name == TABLE else "old version"

    @property
    def is_nothing(self) -> bool:
        return not (
            self.snapshot_count
            or self.row_count
            or self.orphan_count
            or self.files_before != self.files_after
        )


@dataclass(frozen=True, slots=True)
class Report:
    """What a round of maintenance did."""

    tables: tuple[Maintained, ...]
    left: tuple[str, ...] = ()
    """Tables that there was no time for; the next round begins with those that need most."""
    skipped: tuple[str, ...] = ()
    """A sentence for each table that must wait for something else."""


def keeping_rows(settings: Settings) -> Settings:
    """The same settings, but all messages and versions stay."""
    return msgspec.structs.replace(settings, keep_message_days=FOREVER, keep_version_days=FOREVER)


def is_due(spark: "SparkSession", settings: Settings, schema: str) -> bool:
    """Whether as many runs as make maintenance due have passed since the last one."""
    if not settings.maintain_after_runs:
        return False
    pointer = lake_table(spark, _pointer(schema))
    if pointer is None:
        return False
    maintained_after = int(pointer.iceberg.properties().get(MAINTAINED) or 0)
    commits = settings.maintain_after_runs * SNAPSHOTS_PER_RUN
    return pointer.commit_count - maintained_after >= commits


def has_removed_today(spark: "SparkSession", schema: str) -> bool:
    """Whether old rows have been removed today.

    Runs remove them once a day at most: a file that keeps some of its rows is written again, and
    while a backlog comes in, each round would find more.
    """
    pointer = lake_table(spark, _pointer(schema))
    return pointer is not None and pointer.iceberg.properties().get(REMOVED_ON) == _today()


def maintain(
    spark: "SparkSession",
    settings: Settings,
    schema: str,
    *,
    seconds: float | None = None,
    has_orphans: bool = False,
    dry_run: bool = False,
    on_table: OnTable | None = None,
) -> Report:
    """Join small files of a lake's tables, and remove what is no longer read or too old.

    Args:
        spark: a session on the lake.
        settings: those of the project.
        schema: the schema that models are built in.
        seconds: how long it may take; a table that was begun is done, and one is always begun.
            None: as long as it takes.
        has_orphans: whether to look for files that no table knows, which reads all their folders.
        dry_run: say what would be done, and do nothing; it needs no lease.
        on_table: called before each table.

    Raises:
        DebeziumError: another run is going on.
    """
    begun = time.monotonic()
    query_milliseconds = _query_milliseconds(settings)
    done: list[Maintained] = []
    left: list[str] = []
    skipped: list[str] = []
    lease: HeldLease | None = None
    with ExitStack() as stack:
        if not dry_run:
            stack.enter_context(Lease(lake_dir(), "maintain"))
            lease = stack.enter_context(writing(spark))
            # Snapshots that are removed may be the only ones that say it.
            record_files(spark)
        pointer = _pointer(schema)
        # The pointer last: until its turn has come, maintenance stays due.
        tables = sorted(
            lake_tables(spark, (LANDING, schema, plain_schema(settings.public_schema))),
            key=lambda table: (table.name == pointer, -file_count(table)),
        )
        is_built = any(table.name == pointer for table in tables)
        published = _published(spark, pointer) if is_built else Published(0, 0)
        places = places_of(spark, tables)
        if has_orphans:
            add_others(spark, places)
        waiting = _unfinished_landing(spark, tables)
        retention, kept = (
            _retention(spark, settings, schema, tables[-1]) if is_built else (Retention(), None)
        )
        if retention.starts and lease:
            # A machine that slept until now must not speak of the numbers of another run.
            lease.confirm()
            announce(spark, tables[-1], retention.starts)
        for number, table in enumerate(tables, 1):
            if waiting and table.name == TABLE:
                continue
            if seconds is not None and done and time.monotonic() - begun >= seconds:
                left.append(table.name)
                continue
            if lease:
                lease.check()
            if on_table:
                on_table(table.name, number, len(tables))
            if fault := places.fault_of(table.name):
                skipped.append(
                    f"{table.name}: left alone, because {fault}; {remedy_of(table.name)}"
                )
                continue
            rows = remove_rows(spark, table, retention, lease)
            if table.name == RANGE and lease:
                join_ranges(spark, table, published.landing_id)
            one = (
                _look(table, query_milliseconds)
                if dry_run
                else _maintain_table(spark, table, query_milliseconds, published.cut_id, places)
            )
            if one.left_count:
                skipped.append(_left_sentence(one))
            orphans = remove_orphans(spark, table, dry_run=dry_run) if has_orphans else 0
            done.append(replace(one, row_count=rows, orphan_count=orphans))
        if is_built and not (dry_run or left):
            _note(tables[-1], has_removed=any(one.row_count for one in done))
        if is_built and (seconds is None or time.monotonic() - begun < seconds):
            try:
                views = list(lake_views(spark, schema, tables[-1].iceberg.io()))
                done += _maintain_views(views, places, dry_run=dry_run)
            except (Py4JError, OSError) as error:
                # Not every catalog lets us list the files of its views.
                skipped.append(
                    f"{schema}: old metadata of views stays, because its files cannot be listed "
                    f"({innermost(error)}); it does no harm but takes up space"
                )
    return Report(
        tuple(one for one in done if not one.is_nothing),
        tuple(left),
        (*(one for one in (waiting, kept) if one), *skipped),
    )


def _query_milliseconds(settings: Settings) -> int:
    """How long a query may run on what a later run has replaced."""
    return int(settings.longest_query_hours * 60 * MINUTE)


def _retention(
    spark: "SparkSession", settings: Settings, schema: str, pointer: LakeTable
) -> tuple[Retention, str | None]:
    """What is too old, or why nothing is looked for."""
    message_days, version_days = settings.keep_message_days, settings.keep_version_days
    if message_days == version_days == FOREVER:
        return Retention(), None
    channels = spark.table(pointer.name).collect()
    published = next((row for row in channels if row.channel == "published"), None)
    if published is None:
        return Retention(), None
    if unpublished_refresh(channels):
        return Retention(), (
            f"{schema}: no old rows are removed, because a full refresh is not published yet; "
            "run until it is, and then maintain"
        )
    landings = starts = kept = None
    now = _now()
    ours = schema, plain_schema(settings.public_schema)
    if message_days != FOREVER and (others := other_readers(spark, *ours)):
        kept = (
            f"{TABLE}: no old messages are removed, because {others[0]} is built from them too; "
            "set keep_message_days: forever while it is"
        )
    elif message_days != FOREVER and (newest := newest_message(spark)) is not None:
        since = kept_since(now, newest, message_days)
        landings = old_landings(spark, schema, published, since)
    if version_days != FOREVER and (newest := newest_commit(spark, schema, published)) is not None:
        since = kept_since(now, newest, version_days)
        readers_since = now - _query_milliseconds(settings)
        starts = history_starts(spark, schema, pointer, published, since, readers_since)
    return Retention(landings or (), starts or {}), kept


def _maintain_table(
    spark: "SparkSession",
    table: LakeTable,
    query_milliseconds: int,
    published_cut_id: int,
    places: Places,
) -> Maintained:
    before = file_count(table)
    remove_branch(table)
    if has_small_files(table):
        join_files(spark, table, published_cut_id)
    files = RemovedFiles(spark, table, places)
    removed = remove_snapshots(table, _now(), query_milliseconds, files)
    return Maintained(table.name, removed, before, file_count(table), left_count=files.left_count)


def _left_sentence(one: Maintained) -> str:
    """What stays of a table because it is not in its folder.

    >>> _left_sentence(Maintained("build.t", 3, 1, 1, left_count=2))
    'build.t: 2 files that its old snapshots name stay, because they are elsewhere'
    """
    if one.left_count == 1:
        return f"{one.name}: 1 file that its old snapshots name stays, because it is elsewhere"
    return (
        f"{one.name}: {one.left_count:,} files that its old snapshots name stay, "
        "because they are elsewhere"
    )


def _note(pointer: LakeTable, *, has_removed: bool) -> None:
    """Note that all tables have been maintained, and whether old rows have gone."""
    update = pointer.iceberg.updateProperties().set(MAINTAINED, str(pointer.commit_count))
    update = update.set(MAINTAINED_AT, f"{datetime.fromtimestamp(_now() / 1000, UTC):%FT%TZ}")
    if has_removed:
        update = update.set(REMOVED_ON, _today())
    update.commit()


def _maintain_views(
    views: Sequence[LakeView], places: Places, *, dry_run: bool
) -> Iterator[Maintained]:
    for view in views:
        places.folders.setdefault(view.name, {folder_of(view.folder)})
    for view in views:
        # A run makes each view anew, so there is nothing to advise.
        files = [] if places.fault_of(view.name) else view.replaced_files(_now())
        if not dry_run:
            for path in files:
                view.remove(path)
        yield Maintained(view.name, 0, 0, 0, orphan_count=len(files))


def _look(table: LakeTable, query_milliseconds: int) -> Maintained:
    """What would be done. How many files would be left, only doing it shows: one at least."""
    count = file_count(table)
    removable = removable_snapshots(table, _now(), query_milliseconds)
    return Maintained(table.name, removable, count, 1 if has_small_files(table) else count)


def _unfinished_landing(spark: "SparkSession", tables: list[LakeTable]) -> str | None:
    """Why `landing.message` must wait: a killed landing counts if its messages are found in it."""
    from pyspark.sql import functions as F  # noqa: N812 - as all of Spark writes it

    names = {table.name for table in tables}
    planned = [
        row.landing_id
        for table in (RANGE, TABLE_READ)
        if {table, TABLE} <= names
        for row in spark.sql(f"select landing_id from {table} where not is_landed").collect()
    ]
    if not planned or spark.table(TABLE).where(F.col("landing_id").isin(planned)).head() is None:
        return None
    return (
        f"{TABLE}: left alone, because a landing was interrupted; land again, which finishes it, "
        "and then maintain"
    )


def _published(spark: "SparkSession", pointer: str) -> Published:
    row = spark.sql(f"select cut_id, landing_id from {pointer} where channel = 'published'").head()
    return Published(row.cut_id, row.landing_id) if row else Published(0, 0)


def _pointer(schema: str) -> str:
    return f"{schema}.cut"


def _now() -> int:
    """Milliseconds since 1970, as snapshots have them."""
    return time.time_ns() // 1_000_000


def _today() -> str:
    return f"{datetime.fromtimestamp(_now() / 1000, UTC):%Y-%m-%d}"
