"""`dbt-debezium query`."""

import json
import re
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from dbt_debezium.cli.cells import cell_text, one_line
from dbt_debezium.cli.console import enter_lake, examples, out, working
from dbt_debezium.errors import DebeziumError

QUERIES = "SELECT, VALUES, SHOW, DESCRIBE and EXPLAIN"
SHOWING = ("Show", "Describe", "Explain")
"""How Spark's names of statements begin that are no queries and change nothing."""


@click.command(
    epilog=examples(
        "dbt-debezium query 'select * from public.commit'",
        "dbt-debezium query 'show views in public'",
    )
)
@click.argument("sql")
@click.option("--target", help="A target of profiles.yml.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per row.")
def query(sql: str, target: str | None, as_json: bool) -> None:
    """Print the result of one SQL query, such as \"select * from public.commit\"."""
    from pyspark.errors import PySparkException

    from dbt_debezium.export import plain, with_text_times
    from dbt_debezium.remote import has_java
    from dbt_debezium.report import cut_report
    from dbt_debezium.session import build_schema, nothing_published, spark_session

    enter_lake(target)
    with working("starting Spark") as state:
        spark = spark_session(target)
        state.update("running the query")
        try:
            if has_java(spark):
                check_query(spark, sql)
            else:
                sql = only_query(sql)
            frame = with_text_times(spark.sql(sql))
            rows = frame.collect()
        except PySparkException as error:
            is_missing = error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"
            if is_missing and not cut_report(spark, build_schema(target)):
                raise nothing_published("query") from error
            why = str(error).strip().splitlines()[0].removesuffix(".")
            remedy = "; `show views in public` lists what there is" if is_missing else ""
            if not has_java(spark) and error.getCondition() == "PARSE_SYNTAX_ERROR":
                remedy = f"; {QUERIES} are queries"
            raise DebeziumError(f"query: {why}{remedy}") from error
    if as_json:
        for row in rows:
            click.echo(json.dumps(plain(row.asDict(recursive=True)), ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False)
    for name in frame.columns:
        table.add_column(Text(name))
    for row in rows:
        table.add_row(*(Text(cell_text(cell)) for cell in row))
    out.print(table)


def only_query(sql: str) -> str:
    """SQL that Spark refuses to parse unless it is a query, for where its parser cannot be asked.

    >>> only_query("drop table a;")
    'select * from (\\ndrop table a\\n)'
    >>> only_query("show tables in public")
    'show tables in public'
    """
    if re.match(r"\s*(show|desc|describe|explain)\b", sql, re.IGNORECASE):
        return sql
    return f"select * from (\n{sql.strip().rstrip(';')}\n)"


def check_query(spark: Any, sql: str) -> None:
    """Refuse a statement that could change something; PySparkException where it is none at all."""
    plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(sql)
    while plan.getClass().getSimpleName() == "UnresolvedWith":
        plan = plan.child()
    if plan.getClass().getSimpleName().startswith(SHOWING):
        return
    logical = "org.apache.spark.sql.catalyst.plans.logical"
    changing = [
        spark._jvm.java.lang.Class.forName(f"{logical}.{name}")
        for name in ("Command", "ParsedStatement", "Call")
    ]
    # Several inserts of one statement are a union.
    parts = [plan]
    while parts:
        part = parts.pop()
        if any(one.isInstance(part) for one in changing):
            raise DebeziumError(
                f"query: {one_line(sql)} is no query and may change something; "
                f"{QUERIES} are queries"
            )
        children = part.children()
        parts += [children.apply(at) for at in range(children.size())]
