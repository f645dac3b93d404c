"""The public views for engines that cannot use Spark's: their texts, and where their tables are."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from dbt_debezium.spark.catalogs import SQLITE
from dbt_debezium.spark.session import nothing_published
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
    from dbt_debezium.readers import Reader


def view_statements(
    reader: "Reader",
    known: Mapping[str, str],
    build: str,
    public: str,
    dialect: Dialect,
    catalog: str,
    schema: str,
) -> Iterator[str]:
    """The statements that make the public views in another engine.

    Args:
        reader: what reads the lake.
        known: what names the catalog of the tables, as `catalog_of` has it.
        build: the schema of the tables.
        public: the schema of Spark's views.
        catalog: the engine's name for the catalog of the tables.
        schema: the schema that the views are made in.

    Raises:
        DebeziumError: nothing is published.
    """
    texts = public_texts(reader, public)
    if not texts:
        raise nothing_published("views")
    lake = Lake(catalog, pointer_fields(reader, build))
    uri = known.get("uri", "")
    if dialect == "duckdb" and uri.startswith(SQLITE):
        tables = sorted({table for text in texts.values() for table in tables_of(text)})
        yield from table_views(uri.removeprefix(SQLITE), known["name"], tables)
        lake = Lake("", lake.fields)
    elif dialect == "duckdb" and known.get("type") == "rest":
        yield attach_rest(uri, known.get("warehouse", ""), catalog)
    yield f"create schema if not exists {schema}"
    for name, text in texts.items():
        # Trino alone needs them, and looking at a table takes a moment.
        has_structs = dialect == "trino" and "named_struct" in text
        columns = history_columns(reader, text) if has_structs else {}
        yield create_view(dialect, schema, name, text, replace(lake, columns=columns))


def public_texts(reader: "Reader", public: str) -> dict[str, str]:
    """The query of each view that Spark's readers use, by its name."""
    return {name: reader.text(public, name) for name in sorted(reader.views(public))}


def pointer_fields(reader: "Reader", build: str) -> dict[str, str]:
    """What the pointer row says of each source: names with their Spark types, in their order."""
    return reader.types(f"select inline(source_cuts) from {sql.identifier(build)}.cut")


def history_columns(reader: "Reader", text: str) -> dict[str, str]:
    """The columns of the histories that a view reads, with their Spark types."""
    found: dict[str, str] = {}
    for schema, name in tables_of(text):
        if name.endswith("_history"):
            table = f"{sql.identifier(schema)}.{sql.identifier(name)}"
            found |= reader.types(f"select * from {table} limit 0")
    return found
