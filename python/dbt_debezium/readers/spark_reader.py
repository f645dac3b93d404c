"""Reads a lake with a session of Spark."""

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from dbt_debezium.readers.places import FILES_SIZE
from dbt_debezium.readers.spark_values import with_text_times
from dbt_debezium.writers import sql


class SparkReader:
    """A session of Spark."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def has(self, name: str) -> bool:
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
