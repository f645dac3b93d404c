"""What reads the tables of a lake: Spark, or DuckDB, which needs no Java."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from dbt_debezium.readers.places import FILES_SIZE
from dbt_debezium.writers import sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Reader(Protocol):
    """Asks queries in Spark's SQL. Their rows may come in any order that the query leaves open."""

    def has(self, name: str) -> bool:
        """Whether a table or a view is there, named with its schema: `build.cut`."""

    def views(self, schema: str) -> set[str]:
        """The names of the views of a schema; none where there is no such schema."""

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The rows by column. Structs and maps are dicts."""

    def types(self, query: str) -> dict[str, str]:
        """Spark's types of the columns of a query, by their names in their order."""

    def text(self, schema: str, view: str) -> str:
        """The query of a view, in Spark's SQL."""

    def texts(self, query: str) -> list[dict[str, Any]]:
        """As `rows`, with dates and times as text in UTC."""

    def properties(self, schema: str, table: str) -> Mapping[str, str]:
        """The properties of a table that is there."""

    def sizes(self, schema: str, tables: Sequence[str]) -> dict[str, int]:
        """The bytes of the files that tables have now, by their names.

        Args:
            schema: of the tables.
            tables: names of tables of Iceberg that are there.
        """


class SparkReader:
    """A session of Spark."""

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark

    @property
    def session(self) -> "SparkSession":
        return self._spark

    def has(self, name: str) -> bool:
        from pyspark.errors import AnalysisException

        # Spark's `tableExists` sees no view of Iceberg.
        try:
            return bool(self._spark.table(name).columns)
        except AnalysisException as error:
            if error.getCondition() not in ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND"):
                raise
            return False

    def views(self, schema: str) -> set[str]:
        if not self._spark.catalog.databaseExists(schema):
            return set()
        found = self._spark.sql(f"show views in {sql.identifier(schema)}").collect()
        # Spark lists temporary views in every schema.
        return {row["viewName"] for row in found if not row["isTemporary"]}

    def types(self, query: str) -> dict[str, str]:
        fields = self._spark.sql(query).schema.fields
        return {field.name: field.dataType.simpleString() for field in fields}

    def text(self, schema: str, view: str) -> str:
        ((shown,),) = self._spark.sql(
            f"show create table {sql.identifier(schema)}.{sql.identifier(view)}"
        ).collect()
        return str(shown).split("\nAS\n", 1)[1]

    def rows(self, query: str) -> list[dict[str, Any]]:
        return [row.asDict(recursive=True) for row in self._spark.sql(query).collect()]

    def texts(self, query: str) -> list[dict[str, Any]]:
        from dbt_debezium.export import with_text_times

        found = with_text_times(self._spark.sql(query)).collect()
        return [row.asDict(recursive=True) for row in found]

    def properties(self, schema: str, table: str) -> Mapping[str, str]:
        name = f"{sql.identifier(schema)}.{sql.identifier(table)}"
        return {one["key"]: one["value"] for one in self.rows(f"show tblproperties {name}")}

    def sizes(self, schema: str, tables: Sequence[str]) -> dict[str, int]:
        queries = [
            f"select {sql.literal(name)} as name,"
            f" max_by(summary[{sql.literal(FILES_SIZE)}], committed_at) as bytes"
            f" from {sql.identifier(schema)}.{sql.identifier(name)}.snapshots"
            for name in tables
        ]
        found = self.rows(" union all ".join(queries)) if queries else []
        return {row["name"]: int(row["bytes"] or 0) for row in found}
