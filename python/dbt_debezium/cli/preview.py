"""`dbt-debezium preview`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from dbt_debezium.cli.cells import cell_text
from dbt_debezium.cli.console import enter_project, examples, from_anywhere, out, working
from dbt_debezium.cli.report import SHOWN_SENTENCES, show_report

SHOWN_ROWS = 10
SHOWN_TABLES = 12
SHOWN_COLUMNS = 8


@click.command(
    epilog=examples(
        "dbt-debezium preview dump.jsonl",
        "dbt-debezium preview dumps/ --complete",
        "dbt-debezium preview dumps/ --not-ingested 'public.audit_*' --export tables/",
    )
)
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
    "--identity",
    "identity_texts",
    multiple=True,
    metavar="TABLE=COLUMNS",
    help="Columns that tell rows apart where messages have no key, as 'public.orders=id'.",
)
@click.option(
    "--complete",
    is_flag=True,
    help="PATH has everything that was sent, so nothing waits for a later message.",
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
    identity_texts: Sequence[str],
    complete: bool,
    export_directory: Path | None,
) -> None:
    """Show the tables that a dump of topics gives, without any configuration.

    Lands PATH into a throw-away lake, writes models for what is in it, builds and prints.
    """
    from dbt_debezium.dumps import refuse_early
    from dbt_debezium.export import export
    from dbt_debezium.identities import parse_identities
    from dbt_debezium.landing import local_path
    from dbt_debezium.notices import unplaced_topics
    from dbt_debezium.preview import preview_report, previewed
    from dbt_debezium.scaffold import Group

    parsed_groups = [Group.parse(group) for group in groups]
    identities = parse_identities(identity_texts)
    source = from_anywhere(path)
    enter_project()
    refuse_early(local_path(source))
    settings: dict[str, Any] = {"landing_reaches_the_end": complete}
    if not_ingested:
        settings["not_ingested_tables"] = list(not_ingested)
    with (
        working("starting Spark") as state,
        previewed(
            source, parsed_groups, settings, lambda step: state.update(step), identities
        ) as built,
    ):
        if export_directory:
            state.update(f"writing {export_directory}")
            export(built.spark, built.tables, export_directory)
        report = preview_report(built)
        topics = unplaced_topics(built.spark)
        state.stop()
        for skipped in built.skipped_files:
            out.print(Text(f"skipped {skipped}"), soft_wrap=True)
        show_report(report, "preview")
        for sentence in topics[:SHOWN_SENTENCES]:
            out.print(Text(sentence), soft_wrap=True)
        show_tables(built.spark, built.tables)
    if export_directory:
        out.print(f"\nwritten to {export_directory}")


def show_tables(spark: Any, tables: Sequence[Any]) -> None:
    """The first rows of each published table, with their source where several share the table."""
    from dbt_debezium.export import quoted, with_text_times

    for captured in tables[:SHOWN_TABLES]:
        frame = spark.table(f"`public`.`{captured.model_name}`")
        columns = list(captured.facts.types())
        shown = [frame[quoted(name)] for name in columns[:SHOWN_COLUMNS]]
        if captured.has_several_sources:
            shown.insert(0, frame["_change.source"].alias("_source"))
            frame = frame.orderBy("_change.source")
        row_count = frame.count()
        out.print(f"\n{captured.model_name}: {row_count:,} {'row' if row_count == 1 else 'rows'}")
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
