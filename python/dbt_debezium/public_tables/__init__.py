"""Public tables that are kept as plain Iceberg tables too, for readers without views.

A run writes the new state of each to a branch, then moves the pointer, and then `main` of all of
them in one transaction of the catalog (docs/decisions/0022).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from dbt_debezium.dbt_calls import called
from dbt_debezium.errors import DebeziumError
from dbt_debezium.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def refuse_remote(settings: Settings) -> None:
    """Refuse a run through Spark Connect that has plain tables to keep.

    Args:
        settings: those of the project.

    Raises:
        DebeziumError: `public_as_table` names tables.
    """
    if settings.public_as_table:
        raise DebeziumError(
            "public_as_table: Spark Connect has no way to Iceberg's own library, which keeps "
            "plain tables; run with another target on the same catalog, such as prod, or name none"
        )


def step_of(statement: str) -> "Callable[[SparkSession], str] | None":
    """What a statement of dbt's has this package do; None of one that is for Spark.

    It returns a line for whoever runs it, or an empty one.
    """
    name, argument = called(statement)
    if not name.endswith("_public_tables"):
        return None
    # Few projects have such tables, and sqlglot takes each command of dbt 0.1 s.
    from dbt_debezium.public_tables.move import move
    from dbt_debezium.public_tables.table import Call
    from dbt_debezium.public_tables.write import write

    call = msgspec.json.decode(argument, type=Call)
    step = {"write_public_tables": write, "move_public_tables": move}[name]
    return lambda spark: step(spark, call)
