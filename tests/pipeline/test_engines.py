"""DuckDB and PyIceberg read the rows that Spark reads, at the same cut."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from click.testing import CliRunner
from engines import (
    agreed_status,
    open_duckdb,
    pyiceberg_recipe,
    rows_of,
    statements_of,
    status_of,
)
from lake import REPOSITORY, capture
from pages import blocks
from pyspark.sql import SparkSession
from test_without_spark import WITHOUT_SPARK

from dbt_debezium.build import environment, run_dbt
from dbt_debezium.cli import main
from dbt_debezium.cli.status import look
from dbt_debezium.demo import read_capture, split
from dbt_debezium.home import jars_dir
from dbt_debezium.landing.land import land
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.spark.session import spark_session
from dbt_debezium.views import public_texts
from dbt_debezium.views.dialects import tables_of

pytestmark = pytest.mark.slow

BEHIND_VIEWS = re.compile(r"build[.](cut|commit|message_count|\w+_history|\w+__stored)")
"""What docs/access.md lets readers read beside the views."""
READER = """
import json, sys
from dbt_debezium.spark.session import spark_session
spark = spark_session("local")
for statement in sys.stdin:
    try:
        answer = len(spark.sql(statement).collect())
    except Exception as error:
        answer = str(error).splitlines()[0]
    print(json.dumps([statement.strip(), answer]), flush=True)
