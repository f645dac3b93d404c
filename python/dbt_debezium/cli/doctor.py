"""`dbt-debezium doctor`."""

from collections import Counter
from collections.abc import Iterator
from functools import partial

import click
from rich.text import Text

from dbt_debezium.amounts import counted
from dbt_debezium.cli.console import enter_project, examples, out, working
from dbt_debezium.doctor.finding import Finding, checked
from dbt_debezium.home import project_dir
from dbt_debezium.writers.terminal import json_text, one_line

STYLES = {"ok": "green", "note": "yellow", "wrong": "red"}


@click.command(
    short_help="Check machine, project, Kafka and lake.",
    epilog=examples(
        "dbt-debezium doctor",
        "dbt-debezium doctor --json | jq 'select(.level == \"wrong\")'",
    ),
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per finding.")
@click.option("--target", help="A target of profiles.yml.")
@click.pass_context
def doctor(context: click.Context, as_json: bool, target: str | None) -> None:
    """Check this machine, the project, the cluster, Kafka, the lake and the connectors.

    Looks at Java, the jars, the settings, the catalog, the executors, the store, the brokers and
    registries of landing.yml, the lake, and what messages show of their connectors. Each finding is
    one sentence with its remedy: ok, note (it works, and could be better) or wrong. Exit code 1
    where something is wrong.
    """
    enter_project()
    levels: Counter[str] = Counter()
    for finding in _findings(target):
        levels[finding.level] += 1
        if as_json:
            one = {"level": finding.level, "sentence": finding.sentence}
            click.echo(json_text(one))
        else:
            mark = Text(f"{finding.level:<6}", style=STYLES[finding.level])
            out.print(mark + Text(one_line(finding.sentence)), soft_wrap=True)
    if not as_json:
        out.print(f"{counted(levels['wrong'], 'problem')}, {counted(levels['note'], 'note')}")
    context.exit(1 if levels["wrong"] else 0)


def _findings(target: str | None) -> Iterator[Finding]:
    from dbt_debezium.doctor.machine import machine_findings
    from dbt_debezium.errors import CannotWorkError, DebeziumError
    from dbt_debezium.kafka.landing_file import FILE
    from dbt_debezium.spark.session import check_lake

    has_worked = True
    for finding in machine_findings(project_dir(), target):
        has_worked = has_worked and finding.level != "wrong"
        yield finding
    if not has_worked:
        # Spark would fail for the same reason, with a worse sentence.
        yield Finding("note", "spark: not started, because of what is wrong above")
        return
    if not (project_dir() / FILE).is_file():
        try:
            check_lake(target)
        except CannotWorkError as error:
            yield Finding("wrong", str(error))
            return
        except DebeziumError as error:
            # Spark would make one, and there is nothing to ask it.
            yield Finding("note", str(error))
            return
    yield from checked(lambda: _with_spark(target))


def _with_spark(target: str | None) -> Iterator[Finding]:
    from dbt_debezium.doctor.cluster import cluster_findings
    from dbt_debezium.doctor.connectors import connector_findings
    from dbt_debezium.doctor.kafka import kafka_findings
    from dbt_debezium.doctor.lake import format_findings, lake_findings
    from dbt_debezium.project_settings import project_settings, public_schema
    from dbt_debezium.readers.spark_reader import SparkReader
    from dbt_debezium.scaffold.project_models import ProjectModels
    from dbt_debezium.spark.session import spark_session
    from dbt_debezium.spark.targets import build_schema
    from dbt_debezium.status.report import cut_report

    project = project_dir()
    schema = build_schema(target)
    with working("starting Spark") as status:
        spark = spark_session(target)
        status.update("looking at executors and the store")
        found: list[Finding] = []
        for check in (cluster_findings, format_findings):
            found += checked(partial(check, spark))
            if any(one.level == "wrong" for one in found):
                # Each further check needs the same, and would wait for it and say it again.
                yield from found
                because = "not looked at, because of what is wrong above"
                yield Finding("note", f"lake, Kafka and connectors: {because}")
                return
        report = cut_report(SparkReader(spark), schema)
        status.update("looking at the lake")
        found += [*checked(lambda: lake_findings(spark, report, schema))]
        status.update("asking Kafka")
        found += kafka_findings(spark, project)
        status.update("looking at what connectors have sent")
        found += checked(
            lambda: connector_findings(
                spark,
                report,
                ProjectModels.read(project),
                project_settings(project),
                schema,
                public_schema(project),
            )
        )
    yield from found
