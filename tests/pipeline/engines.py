"""Other engines as readers of a lake: DuckDB, and the recipe for PyIceberg."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
from pages import blocks


def open_duckdb(*extensions: str) -> duckdb.DuckDBPyConnection:
    """DuckDB with extensions that PyPI has; it would fetch them itself."""
    connection = duckdb.connect()
    for name in extensions:
        spec = find_spec(f"duckdb_extension_{name}")
        assert spec is not None
        assert spec.origin is not None
        (path,) = Path(spec.origin).parent.glob(f"extensions/*/{name}.duckdb_extension")
        connection.execute(f"load '{path}'")
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


def pyiceberg_recipe(catalog: str) -> dict[str, Any]:
    """What the recipe of docs/querying.md makes, with a catalog that a page opens.

    Args:
        catalog: the block that opens it.
    """
    _, functions, _ = blocks("docs/querying.md", "python")
    names: dict[str, Any] = {}
    exec(catalog + functions, names)
    return names
