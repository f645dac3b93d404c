"""Public tables that are kept as plain Iceberg tables too, for readers without views.

A run writes the new state of each to a branch, then moves the pointer, and then `main` of all of
them in one transaction of the catalog (docs/decisions/0022).
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATEMENT: Final = re.compile(r"call dbt_debezium[.](write|move)_public_tables (.*)", re.DOTALL)
"""What the macro keep_public_tables runs; behind it stands a `Call` as JSON."""


def step_of(statement: str) -> "Callable[[SparkSession], str] | None":
    """What a statement of dbt's has this package do; None of one that is for Spark.

    It returns a line for whoever runs it, or an empty one.
    """
    found = STATEMENT.search(statement)
    if found is None:
        return None
    import msgspec

    from dbt_debezium.public_tables.move import move
    from dbt_debezium.public_tables.table import Call
    from dbt_debezium.public_tables.write import write

    call = msgspec.json.decode(found[2], type=Call)
    step = {"write": write, "move": move}[found[1]]
    return lambda spark: step(spark, call)
