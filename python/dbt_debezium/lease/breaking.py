"""Taking the lease from a run that is dead, on the word of an operator."""

from dataclasses import replace
from typing import TYPE_CHECKING

from dbt_debezium.errors import DebeziumError
from dbt_debezium.lease.row import LeaseRow, read_row, replace_row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def break_lease(spark: "SparkSession") -> LeaseRow | None:
    """Take the lease from whoever holds it; the row as it was, or None where nobody does.

    Raises:
        DebeziumError: the holder still works, or a newer version has written the lake.
    """
    seen = read_row(spark)
    if seen is None or seen.row is None or not seen.row.token:
        return None
    if not replace_row(spark, seen, replace(seen.row, token=None)):
        raise DebeziumError("lease: its holder has just renewed or ended it; look again")
    return seen.row
