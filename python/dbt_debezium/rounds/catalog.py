"""The state of a lake's tables, and the mark that a published run leaves in their catalog.

The mark is a property of the build schema's namespace, so any machine can read it. Iceberg's JDBC
catalog keeps it and the places of all tables in a database; where that is a file of SQLite, both
are read without Spark.
"""

import hashlib
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from dbt_debezium.lease.row import snapshot_of
from dbt_debezium.spark.catalogs import LOCK_SECONDS, SQLITE
from dbt_debezium.spark.profiles import rendered_target
from dbt_debezium.spark.site import with_named
from dbt_debezium.writers import sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEY: Final = "dbt-debezium.published"


class Catalog(Protocol):
    """The tables of a lake."""

    def state(self) -> str | None:
        """A text that differs once a table has changed; None where that cannot be told."""

    def landed(self) -> str | None:
        """The same, for the tables that landings write."""

    def messages(self) -> str | None:
        """The same, for the messages that have landed."""

    def mark(self) -> str | None:
        """The note of the last run that published, if there is one."""


@dataclass(frozen=True, slots=True)
class CatalogFile:
    """A catalog in a file of SQLite."""

    path: Path
    name: str
    schema: str
    """The build schema."""

    def state(self) -> str | None:
        return self._hashed("")

    def landed(self) -> str | None:
        return self._hashed("and table_namespace = 'landing' ")

    def messages(self) -> str | None:
        return self._hashed("and table_namespace = 'landing' and table_name = 'message' ")

    def _hashed(self, condition: str) -> str | None:
        # The lease changes with each command, whatever that does.
        rows = self._rows(
            "select table_namespace, table_name, metadata_location from iceberg_tables "
            "where catalog_name = ? and (table_namespace, table_name) != ('landing', 'lease') "
            f"{condition}order by table_namespace, table_name",
            self.name,
        )
        return None if rows is None else "file " + hashlib.sha256(repr(rows).encode()).hexdigest()

    def mark(self) -> str | None:
        rows = self._rows(
            "select property_value from iceberg_namespace_properties "
            "where catalog_name = ? and namespace = ? and property_key = ?",
            self.name,
            self.schema,
            KEY,
        )
        return str(rows[0][0]) if rows else None

    def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]] | None:
        address = f"{self.path.absolute().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(address, LOCK_SECONDS, uri=True)) as connection:
                return connection.execute(query, values).fetchall()
        except sqlite3.Error:
            return None


@dataclass(frozen=True, slots=True)
class CatalogOfSession:
    """Any other catalog, asked through Spark without a job. It shows landings and runs alone."""

    spark: "SparkSession"
    schema: str

    def state(self) -> str | None:
        return f"{self.landed()}, {self._snapshots(f'{self.schema}.cut')}"

    def landed(self) -> str | None:
        return self._snapshots("landing.message", "landing.range", "landing.schema")

    def messages(self) -> str | None:
        return self._snapshots("landing.message")

    def _snapshots(self, *tables: str) -> str:
        found = []
        for table in tables:
            snapshot = None
            if self.spark.catalog.tableExists(table):
                snapshot = snapshot_of(self.spark, table)
            found.append(f"{table} {snapshot}")
        return ", ".join(found)

    def mark(self) -> str | None:
        if not self.spark.catalog.databaseExists(self.schema):
            return None
        rows = self.spark.sql(
            f"describe namespace extended {sql.identifier(self.schema)}"
        ).collect()
        (properties,) = [row[1] for row in rows if row[0] == "Properties"] or [""]
        # Spark shows properties as ((name,value), (name,value)).
        _, found, rest = properties.partition(f"({KEY},")
        return rest.partition("})")[0] + "}" if found else None


def write_mark(spark: "SparkSession", schema: str, mark: str) -> None:
    """Note a published run. `mark` is JSON without quotes or backslashes in its texts."""
    spark.sql(
        f"alter namespace {sql.identifier(schema)} set properties ('{KEY}' = {sql.literal(mark)})"
    )


def has_published(spark: "SparkSession", schema: str) -> bool:
    """Whether the run that has opened the newest cut has published it.

    What a run prints does not say: sources may be called like its sentences.
    """
    [row] = spark.sql(
        "select max(cut_id) filter (where channel = 'published') ="
        f" max(cut_id) filter (where channel = 'candidate') from {sql.identifier(schema)}.cut"
    ).collect()
    return bool(row[0])


def catalog_file(project: Path, profiles: Path, target: str | None) -> CatalogFile | None:
    """The file of the catalog that a target names; None if it is no file, or only dbt can tell."""
    output = rendered_target(project, profiles, target)
    if output is None:
        return None
    settings = with_named(output["server_side_parameters"])
    name = str(settings.get("spark.sql.defaultCatalog"))
    uri = settings.get(f"spark.sql.catalog.{name}.uri", "")
    if not uri.startswith(SQLITE):
        return None
    return CatalogFile(Path(uri.removeprefix(SQLITE)), name, output["schema"])
