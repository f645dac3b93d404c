"""`rows_left` for Spark SQL: which deletes take one of several rows with their key (S9)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
from pyspark.sql import SparkSession
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]  # missing in its stub


class KeyChange(NamedTuple):
    """A change of a row with one key, in the order of the log."""

    commit_number: int
    position: int
    operation: str
    is_entering: bool
    """Whether the row had another key before."""


class RowsLeft(NamedTuple):
    """A delete that leaves rows with its key."""

    commit_number: int
    position: int
    row_count: int


LEFT_TYPE = T.ArrayType(
    T.StructType(
        [
            T.StructField("commit_number", T.LongType()),
            T.StructField("position", T.LongType()),
            T.StructField("row_count", T.LongType()),
        ]
    )
)
LEFT = pa.struct([pa.field(name, pa.int64()) for name in RowsLeft._fields])


def count_rows(changes: Iterable[KeyChange]) -> Iterator[RowsLeft]:
    """The deletes after which a row with the key stands.

    Only inside a transaction may two rows have one key, when one enters that another has not left
    yet: `update .. set id = id + 1` where the key is checked as the statement ends. Between
    transactions there is at most one, whatever a stream that lacks deletes says.

    Args:
        changes: all of one key, in any order.

    >>> stands = KeyChange(0, 0, "r", False)
    >>> passed = [KeyChange(7, 2, "c", True), KeyChange(7, 3, "d", False)]
    >>> list(count_rows([stands, *passed]))
    [RowsLeft(commit_number=7, position=3, row_count=1)]
    >>> list(count_rows(passed))
    []
    >>> list(count_rows([stands, passed[0], KeyChange(8, 1, "d", False)]))
    []
    """
    row_count, commit_number = 0, None
    for change in sorted(changes):
        if change.commit_number != commit_number:
            row_count, commit_number = min(row_count, 1), change.commit_number
        if change.operation == "d":
            row_count = max(row_count - 1, 0)
            if row_count:
                yield RowsLeft(change.commit_number, change.position, row_count)
        elif change.operation == "t":
            row_count = 0
        else:
            row_count = row_count + 1 if change.is_entering else max(row_count, 1)


def count_batch(key_changes: pa.Array) -> pa.Array:
    """Look at each list of structs (commit_number, position, operation, is_entering) on its own."""
    found = [
        [left._asdict() for left in count_rows(KeyChange(**change) for change in changes or ())]
        for changes in key_changes.to_pylist()
    ]
    return pa.array(found, pa.list_(LEFT))


rows_left = arrow_udf(count_batch, LEFT_TYPE)


def register(spark: SparkSession) -> None:
    """Make `rows_left(key_changes)` known to the session's SQL."""
    spark.udf.register("rows_left", rows_left)
