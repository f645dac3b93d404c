"""Other engines as readers of a lake: DuckDB, and the recipe for PyIceberg."""

import json
from contextlib import chdir
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
from click.testing import CliRunner
from pages import blocks

from dbt_debezium.cli import main
from dbt_debezium.readers.duckdb_reader import load


def open_duckdb(*extensions: str) -> duckdb.DuckDBPyConnection:
    """DuckDB with extensions that PyPI has; it would fetch them itself."""
    connection = duckdb.connect()
    for name in extensions:
        load(connection, name)
    return connection


def statements_of(printed: str) -> list[str]:
    """The statements of what `dbt-debezium views` prints, or of a page."""
    return [one.strip() for one in printed.split(";\n") if one.strip()]


def rows_of(table: pa.Table) -> list[str]:
    """The rows of a table, sorted, in types that Spark, DuckDB and PyIceberg share."""
    schema = pa.schema([pa.field(one.name, plain_type(one.type)) for one in table.schema])
    return sorted(repr(row) for row in table.cast(schema).to_pylist())


def plain_type(found: pa.DataType) -> pa.DataType:
    """The type with instants as those of UTC, and texts and lists in one of their forms."""
    if pa.types.is_timestamp(found):
        return pa.timestamp("us", "UTC" if found.tz else None)
    if pa.types.is_struct(found):
        return pa.struct([pa.field(one.name, plain_type(one.type)) for one in found])
    if pa.types.is_list(found) or pa.types.is_large_list(found):
        return pa.list_(plain_type(found.value_type))
    return pa.string() if pa.types.is_large_string(found) else found


def status_of(project: Path, engine: str, *options: str) -> str:
    """What `dbt-debezium status` prints in a project, with an engine."""
    with chdir(project):
        ended = CliRunner().invoke(
            main, ["status", "--engine", engine, *options], catch_exceptions=False
        )
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def agreed_status(project: Path) -> list[dict[str, Any]]:
    """The JSON of `status`, which DuckDB and Spark print byte for byte alike, like its text."""
    for options in ([], ["--json"]):
        found, expected = (status_of(project, one, *options) for one in ("duckdb", "spark"))
        assert found == expected
    report: list[dict[str, Any]] = json.loads(found)
    return report


def pyiceberg_recipe(catalog: str) -> dict[str, Any]:
    """What the recipe of docs/querying.md makes, with a catalog that a page opens.

    Args:
        catalog: the block that opens it.
    """
    _, functions, _ = blocks("docs/querying.md", "python")
    names: dict[str, Any] = {}
    exec(catalog + functions, names)
    return names
