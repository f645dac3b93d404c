"""The target `connect` on a server of Spark Connect.

A machine without Java lands and queries. As a proof it also runs, lands more and runs again: all
tables are those of an embedded lake.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from arrivals import Arrival, write_arrivals
from connect_server import connect_server
from lake import REPOSITORY, open_lake

from dbt_debezium.lake_format import FORMAT
from dbt_debezium.plain_values import plain
from dbt_debezium.preview import write_project
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.readers.spark_values import with_text_times
from dbt_debezium.scaffold.captured import CapturedTable
from dbt_debezium.spark.catalogs import catalog_of_session
from dbt_debezium.views import view_statements

CLIENT = Path(sys.prefix) / "connect"
"""The packages of a client, which other tests run without."""
if not CLIENT.is_dir():
    pytest.skip("`make setup-cluster` installs a client of Spark Connect", allow_module_level=True)

pytestmark = pytest.mark.slow

DBT, COMMAND = (Path(sys.executable).with_name(name) for name in ("dbt", "dbt-debezium"))
SECONDS = 900
"""Of one command. The longest takes 40 on a machine that does nothing else."""
COMMANDS = """
import json, sys
from click.testing import CliRunner
from dbt_debezium.cli import main

for command in json.loads(sys.argv[1]):
    ended = CliRunner().invoke(main, command)
    # What a command is doing goes to its log, and is no answer.
    said = ended.output if ended.exit_code else ended.stdout
    print("answer: " + json.dumps([ended.exit_code, said]))
"""
"""Several commands in one process, which saves the start of each."""
WRITE = """
import os, sys, time
from pyspark.sql.functions import udf
from dbt_debezium.home import lake_dir
from dbt_debezium.lease import Lease, writing
from dbt_debezium.spark.session import spark_session

folder = sys.argv[1]

def wait():
    open(f"{folder}/begun", "w").close()
    while not os.path.exists(f"{folder}/go"):
        time.sleep(0.1)
    return 1

spark = spark_session("connect")
with Lease(lake_dir(), "a run"), writing(spark):
    spark.sql("create table landing.late (number string) using iceberg")
    spark.range(1).select(udf(wait)().alias("number")).writeTo("landing.late").append()
"""
"""A statement that writes once a file is there."""
BEGIN = """
from dbt_debezium.home import lake_dir
from dbt_debezium.lease import Lease, writing
from dbt_debezium.spark.session import spark_session

with Lease(lake_dir(), "a run"), writing(spark_session("connect")):
    pass
"""
OVERTAKEN = """
from dbt_debezium.build import first_sentence
from dbt_debezium.lease.row import snapshot_of
from dbt_debezium.spark.session import spark_session

spark = spark_session("connect")
spark.sql("create table landing.overtaken (number int) using iceberg")
spark.sql("insert into landing.overtaken values (1)")
seen = snapshot_of(spark, "landing.overtaken")
spark.sql("insert into landing.overtaken values (2)")
options = f"'isolation-level' = 'serializable', 'validate-from-snapshot-id' = '{seen}'"
try:
    spark.sql(
        f"insert into landing.overtaken.branch_main with ({options}) replace where number > 0 "
        "select max(number) + 10 from landing.overtaken"
    )
except Exception as error:
    print(first_sentence(str(error)))
print([row.number for row in spark.table("landing.overtaken").orderBy("number").collect()])
"""
"""What materializations write, once another run has written to their table."""
REPLACE = """
from dataclasses import replace
from dbt_debezium.lease.row import read_row, replace_row
from dbt_debezium.spark.session import spark_session

spark = spark_session("connect")
seen = read_row(spark)
print([replace_row(spark, seen, replace(seen.row, command=one)) for one in ("first", "second")])
print(read_row(spark).row.command)
"""

LAND_TABLE = """
from click.testing import CliRunner
from dbt_debezium.cli import main
from dbt_debezium.spark.session import spark_session

spark = spark_session("connect")
spark.sql("create schema raw")
spark.sql(
    "create table raw.kafka (key binary, value binary, topic string, partition int, offset bigint,"
    " timestamp timestamp, timestampType int, headers array<struct<key: string, value: binary>>)"
    " using iceberg"
)

def send(*offsets):
    rows = ", ".join(
        f"(binary('k{at}'), binary('v{at}'), 'raw', 0, {at}, timestamp'2026-01-01 00:00:00', 0,"
        " array(struct('h' as key, binary('x') as value)))"
        for at in offsets
    )
    spark.sql(f"insert into raw.kafka values {rows}")

