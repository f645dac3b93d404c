"""What reads the tables of a lake: Spark, or DuckDB, which needs no Java."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


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
