"""The public views for engines that cannot use Spark's: their texts, and where their tables are."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dbt_debezium.catalogs import catalog_of_session
from dbt_debezium.session import nothing_published
from dbt_debezium.site import SQLITE
from dbt_debezium.views.dialects import (
    Dialect,
    Lake,
    attach_rest,
    create_view,
    table_views,
    tables_of,
)
from dbt_debezium.writers import sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def view_statements(
    spark: "SparkSession", build: str, public: str, dialect: Dialect, catalog: str, schema: str
) -> Iterator[str]:
    """The statements that make the public views in another engine.

    Args:
        build: the schema of the tables.
        public: the schema of Spark's views.
        catalog: the engine's name for the catalog of the tables.
        schema: the schema that the views are made in.

    Raises:
        DebeziumError: nothing is published.
    """
    texts = public_texts(spark, public)
    if not texts:
        raise nothing_published("views")
    lake = Lake(catalog, pointer_fields(spark, build))
    known = catalog_of_session(spark)
    uri = known.get("uri", "")
    if dialect == "duckdb" and uri.startswith(SQLITE):
        tables = sorted({table for text in texts.values() for table in tables_of(text)})
        yield from table_views(uri.removeprefix(SQLITE), known["name"], tables)
        lake = Lake("", lake.fields)
    elif dialect == "duckdb" and known.get("type") == "rest":
        yield attach_rest(uri, known.get("warehouse", ""), catalog)
    yield f"create schema if not exists {schema}"
    for name, text in texts.items():
        yield create_view(dialect, schema, name, text, lake)


def public_texts(spark: "SparkSession", public: str) -> dict[str, str]:
    """The query of each view that Spark's readers use, by its name."""
    if not spark.catalog.databaseExists(public):
        return {}
    names = sorted(
        row["viewName"] for row in spark.sql(f"show views in {sql.identifier(public)}").collect()
    )
    return {name: view_text(spark, public, name) for name in names}


def view_text(spark: "SparkSession", public: str, name: str) -> str:
    """The query of a view."""
    ((shown,),) = spark.sql(
        f"show create table {sql.identifier(public)}.{sql.identifier(name)}"
    ).collect()
    return str(shown).split("\nAS\n", 1)[1]


def pointer_fields(spark: "SparkSession", build: str) -> dict[str, str]:
    """What the pointer row says of each source: names with their Spark types, in their order."""
    pointer = spark.table(f"{sql.identifier(build)}.cut").selectExpr("inline(source_cuts)")
    return {field.name: field.dataType.simpleString() for field in pointer.schema.fields}
