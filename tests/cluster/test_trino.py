"""Trino reads the rows that Spark reads, from the REST catalog and the store.

It has the views as they were printed after the first run of two; it is the same server all along.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pytest
from lake import REPOSITORY, capture
from pages import blocks
from pyarrow import feather

from dbt_debezium.demo import read_capture, split

pytest.importorskip("moto", reason="`make setup-cluster` installs what the cluster needs")
pytest.importorskip("trino", reason="`make setup-trino` installs Trino's client")

from chain import Cluster, cluster
from engines import statements_of
from figures import record
from trino.dbapi import Connection
from trino.exceptions import TrinoQueryError
from trino.transaction import IsolationLevel
from trino.types import NamedRowTuple
from trino_server import trino_dir, trino_server

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not trino_dir().is_dir(), reason="`make setup-trino` fetches Trino"),
]
SPARK = """
import json, sys
from pathlib import Path
from click.testing import CliRunner
from pyarrow import feather
from dbt_debezium.cli import main
from dbt_debezium.spark.session import spark_session

for line in sys.stdin:
    rows, *command = json.loads(line)
    ended = CliRunner().invoke(main, command)
    if rows:
        Path(rows).mkdir()
        for row in spark_session().sql("show views in public").collect():
            name = row["viewName"]
            shown = spark_session().table(f"public.`{name}`").toArrow()
            feather.write_feather(shown, f"{rows}/{name}")
    print("answer: " + json.dumps([ended.exit_code, ended.output]), flush=True)
"""
"""Commands in one process, as they come. Public tables go to a folder, where one is named."""


@dataclass(slots=True)
class Spark:
    """A machine that lands and runs, and sees the public tables."""

    folder: Path
    process: "subprocess.Popen[str]"

    def says(self, *command: str, rows: str = "") -> str:
        """Run a command to its end."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps([rows, *command]), file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            # What Spark logs may stand before it.
            _, found, answer = line.partition("answer: ")
            if found:
                code, said = json.loads(answer)
                assert code == 0, said
                return str(said)
        raise AssertionError(f"Spark ended with {self.process.wait()}")

    def run(self, part: list[dict[str, Any]], name: str) -> dict[str, pa.Table]:
        """Land messages and run; each public table behind it."""
        file, rows = self.folder / f"{name}.jsonl", self.folder / name
        file.write_text("".join(f"{json.dumps(message)}\n" for message in part))
        self.says("run", str(file), rows=str(rows))
        return {one.name: feather.read_table(one) for one in rows.iterdir()}


@dataclass(slots=True)
class Trino:
    """The server, with the views."""

    port: int

    def connect(self, isolation: IsolationLevel = IsolationLevel.AUTOCOMMIT) -> Connection:
        return Connection(
            host="127.0.0.1",
            port=self.port,
            user="analyst",
            catalog="lake",
            schema="public_trino",
            isolation_level=isolation,
            # A machine that does other work answers slowly.
            request_timeout=300,
        )


def answers(connection: Connection, query: str) -> tuple[list[str], list[list[Any]]]:
    """The columns of an answer, and its rows."""
    cursor = connection.cursor()
    cursor.execute(query)
    rows = cursor.fetchall()
    return [column[0] for column in cursor.description or []], rows


def one_of(connection: Connection, query: str) -> Any:
    _, ((value,),) = answers(connection, query)
    return value


@pytest.fixture(scope="module")
def servers() -> Iterator[Cluster]:
    with cluster() as started:
        yield started


