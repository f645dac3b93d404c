"""The command line. Each command is also a function of its module."""

import json
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dbt_debezium import progress
from dbt_debezium.errors import DebeziumError
from dbt_debezium.flags import flag_sentences, truncate_sentence
from dbt_debezium.holds import held_sentence
from dbt_debezium.home import lake_dir, make_private, project_dir
from dbt_debezium.report import OUTCOMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt_debezium.progress import Steps
    from dbt_debezium.project_models import Plan
    from dbt_debezium.shapes import ShapeReport

PIPE_WIDTH = 160

out = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
"""What a command answers."""
log = Console(stderr=True, highlight=False)
"""What a command is doing."""

SHOWN_SOURCES = 20
COUNTED = ("landed", *OUTCOMES)
SHOWN_ROWS = 10
SHOWN_TABLES = 12
SHOWN_COLUMNS = 8
SHOWN_SENTENCES = 20
SHOWN_MESSAGES = 5
SHOWING = ("Show", "Describe", "Explain")
"""How Spark's names of statements begin that are no queries and change nothing."""


class Commands(click.Group):
    """Ends a command that cannot go on with one sentence and exit code 2."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except DebeziumError as error:
            log.print(Text(str(error)), soft_wrap=True)
            context.exit(2)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dbt-debezium")
def main() -> None:
    """Rebuild source tables from Debezium change logs; a query never sees half a transaction."""
    warnings.filterwarnings("ignore", module="pyspark")


def enter_project() -> None:
    """Go where dbt goes, so that relative paths of settings mean the same here and there."""
    os.chdir(project_dir())


def enter_lake(target: str | None) -> None:
    """Go where dbt goes, to look at a lake that is there."""
    from dbt_debezium.session import check_lake

    enter_project()
    check_lake(target)


def working(step: str) -> "AbstractContextManager[Steps]":
    return progress.working(log, step)


@main.command()
def jars() -> None:
    """Fetch the jars that Spark needs, once, into the folder `jars`."""
    from dbt_debezium.jars import fetch_jars
    from dbt_debezium.java import check_java

    check_java()
    with working("fetching jars"):
        fetched = fetch_jars()
    out.print(f"jars: {len(fetched)} fetched" if fetched else "jars: all there")


@main.command()
@click.argument("source")
@click.option("--target", help="A target of profiles.yml.")
def land(source: str, target: str | None) -> None:
    """Append new messages of SOURCE, a file or folder of JSON lines, to landing.message.

    Lines are in the shape of Spark's Kafka source or of `kcat -J`, plain or gzip. Landing the same
    files again adds nothing.
    """
    from dbt_debezium.session import spark_session

    path = from_anywhere(source)
    enter_project()
    land_path(path, lambda: spark_session(target))


def from_anywhere(source: str) -> str:
    """The path seen from anywhere; an address with a scheme as it is."""
    return source if "://" in source else str(Path(source).expanduser().absolute())


def land_path(source: str | Path, start_spark: Any) -> None:
    """Land, with progress, and say what landed."""
    from dbt_debezium.landing import land as land_messages
    from dbt_debezium.landing import local_path
    from dbt_debezium.lease import Lease
    from dbt_debezium.messages import find_files

    find_files(local_path(source))
    with Lease(lake_dir(), f"dbt-debezium land {source}"), working("starting Spark") as status:
        spark = start_spark()

        def tell(step: str, done: int, total: int) -> None:
            share = f" {done * 100 // total} %" if total else ""
            status.update(f"{'checking' if step == 'check' else 'landing'} {source}{share}")

        landed = land_messages(spark, source, tell)
    files = "file" if landed.file_count == 1 else "files"
    out.print(f"landed {landed.message_count:,} messages of {landed.file_count} new {files}")
    for file in landed.skipped_files:
        out.print(f"skipped {file}: no line of it is a message")


@main.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--target", help="A target of profiles.yml.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[SOURCE] [DBT OPTIONS]...")
def run(target: str | None, arguments: Sequence[str]) -> None:
    """Land SOURCE, if one is given, and build and publish.

    One Spark session does both. Options go to `dbt build` as they are, such as --full-refresh,
    --threads 4 or --vars '{landing_reaches_the_end: true}'; `dbt build --help` has all. A part of
    the project, as with --select, publishes nothing. Unit tests are left out: they test our SQL,
    not your data.
    """
    from dbt_debezium.build import BUILD, run_dbt
    from dbt_debezium.lease import Lease
    from dbt_debezium.session import spark_session

    source, options = None, list(arguments)
    if options and not options[0].startswith("-"):
        source, options = from_anywhere(options[0]), options[1:]
    enter_project()
    make_private(lake_dir())
    with Lease(lake_dir(), "dbt-debezium run"):
        if source:
            land_path(source, lambda: spark_session(target))
        if target:
            options += ["--target", target]
        with working("starting dbt") as status:
            is_good = run_dbt(
                [*BUILD, *options],
                project_dir(),
                on_node=lambda name, index, total: status.update(f"{index} of {total}: {name}"),
                on_line=lambda line: out.print(Text(line), soft_wrap=True),
            )
    if not is_good:
        sys.exit(1)
    with working("looking at what nobody sees"):
        notes = unseen(spark_session(target), target)
    for note in notes:
        out.print(Text(note), soft_wrap=True)


def unseen(spark: "SparkSession", target: str | None) -> list[str]:
    """What a run that went well leaves without effect: tables without a model, decisions."""
    from dbt_debezium.notices import idle_decisions
    from dbt_debezium.project_models import ProjectModels
    from dbt_debezium.report import cut_report
    from dbt_debezium.session import build_schema
    from dbt_debezium.shapes import shape_reports

    schema = build_schema(target)
    models = ProjectModels.read(project_dir()).histories.values()
    found = shape_sentences(shape_reports(spark, models, schema))
    return found + idle_decisions(spark, cut_report(spark, schema), schema)[:SHOWN_SENTENCES]


def shape_sentences(shapes: "dict[str, ShapeReport]") -> list[str]:
    """Where models and tables have come apart, of the first sources."""
    shown = sorted(shapes.items())[:SHOWN_SOURCES]
    return [sentence for source, shape in shown for sentence in shape.sentences(source)]


@main.command()
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One JSON list: cut.json of an export, and what models lack or cannot show.",
)
@click.option("--target", help="A target of profiles.yml.")
def status(as_json: bool, target: str | None) -> None:
    """Say what is published, held, quarantined and flagged, and why."""
    from dbt_debezium.notices import idle_decisions, landed_count, unpublished_run
    from dbt_debezium.project_models import ProjectModels
    from dbt_debezium.report import cut_report
    from dbt_debezium.session import (
        build_schema,
        project_settings,
        public_schema,
        spark_session,
    )
    from dbt_debezium.shapes import ShapeReport, shape_reports
    from dbt_debezium.unrepresentable import unrepresentable_counts, unrepresentable_sentence

    enter_lake(target)
    models = ProjectModels.read(project_dir()).histories.values()
    with working("starting Spark"):
        spark = spark_session(target)
        report = cut_report(spark, build_schema(target))
        landed = 0 if report else landed_count(spark)
        notices = idle_decisions(spark, report, build_schema(target)) if report else []
        if unpublished := unpublished_run(spark, build_schema(target)):
            notices.append(unpublished)
        shapes = shape_reports(spark, models, build_schema(target))
        names = [model.public_name for model in models]
        unrepresentable = unrepresentable_counts(spark, names, public_schema(project_dir()))
    for entry in report:
        entry["unrepresentable"] = unrepresentable.get(entry["source"], {})
        found = shapes.get(entry["source"], ShapeReport())
        entry["unknown_columns"] = found.unknown_columns
        entry["tables_without_model"] = found.tables_without_model()
        entry["schema_changes"] = found.changes
    if as_json:
        click.echo(json.dumps(report, ensure_ascii=False, indent=1))
        return
    if not report:
        for notice in notices:
            out.print(Text(notice), soft_wrap=True)
        out.print(f"{landed:,} messages have landed and none is published; run `dbt-debezium run`")
        return
    show_report(report)
    if note := truncate_sentence(
        report, project_settings(project_dir()).get("sources_without_truncate") or []
    ):
        out.print(Text(note), soft_wrap=True)
    for sentence in shape_sentences(shapes):
        out.print(Text(sentence), soft_wrap=True)
    for source, counts in sorted(unrepresentable.items())[:SHOWN_SOURCES]:
        out.print(Text(unrepresentable_sentence(source, counts)), soft_wrap=True)
    for notice in notices[-SHOWN_SENTENCES:]:
        out.print(Text(notice), soft_wrap=True)


@main.command()
@click.argument("path")
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="PATTERN=NAME",
    help="Sources that match share one set of tables, for example 'shop_*=shop'.",
)
@click.option(
    "--not-ingested",
    multiple=True,
    metavar="PATTERN",
    help="Tables that transactions count and PATH does not hold, for example 'public.audit_*'.",
)
@click.option(
    "--complete",
    is_flag=True,
    help="PATH reaches the end of every partition, so a snapshot need not wait for more.",
)
@click.option(
    "--export",
    "export_directory",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    help="Also write the tables and cut.json there.",
)
def preview(
    path: str,
    groups: Sequence[str],
    not_ingested: Sequence[str],
    complete: bool,
    export_directory: Path | None,
) -> None:
    """Show the tables that a dump of topics gives, without any configuration.

    Lands PATH into a throw-away lake, writes models for what is in it, builds and prints.
    """
    from dbt_debezium.export import export
    from dbt_debezium.landing import local_path
    from dbt_debezium.messages import find_files
    from dbt_debezium.preview import previewed
    from dbt_debezium.report import cut_report
    from dbt_debezium.scaffold import Group
    from dbt_debezium.shapes import key_changes, silent_changes
    from dbt_debezium.unrepresentable import unrepresentable_counts, unrepresentable_sentence

    parsed_groups = [Group.parse(group) for group in groups]
    source = from_anywhere(path)
    enter_project()
    find_files(local_path(source))
    settings: dict[str, Any] = {"landing_reaches_the_end": complete}
    if not_ingested:
        settings["not_ingested_tables"] = list(not_ingested)
    with (
        working("starting Spark") as state,
        previewed(source, parsed_groups, settings, lambda step: state.update(step)) as built,
    ):
        if export_directory:
            state.update(f"writing {export_directory}")
            export(built.spark, built.tables, export_directory)
        report = cut_report(built.spark)
        sentences = key_changes(
            built.spark, (table.texts().place for table in built.tables if table.facts.is_keyless)
        )
        sentences += silent_changes(built.spark)
        names = [table.model_name for table in built.tables]
        for source, counts in sorted(unrepresentable_counts(built.spark, names, "public").items()):
            sentences.append(unrepresentable_sentence(source, counts))
        state.stop()
        for file in built.skipped_files:
            out.print(f"skipped {file}: no line of it is a message")
        show_report(report)
        if note := truncate_sentence(report):
            out.print(Text(note), soft_wrap=True)
        for sentence in sentences[:SHOWN_SENTENCES]:
            out.print(Text(sentence), soft_wrap=True)
        if len(sentences) > SHOWN_SENTENCES:
            out.print(f"and {len(sentences) - SHOWN_SENTENCES} of the kind more")
        show_tables(built.spark, built.tables)
    if export_directory:
        out.print(f"\nwritten to {export_directory}")


def show_report(report: Sequence[dict[str, Any]]) -> None:
    """One row per source, and the first reason of what is held."""
    table = Table(box=None, pad_edge=False)
    for name in ("source", "commit", "transaction", "proof"):
        table.add_column(name)
    for name in COUNTED:
        table.add_column(name, justify="right")
    for entry in report[:SHOWN_SOURCES]:
        counts = entry["counts"]
        table.add_row(
            *(
                Text(str(entry[name] or "-"))
                for name in ("source", "commit_number", "transaction_id", "proof")
            ),
            *(f"{counts[name]:,}" for name in COUNTED),
        )
    out.print(table)
    if len(report) > SHOWN_SOURCES:
        out.print(f"and {len(report) - SHOWN_SOURCES} sources more; --json or --export has all")
    for entry in report[:SHOWN_SOURCES]:
        if sentence := held_sentence(entry):
            out.print(Text(sentence), soft_wrap=True)
        for message in entry["quarantined"][:SHOWN_MESSAGES]:
            place = (
                f"{message['topic']}, partition {message['partition']}, offset {message['offset']}"
            )
            out.print(
                Text(f"{entry['source']}: quarantined {place} ({message['reason']})"),
                soft_wrap=True,
            )
        if len(entry["quarantined"]) > SHOWN_MESSAGES:
            more = len(entry["quarantined"]) - SHOWN_MESSAGES
            out.print(f"and {more:,} messages more; --json has all")
        for decision in entry["decisions"]:
            out.print(Text(f"{entry['source']}: {decision}"), soft_wrap=True)
        raised = ((flagged["table"], flagged["flag"]) for flagged in entry["flags"])
        for sentence in flag_sentences(entry["source"], raised):
            out.print(Text(sentence), soft_wrap=True)


def one_line(cell: object) -> str:
    """A value's text without its line breaks."""
    return str(cell).replace("\n", "\\n")


