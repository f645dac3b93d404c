"""An embedded lake with tables of PyIceberg, which DuckDB reads without Spark."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
from click.testing import CliRunner, Result
from pyiceberg.catalog.sql import SqlCatalog

from dbt_debezium.cli import main
from dbt_debezium.readers.duckdb_reader import DuckdbReader
from dbt_debezium.readers.file_places import FilePlaces

CUT = pa.schema([("channel", pa.string()), ("cut_id", pa.int64())])


def opened(folder: Path) -> SqlCatalog:
    """The catalog of a lake."""
    file = folder / "catalog.db"
    return SqlCatalog("lake", uri=f"sqlite:///{file}", warehouse=str(folder / "warehouse"))


def made_lake(folder: Path) -> SqlCatalog:
    """A lake with the pointer."""
    catalog = opened(folder)
    catalog.create_namespace("build")
    write(catalog, "build.cut", [{"channel": "published", "cut_id": 1}], CUT)
    return catalog


def write(catalog: SqlCatalog, name: str, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    """Put these rows in place of those of a table, which is made if it is not there."""
    table = catalog.create_table_if_not_exists(name, schema)
    change = table.overwrite if table.current_snapshot() else table.append
    change(pa.Table.from_pylist(rows, schema))


def add_view(folder: Path, name: str, text: str, schema: str = "build") -> None:
    """A view as Spark's Iceberg writes it."""
    file = folder / f"{name}.metadata.json"
    representations = [{"type": "sql", "dialect": "spark", "sql": text}]
    version = {"version-id": 2, "representations": representations}
    file.write_text(json.dumps({"current-version-id": 2, "versions": [version]}))
    with closing(sqlite3.connect(folder / "catalog.db")) as connection, connection:
        connection.execute(
            "insert into iceberg_tables (catalog_name, table_namespace, table_name,"
            " metadata_location, iceberg_type) values ('lake', ?, ?, ?, 'VIEW')",
            (schema, name, str(file)),
        )


def reader(folder: Path) -> DuckdbReader:
    return DuckdbReader(FilePlaces(folder / "catalog.db", "lake"), "build")


def query_duckdb(sql: str, *options: str) -> Result:
    return CliRunner().invoke(main, ["query", sql, "--engine", "duckdb", *options])
