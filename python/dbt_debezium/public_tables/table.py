"""A public table that is kept as a plain one, and what it says of itself."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from dbt_debezium.errors import DebeziumError
from dbt_debezium.maintenance.tables import lake_table, plain_schema
from dbt_debezium.writers import sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHOWN: Final = "dbt_debezium.shown"
"""A property of each table: `Shown` as JSON. It changes in the commit that moves `main`."""
BUILT: Final = "dbt_debezium.built_by_cut"
"""A property of each history: the cut whose run has built it from all changes."""


class Chosen(msgspec.Struct, frozen=True):
    """A table that the setting names."""

    name: str
    rows: str | None = None
    """A relation that shows its rows at the new cut."""
    history: str | None = None
    """Of a captured table, in place of `rows`: its history, which has the new cut's versions."""
    sources: list[str] = []
    """Those of a captured table, as patterns."""


class Call(msgspec.Struct, frozen=True):
    """What a step is about."""

    public_schema: str
    """Of the views."""
    cut: str
    """The table of the pointer."""
    reached: str
    """The relation that says which commit each source has reached at the new cut."""
    properties: str
    """Of new tables, as SQL writes them."""
    tables: list[Chosen]

    @property
    def schema(self) -> str:
        """Of the plain tables."""
        return plain_schema(self.public_schema)

    def table_name(self, name: str) -> str:
        return f"{sql.identifier(self.schema)}.{sql.identifier(name)}"


class Shown(msgspec.Struct, frozen=True):
    """What a captured table's `main` shows. Later versions of its history are what it lacks."""

    commits: dict[str, int] = {}
    """The commit of each of its sources."""
    built: str | None = None
    """`BUILT` of the history. Under another one, commits may have other numbers and rows."""
    snapshot: int | None = None
    """The snapshot of the history that was read."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a step has written to a branch."""

    name: str
    before: int
    """The snapshot of `main` that it begins from."""
    after: int
    """The snapshot that `main` is to show."""
    shown: Shown


written: Final[dict[str, Written]] = {}
"""What this run has written and not yet moved, by names of tables."""


def plain_table(spark: "SparkSession", call: Call, name: str) -> Any | None:
    """A plain table as Iceberg knows it; None if there is none yet.

    Raises:
        DebeziumError: a table of that name is somebody else's.
    """
    if not spark.catalog.tableExists(call.table_name(name)):
        return None
    table = lake_table(spark, call.table_name(name))
    if table is None:
        raise DebeziumError(
            f"{call.schema}.{name}: is a table that no run has made; rename or drop it, "
            "or leave it out of public_as_table"
        )
    return table.iceberg


def shown_by(table: Any) -> Shown | None:
    """What a table's `main` shows; None before a run has moved it."""
    text = table.properties().get(SHOWN)
    return None if text is None else msgspec.json.decode(text, type=Shown)
