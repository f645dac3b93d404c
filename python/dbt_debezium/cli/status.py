"""`dbt-debezium status`."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from dbt_debezium.cli.console import enter_lake, examples, out, working
from dbt_debezium.cli.engine import engine_option
from dbt_debezium.cli.shown_report import (
    SHOWN_SENTENCES,
    SHOWN_SOURCES,
    shape_sentences,
    show_report,
)
from dbt_debezium.home import lake_dir, project_dir
from dbt_debezium.writers.terminal import harmless, json_text

if TYPE_CHECKING:
    from dbt_debezium.readers import Reader
    from dbt_debezium.readers.choice import Engine
    from dbt_debezium.status.lake_status import LakeStatus


@click.command(
    short_help="Say how the lake is.",
    epilog=examples(
        "dbt-debezium status",
        "dbt-debezium status --json | jq '.[].held'",
    ),
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One JSON list: cut.json of an export, and what models lack or cannot show.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "prometheus"]),
    default="text",
    show_default=True,
    help="`json` is what --json prints; `prometheus` the metrics of docs/watching.md.",
)
@click.option("--target", help="A target of profiles.yml.")
@engine_option
def status(as_json: bool, form: str, target: str | None, engine: "Engine") -> None:
    """Say what is published, held, quarantined and flagged, and why."""
    enter_lake(target)
    found = look(target, engine)
    if form == "prometheus":
        from dbt_debezium.watching.metrics import text_of
        from dbt_debezium.watching.watch import Seen

        click.echo(harmless(text_of(Seen(str(lake_dir()), found))), nl=False)
    elif as_json or form == "json":
        click.echo(json_text(found.report, indent=1))
    else:
        say(found)


def say(found: "LakeStatus") -> None:
    """Print what is known of a lake."""
    from dbt_debezium.status.sentences import shared_sentences
    from dbt_debezium.status.summary import summary_of
    from dbt_debezium.status.unrepresentable import unrepresentable_sentence

    if not found.report:
        for notice in found.notices:
            out.say(notice)
        out.print(
            f"{found.landed:,} messages have landed and none is published; run `dbt-debezium run`"
        )
        return
    shared = shared_sentences(found.report, "status", found.without_truncate)
    out.say(summary_of(found, datetime.now(UTC), shared).sentence)
    show_report(found.report, "status", found.without_truncate)
    for sentence in shape_sentences(found.shapes):
        out.say(sentence)
    for source, counts in sorted(found.unrepresentable.items())[:SHOWN_SOURCES]:
        out.say(unrepresentable_sentence(source, counts))
    # The one on the latest run is the last.
    for notice in found.notices[-SHOWN_SENTENCES:]:
        out.say(notice)


def look(target: str | None, engine: "Engine") -> "LakeStatus":
    """Look at the lake of a target."""
    from dbt_debezium.readers.choice import reader_of
    from dbt_debezium.spark.targets import build_schema

    with working("looking at the lake") as state:
        schema = build_schema(target)
        return look_with(reader_of(target, schema, engine, state.update), schema)


def look_with(lake: "Reader", schema: str) -> "LakeStatus":
    """Look at a lake through what reads it, with what the project says of its tables.

    Args:
        lake: what reads it.
        schema: the schema that models are built in.
    """
    from dbt_debezium.project_settings import project_settings
    from dbt_debezium.scaffold.project_models import ProjectModels
    from dbt_debezium.status.lake_status import lake_status

    project = project_dir()
    models = list(ProjectModels.read(project).histories.values())
    settings = project_settings(project)
    silent = settings.get("sources_without_truncate") or []
    return lake_status(lake, models, schema, str(settings["public_schema"]), silent)