def land():
    ended = CliRunner().invoke(main, ["land", "table://lake.raw.kafka"])
    print(ended.exit_code, ended.stdout.strip() or ended.output)

send(0, 1)
land()
land()
send(2)
send(3)
land()
"""
"""Lands from a table that grows."""
NEWER = """
import sys
from click.testing import CliRunner
from dbt_debezium.cli import main
from dbt_debezium.home import lake_dir
from dbt_debezium.lake_format import FORMAT, PROPERTY
from dbt_debezium.lease import Lease, writing
from dbt_debezium.spark.session import spark_session

spark = spark_session("connect")
lease = "alter table landing.lease"
spark.sql(f"{lease} set tblproperties ('{PROPERTY}' = '{FORMAT + 1}')")
ended = CliRunner().invoke(main, ["land", sys.argv[1]])
print(ended.exit_code, ended.output.strip().splitlines()[-1])
spark.sql(f"{lease} unset tblproperties ('{PROPERTY}')")
with Lease(lake_dir(), "a run"), writing(spark):
    pass
((_, mark),) = spark.sql(f"show tblproperties landing.lease ('{PROPERTY}')").collect()
print(mark)
"""
"""Writes to a lake of a newer format, and to one without a mark."""


@dataclass(frozen=True, slots=True)
class Machine:
    """One that has a lake folder of its own, the address of the server, and no Java."""

    folder: Path
    address: str

    def start(self, *command: object) -> "subprocess.Popen[str]":
        environment = {
            "PATH": str(DBT.parent),
            "PYTHONPATH": str(CLIENT),
            "DBT_DEBEZIUM_REMOTE": self.address,
            "DBT_DEBEZIUM_LAKE": str(self.folder / "client"),
            "DBT_DEBEZIUM_JARS": str(self.folder / "none"),
            "DBT_TARGET": "connect",
            "JAVA_HOME": str(self.folder / "none"),
        }
        return subprocess.Popen(
            [str(part) for part in command],
            cwd=self.folder / "project",
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def says(self, *command: object, code: int = 0) -> str:
        """Run a command to its end."""
        with self.start(*command) as started:
            said, _ = started.communicate(timeout=SECONDS)
        assert started.returncode == code, said
        return said

    def answers(self, *commands: list[str]) -> list[tuple[int, str]]:
        """Run commands in one process: the exit code of each, and what it said."""
        said = self.says(sys.executable, "-c", COMMANDS, json.dumps(commands))
        answers = [json.loads(found) for found in re.findall("^answer: (.*)$", said, re.MULTILINE)]
        return [(code, text) for code, text in answers]

    def rows(self, sql: str) -> list[str]:
        """What `query` prints of a query, sorted."""
        said = self.says(COMMAND, "query", "--json", sql)
        return sorted(line for line in said.splitlines() if line.startswith("{"))


@dataclass(slots=True)
class Story:
    """What commands that build have said."""

    runs: list[str] = field(default_factory=list)
    landed: str = ""


@pytest.fixture(scope="module")
def machine(parts: list[Arrival], tables: list[CapturedTable]) -> Iterator[Machine]:
    with tempfile.TemporaryDirectory(prefix="dbt-debezium-connect-") as named:
        folder = Path(named)
        write_project(REPOSITORY, folder / "project", tables, {"maintain_after_runs": 1})
        for part in parts:
            write_arrivals(folder / part.prefix, [part])
        (folder / "server").mkdir()
        with connect_server(folder / "server") as address:
            yield Machine(folder, address)


@pytest.fixture(scope="module")
def answers(machine: Machine) -> list[tuple[int, str]]:
    """Of commands that land, that query, and that cannot work."""
    land = ["land", str(machine.folder / "part_0")]
    return machine.answers(
        land,
        land,
        [
            *("query", "--json"),
            "select count(*) as n, count(distinct landing_id) as m from landing.message",
        ],
        ["query", "show tables in landing like 'arriving*'", "--json"],
        ["query", "drop table landing.message"],
        ["query", "select max(landing_id) as n from landing.message", "--json"],
        ["maintain"],
    )


@pytest.fixture(scope="module")
def story(answers: list[tuple[int, str]], machine: Machine) -> Story:
    told = Story()
    told.runs.append(machine.says(COMMAND, "run"))
    told.landed = machine.says(COMMAND, "land", machine.folder / "part_1")
    told.runs.append(machine.says(DBT, "run", "--target", "connect"))
    return told


def test_a_machine_without_java_lands_each_file_once_and_queries_it(
    answers: list[tuple[int, str]], parts: list[Arrival]
) -> None:
    (_, first), (_, again), rows, left, *_ = answers
    count = len(parts[0].messages)
    assert f"landed {count:,} messages of 1 new file" in first
    assert "landed 0 messages of 0 new files" in again
    assert rows == (0, f'{{"n": {count}, "m": 1}}\n')
    assert left == (0, "")


def test_what_cannot_be_done_is_refused_in_one_sentence(answers: list[tuple[int, str]]) -> None:
    *_, (code, said), there, (maintain_code, maintain_said) = answers
    assert (code, maintain_code) == (2, 2)
    assert "SELECT, VALUES, SHOW, DESCRIBE and EXPLAIN are queries" in said
    assert there == (0, '{"n": 1}\n')
    assert maintain_said.startswith("maintain: Spark Connect has no way")


def test_a_query_only_reads(answers: list[tuple[int, str]], machine: Machine) -> None:
    pwned = machine.folder / "pwned"
    answered = [
        "select abs(-1) as n, 'reflect(1)' as text /* reflect(1) */ from values (1) as t(a)",
        "with c as (select 1 as a) select count(*) from c join (select 1 as a) as d using (a)",
        "from landing.message select max(landing_id)",
        "explain extended select 1",
        "describe landing.message",
        "show functions like 'abs'",
    ]
    refused = [
        f"select transform(a) using 'touch {pwned}' as (x) from values (1) as t(a)",
        f"map a using/**/'touch {pwned}' as x from values (1) as t(a)",
        "select reflect('java.lang.System', 'getenv', 'HOME')",
        "select `try_reflect` /* */ ('java.lang.System', 'getenv', 'HOME')",
        "select identifier('reflect')('java.lang.System', 'getenv', 'HOME')",
        "explain select java_method('java.lang.System', 'getenv', 'HOME')",
        "select begin show, reflect('java.lang.System', 'getenv', 'HOME') from (select 1 as begin)",
        "select 1 -- \\\n ' \n, reflect('java.lang.System', 'getenv', 'HOME') -- '",
        "select lake.system.bucket(3, 1)",
        "select * from text.`/etc/hostname`",
        "select * from identifier('text.`/etc/hostname`')",
        "execute immediate 'drop table landing.message'",
        "explain execute immediate 'drop table landing.message'",
        "begin drop table landing.message; end",
        f"insert overwrite directory '{pwned}' using csv select 1",
        "set spark.sql.runSQLOnFiles = true",
        "select 1) ; drop table landing.message; select (1",
    ]
    found = machine.answers(*(["query", sql] for sql in answered + refused))
    assert [code for code, _ in found] == [0] * len(answered) + [2] * len(refused), found
    # Spark's client logs a missing table in a line of its own, in front of the sentence.
    sentences = [text.splitlines()[-1] for _, text in found[len(answered) :]]
    assert not [one for one in sentences if not one.startswith("query: ")]
    assert not pwned.exists()
    (count,) = machine.rows("select count(*) > 0 as is_there from landing.message")
    assert count == '{"is_there": true}'


def test_a_server_that_is_not_there_is_named_without_its_token(machine: Machine) -> None:
    away = Machine(machine.folder, "sc://127.0.0.1:9/;token=secret")
    said = away.says(COMMAND, "status", code=2)
    assert said.strip().splitlines()[-1] == (
        "spark: sc://127.0.0.1:9 cannot be reached (Connection refused); "
        "start its server, or name another one in DBT_DEBEZIUM_REMOTE"
    )


@pytest.mark.proof
def test_it_builds_and_publishes_and_builds_what_has_come_since(
    story: Story, machine: Machine, parts: list[Arrival]
) -> None:
    assert f"landed {len(parts[1].messages):,} messages of 1 new file" in story.landed
    for said in story.runs:
        assert "nothing published" not in said
        assert "published" in said
    assert "the lake needs maintenance, for which Spark Connect has no way" in story.runs[0]
    # So that other machines need not wait.
    assert machine.rows("select token from landing.lease") == ['{"token": null}']
    built = (machine.folder / "project" / "target" / "run").rglob("*.sql")
    assert any("validate-from-snapshot-id" in path.read_text() for path in built)


@pytest.mark.proof
def test_all_tables_are_those_of_an_embedded_lake(
    story: Story, machine: Machine, tables: list[CapturedTable], tmp_path: Path
) -> None:
    names = [f"{one.model_name}{kind}" for one in tables for kind in ("", "_history")]
    # One query, because each starts a command.
    asked = " union all ".join(
        f"select '{name}' as name, to_json(struct(*)) as row from public.`{name}`" for name in names
    )
    found = machine.rows(asked)
    assert len(found) > len(names)
    with open_lake(tmp_path, tables) as lake:
        for part in ("part_0", "part_1"):
            lake.land(machine.folder / part)
            assert lake.build(command="run"), lake.lines
        rows = with_text_times(lake.spark.sql(asked)).collect()
        reader, known = SparkReader(lake.spark), catalog_of_session(lake.spark)
        views = [
            *view_statements(reader, known, "build", "public", "trino", "lake", "public_trino")
        ]
    assert found == sorted(json.dumps(plain(row.asDict())) for row in rows)
    said = machine.says(COMMAND, "views", "--dialect", "trino")
    assert said.endswith("".join(f"{one};\n\n" for one in views))


@pytest.mark.proof
def test_doctor_asks_the_server_for_its_python_and_its_store(
    story: Story, machine: Machine
) -> None:
    # It finds a table of the capture that has no key.
    said = machine.says(COMMAND, "doctor", code=1)
    assert "executors: Python 3" in said
    assert "store: landing.lease is read" in said


@pytest.mark.proof
def test_status_says_what_is_published(story: Story, machine: Machine) -> None:
    said = machine.says(COMMAND, "status", "--json")
    (report,) = json.loads(said[said.index("[\n") :])
    (cut,) = machine.rows("select commit_number from public.published_cut")
    assert report["commit_number"] == json.loads(cut)["commit_number"] > 0


def test_of_two_who_have_seen_one_lease_one_takes_it(
    answers: list[tuple[int, str]], machine: Machine
) -> None:
    said = machine.says(sys.executable, "-c", REPLACE)
    assert said.strip().splitlines()[-2:] == ["[True, False]", "first"]


def test_a_statement_of_an_overtaken_run_is_refused(
    answers: list[tuple[int, str]], machine: Machine
) -> None:
    refused, rows = machine.says(sys.executable, "-c", OVERTAKEN).strip().splitlines()[-2:]
    assert refused.startswith("another run has written to this table since this run began")
    assert rows == "[1, 2]"


def test_a_statement_of_a_killed_run_does_not_write_once_another_run_has_begun(
    answers: list[tuple[int, str]], machine: Machine
) -> None:
    folder = machine.folder / "waits"
    folder.mkdir()
    with machine.start(sys.executable, "-c", WRITE, folder) as killed:
        while not (folder / "begun").exists():
            assert killed.poll() is None, killed.communicate()
            time.sleep(0.1)
        killed.kill()
    machine.says(sys.executable, "-c", BEGIN)
    (folder / "go").touch()
    time.sleep(5)
    assert machine.rows("select number from landing.late") == []


def test_each_snapshot_of_a_table_of_messages_lands_once(
    answers: list[tuple[int, str]], machine: Machine
) -> None:
    said = machine.says(sys.executable, "-c", LAND_TABLE).strip().splitlines()[-3:]
    name = "table://lake.raw.kafka: landed"
    assert said == [f"0 {name} {count} messages" for count in (2, 0, 2)]
    query = (
        "select `offset` as at, cast(key as string) as key, cast(value as string) as value,"
        " headers[0].key as header, partition, cast(timestamp as string) as sent"
        " from landing.message where topic = 'raw'"
    )
    rows = [json.loads(row) for row in machine.rows(query)]
    assert rows == [
        {
            "at": at,
            "key": f"k{at}",
            "value": f"v{at}",
            "header": "h",
            "partition": 0,
            "sent": "2026-01-01 00:00:00",
        }
        for at in range(4)
    ]


def test_a_lake_of_a_newer_format_is_refused_and_one_without_a_mark_gets_it(
    answers: list[tuple[int, str]], machine: Machine
) -> None:
    said = machine.says(sys.executable, "-c", NEWER, machine.folder / "part_1")
    refused, mark = said.strip().splitlines()[-2:]
    assert refused.startswith(f"2 lake: its tables have format {FORMAT + 1}, and this version")
    assert mark == str(FORMAT)