def cell_text(cell: Any) -> str:
    """A value of a row on one line, as JSON where it has parts.

    >>> [cell_text(cell) for cell in (None, "a\\nb", b"a", [1, None])]
    ['null', 'a\\\\nb', 'YQ==', '[1, null]']
    """
    from pyspark.sql import Row

    from dbt_debezium.export import plain

    if cell is None:
        return "null"
    value = plain(cell.asDict(recursive=True) if isinstance(cell, Row) else cell)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return one_line(value)


def show_tables(spark: Any, tables: Sequence[Any]) -> None:
    """The first rows of each published table."""
    from dbt_debezium.export import with_text_times

    for captured in tables[:SHOWN_TABLES]:
        frame = with_text_times(spark.table(f"`public`.`{captured.model_name}`"))
        row_count = frame.count()
        columns = list(captured.facts.types())
        out.print(f"\n{captured.model_name}: {row_count:,} {'row' if row_count == 1 else 'rows'}")
        table = Table(box=None, pad_edge=False)
        for column in columns[:SHOWN_COLUMNS]:
            table.add_column(
                Text(column), min_width=6, max_width=30, overflow="ellipsis", no_wrap=True
            )
        for row in frame.limit(SHOWN_ROWS).collect():
            cells = row[: len(columns)][:SHOWN_COLUMNS]
            table.add_row(*(Text(cell_text(cell)) for cell in cells))
        out.print(table)
        if len(columns) > SHOWN_COLUMNS:
            out.print(f"and {len(columns) - SHOWN_COLUMNS} columns more; --export has all")
        if row_count > SHOWN_ROWS:
            out.print(f"and {row_count - SHOWN_ROWS:,} rows more")
    if len(tables) > SHOWN_TABLES:
        out.print(f"\nand {len(tables) - SHOWN_TABLES} tables more; --export has all")


