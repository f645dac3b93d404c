"""`trace_origins` for Spark SQL: where each row began that has since changed its key (S11)."""

from collections.abc import Iterable, Mapping

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
from pyspark.sql import SparkSession
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]  # missing in its stub

ORIGINS_TYPE = T.ArrayType(
    T.StructType([T.StructField("life", T.StringType()), T.StructField("origin", T.StringType())])
)
ORIGIN = pa.struct([pa.field("life", pa.string()), pa.field("origin", pa.string())])


def trace(parents: Mapping[str, str]) -> dict[str, str]:
    """The first ancestor of each life.

    Args:
        parents: for each life of a row the one that it continues under another key.

    >>> trace({"c": "b", "b": "a", "y": "x"})
    {'c': 'a', 'b': 'a', 'y': 'x'}
    >>> trace({"c": "a", "a": "b", "b": "a"})
    {'c': 'a', 'a': 'a', 'b': 'a'}
    """
    origins: dict[str, str] = {}
    for life in parents:
        path: dict[str, None] = {}
        ancestor = life
        while ancestor in parents and ancestor not in origins and ancestor not in path:
            path[ancestor] = None
            ancestor = parents[ancestor]
        origin = origins.get(ancestor, ancestor)
        origins.update(dict.fromkeys(path, origin))
    return {life: origins[life] for life in parents}


def trace_batch(key_changes: pa.Array) -> pa.Array:
    """Trace each list of structs (life, parent) on its own."""
    return pa.array([_entries(pairs or ()) for pairs in key_changes.to_pylist()], pa.list_(ORIGIN))


def _entries(pairs: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    origins = trace({pair["life"]: pair["parent"] for pair in pairs})
    return [{"life": life, "origin": origin} for life, origin in origins.items()]


trace_origins = arrow_udf(trace_batch, ORIGINS_TYPE)


def register(spark: SparkSession) -> None:
    """Make `trace_origins(key_changes)` known to the session's SQL."""
    spark.udf.register("trace_origins", trace_origins)
