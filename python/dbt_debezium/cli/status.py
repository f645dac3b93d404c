"""`dbt-debezium status`."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from rich.text import Text

from dbt_debezium.cli.console import enter_lake, examples, out, working
from dbt_debezium.cli.shown_report import (
    SHOWN_SENTENCES,
    SHOWN_SOURCES,
    shape_sentences,
    show_report,
)
from dbt_debezium.home import project_dir

if TYPE_CHECKING:
    from dbt_debezium.lake_status import LakeStatus
    from dbt_debezium.readers.choice import Engine

engine_option = click.option(
    "--engine",
    default="auto",
    show_default=True,
    type=click.Choice(["auto", "duckdb", "spark"]),
    help="What reads the lake. DuckDB needs no Java; `auto` takes Spark where DuckDB is not"
    " installed or cannot read this lake.",
)


@click.command(
    epilog=examples(
        "dbt-debezium status",
        "dbt-debezium status --json | jq '.[].held'",
    )
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One JSON list: cut.json of an export, and what models lack or cannot show.",
)
@click.option("--target", help="A target of profiles.yml.")
@engine_option
def status(as_json: bool, target: str | None, engine: "Engine") -> None:
    """Say what is published, held, quarantined and flagged, and why."""
    from dbt_debezium.session import project_settings

    enter_lake(target)
    found = look(target, engine)
    if as_json:
        click.echo(json.dumps(found.report, ensure_ascii=False, indent=1))
        return
    silent = project_settings(project_dir()).get("sources_without_truncate") or []
    say(found, silent)


def say(found: "LakeStatus", without_truncate: Sequence[str]) -> None:
    """Print what is known of a lake.

    Args:
        found: what is known.
        without_truncate: patterns of sources that are known to send no TRUNCATE.
    """
    from dbt_debezium.unrepresentable import unrepresentable_sentence

    if not found.report:
        for notice in found.notices:
            out.print(Text(notice), soft_wrap=True)
        out.print(
            f"{found.landed:,} messages have landed and none is published; run `dbt-debezium run`"
        )
        return
    show_report(found.report, "status", without_truncate)
    for sentence in shape_sentences(found.shapes):
        out.print(Text(sentence), soft_wrap=True)
    for source, counts in sorted(found.unrepresentable.items())[:SHOWN_SOURCES]:
        out.print(Text(unrepresentable_sentence(source, counts)), soft_wrap=True)
    for notice in found.notices[-SHOWN_SENTENCES:]:
        out.print(Text(notice), soft_wrap=True)


def look(target: str | None, engine: "Engine") -> "LakeStatus":
    """Look at the lake of a target."""
    from dbt_debezium.lake_status import lake_status
    from dbt_debezium.project_models import ProjectModels
    from dbt_debezium.readers.choice import reader_of
    from dbt_debezium.session import build_schema, public_schema

    models = list(ProjectModels.read(project_dir()).histories.values())
    with working("looking at the lake") as state:
        schema = build_schema(target)
        lake = reader_of(target, schema, engine, state.update)
        return lake_status(lake, models, schema, public_schema(project_dir()))
