"""`dbt-debezium run`."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from rich.text import Text

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
from dbt_debezium.cli.land import land_source
from dbt_debezium.cli.report import SHOWN_SENTENCES, shape_sentences
from dbt_debezium.home import lake_dir, make_private, project_dir
from dbt_debezium.kafka import SCHEME

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog=examples(
        "dbt-debezium run",
        "dbt-debezium run dumps/",
        "dbt-debezium run kafka://localhost:9092 --topics 'shop[.].*'",
        "dbt-debezium run --full-refresh",
        "dbt-debezium run --vars '{landing_reaches_the_end: true}'",
    ),
)
@topics_option
@registry_option
@click.option("--target", "-t", help="A target of profiles.yml.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[SOURCE] [DBT OPTIONS]...")
def run(
    topics: str | None, registry: str | None, target: str | None, arguments: Sequence[str]
) -> None:
    """Land SOURCE, build and publish, all in one Spark session.

    SOURCE is what `land` takes. Without SOURCE, the blocks of landing.yml are landed, if there is
    such a file. Other options go to `dbt build` as they are, such as --full-refresh,
    --threads 4 or --vars '{landing_reaches_the_end: true}'; `dbt build --help` has all. A part of
    the project, as with --select, publishes nothing. Unit tests are left out: they test our SQL,
    not your data.
    """
    from dbt_debezium.build import BUILD, run_dbt
    from dbt_debezium.kafka.landing_file import FILE
    from dbt_debezium.lease import Lease
    from dbt_debezium.session import spark_session

    source, options = None, list(arguments)
    if options and not options[0].startswith("-"):
        source, options = options[0], options[1:]
    check_kafka_options(source, topics, registry)
    if source:
        source = source if source.startswith(SCHEME) else from_anywhere(source)
    enter_project()
    make_private(lake_dir())
    with Lease(lake_dir(), "dbt-debezium run"):
        if source or (project_dir() / FILE).is_file():
            land_source(source, lambda: spark_session(target), topics, registry)
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
    with working("looking at what is held, and for tables without models"):
        notes = notes_of(spark_session(target), target)
    for note in notes:
        out.print(Text(note), soft_wrap=True)


def notes_of(spark: "SparkSession", target: str | None) -> list[str]:
    """What is held after a good run, and what has no effect: tables without a model, decisions."""
    from dbt_debezium.holds import held_sentence
    from dbt_debezium.notices import idle_decisions, unplaced_topics
    from dbt_debezium.project_models import ProjectModels
    from dbt_debezium.report import cut_report
    from dbt_debezium.session import build_schema
    from dbt_debezium.shapes import shape_reports

    schema = build_schema(target)
    models = ProjectModels.read(project_dir()).histories.values()
    report = cut_report(spark, schema)
    held = [sentence for entry in report if (sentence := held_sentence(entry, "run"))]
    return [
        *held[:SHOWN_SENTENCES],
        *unplaced_topics(spark, schema)[:SHOWN_SENTENCES],
        *shape_sentences(shape_reports(spark, models, schema)),
        *idle_decisions(spark, report, schema)[:SHOWN_SENTENCES],
    ]
