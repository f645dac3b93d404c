"""`remaining_rows` for Spark SQL: which deletes take one of several rows with their key (S9)."""

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


class SharedDelete(NamedTuple):
    """A delete after which rows with its key remain."""

    commit_number: int
    position: int
    row_count: int


DELETES_TYPE = T.ArrayType(
    T.StructType(
        [
            T.StructField("commit_number", T.LongType()),
            T.StructField("position", T.LongType()),
            T.StructField("row_count", T.LongType()),
        ]
    )
)
DELETES = pa.struct([pa.field(name, pa.int64()) for name in SharedDelete._fields])


def shared_deletes(changes: Iterable[KeyChange]) -> Iterator[SharedDelete]:
    """The deletes after which a row with the key stands.

    Only inside a transaction may two rows have one key, when one takes it on that another has not
    given up yet: `update .. set id = id + 1` where the key is checked as the statement ends.
    Between transactions there is at most one, whatever a stream that lacks deletes says.

    Args:
        changes: all of one key, in any order.

    >>> stands = KeyChange(0, 0, "r", False)
    >>> passed = [KeyChange(7, 2, "c", True), KeyChange(7, 3, "d", False)]
    >>> list(shared_deletes([stands, *passed]))
    [SharedDelete(commit_number=7, position=3, row_count=1)]
    >>> list(shared_deletes(passed))
    []
    >>> list(shared_deletes([stands, passed[0], KeyChange(8, 1, "d", False)]))
    []
    """
    row_count, commit_number = 0, None
    for change in sorted(changes):
        if change.commit_number != commit_number:
            row_count, commit_number = min(row_count, 1), change.commit_number
        if change.operation == "d":
            row_count = max(row_count - 1, 0)
            if row_count:
                yield SharedDelete(change.commit_number, change.position, row_count)
        elif change.operation == "t":
            row_count = 0
        else:
            row_count = row_count + 1 if change.is_entering else max(row_count, 1)


def count_batch(key_changes: pa.Array) -> pa.Array:
    """Look at each list of structs (commit_number, position, operation, is_entering) on its own."""
    found = [
        [one._asdict() for one in shared_deletes(KeyChange(**change) for change in changes or ())]
        for changes in key_changes.to_pylist()
    ]
    return pa.array(found, pa.list_(DELETES))


remaining_rows = arrow_udf(count_batch, DELETES_TYPE)


def register(spark: SparkSession) -> None:
    """Make `remaining_rows(key_changes)` known to the session's SQL."""
    spark.udf.register("remaining_rows", remaining_rows)
