"""A query in Spark's SQL that shows public tables at earlier commits.

Only the names of tables are replaced in its text, so that everything else stays as it was written.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from dbt_debezium.errors import DebeziumError
from dbt_debezium.readers.moment import has_past, no_past
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.writers.sql import identifier

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OWN: Final = "dbt_debezium_at_"
"""How names of temporary views begin."""
POINTER: Final = "cut"
POINTER_VIEW: Final = f"{OWN}pointer"


def past_query(
    spark: "SparkSession", sql: str, build: str, public: str, numbers: Mapping[str, int]
) -> str:
    """The query over temporary views, which show the commits.

    Args:
        spark: the session that will run it.
        sql: a query.
        build: the schema that models are built in.
        public: the schema of the views.
        numbers: a commit of each source, none after the published cut.

    Raises:
        DebeziumError: the text is no query, or a table has no earlier rows.
    """
    reader = SparkReader(spark)
    there = reader.views(public)
    made: set[str] = set()

    def view_of(schema: str, name: str) -> str | None:
        if not schema and name not in there:
            return None
        if (schema or public) != public or name not in there:
            raise no_past(f"{schema}.{name}")
        text = reader.text(public, name)
        if not has_past(build, text):
            raise no_past(f"{schema}.{name}")
        if not made:
            point(spark, build, numbers)
        if name not in made:
            moved = with_names(text, lambda *one: POINTER_VIEW if one == (build, POINTER) else None)
            spark.sql(f"create or replace temporary view {identifier(OWN + name)} as {moved}")
            made.add(name)
        return OWN + name

    return with_names(sql, view_of)


def point(spark: "SparkSession", build: str, numbers: Mapping[str, int]) -> None:
    """Make the pointer that names the commits."""
    from pyspark.sql import functions as F  # noqa: N812

    known = F.create_map(*(F.lit(one) for pair in numbers.items() for one in pair))
    moved = F.transform(
        "source_cuts",
        lambda one: one.withField(
            "commit_number", F.coalesce(known[one["source"]].cast("bigint"), one["commit_number"])
        ),
    )
    cut = spark.table(f"{identifier(build)}.{POINTER}").where("channel = 'published'")
    cut.withColumn("source_cuts", moved).createOrReplaceTempView(POINTER_VIEW)


def with_names(sql: str, name_of: Callable[[str, str], str | None]) -> str:
    """A query in which tables have other names.

    Args:
        sql: the query.
        name_of: the new name of a table by its schema and name; None if it keeps them.

    Raises:
        DebeziumError: it is no query.

    >>> with_names("select a.b from p.a join `p`.`c d` as c", lambda _, name: f"{name}_1")
    'select a.b from `a_1` as `a` join `c d_1` as c'
    >>> with_names("with a as (select 1) select * from a", lambda schema, _: schema and "b")
    'with a as (select 1) select * from a'
    """
    try:
        tree = parse_one(sql, read="spark")
    except SqlglotError as error:
        raise unknown(str(error).splitlines()[0]) from error
    if not isinstance(tree, exp.Query):
        raise unknown("it is another statement")
    places = []
    within = {one.alias for one in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        named = name_of(table.db, table.name)
        if not named:
            continue
        if not table.db and table.name in within:
            raise unknown(f"{table.name} is a table and a part of the query")
        parts = [table.args[part] for part in ("catalog", "db") if table.args.get(part)]
        start, end = (parts or [table.this])[0].meta["start"], table.this.meta["end"]
        alias = "" if table.alias else f" as {identifier(table.name)}"
        places.append((start, end + 1, identifier(named) + alias))
    for start, end, text in sorted(places, reverse=True):
        sql = sql[:start] + text + sql[end:]
    return sql


def unknown(why: str) -> DebeziumError:
    """What is to be said of a text whose tables cannot be found."""
    return DebeziumError(
        f"query: --at and --as-of go with one SELECT ({why}); write one, or leave them out"
    )
