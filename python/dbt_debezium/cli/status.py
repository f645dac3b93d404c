"""`dbt-debezium status`."""

import json

import click
from rich.text import Text

from dbt_debezium.cli.console import enter_lake, examples, out, working
from dbt_debezium.cli.report import SHOWN_SENTENCES, SHOWN_SOURCES, shape_sentences, show_report
from dbt_debezium.home import project_dir


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
def status(as_json: bool, target: str | None) -> None:
    """Say what is published, held, quarantined and flagged, and why."""
    from dbt_debezium.encoded_columns import ShownTable, encoded_columns
    from dbt_debezium.notices import (
        idle_decisions,
        landed_count,
        unplaced_topics,
        unpublished_run,
    )
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
        notices += unplaced_topics(spark, build_schema(target))
        if unpublished := unpublished_run(spark, build_schema(target)):
            notices.append(unpublished)
        shapes = shape_reports(spark, models, build_schema(target))
        names = [model.public_name for model in models]
        unrepresentable = unrepresentable_counts(spark, names, public_schema(project_dir()))
        tables = [ShownTable(one.public_name, one.captured, one.columns) for one in models]
        encoded = encoded_columns(spark, tables, build_schema(target), public_schema(project_dir()))
    for entry in report:
        entry["unrepresentable"] = unrepresentable.get(entry["source"], {})
        found = shapes.get(entry["source"], ShapeReport())
        entry["unknown_columns"] = found.unknown_columns
        entry["tables_without_model"] = found.tables_without_model()
        entry["schema_changes"] = found.changes
        entry["encoded_columns"] = encoded.get(entry["source"], {})
    if as_json:
        click.echo(json.dumps(report, ensure_ascii=False, indent=1))
        return
    if not report:
        for notice in notices:
            out.print(Text(notice), soft_wrap=True)
        out.print(f"{landed:,} messages have landed and none is published; run `dbt-debezium run`")
        return
    silent = project_settings(project_dir()).get("sources_without_truncate") or []
    show_report(report, "status", silent)
    for sentence in shape_sentences(shapes):
        out.print(Text(sentence), soft_wrap=True)
    for source, counts in sorted(unrepresentable.items())[:SHOWN_SOURCES]:
        out.print(Text(unrepresentable_sentence(source, counts)), soft_wrap=True)
    for notice in notices[-SHOWN_SENTENCES:]:
        out.print(Text(notice), soft_wrap=True)
