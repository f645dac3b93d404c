"""`dbt-debezium views`."""

from typing import TYPE_CHECKING

import click

from dbt_debezium.cli.console import enter_lake, examples, working
from dbt_debezium.cli.engine import engine_option
from dbt_debezium.home import project_dir

if TYPE_CHECKING:
    from dbt_debezium.readers.choice import Engine
    from dbt_debezium.views.dialects import Dialect


@click.command(
    short_help="Print views for other engines.",
    epilog=examples(
        "dbt-debezium views --dialect duckdb",
        "dbt-debezium views --dialect trino --schema public_trino",
        "dbt-debezium views --dialect snowflake --catalog lake",
    ),
)
@click.option(
    "--dialect",
    required=True,
    type=click.Choice(["duckdb", "trino", "snowflake"]),
    help="The engine that is to read the tables.",
)
@click.option(
    "--catalog",
    default="lake",
    show_default=True,
    help="What the engine calls the catalog of the tables.",
)
@click.option(
    "--schema",
    help="Where the views are made. By default it is called like Spark's; for Trino, whose views"
    " may be in the same catalog, `_trino` follows.",
)
@click.option("--target", help="A target of profiles.yml.")
@engine_option
def views(
    dialect: "Dialect", catalog: str, schema: str | None, target: str | None, engine: "Engine"
) -> None:
    """Print the SQL of the public tables for an engine that cannot read Spark's views.

    The statements make views over the same Iceberg tables. Print them again when a public table is
    new, or has other columns. DuckDB and Trino are tested; the SQL for Snowflake has not been run.
    """
    from dbt_debezium.project_settings import public_schema
    from dbt_debezium.readers.choice import reader_of
    from dbt_debezium.readers.duckdb_reader import DuckdbReader
    from dbt_debezium.spark.catalogs import catalog_of_session
    from dbt_debezium.spark.session import spark_session
    from dbt_debezium.spark.targets import build_schema, catalog_of_target
    from dbt_debezium.views import view_statements

    enter_lake(target)
    public = public_schema(project_dir())
    schema = schema or (f"{public}_trino" if dialect == "trino" else public)
    with working("looking at the lake") as state:
        build = build_schema(target)
        lake = reader_of(target, build, engine, state.update)
        if isinstance(lake, DuckdbReader):
            known = catalog_of_target(target)
        else:
            known = catalog_of_session(spark_session(target))
        found = list(view_statements(lake, known, build, public, dialect, catalog, schema))
    for statement in found:
        click.echo(f"{statement};\n")
