"""The tables and views of a catalog in a file of SQLite, as they were at one moment."""

import gzip
import json
import sqlite3
import zlib
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from dbt_debezium.errors import DebeziumError
from dbt_debezium.readers.places import AGAIN, FILES_SIZE, folder_of
from dbt_debezium.spark.catalogs import LOCK_SECONDS
from dbt_debezium.spark.lost_catalog import remedy_of

PLACES: Final = """
select table_namespace, table_name, metadata_location, coalesce(iceberg_type, 'TABLE') = 'VIEW'
from iceberg_tables
where catalog_name = ?
"""
UNREADABLE: Final = (OSError, EOFError, zlib.error, ValueError, LookupError)
"""What a damaged file of metadata raises."""


class FilePlaces:
    """See `Places`."""

    is_frozen = True

    def __init__(self, file: Path, catalog: str) -> None:
        """Read the file.

        Args:
            file: of SQLite, as Iceberg's JDBC catalog makes it.
            catalog: the name that Spark gives the catalog.

        Raises:
            DebeziumError: it is no catalog.
        """
        address = f"{file.absolute().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(address, LOCK_SECONDS, uri=True)) as connection:
                # The first landing makes the file, and then the table.
                is_new = not connection.execute("select 1 from sqlite_master").fetchone()
                rows = [] if is_new else connection.execute(PLACES, (catalog,)).fetchall()
        except sqlite3.Error as error:
            remedy = remedy_of(getattr(error, "sqlite_errorname", ""))
            raise DebeziumError(f"catalog: {file} cannot be opened ({error}); {remedy}") from error
        self._tables = {(row[0], row[1]): str(row[2]) for row in rows if not row[3]}
        self._views = {(row[0], row[1]): str(row[2]) for row in rows if row[3]}

    def schemas(self) -> set[str]:
        return {namespace for namespace, _ in {**self._tables, **self._views}}

    def tables(self, schema: str) -> set[str]:
        return {name for namespace, name in self._tables if namespace == schema}

    def views(self, schema: str) -> set[str]:
        return {name for namespace, name in self._views if namespace == schema}

    def metadata(self, schema: str, table: str) -> str:
        return self._tables[schema, table]

    def properties(self, schema: str, table: str) -> Mapping[str, str]:
        found: Mapping[str, str] = self._metadata_of(schema, table).get("properties") or {}
        return found

    def size(self, schema: str, table: str) -> int:
        metadata = self._metadata_of(schema, table)
        current = metadata.get("current-snapshot-id")
        snapshots = metadata.get("snapshots") or []
        sizes = (one["summary"][FILES_SIZE] for one in snapshots if one["snapshot-id"] == current)
        return int(next(sizes, 0))

    def _metadata_of(self, schema: str, table: str) -> dict[str, Any]:
        file = Path(self._tables[schema, table].removeprefix("file:"))
        try:
            return json_of(file)
        except UNREADABLE as error:
            raise DebeziumError(
                f"lake: {schema}.{table} cannot be read from {file} ({error}); {AGAIN}"
            ) from error

    def text(self, schema: str, view: str) -> str:
        file = Path(self._views[schema, view].removeprefix("file:"))
        try:
            return text_of_view(file)
        except UNREADABLE as error:
            why = error.strerror if isinstance(error, FileNotFoundError) else error
            raise DebeziumError(
                f"lake: the view {schema}.{view} cannot be read from {file} ({why}); {AGAIN}"
            ) from error

    def folders(self, schema: str, table: str) -> set[str]:
        return {folder_of(self._tables[schema, table])}

    def secret(self, schema: str, table: str) -> dict[str, str | bool]:
        return {}

    def patience(self) -> dict[str, int]:
        return {}

    def store(self) -> str:
        return "that of the lake"


def text_of_view(file: Path) -> str:
    """The query of a view, in Spark's SQL.

    Raises:
        OSError, EOFError, zlib.error: the file cannot be read.
        ValueError, LookupError: it holds something else.
    """
    metadata = json_of(file)
    current = metadata["current-version-id"]
    (version,) = (one for one in metadata["versions"] if one["version-id"] == current)
    (text,) = (one["sql"] for one in version["representations"] if one["dialect"] == "spark")
    return str(text)


def json_of(file: Path) -> dict[str, Any]:
    """A file of metadata; errors as `text_of_view`."""
    # Iceberg compresses metadata of views, and may be told not to.
    read = gzip.open if file.name.endswith(".gz.metadata.json") else open
    with read(file, "rb") as opened:
        found: dict[str, Any] = json.load(opened)
    return found