@main.command()
@click.argument("sql")
@click.option("--target", help="A target of profiles.yml.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per row.")
def query(sql: str, target: str | None, as_json: bool) -> None:
    """Print the result of one SQL query, such as \"select * from public.commit\"."""
    from pyspark.errors import PySparkException

    from dbt_debezium.export import plain, with_text_times
    from dbt_debezium.report import cut_report
    from dbt_debezium.session import build_schema, nothing_published, spark_session

    enter_lake(target)
    with working("starting Spark") as state:
        spark = spark_session(target)
        state.update("running the query")
        try:
            check_query(spark, sql)
            frame = with_text_times(spark.sql(sql))
            rows = frame.collect()
        except PySparkException as error:
            is_missing = error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"
            if is_missing and not cut_report(spark, build_schema(target)):
                raise nothing_published("query") from error
            why = str(error).strip().splitlines()[0].removesuffix(".")
            remedy = "; `show views in public` lists what there is" if is_missing else ""
            raise DebeziumError(f"query: {why}{remedy}") from error
    if as_json:
        for row in rows:
            click.echo(json.dumps(plain(row.asDict(recursive=True)), ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False)
    for name in frame.columns:
        table.add_column(Text(name))
    for row in rows:
        table.add_row(*(Text(cell_text(cell)) for cell in row))
    out.print(table)


def check_query(spark: Any, sql: str) -> None:
    """Refuse a statement that could change something; PySparkException where it is none at all."""
    plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(sql)
    while plan.getClass().getSimpleName() == "UnresolvedWith":
        plan = plan.child()
    if plan.getClass().getSimpleName().startswith(SHOWING):
        return
    logical = "org.apache.spark.sql.catalyst.plans.logical"
    changing = [
        spark._jvm.java.lang.Class.forName(f"{logical}.{name}")
        for name in ("Command", "ParsedStatement", "Call")
    ]
    # Several inserts of one statement are a union.
    parts = [plan]
    while parts:
        part = parts.pop()
        if any(one.isInstance(part) for one in changing):
            raise DebeziumError(
                f"query: {one_line(sql)} is no query and may change something; "
                "SELECT, VALUES, SHOW, DESCRIBE and EXPLAIN are queries"
            )
        children = part.children()
        parts += [children.apply(at) for at in range(children.size())]


@main.command()
@click.argument("source")
@click.argument("commit_number", metavar="[COMMIT]", type=click.IntRange(min=1), required=False)
@click.option("--transaction", "transaction_id", metavar="ID", help="In place of COMMIT.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per row.")
@click.option("--target", help="A target of profiles.yml.")
def diff(
    source: str,
    commit_number: int | None,
    transaction_id: str | None,
    as_json: bool,
    target: str | None,
) -> None:
    """Print every row that one published COMMIT of SOURCE changed, before and after it."""
    from dbt_debezium.diff import find_commit, transaction_diff
    from dbt_debezium.session import public_schema, spark_session

    if (commit_number is None) == (transaction_id is None):
        named = "neither is" if commit_number is None else "both are"
        raise DebeziumError(f"diff: {named} named; name one of COMMIT and --transaction ID")
    enter_lake(target)
    with working("starting Spark") as state:
        spark = spark_session(target)
        schema = public_schema(project_dir())
        commit = find_commit(spark, source, commit_number, transaction_id, schema)
        state.update("comparing")
        rows = transaction_diff(spark, source, commit.number, project_dir(), target)
    if as_json:
        for row in rows:
            click.echo(row.as_json())
        return
    tables = len({row.table for row in rows})
    out.print(Text(f"{commit}: {len(rows):,} rows of {tables} tables"), soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for name in ("change", "table", "row", "before -> after"):
        table.add_column(name)
    for row in rows:
        cells = (row.change, row.table, row.row_key, row.sentence())
        table.add_row(*(Text(one_line(cell)) for cell in cells))
    out.print(table)


@main.command()
def demo() -> None:
    """Land a real change log in two parts, and show what each gives."""
    from dbt_debezium.demo import run_demo

    enter_project()
    run_demo(out)


@main.command()
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@click.option("--stop", is_flag=True, help="Stop reading; without a TABLE, whatever is being read.")
@click.option(
    "--type",
    "snapshot_type",
    type=click.Choice(["incremental", "blocking"]),
    default="incremental",
    show_default=True,
    help="Beside the stream in chunks, or instead of it at once.",
)
@click.option(
    "--condition",
    "conditions",
    multiple=True,
    metavar="TABLE:CONDITION",
    help="Rows of a TABLE to read, for example 'public.orders:total > 10'.",
)
@click.option("--surrogate-key", metavar="COLUMN", help="Cut chunks by this unique column.")
@click.option(
    "--connector", default="postgresql", show_default=True, help="Debezium's name of the connector."
)
@click.option(
    "--table",
    "signal_table",
    metavar="NAME",
    help="The connector's signal.data.collection; its case is kept.",
)
@click.option("--kafka", "prefix", metavar="PREFIX", help="Print a record for this topic.prefix.")
@click.option("--id", "signal_id", metavar="ID", help="The signal's id; a new one by default.")
def signal(
    tables: Sequence[str],
    stop: bool,
    snapshot_type: Literal["incremental", "blocking"],
    conditions: Sequence[str],
    surrogate_key: str | None,
    connector: str,
    signal_table: str | None,
    prefix: str | None,
    signal_id: str | None,
) -> None:
    """Print the signal that has a connector read each TABLE again.

    With --table it is SQL for the source database, with --kafka a JSON line with topic, key and
    value. A signal in a table is proved by its place in the log, one through Kafka is not (S23).
    """
    from uuid import uuid4

    from dbt_debezium.signals import Signal, parse_conditions

    if bool(signal_table) == bool(prefix):
        raise DebeziumError(
            "signal: say where it goes with one of --table and --kafka, "
            "for example --table public.debezium_signal"
        )
    made = Signal(
        signal_id or f"dbt-debezium-{uuid4()}",
        tables,
        is_stop=stop,
        snapshot_type=snapshot_type,
        conditions=parse_conditions(conditions),
        surrogate_key=surrogate_key,
    )
    made.check(connector)
    click.echo(made.kafka_record(prefix) if prefix else made.sql(connector, signal_table or ""))


@main.command()
@click.argument("patterns", nargs=-1)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="PATTERN=NAME",
    help="Sources that match share one set of models, for example 'shop_*=shop'.",
)
@click.option("--check", is_flag=True, help="Write nothing; fail when models are missing.")
@click.option("--yes", is_flag=True, help="Change files without asking.")
@click.option("--force", is_flag=True, help="Write all files of these tables anew.")
@click.option("--target", help="A target of profiles.yml.")
def scaffold(
    patterns: Sequence[str],
    groups: Sequence[str],
    check: bool,
    yes: bool,
    force: bool,
    target: str | None,
) -> None:
    """Write models for the tables that have landed, or for those that match PATTERNS.

    A pattern is like 'public.orders' or 'shop_1.public.*'. What a person has changed in a model
    stays; columns that it does not have are added. A table of signals is left out unless it is
    named without *.
    """
    from dbt_debezium.connectors.settings import settings_of
    from dbt_debezium.project_models import plan_scaffold
    from dbt_debezium.scaffold import Group, chosen_tables
    from dbt_debezium.session import project_settings, spark_session
    from dbt_debezium.tables import full_name, landed_tables

    parsed_groups = [Group.parse(group) for group in groups]
    enter_lake(target)
    project = project_dir()
    settings = settings_of(project_settings(project))
    with working("starting Spark") as state:
        spark = spark_session(target)
        state.update("looking at the messages")
        if not spark.catalog.tableExists("landing.message"):
            raise DebeziumError("scaffold: nothing has landed; run `dbt-debezium land` first")
        landed = landed_tables(spark, settings)
        tables = chosen_tables(landed, patterns)
    plan = plan_scaffold(project, tables, parsed_groups, force)
    for name in sorted({full_name(one.schema, one.table) for one in landed if one.has_signals}):
        if name not in {full_name(one.schema, one.table) for one in tables}:
            out.print(Text(f"left out {name}: a table of signals; name it to have its models"))
    show_plan(plan)
    if check and plan.changes:
        log.print(f"scaffold: {len(plan.changes)} files are missing or lack columns")
        sys.exit(1)
    if plan.changes and not check:
        confirm_changes(plan, yes)
        plan.write(project)
        count = len(plan.changes)
        out.print(f"wrote {count} files; the next run builds these tables from all changes")
    if plan.refusals:
        sys.exit(2)


def show_plan(plan: "Plan") -> None:
    """New files by name, others by what changes in them, and what is refused."""
    if not plan.changes and not plan.refusals:
        out.print("every table has its models")
    for change in plan.changes:
        if change.old is None:
            out.print(Text(f"new  {change.path}"), soft_wrap=True)
        else:
            out.print(Text(change.diff()), soft_wrap=True)
    for refusal in plan.refusals:
        log.print(Text(refusal), soft_wrap=True)


def confirm_changes(plan: "Plan", yes: bool) -> None:
    """Ask before a file that is there changes."""
    changed = sum(change.old is not None for change in plan.changes)
    if not changed or yes:
        return
    if not sys.stdin.isatty():
        raise DebeziumError(f"scaffold: {changed} files would change; say --yes to change them")
    click.confirm(f"change {changed} files?", abort=True, err=True)


def _not_built(name: str, instead: str) -> None:
    @main.command(name, context_settings={"ignore_unknown_options": True})
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def command(arguments: Sequence[str]) -> None:
        raise DebeziumError(f"{name}: is not built yet; {instead}")

    command.help = f"Not built yet: {instead}."
    command.short_help = "Not built yet."


_not_built("quarantine", "`dbt-debezium status --json` lists quarantined messages")
_not_built("doctor", "`dbt-debezium status` says what is held and why")
_not_built("maintain", "use Iceberg's rewrite_data_files and expire_snapshots procedures")
