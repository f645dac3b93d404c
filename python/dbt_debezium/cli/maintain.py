"""`dbt-debezium maintain`, and what `run` does of it by itself."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from dbt_debezium.amounts import counted
from dbt_debezium.cli.console import enter_lake, examples, out, working
from dbt_debezium.home import lake_dir, project_dir
from dbt_debezium.writers import sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt_debezium.maintenance.maintain import Maintained, Report


@click.command(
    short_help="Remove what nobody reads any more.",
    epilog=examples(
        "dbt-debezium maintain",
        "dbt-debezium maintain --dry-run",
    ),
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and change nothing.")
@click.option("--target", help="A target of profiles.yml.")
def maintain(dry_run: bool, target: str | None) -> None:
    """Join small files of the lake, and remove those that nobody reads any more.

    It also removes landed messages and closed versions of rows that are older than the settings
    keep_message_days and keep_version_days say; by default all are kept.

    Runs do the same from time to time; the settings maintain_after_runs, maintain_seconds and
    longest_query_hours say when. By hand it takes the time that it needs, and also removes what
    killed runs have left, once that is three days old. Readers see the same rows all the while.
    """
    from dbt_debezium.lease import Lease
    from dbt_debezium.maintenance import maintain as maintenance
    from dbt_debezium.project_settings import read_settings
    from dbt_debezium.spark.session import spark_session
    from dbt_debezium.spark.targets import build_schema

    enter_lake(target)
    settings = read_settings(project_dir())
    # Spark takes seconds to start, and another run may hold the lake.
    held = nullcontext() if dry_run else Lease(lake_dir(), "dbt-debezium maintain")
    with held, working("starting Spark") as status:
        report = maintenance.maintain(
            spark_session(target),
            settings,
            build_schema(target),
            has_orphans=True,
            dry_run=dry_run,
            on_table=lambda name, number, count: status.update(f"{number} of {count}: {name}"),
        )
    for one in report.tables:
        out.say(_sentence(one, dry_run=dry_run))
    for sentence in report.skipped:
        out.say(sentence)
    if not report.tables:
        out.print("nothing to do")


def maintain_when_due(
    spark: "SparkSession", target: str | None, tell: Callable[[str], None]
) -> str | None:
    """Maintain the lake behind a run that has published, if enough runs have passed.

    What fails leaves the run as good as it was, because readers see what it has published.

    Returns:
        What was done, in one line.

    Raises:
        LostLeaseError: another run has taken the lease.
    """
    from dbt_debezium.errors import DebeziumError, innermost, is_of_spark
    from dbt_debezium.lease import LostLeaseError
    from dbt_debezium.maintenance import maintain as maintenance
    from dbt_debezium.project_settings import read_settings
    from dbt_debezium.spark.remote import has_java
    from dbt_debezium.spark.targets import build_schema

    settings = read_settings(project_dir())
    schema = build_schema(target)
    if not has_java(spark):
        return _reminder(spark, settings.maintain_after_runs, schema)
    if not maintenance.is_due(spark, settings, schema):
        return None
    step = "maintaining the lake"

    def on_table(name: str, number: int, count: int) -> None:
        nonlocal step
        step = f"maintaining the lake, {number} of {count}: {name}"
        tell(step)

    try:
        report = maintenance.maintain(
            spark,
            maintenance.keeping_rows(settings)
            if maintenance.has_removed_today(spark, schema)
            else settings,
            schema,
            seconds=settings.maintain_seconds,
            on_table=on_table,
        )
    except LostLeaseError:
        raise
    except Exception as error:
        if not (isinstance(error, DebeziumError | OSError) or is_of_spark(error)):
            raise
        return (
            f"{step}: failed ({innermost(error)}), and is tried again after the next run; "
            "`dbt-debezium maintain` does it by hand"
        )
    return _summary(report)


def _reminder(spark: "SparkSession", after_runs: float, schema: str) -> str | None:
    """What to say through Spark Connect, as often as another target would maintain the lake."""
    pointer = f"{sql.identifier(schema)}.cut"
    row = spark.sql(f"select max(cut_id) from {pointer} where channel = 'published'").head()
    run_count = row[0] if row else None
    if not (after_runs and run_count) or run_count % after_runs:
        return None
    return (
        "the lake needs maintenance, for which Spark Connect has no way; run "
        "`dbt-debezium maintain` with another target on the same catalog, such as prod"
    )


def _sentence(one: "Maintained", *, dry_run: bool) -> str:
    """What was done to a table.

    >>> from dbt_debezium.maintenance.maintain import Maintained
    >>> _sentence(Maintained("build.orders_history", 188, 96, 3), dry_run=False)
    'build.orders_history: 96 files joined to 3, 188 snapshots removed'
    >>> _sentence(Maintained("build.orders_history", 0, 96, 1, orphan_count=2), dry_run=True)
    'build.orders_history: 96 files to look at, 2 files that nothing names to be removed'
    >>> _sentence(Maintained("landing.message", 0, 4, 4, 4000), dry_run=False)
    'landing.message: 4,000 old messages removed'
    """
    parts = []
    removed = "to be removed" if dry_run else "removed"
    if one.row_count:
        parts.append(f"{counted(one.row_count, one.row_noun)} {removed}")
    if one.files_before != one.files_after:
        parts.append(
            f"{one.files_before:,} files to look at"
            if dry_run
            else f"{one.files_before:,} files joined to {one.files_after:,}"
        )
    if one.snapshot_count:
        parts.append(f"{counted(one.snapshot_count, 'snapshot')} {removed}")
    if one.orphan_count:
        parts.append(f"{counted(one.orphan_count, 'file')} that nothing names {removed}")
    return f"{one.name}: {', '.join(parts)}"


def _summary(report: "Report") -> str:
    """One line for a run.

    >>> from dbt_debezium.maintenance.maintain import Maintained, Report
    >>> _summary(Report((Maintained("build.cut", 98, 2, 2),), ("build.commit",)))
    'maintained 1 table: 0 files fewer, 98 snapshots removed; 1 more with the next run'
    >>> _summary(Report((Maintained("landing.message", 0, 4, 2, 4000),)))
    'maintained 1 table: 2 files fewer, 0 snapshots removed, 4,000 old messages removed'
    """
    files = sum(one.files_before - one.files_after + one.orphan_count for one in report.tables)
    snapshots = sum(one.snapshot_count for one in report.tables)
    old = ""
    for noun in ("old message", "old version"):
        rows = sum(one.row_count for one in report.tables if one.row_noun == noun)
        old += f", {counted(rows, noun)} removed" if rows else ""
    left = f"; {len(report.left)} more with the next run" if report.left else ""
    return "; ".join(
        (
            f"maintained {counted(len(report.tables), 'table')}: {files:,} files fewer, "
            f"{counted(snapshots, 'snapshot')} removed{old}{left}",
            *report.skipped,
        )
    )