@pytest.fixture(scope="module")
def spark(servers: Cluster) -> Iterator[Spark]:
    names = {
        **servers.environment,
        "DBT_DEBEZIUM_LAKE": str(servers.folder / "lake"),
        "DBT_DEBEZIUM_MASTER": "local[2]",
        "DBT_TARGET": "prod",
    }
    with subprocess.Popen(
        [sys.executable, "-c", SPARK],
        cwd=REPOSITORY,
        env=names,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Spark(servers.folder, process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="module")
def first_rows(spark: Spark) -> dict[str, pa.Table]:
    """Of the public tables, when some of the shop has landed: transactions are held."""
    first, _ = split(read_capture(capture("shop_basic")))
    return spark.run(first, "first")


@pytest.fixture(scope="module")
def trino(spark: Spark, first_rows: dict[str, pa.Table], servers: Cluster) -> Iterator[Trino]:
    statements = statements_of(spark.says("views", "--dialect", "trino"))
    assert len(statements) == 1 + len(first_rows)
    (catalog,) = blocks("docs/cluster.md", "properties")
    folder = servers.folder / "trino"
    folder.mkdir()
    with trino_server(folder, catalog, servers.environment) as port:
        started = Trino(port)
        with started.connect() as connection:
            for statement in statements:
                answers(connection, statement)
        yield started


@dataclass(slots=True)
class Readers:
    """Of Trino, who have seen the first commit."""

    connection: Connection
    transaction: Connection
    commit: int
    """What both have seen."""
    rows: dict[str, pa.Table]
    """Of each public table, as Spark sees it after the second run."""


@pytest.fixture(scope="module")
def readers(spark: Spark, trino: Trino) -> Iterator[Readers]:
    """The second run has published behind their backs."""
    with ExitStack() as stack:
        connection = stack.enter_context(trino.connect())
        transaction = stack.enter_context(trino.connect(IsolationLevel.REPEATABLE_READ))
        seen = {one_of(one, PUBLISHED) for one in (connection, transaction)}
        _, second = split(read_capture(capture("shop_basic")))
        rows = spark.run(second, "second")
        (commit,) = seen
        yield Readers(connection, transaction, commit, rows)


PUBLISHED = "select commit_number from published_cut"


def assert_trino_reads_what_spark_reads(trino: Trino, rows: dict[str, pa.Table]) -> None:
    assert {"orders", "orders_history", "commit", "published_cut", "revenue_by_day"} <= {*rows}
    with trino.connect() as connection:
        for name, expected in rows.items():
            columns, found = answers(connection, f'select * from "{name}"')
            assert columns == expected.column_names
            shown = [dict(zip(columns, row, strict=True)) for row in found]
            assert sorted_rows(shown) == sorted_rows(expected.to_pylist()), name


def sorted_rows(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(repr(plain(row)) for row in rows)


def plain(value: Any) -> Any:
    """The value with instants as those of UTC, and structs as names with their values."""
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value
    if isinstance(value, NamedRowTuple):
        value = dict(zip(value.__annotations__["names"], value, strict=True))
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def test_trino_reads_what_spark_reads_while_transactions_are_held(
    trino: Trino, first_rows: dict[str, pa.Table]
) -> None:
    (held,) = first_rows["published_cut"].column("held_count").to_pylist()
    assert held > 0
    assert_trino_reads_what_spark_reads(trino, first_rows)


def test_trino_reads_what_spark_reads_after_a_second_run(
    trino: Trino, first_rows: dict[str, pa.Table], readers: Readers
) -> None:
    assert_trino_reads_what_spark_reads(trino, readers.rows)
    counts = [sum(one.num_rows for one in rows.values()) for rows in (first_rows, readers.rows)]
    record(
        "Trino shows in every public table what Spark shows, before and after a second run",
        f"{len(readers.rows)} views, {counts[0]:,} and {counts[1]:,} rows: 0 differ",
    )


def test_a_connection_sees_a_new_commit_in_its_next_query(readers: Readers) -> None:
    (published,) = readers.rows["published_cut"].column("commit_number").to_pylist()
    assert readers.commit < one_of(readers.connection, PUBLISHED) == published


def test_a_transaction_stays_at_its_commit(readers: Readers) -> None:
    """Also in tables that it has not read before the second run."""
    assert one_of(readers.transaction, PUBLISHED) == readers.commit
    for query in (
        'select max(commit_number) from "commit"',
        "select max(_valid_from) from orders_history",
    ):
        newest = one_of(readers.transaction, query)
        assert newest <= readers.commit < one_of(readers.connection, query)


def test_trino_refuses_the_views_of_spark(trino: Trino) -> None:
    with trino.connect() as connection, pytest.raises(TrinoQueryError) as refused:
        answers(connection, "select * from public.orders")
    assert "Cannot read unsupported dialect 'spark'" in str(refused.value)


def test_a_view_reads_tables_with_the_rights_of_who_queries_it(trino: Trino) -> None:
    with trino.connect() as connection:
        assert "SECURITY INVOKER" in one_of(connection, "show create view orders")
