"""`dbt-debezium preview`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from dbt_debezium.amounts import counted
from dbt_debezium.cli.cells import cell_text
from dbt_debezium.cli.console import (
    check_kafka_options,
    enter_project,
    examples,
    from_anywhere,
    out,
    registry_option,
    topics_option,
    working,
)
from dbt_debezium.cli.fetched import show_fetched
from dbt_debezium.cli.shown_report import SHOWN_SENTENCES, show_report
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import project_dir
from dbt_debezium.kafka import SCHEME
from dbt_debezium.message_tables import SCHEME as TABLES

if TYPE_CHECKING:
    from dbt_debezium.preview import Topics
    from dbt_debezium.reasons import Command

MOST_OFFSETS = 100_000
"""Of each partition of Kafka, unless --limit says otherwise: a minute or two of building."""
SHOWN_ROWS = 10
SHOWN_TABLES = 12
SHOWN_COLUMNS = 8


@click.command(
    short_help="Show the tables of a dump.",
    epilog=examples(
        "dbt-debezium preview dump.jsonl",
        "dbt-debezium preview dumps/ --complete",
        "dbt-debezium preview dumps/ --not-ingested 'public.audit_*' --export tables/",
        "dbt-debezium preview kafka://localhost:9092 --topics 'shop[.].*'",
    ),
)
@click.argument("source", required=False)
@topics_option
@registry_option
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="COUNT",
    help=f"Of Kafka: read at most so many offsets of each partition; by default {MOST_OFFSETS:,}.",
)
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
    help="Tables that transactions count and SOURCE does not hold, for example 'public.audit_*'.",
)
@click.option(
    "--identity",
    "identity_texts",
    multiple=True,
    metavar="TABLE=COLUMNS",
    help="Columns that tell rows apart where messages have no key, as 'public.orders=id'.",
)
@click.option(
    "--complete",
    is_flag=True,
    help="SOURCE has everything that was sent, so nothing waits for a later message.",
)
@click.option(
    "--export",
    "export_directory",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    help="Also write the tables and cut.json there.",
)
def preview(
    source: str | None,
    topics: str | None,
    registry: str | None,
    limit: int | None,
    groups: Sequence[str],
    not_ingested: Sequence[str],
    identity_texts: Sequence[str],
    complete: bool,
    export_directory: Path | None,
) -> None:
    """Show the tables that a dump of topics, or Kafka, gives, without any configuration.

    SOURCE is a dump of topics, a file or folder, or kafka://host:port. Without SOURCE, all blocks
    of landing.yml are read. What it brings lands in a throw-away lake, where models are written for
    it and built. Nothing is written to Kafka, and no consumer group is made.
    """
    from dbt_debezium.export import export
    from dbt_debezium.preview import Topics, preview_report, previewed
    from dbt_debezium.readers.spark_reader import SparkReader
    from dbt_debezium.scaffold.captured import Group
    from dbt_debezium.scaffold.identities import parse_identities
    from dbt_debezium.status.notices import unplaced_topics

    parsed_groups = [Group.parse(group) for group in groups]
    identities = parse_identities(identity_texts)
    read = read_from(source, topics, registry, limit, complete)
    command: Command = "preview kafka" if isinstance(read, Topics) else "preview"
    if complete:
        command = "preview kafka --complete" if isinstance(read, Topics) else "preview --complete"
    settings: dict[str, Any] = {"landing_reaches_the_end": complete}
    if not_ingested:
        settings["not_ingested_tables"] = list(not_ingested)
    with (
        working("starting Spark") as state,
        previewed(
            read, parsed_groups, settings, lambda step: state.update(step), identities
        ) as built,
    ):
        if export_directory:
            state.update(f"writing {export_directory}")
            export(built.spark, built.tables, export_directory)
        report = preview_report(built, command)
        unplaced = unplaced_topics(SparkReader(built.spark))
        state.stop()
        for skipped in built.skipped_files:
            out.say(f"skipped {skipped}")
        for name, fetched in built.fetched.items():
            show_fetched(built.spark, name, fetched, limit or MOST_OFFSETS)
        show_report(report, command)
        for sentence in unplaced[:SHOWN_SENTENCES]:
            out.say(sentence)
        show_tables(built.spark, built.tables)
    if export_directory:
        out.print(f"\nwritten to {export_directory}")


def read_from(
    source: str | None,
    topics: str | None,
    registry: str | None,
    limit: int | None,
    complete: bool,
) -> "str | Topics":
    """What is to be previewed, looked at as far as that needs no Spark.

    Raises:
        DebeziumError: it is not what can be read.
        UsageError: an option of Kafka goes with a path.
    """
    from dbt_debezium.dumps import refuse_early
    from dbt_debezium.kafka.landing_file import (
        FILE,
        block_of_address,
        client_options,
        kafka_blocks,
        registry_of,
    )
    from dbt_debezium.landing.inbox import local_path
    from dbt_debezium.preview import Topics

    is_address = (source or "").startswith(SCHEME)
    check_kafka_options(source, topics, registry)
    if source and not is_address:
        if limit:
            raise click.UsageError("--limit goes with Kafka; a dump is read whole.")
        if source.startswith(TABLES):
            raise DebeziumError(
                f"{source}: preview reads no tables of messages; land the table, or preview its "
                "topics with kafka://host:port"
            )
        path = from_anywhere(source)
        enter_project(is_needed=False)
        refuse_early(local_path(path))
        return path
    enter_project(is_needed=False)
    if source:
        blocks = {source: block_of_address(source, topics or ".*", registry)}
    else:
        blocks = kafka_blocks(project_dir())
        if not blocks:
            raise DebeziumError(
                f"{FILE}: names no topics, and preview reads no tables of messages; add a block "
                "with bootstrap_servers, or land the tables"
            )
    for name, block in blocks.items():
        client_options(name, block)  # refuses before Spark starts
        registry_of(name, block)
    return Topics(blocks, limit or MOST_OFFSETS, complete)


def show_tables(spark: Any, tables: Sequence[Any]) -> None:
    """The first rows of each published table, with their source where several share the table."""
    from dbt_debezium.readers.spark_values import with_text_times
    from dbt_debezium.writers import sql

    for captured in tables[:SHOWN_TABLES]:
        frame = spark.table(f"`public`.{sql.identifier(captured.model_name)}")
        columns = list(captured.facts.types())
        shown = [frame[sql.identifier(name)] for name in columns[:SHOWN_COLUMNS]]
        if captured.has_several_sources:
            shown.insert(0, frame["_change.source"].alias("_source"))
            frame = frame.orderBy("_change.source")
        row_count = frame.count()
        out.print(f"\n{captured.model_name}: {counted(row_count, 'row')}")
        table = Table(box=None, pad_edge=False)
        rows = with_text_times(frame.select(shown).limit(SHOWN_ROWS))
        for column in rows.columns:
            table.add_column(
                Text(column), min_width=6, max_width=30, overflow="ellipsis", no_wrap=True
            )
        for row in rows.collect():
            table.add_row(*(Text(cell_text(cell)) for cell in row))
        out.print(table)
        if len(columns) > SHOWN_COLUMNS:
            out.print(f"and {len(columns) - SHOWN_COLUMNS} columns more; --export has all")
        if row_count > SHOWN_ROWS:
            out.print(f"and {row_count - SHOWN_ROWS:,} rows more")
    if len(tables) > SHOWN_TABLES:
        out.print(f"\nand {len(tables) - SHOWN_TABLES} tables more; --export has all")
