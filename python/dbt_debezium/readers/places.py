"""Where the tables of a lake are and what its views say, by its catalog. No Spark, no Java."""

from collections.abc import Mapping
from typing import Final, Protocol

ASK_SPARK: Final = "ask Spark with --engine spark"
AGAIN: Final = f"ask again, or {ASK_SPARK}"
"""The remedy where a file may be gone because maintenance has removed it meanwhile."""
FILES_SIZE: Final = "total-files-size"
"""What the summary of a snapshot of Iceberg calls it."""


class Places(Protocol):
    """The catalog of a lake."""

    is_frozen: bool
    """Whether all tables are as they were when it was opened, or each as it is when asked for."""

    def schemas(self) -> set[str]:
        """The names of the schemas that have tables or views."""

    def tables(self, schema: str) -> set[str]:
        """The names of the tables of a schema; none where there is no such schema."""

    def views(self, schema: str) -> set[str]:
        """The names of its views."""

    def metadata(self, schema: str, table: str) -> str:
        """The address of a table's newest metadata."""

    def properties(self, schema: str, table: str) -> Mapping[str, str]:
        """The properties of a table."""

    def size(self, schema: str, table: str) -> int:
        """The bytes of the files that a table has now."""

    def text(self, schema: str, view: str) -> str:
        """The query of a view, in Spark's SQL."""

    def folders(self, schema: str, table: str) -> set[str]:
        """The addresses below which a table has its files."""

    def secret(self, schema: str, table: str) -> dict[str, str | bool]:
        """The options of the secret that opens the files of a table; none for local files."""

    def patience(self) -> dict[str, int]:
        """Settings of DuckDB that say how long it waits for a store; none where it has no say."""

    def store(self) -> str:
        """The address of the store that has the files of the table asked for last."""


def folder_of(metadata: str) -> str:
    """The folder of a table, by the address of its metadata.

    >>> folder_of("s3://lake/build/cut/metadata/1.metadata.json")
    's3://lake/build/cut'
    """
    return metadata.rsplit("/", 2)[0]
