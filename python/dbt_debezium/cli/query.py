"""`dbt-debezium query`."""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

import click

from dbt_debezium.cli.console import enter_lake, examples, log, out, working
from dbt_debezium.cli.engine import engine_option
from dbt_debezium.cli.problems import say_problems
from dbt_debezium.cli.tables import row_count, show_rows
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import project_dir
from dbt_debezium.plain_values import plain, value_text
from dbt_debezium.writers.terminal import harmless, json_text

if TYPE_CHECKING:
    from dbt_debezium.readers.choice import Engine
    from dbt_debezium.readers.moment import Commit, Wanted

LINES: Final = 1_000
"""Lines that are written at once."""
CSV_LINE_END: Final = "\r\n"
SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
"""What Python makes of bytes of a command line that are no text."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a query."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]
    """As they come; they can be read once."""
    as_object: Callable[[Any], Mapping[str, Any]]
    """Makes a mapping by column of a row, with structs as dicts."""
    commits: "Sequence[Commit]" = ()
    """What tables show, if an earlier commit or a time is wanted."""


@click.command(
    short_help="Answer one SQL query.",
    epilog=examples(
        "dbt-debezium query 'select * from public.commit'",
        "dbt-debezium query 'show tables'",
        "dbt-debezium query 'show views in public' --engine spark",
        "dbt-debezium query 'from orders' --as-of '2026-11-21 02:36:48'",
    ),
)
@click.argument("sql")
@click.option(
    "--at",
    metavar="COMMIT",
    multiple=True,
    help="Show the tables of the source as this commit left them; shop=300 names the source.",
)
@click.option(
    "--as-of",
    metavar="TIME",
    help="Show the tables of all sources as they were at this time, as '2026-11-21 02:36' in UTC.",
)
@click.option("--target", help="A target of profiles.yml.")
@click.option("--json", "form", flag_value="json", help="One JSON object per row.")
@click.option("--csv", "form", flag_value="csv", help="CSV with a header. Null is an empty field.")
@engine_option
def query(
    sql: str,
    at: Sequence[str],
    as_of: str | None,
    target: str | None,
    form: str | None,
    engine: "Engine",
) -> None:
    """Print the result of one SQL query, such as \"select * from public.commit\".

    The SQL is that of the engine. DuckDB finds the public tables without their schema, too.
    """
    from dbt_debezium.readers.moment import Wanted, read_commits, read_time

    if at and as_of:
        raise click.UsageError("--at and --as-of each name a moment; leave one of them out.")
    wanted = Wanted(read_commits(at), read_time(as_of) if as_of else None)
    enter_lake(target)
    if SURROGATE.search(sql):
        raise DebeziumError("query: it holds bytes that are no text; write it in UTF-8")
    if not sql.strip(" \t\n;"):
        raise DebeziumError("query: the statement is empty; write one, as 'select * from orders'")
    found = ask(sql, target, engine, wanted)
    for commit in found.commits:
        log.say(f"as of {commit}")
    if form == "json":
        check_names(found.columns)
        objects = map(found.as_object, found.rows)
        echo_all(json_text(plain(one)) for one in objects)
        return
    if form == "csv":
        # A terminal would obey what some texts hold, and a file is to have them as they are.
        safe = harmless if out.is_terminal else str
        records = ((csv_field(cell) for cell in row) for row in found.rows)
        echo_all(safe(csv_line(one)) for one in chain([found.columns], records))
        return
    if re.match(r"\s*explain\b", sql, re.IGNORECASE):
        # A plan is a text of many lines.
        for row in found.rows:
            click.echo(harmless(row[-1]))
        return
    rows = list(found.rows)
    is_shortened = show_rows(found.columns, rows)
    whole = "; --json has the values that end in … whole" if is_shortened else ""
    out.say(row_count(len(rows)) + whole)


def echo_all(lines: Iterable[str]) -> None:
    """Print lines as they come."""
    iterator = iter(lines)
    while some := list(islice(iterator, LINES)):
        click.echo("\n".join(some))


def csv_field(cell: Any) -> Any:
    """A value for CSV: nothing for null, and JSON where it has parts."""
    return None if cell is None else value_text(cell)


def csv_line(fields: Iterable[Any]) -> str:
    """A record of CSV (RFC 4180), without the end of its line.

    >>> csv_line(["a", None, 'b "c", d', ""])
    'a,,"b ""c"", d",'
    """
    text = io.StringIO()
    # It quotes line breaks only where they are part of how it ends a line.
    csv.writer(text, lineterminator=CSV_LINE_END).writerow(fields)
    return text.getvalue().removesuffix(CSV_LINE_END)


def check_names(columns: Sequence[str]) -> None:
    """Refuse columns of one name, of which an object of JSON would keep the last.

    Raises:
        DebeziumError: there are some.
    """
    repeated = next((name for name, count in Counter(columns).items() if count > 1), None)
    if repeated is not None:
        raise DebeziumError(
            f"query: several columns are called {repeated}; give each its own name with `as`"
        )


def ask(sql: str, target: str | None, engine: "Engine", wanted: "Wanted") -> Answer:
    """What the engine answers, chosen as for `status`.

    Raises:
        DebeziumError: no engine that is there can read this lake, or it refuses the query.
    """
    from dbt_debezium.readers.choice import NotForDuckdbError, has_spark

    if engine != "spark":
        try:
            return ask_duckdb(sql, target, wanted)
        except NotForDuckdbError:
            if engine == "duckdb" or not has_spark():
                raise
    return ask_spark(sql, target, wanted)


def ask_duckdb(sql: str, target: str | None, wanted: "Wanted") -> Answer:
    """What DuckDB answers.

    Raises:
        DebeziumError: DuckDB cannot read this lake, or refuses the query.
    """
    from dbt_debezium.project_settings import public_schema
    from dbt_debezium.readers.choice import duckdb_places
    from dbt_debezium.readers.duckdb_query import DuckdbQuery
    from dbt_debezium.readers.duckdb_values import with_text_times
    from dbt_debezium.readers.moment import shown_commits
    from dbt_debezium.spark.targets import build_schema
    from dbt_debezium.status.notices import newer_lake

    with working("running the query"):
        schema = build_schema(target)
        asked = DuckdbQuery(duckdb_places(target, schema), schema)
        say_problems(newer_lake(asked))
        commits = shown_commits(asked, schema, wanted) if wanted else {}
        if commits:
            asked.show_past({name: one.number for name, one in commits.items()})
        columns, found = asked.answer(sql, public_schema(project_dir()))
    rows = ([with_text_times(cell) for cell in row] for row in found)
    return Answer(
        columns, rows, lambda row: dict(zip(columns, row, strict=True)), [*commits.values()]
    )


def ask_spark(sql: str, target: str | None, wanted: "Wanted") -> Answer:
    """What Spark answers.

    Raises:
        DebeziumError: there is no such table, or the query is none.
    """
    from pyspark.errors import PySparkException

    from dbt_debezium.project_settings import public_schema
    from dbt_debezium.readers import connect_query, spark_query
    from dbt_debezium.readers.moment import shown_commits
    from dbt_debezium.readers.spark_past import past_query
    from dbt_debezium.readers.spark_reader import SparkReader
    from dbt_debezium.readers.spark_values import with_text_times
    from dbt_debezium.spark.remote import has_java
    from dbt_debezium.spark.session import nothing_published, spark_session
    from dbt_debezium.spark.targets import build_schema
    from dbt_debezium.status.notices import newer_lake
    from dbt_debezium.status.report import cut_report

    with working("starting Spark") as state:
        spark = spark_session(target)
        state.update("running the query")
        say_problems(newer_lake(SparkReader(spark)))
        commits = {}
        try:
            if wanted:
                build = build_schema(target)
                commits = shown_commits(SparkReader(spark), build, wanted)
                numbers = {name: one.number for name, one in commits.items()}
                sql = past_query(spark, sql, build, public_schema(project_dir()), numbers)
            answer = spark_query.answer if has_java(spark) else connect_query.answer
            frame = with_text_times(answer(spark, sql))
            rows = frame.collect()
        except PySparkException as error:
            is_missing = error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"
            if is_missing and not cut_report(SparkReader(spark), build_schema(target)):
                raise nothing_published("query") from error
            why = str(error).strip().splitlines()[0].removesuffix(".")
            remedy = "; `show views in public` lists what there is" if is_missing else ""
            if not has_java(spark) and error.getCondition() == "PARSE_SYNTAX_ERROR":
                remedy = f"; {spark_query.QUERIES} are queries"
            raise DebeziumError(f"query: {why}{remedy}") from error
    return Answer(frame.columns, rows, lambda row: row.asDict(recursive=True), [*commits.values()])