"""
"""Runs each statement of its input, and says how many rows it gave or why it failed."""
READING = (
    ["quarantine"],
    ["quarantine", "--values", "--json"],
    ["quarantine", "--topic", "shop.public.payments", "--reason", "bad_*"],
    ["lease"],
    ["views", "--dialect", "duckdb"],
    ["views", "--dialect", "trino"],
)
"""What any engine answers alike."""
CHANGES = (
    "insert into build.cut select * from build.cut",
    "update build.cut set cut_id = 1 where channel = 'published'",
    "delete from build.orders_history where true",
    "insert overwrite build.revenue_by_day__stored select * from build.revenue_by_day__stored",
    "alter table build.orders_history add column mine int",
    "create or replace view public.orders as select 1 as id",
    "drop view public.orders",
    "drop table build.orders_history",
    "create table public.mine (id int) using iceberg",
    "create namespace mine",
    "call lake.system.expire_snapshots('build.cut', timestamp '2100-01-01 00:00:00')",
)
"""What a reader must not do."""


def land_and_run(spark: SparkSession, messages: Sequence[dict[str, Any]], file: Path) -> None:
    file.write_text("".join(f"{json.dumps(message)}\n" for message in messages))
    land(spark, file)
    assert run_dbt(["run", "--target", "local"], REPOSITORY)


def views_for(dialect: str) -> list[str]:
    """The statements that the command prints."""
    result = CliRunner().invoke(main, ["views", "--dialect", dialect], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return statements_of(result.stdout)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("readers")
    jars = str(jars_dir().absolute())
    with environment(DBT_DEBEZIUM_LAKE=str(folder / "lake"), DBT_DEBEZIUM_JARS=jars):
        yield folder / "lake"


@pytest.fixture(scope="module")
def first_part(lake: Path) -> Iterator[SparkSession]:
    """What has landed of the shop first: some of it is held, and a message is quarantined."""
    spark = spark_session("local")
    first, _ = split(read_capture(capture("shop_basic")))
    land_and_run(spark, first, lake.parent / "first.jsonl")
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def duckdb_of_first_part(first_part: SparkSession) -> duckdb.DuckDBPyConnection:
    """DuckDB with the views, as they were printed after the first part."""
    connection = open_duckdb("sqlite_scanner", "avro", "iceberg")
    for statement in views_for("duckdb"):
        connection.execute(statement)
    return connection


@pytest.fixture(scope="module")
def all_parts(
    lake: Path, first_part: SparkSession, duckdb_of_first_part: duckdb.DuckDBPyConnection
) -> SparkSession:
    _, second = split(read_capture(capture("shop_basic")))
    land_and_run(first_part, second, lake.parent / "second.jsonl")
    return first_part


def public_tables(spark: SparkSession) -> list[str]:
    tables = [row["viewName"] for row in spark.sql("show views in public").collect()]
    assert {"orders", "orders_history", "commit", "published_cut", "table_flag"} <= {*tables}
    return tables


def assert_duckdb_reads_what_spark_reads(
    spark: SparkSession, connection: duckdb.DuckDBPyConnection
) -> None:
    for name in public_tables(spark):
        expected = rows_of(spark.table(f"public.`{name}`").toArrow())
        found = connection.sql(f'select * from public."{name}"').to_arrow_table()
        assert found.column_names == spark.table(f"public.`{name}`").columns
        assert rows_of(found) == expected, name


def assert_pyiceberg_reads_what_spark_reads(spark: SparkSession) -> None:
    opening, _, reading = blocks("docs/querying.md", "python")
    recipe = pyiceberg_recipe(opening)
    exec(reading, recipe)
    tables = public_tables(spark)
    current = {name for name in tables if f"{name}_history" in tables}
    # No recipe computes what DuckDB and Python show of changes.
    behind = {f"{name}_{kind}" for name in current for kind in ("history", "changes")}
    stored = set(tables) - current - behind
    stored -= {"commit", "published_cut"}
    assert len(current) == 5
    assert {"revenue_by_day", "held_transaction"} <= stored
    for kind, names in (("current", current), ("stored", stored)):
        for name in names:
            expected = rows_of(spark.table(f"public.`{name}`").toArrow())
            assert rows_of(recipe[kind](name, recipe["cut"])) == expected, name


def test_duckdb_reads_what_spark_reads_while_transactions_are_held(
    first_part: SparkSession, duckdb_of_first_part: duckdb.DuckDBPyConnection
) -> None:
    ((held, quarantined),) = first_part.sql(
        "select held_count, quarantined_count from public.published_cut"
    ).collect()
    assert held > 0
    assert quarantined > 0
    assert_duckdb_reads_what_spark_reads(first_part, duckdb_of_first_part)


def test_status_says_the_same_with_duckdb_as_with_spark(first_part: SparkSession) -> None:
    (shop,) = agreed_status(REPOSITORY)
    assert shop["held"]
    assert shop["quarantined"]
    assert shop["counts"]["landed"] > 0


def test_the_page_shows_the_same_with_duckdb_as_with_spark(first_part: SparkSession) -> None:
    by_duckdb, by_spark = (look(None, engine) for engine in ("duckdb", "spark"))
    assert by_duckdb == by_spark
    rows = {(one.name, one.source): one.row_count for one in by_spark.rows}
    assert rows["orders", "shop"] == first_part.table("public.orders").count()
    assert rows.keys() == {(name, "shop") for name in by_spark.sizes}
    assert min(by_spark.sizes.values()) > 1_000


def test_what_reads_needs_neither_java_nor_packages_of_spark(
    first_part: SparkSession, tmp_path: Path
) -> None:
    page = tmp_path / "lake.html"
    query = "select commit_number from published_cut"
    without_java = {**os.environ, "PATH": "", "JAVA_HOME": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", WITHOUT_SPARK, *map(str, arguments)],
            cwd=REPOSITORY,
            env=without_java,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for arguments in (
            ["status", "--json"],
            ["report", page],
            ["query", query, "--json"],
            *READING,
        )
    ]
    assert said[0] == status_of(REPOSITORY, "spark", "--json")
    assert said[1].startswith("Not all is well: 1 message is quarantined")
    assert said[1].strip() in page.read_text()
    ((published,),) = first_part.sql("select commit_number from public.published_cut").collect()
    assert json.loads(said[2]) == {"commit_number": published}
    for arguments, found in zip(READING, said[3:], strict=True):
        asked = CliRunner().invoke(main, [*arguments, "--engine", "spark"], catch_exceptions=False)
        assert found == asked.stdout, arguments
    assert "bad_json" in said[3]


def test_pyiceberg_reads_what_spark_reads_while_transactions_are_held(
    first_part: SparkSession,
) -> None:
    assert_pyiceberg_reads_what_spark_reads(first_part)


@pytest.mark.parametrize("dialect", ["trino", "snowflake"])
def test_views_of_other_engines_are_sql_of_their_dialects(
    first_part: SparkSession, dialect: str
) -> None:
    statements = [sqlglot.parse_one(one, read=dialect) for one in views_for(dialect)]
    views = [one.this.name.lower() for one in statements if one.args.get("kind") == "VIEW"]
    assert sorted(views) == sorted(public_tables(first_part))


def test_duckdb_stays_at_its_cut_until_the_variable_is_set_again(
    all_parts: SparkSession, duckdb_of_first_part: duckdb.DuckDBPyConnection
) -> None:
    query = "select commit_number from public.published_cut"
    connection = duckdb_of_first_part
    ((before,),) = connection.sql(query).fetchall()
    ((published,),) = all_parts.sql(query).collect()
    assert before < published
    for statement in views_for("duckdb"):
        if statement.startswith("set variable"):
            connection.execute(statement)
    assert connection.sql(query).fetchall() == [(published,)]
    assert_duckdb_reads_what_spark_reads(all_parts, connection)


def test_pyiceberg_reads_what_spark_reads_after_a_second_run(all_parts: SparkSession) -> None:
    assert_pyiceberg_reads_what_spark_reads(all_parts)


def test_public_views_read_only_what_the_page_lets_readers_read(first_part: SparkSession) -> None:
    texts = public_texts(SparkReader(first_part), "public")
    tables = {".".join(one) for text in texts.values() for one in tables_of(text)}
    assert {"build.cut", "build.orders_history", "build.held_transaction__stored"} <= tables
    assert [one for one in tables if not BEHIND_VIEWS.fullmatch(one)] == []


@pytest.fixture
def read_only_lake(lake: Path, all_parts: SparkSession) -> Iterator[Path]:
    """The lake without the right to write, and closed where docs/access.md closes it."""
    closed = " ".join(re.findall(r"^chmod 700 (.*)$", "".join(blocks("docs/access.md", "")), re.M))
    assert "lake/warehouse/landing" in closed
    modes = {path: path.stat().st_mode for path in [lake, *lake.rglob("*")]}
    try:
        subprocess.run(["chmod", "-R", "a-w", lake], check=True)
        subprocess.run(["bash", "-c", f"chmod 000 {closed}"], cwd=lake.parent, check=True)
        yield lake
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def state_of(lake: Path) -> dict[Path, tuple[int, int]]:
    """Every file and folder, with its size and when it was changed."""
    found = [path for path in [lake, *lake.rglob("*")] if os.access(path, os.R_OK)]
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def test_a_reader_of_a_read_only_lake_sees_all_public_tables_and_can_change_nothing(
    read_only_lake: Path, all_parts: SparkSession
) -> None:
    before = state_of(read_only_lake)
    queries = [f"select * from public.`{name}`" for name in public_tables(all_parts)]
    closed = ["select * from landing.message", "select * from build.int_change"]
    # Without its capabilities, root may do no more than others.
    others = ["setpriv", "--bounding-set=-all"] if os.geteuid() == 0 else []
    reader = subprocess.run(
        [*others, sys.executable, "-c", READER],
        input="".join(f"{one}\n" for one in [*queries, *closed, *CHANGES]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answers = dict(json.loads(line) for line in reader.stdout.splitlines())
    rows = {one: all_parts.sql(one).count() for one in queries}
    assert rows["select * from public.`orders`"] > 0
    assert {one: answers[one] for one in queries} == rows
    assert [one for one in [*closed, *CHANGES] if not isinstance(answers[one], str)] == []
    assert state_of(read_only_lake) == before
