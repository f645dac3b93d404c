"""Functions of Spark that sqlglot does not write for DuckDB, or writes wrong.

Read Spark's SQL with `SparkForDuckdb`, and sqlglot writes it for DuckDB. No Spark in this module.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Final

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A function of DuckDB."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def typed_json(text: exp.Expr, kind: exp.Expr) -> exp.Expr:
    """`from_json`, whose type is a text in Spark."""
    return exp.cast(exp.cast(text, "json"), exp.DataType.build(kind.name, dialect="spark"))


def rows_of_structs(array: exp.Expr) -> exp.Expr:
    """`inline`: a row for each struct, a column for each of its fields."""
    depth = exp.PropertyEQ(this=exp.to_identifier("max_depth"), expression=exp.Literal.number(2))
    return call("unnest", array, depth)


FUNCTIONS: Final[dict[str, Callable[[list[Any]], exp.Expr]]] = {
    "ARRAY_UNION": lambda args: call("list_distinct", call("list_concat", *args)),
    "FROM_JSON": lambda args: typed_json(*args),
    "INLINE": lambda args: rows_of_structs(*args),
    "MAP_CONTAINS_KEY": lambda args: call("list_contains", call("map_keys", args[0]), args[1]),
    # DuckDB's max_by leaves out rows whose value is null.
    "MAX_BY": lambda args: call("arg_max_null", *args),
    "RAISE_ERROR": lambda args: call("error", *args),
    "SIZE": lambda args: call("len", *args),
}


class SparkForDuckdb(Spark):
    """Spark's SQL, read so that DuckDB knows every function in it."""

    class Parser(SparkParser):
        FUNCTIONS: ClassVar[dict[str, Any]] = {**SparkParser.FUNCTIONS, **FUNCTIONS}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: one for name, one in SparkParser.FUNCTION_PARSERS.items() if name not in FUNCTIONS
        }


def unfold_maps(query: exp.Expr) -> None:
    """Write `posexplode(map) as (position, key, value)` for DuckDB, in place."""
    for found in list(query.find_all(exp.Aliases)):
        if isinstance(found.this, exp.Posexplode) and len(found.expressions) == 3:
            entries, select = found.this.this, found.parent
            assert isinstance(select, exp.Select)
            keys, values = call("map_keys", entries.copy()), call("map_values", entries.copy())
            position = call("generate_subscripts", keys.copy(), exp.Literal.number(1)) - 1
            columns = (position, call("unnest", keys), call("unnest", values))
            others = [one for one in select.expressions if one is not found]
            named = [
                exp.alias_(column, alias)
                for column, alias in zip(columns, found.expressions, strict=True)
            ]
            select.set("expressions", [*others, *named])
