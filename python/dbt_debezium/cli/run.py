"""`dbt-debezium run`."""

import difflib
import os
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
from dbt_debezium.cli.land import end_if_failed, source_of
from dbt_debezium.cli.maintain import maintain_when_due
from dbt_debezium.cli.one_session import OneSession
from dbt_debezium.cli.problems import say_problems
from dbt_debezium.cli.repeat import repeat
from dbt_debezium.cli.shown_report import SHOWN_SENTENCES, shape_sentences
from dbt_debezium.cli.watched import Watched, watch_of, watch_options
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import lake_dir, make_private, project_dir

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt_debezium.rounds.round import Round
    from dbt_debezium.rounds.sources import Source
    from dbt_debezium.watching.watch import Output


@click.command(
    short_help="Land, build and publish.",
    context_settings={"ignore_unknown_options": True},
    epilog=examples(
        "dbt-debezium run",
        "dbt-debezium run dumps/",
        "dbt-debezium run kafka://localhost:9092 --topics 'shop[.].*'",
        "dbt-debezium run --every 30s",
        "dbt-debezium run --every 30s --report lake.html",
        "dbt-debezium run --every 30s --metrics-port 9464 --on-change ./alert.sh",
        "dbt-debezium run --full-refresh",
        "dbt-debezium run --vars '{landing_reaches_the_end: true}'",
    ),
)
@topics_option
@registry_option
@click.option("--target", "-t", help="A target of profiles.yml.")
@click.option(
    "--every", metavar="DURATION", help="Repeat it, as every 30s or 5m, until a signal ends it."
)
@click.option("--json", "as_json", is_flag=True, help="With --every: one JSON object a round.")
@click.option(
    "--health-file",
    metavar="FILE",
    help="With --every: where it says how it is doing. By default health.json in the lake.",
)
@watch_options
@click.option(
    "--build-anyway", is_flag=True, help="Build although nothing has changed since it published."
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[SOURCE] [DBT OPTIONS]...")
def run(
    topics: str | None,
    registry: str | None,
    target: str | None,
    every: str | None,
    as_json: bool,
    health_file: str | None,
    page_file: Path | None,
    metrics_file: Path | None,
    metrics_port: str | None,
    on_change: str | None,
    build_anyway: bool,
    arguments: Sequence[str],
) -> None:
    """Land SOURCE, build and publish, all in one Spark session.

    SOURCE is what `land` takes. Without SOURCE, the blocks of landing.yml are landed, if there is
    such a file. Other options go to `dbt build` as they are, such as --full-refresh,
    --threads 4 or --vars '{landing_reaches_the_end: true}'; `dbt build --help` has all. A part of
    the project, as with --select, publishes nothing. Unit tests are left out: they test our SQL,
    not your data.

    Nothing is built where nothing has landed, no model, setting or decision has changed, and the
    run before has published.
    """
    from dbt_debezium.kafka.landing_file import FILE
    from dbt_debezium.lease import Lease
    from dbt_debezium.rounds.duration import seconds_of
    from dbt_debezium.rounds.news import always_builds
    from dbt_debezium.rounds.sources import NoSource

    seconds = seconds_of("run: --every", every) if every else None
    if not every and (as_json or health_file):
        name = "--json" if as_json else "--health-file"
        raise DebeziumError(f"run: {name} goes with --every; say how often, as --every 30s")
    source, options = None, list(arguments)
    if options and not options[0].startswith("-"):
        source, options = options[0], options[1:]
    check_options(options)
    check_kafka_options(source, topics, registry)
    if source:
        source = from_anywhere(source)
    if every and always_builds(options):
        named = next(one for one in options if always_builds([one]))
        raise DebeziumError(
            f"run: --every: {named} would be done in each round; run it once without --every"
        )
    health = Path(health_file).expanduser().absolute() if health_file else None
    page_file, metrics_file = (
        file.expanduser().absolute() if file else None for file in (page_file, metrics_file)
    )
    watched = Watched(page_file, metrics_file, metrics_port, on_change)
    watched.check_rounds(is_repeated=bool(every))
    started_in = Path.cwd()
    enter_project()
    messages: Source = NoSource()
    if source or (project_dir() / FILE).is_file():
        messages = source_of(source, topics, registry, target=target, may_be_empty=bool(every))
    session = OneSession(target)
    rounds = rounds_of(messages, session, options, build_anyway)
    make_private(lake_dir())
    outputs = watched.begin()
    with Lease(lake_dir(), "dbt-debezium run"):
        if seconds:
            repeat(rounds, session, seconds, as_json, health, outputs, started_in)
        elif outputs:
            run_once_watched(rounds, session, outputs)
        else:
            run_once(rounds)


def check_options(options: Sequence[str]) -> None:
    """Refuse an option that neither this command nor dbt has, before anything lands.

    Raises:
        NoSuchOption: there is one.
    """
    given = [one.partition("=")[0] for one in options if re.match("--[a-z]", one)]
    if not given:
        return
    from dbt.cli.main import build

    known = {
        name
        for parameter in (*run.params, *build.params)
        for name in (*parameter.opts, *parameter.secondary_opts)
    }
    for name in given:
        if name not in known:
            raise click.NoSuchOption(name, possibilities=difflib.get_close_matches(name, known, 1))


def rounds_of(
    source: "Source", session: OneSession, options: Sequence[str], build_anyway: bool
) -> "Round":
    """The round that this command does or repeats."""
    from dbt_debezium.rounds.round import Round

    target = session.target

    def schema() -> str:
        from dbt_debezium.spark.targets import build_schema

        return build_schema(target)

    return Round(
        project=project_dir(),
        profiles=Path(os.environ.get("DBT_PROFILES_DIR") or project_dir()) / "profiles.yml",
        target=target,
        options=options,
        source=source,
        start_spark=session.start,
        schema=schema,
        notes=lambda spark: notes_of(spark, target),
        maintain=lambda spark, tell: maintain_when_due(spark, target, tell),
        build_anyway=build_anyway,
    )


def run_once(rounds: "Round") -> None:
    """Do one round, and print its results as they come."""
    with working("looking for news") as status:
        rounds.tell = status.update
        rounds.say = out.say
        outcome = rounds.run()
    if outcome.kind == "failed":
        sys.exit(1)
    if outcome.kind == "no_news":
        out.print(
            f"no news since the run that published at {outcome.since}: nothing has landed, and no "
            "decision, model or setting has changed; --build-anyway builds all the same",
            soft_wrap=True,
        )
    for note in outcome.notes:
        if note not in outcome.lines:  # the build itself names new columns, too
            out.say(note)
    end_if_failed(outcome.landing)


def run_once_watched(rounds: "Round", session: OneSession, outputs: "list[Output]") -> None:
    """Do one round, and write the outputs, whether it fails or not."""
    from dbt_debezium.rounds.health import NAME, read_health

    watch = watch_of(outputs, session, partial(read_health, lake_dir() / NAME))
    try:
        run_once(rounds)
    # Not after Ctrl-C: who ends the command does not wait for a page.
    except (Exception, SystemExit):
        say_problems(watch.write())
        raise
    say_problems(watch.write())


def notes_of(spark: "SparkSession", target: str | None) -> tuple[list[str], list[dict[str, Any]]]:
    """Sentences on holds, tables without a model and idle decisions; and `cut_report`."""
    from dbt_debezium.readers.spark_reader import SparkReader
    from dbt_debezium.scaffold.project_models import ProjectModels
    from dbt_debezium.spark.targets import build_schema
    from dbt_debezium.status.holds import held_sentence
    from dbt_debezium.status.notices import idle_decisions, unplaced_topics
    from dbt_debezium.status.report import cut_report
    from dbt_debezium.status.shapes import accept_tables, shape_reports

    lake, schema = SparkReader(spark), build_schema(target)
    models = ProjectModels.read(project_dir()).histories.values()
    report = cut_report(lake, schema)
    held = [sentence for entry in report if (sentence := held_sentence(entry, "run"))]
    shapes = shape_reports(lake, models, schema)
    accept_tables(shapes, report)
    notes = [
        *held[:SHOWN_SENTENCES],
        *unplaced_topics(lake, schema)[:SHOWN_SENTENCES],
        *shape_sentences(shapes),
        *idle_decisions(lake, report, schema)[:SHOWN_SENTENCES],
    ]
    return notes, report
