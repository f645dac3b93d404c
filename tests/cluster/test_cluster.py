"""The target `prod` on a REST catalog, an object store and a Spark cluster.

One chain of servers and one story. A machine lands and runs; another one is refused meanwhile, and
lands a second file later, which the first one builds. All tables are those of an embedded lake.
DuckDB and PyIceberg read them from the catalog and the store.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pytest
from arrivals import Arrival, write_arrivals
from lake import Lake, open_lake
from pages import blocks
from pyarrow import feather
from pyspark.sql import SparkSession

from dbt_debezium.build import environment
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import jars_dir, lake_dir
from dbt_debezium.lease import Lease, writing
from dbt_debezium.preview import write_project
from dbt_debezium.public_tables.move import move
from dbt_debezium.public_tables.table import Call, Chosen
from dbt_debezium.public_tables.write import write
from dbt_debezium.scaffold.captured import CapturedTable
from dbt_debezium.spark.session import open_catalog

pytest.importorskip("moto", reason="`make setup-cluster` installs what the cluster needs")
pytest.importorskip("duckdb", reason="`make setup-cluster` installs readers of the lake")

from chain import ACCESS_KEY, REPOSITORY, SECRET_KEY, TOKEN, Cluster, cluster
from duckdb import DuckDBPyConnection
from engines import open_duckdb, pyiceberg_recipe, rows_of, statements_of
from machine import COMMAND, Machine, commands
from rest_catalog import ONE_BY_ONE

PLAIN = ["a", "b", "published_cut"]
"""Public tables that are kept as plain ones too."""
RUN_AND_LOOK = """
import json, os, sys
from pathlib import Path
from click.testing import CliRunner
from pyarrow import feather
from dbt_debezium.build import run_dbt
from dbt_debezium.cli import main
from dbt_debezium.spark.session import spark_session

assert run_dbt(["run", "--target", "prod"], Path.cwd(), on_line=print)
SECRETS = ("DBT_DEBEZIUM_CATALOG_TOKEN", "DBT_DEBEZIUM_S3_SECRET_KEY")
landed, rows, *hidden = sys.argv[1:]
spark = spark_session("prod")

def look(_):
    yield [one for one in hidden if os.path.exists(one) and os.listdir(one)]

maintained = CliRunner().invoke(main, ["maintain"]).exit_code
for row in spark.sql("show views in public").collect():
    name = row["viewName"]
    feather.write_feather(spark.table(f"public.`{name}`").toArrow(), f"{rows}/{name}")
commands = [one.read_text() for one in Path("/proc").glob("[0-9]*/cmdline")]
print(json.dumps({
    "maintained": maintained,
    "again": CliRunner().invoke(main, ["land", landed]).output,
    "doctor": CliRunner().invoke(main, ["doctor", "--json"]).output,
    "status": [
        CliRunner().invoke(main, ["status", "--json", "--engine", one]).stdout
        for one in ("duckdb", "spark")
    ],
    "seen": spark.sparkContext.range(0, 1, 1, 1).mapPartitions(look).first(),
    "shuffle_partitions": spark.newSession().conf.get("spark.sql.shuffle.partitions"),
    "secrets": [one for one in commands for secret in SECRETS if os.environ[secret] in one],
}))
"""


@dataclass(slots=True)
class Story:
    """What was said, and what is there."""

    reader: DuckDBPyConnection
    """It attaches the catalog when the first run has published."""
    views: list[str] = field(default_factory=list)
    """What is printed for it then."""
    first_commit: int = 0
    """What it sees then."""
    transaction: DuckDBPyConnection = field(init=False)
    """One of the reader, which begins then."""
    runs: list[str] = field(default_factory=list)
    refused: str = ""
    landed: str = ""
    looked: dict[str, Any] = field(default_factory=dict)
    rows: dict[str, pa.Table] = field(default_factory=dict)
    """Of each public table, as Spark sees it at the end."""
    events: str = ""
    """Spark's log of them, of the process that has looked."""


@pytest.fixture(scope="session")
def servers() -> Iterator[Cluster]:
    with cluster() as started:
        yield started


@pytest.fixture(scope="session")
def machine(servers: Cluster, parts: list[Arrival], tables: list[CapturedTable]) -> Machine:
    project = servers.folder / "project"
    write_project(REPOSITORY, project, tables, {"public_as_table": PLAIN})
    for part in parts:
        write_arrivals(servers.folder / part.prefix, [part])
    return Machine(servers.folder, servers.environment, project, "one")


@pytest.fixture(scope="session")
def story(servers: Cluster, machine: Machine) -> Story:
    told = Story(open_duckdb("httpfs", "avro", "iceberg"))
    second = servers.folder / "part_1"
    # From the driver alone, so that the cluster is left to the run.
    settings = {**servers.environment, "DBT_DEBEZIUM_MASTER": "local[1]"}
    with commands(Machine(servers.folder, settings, machine.project, "two")) as other:
        with machine.start(COMMAND, "run", servers.folder / "part_0") as running:
            assert running.stdout is not None
            said = ""
            while "landed" not in said and (line := running.stdout.readline()):
                said += line
            assert "landed" in said, said
            told.refused = other.says("land", second, code=2)
            told.runs.append(said + running.stdout.read())
        assert running.returncode == 0, told.runs
        told.landed = other.says("land", second)
        told.views = statements_of(other.says("views", "--dialect", "duckdb"))
    for statement in [*secrets_of_duckdb(servers), *told.views]:
        told.reader.execute(statement)
    told.transaction = told.reader.cursor().begin()
    told.first_commit = commit_of_duckdb(told.transaction)
    log, rows = servers.folder / "events", servers.folder / "rows"
    log.mkdir()
    rows.mkdir()
    events = ("enabled=true", f"dir={log.as_uri()}", "compress=false")
    looked = machine.says(
        *(sys.executable, "-c", RUN_AND_LOOK, servers.folder / "part_1", rows),
        *(REPOSITORY, servers.folder, jars_dir().absolute()),
        PYSPARK_SUBMIT_ARGS=" ".join(f"--conf spark.eventLog.{one}" for one in events)
        + " pyspark-shell",
    )
    told.runs.append(looked)
    told.events = "".join(one.read_text() for one in log.rglob("events_*"))
    told.looked = json.loads(looked.splitlines()[-1])
    told.rows = {one.name: feather.read_table(one) for one in rows.iterdir()}
    return told


def secrets_of_duckdb(servers: Cluster) -> list[str]:
    """The statements of the page, with the address of this store."""
    (page,) = blocks("docs/cluster.md", "sql")
    store = servers.environment["DBT_DEBEZIUM_S3_ENDPOINT"].removeprefix("http://")
    values = {
        name: one for name, one in servers.environment.items() if name.startswith("DBT_DEBEZIUM_")
    }
    # DuckDB's command line has `getenv`, and its client for Python has not.
    page = re.sub(r"getenv\('(\w+)'\)", lambda found: f"'{values[found[1]]}'", page)
    assert "'store:9000'" in page
    return statements_of(page.replace("store:9000", store))


def commit_of_duckdb(reader: DuckDBPyConnection) -> int:
    ((number,),) = reader.execute("select commit_number from public.published_cut").fetchall()
    return int(number)


def test_runs_land_build_and_publish_on_a_cluster(story: Story, parts: list[Arrival]) -> None:
    first, second = (len(part.messages) for part in parts)
    assert f"landed {first:,} messages of 1 new file" in story.runs[0]
    # Its file was in the inbox already, since it was refused.
    assert f"landed {second:,} messages of 1 new file" in story.landed
    for said in story.runs:
        assert "nothing published" not in said


def test_executors_see_the_network_the_catalog_and_the_store_alone(
    story: Story, servers: Cluster
) -> None:
    if not servers.is_hidden:
        pytest.skip("this machine does not let a process hide files from another")
    assert story.looked["seen"] == []


def test_what_the_site_says_is_respected_and_secrets_are_on_no_command_line(story: Story) -> None:
    assert story.looked["shuffle_partitions"] == "7"
    assert story.looked["secrets"] == []


def test_a_log_of_events_shows_no_secret(story: Story) -> None:
    for name in ("lake.token", "lake.s3.secret-access-key"):
        assert f'"spark.sql.catalog.{name}":"*********(redacted)"' in story.events
    for secret in (TOKEN, SECRET_KEY):
        assert secret not in story.events


def test_files_that_nothing_names_are_looked_for_in_the_store(story: Story) -> None:
    """And all tables are read behind it."""
    assert story.looked["maintained"] == 0


def test_a_second_machine_is_refused_while_a_run_works(story: Story) -> None:
    assert "another run" in story.refused
    assert "dbt-debezium run, since " in story.refused


def test_the_same_file_from_another_machine_adds_nothing(story: Story) -> None:
    assert "landed 0 messages of 0 new files" in story.looked["again"]


# Of this file alone: the Spark of a process has one lake, and the next file has another.
@pytest.fixture(scope="module")
def embedded(
    story: Story,
    servers: Cluster,
    tables: list[CapturedTable],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Lake]:
    """The same files in an embedded lake."""
    with open_lake(tmp_path_factory.mktemp("embedded"), tables) as opened:
        for part in ("part_0", "part_1"):
            opened.land(servers.folder / part)
        assert opened.build(command="run"), opened.lines
        yield opened


def test_all_tables_are_those_of_an_embedded_lake(
    story: Story, embedded: Lake, tables: list[CapturedTable]
) -> None:
    names = [f"{one.model_name}{kind}" for one in tables for kind in ("", "_history")]
    assert sum(story.rows[name].num_rows for name in names) > len(names)
    for name in names:
        expected = rows_of(embedded.spark.table(f"public.{name}").toArrow())
        assert rows_of(story.rows[name]) == expected, name


def test_duckdb_reads_what_spark_reads_from_the_catalog_and_the_store(story: Story) -> None:
    assert {"a", "a_history", "commit", "published_cut", "held_transaction"} <= story.rows.keys()
    for name, expected in story.rows.items():
        found = story.reader.sql(f'select * from public."{name}"').to_arrow_table()
        assert found.column_names == expected.column_names
        assert rows_of(found) == rows_of(expected), name


def test_status_says_the_same_with_duckdb_as_with_spark(story: Story) -> None:
    found, expected = story.looked["status"]
    assert found == expected
    assert json.loads(found)


def test_an_attached_duckdb_sees_a_new_commit_in_its_next_query(story: Story) -> None:
    (published,) = story.rows["published_cut"].column("commit_number").to_pylist()
    assert story.first_commit < commit_of_duckdb(story.reader) == published


def test_a_transaction_of_duckdb_stays_at_its_commit(story: Story) -> None:
    """Also in tables that it has not read before the second run."""
    assert commit_of_duckdb(story.transaction) == story.first_commit
    query = "select max(commit_number) from public.commit"
    assert story.transaction.execute(query).fetchall() == [(story.first_commit,)]
    query = "select max(_valid_from) from public.a_history"
    ((newest,),) = story.transaction.execute(query).fetchall()
    assert newest <= story.first_commit


def test_duckdb_attaches_the_catalog_by_a_statement_without_secrets(story: Story) -> None:
    attach, *others = story.views
    assert attach.startswith("attach ")
    assert attach.endswith(" read_only)")
    for secret in (TOKEN, ACCESS_KEY, SECRET_KEY):
        assert secret not in " ".join(story.views)
    assert len(others) == 1 + len(story.rows)


def test_pyiceberg_reads_what_spark_reads_from_the_catalog_and_the_store(
    story: Story, servers: Cluster, tables: list[CapturedTable]
) -> None:
    (opening,) = blocks("docs/cluster.md", "python")
    with environment(**servers.environment):
        recipe = pyiceberg_recipe(opening)
    cut = recipe["published"]()
    current = [one.model_name for one in tables]
    for kind, names in (("current", current), ("stored", ["held_transaction", "table_flag"])):
        for name in names:
            assert rows_of(recipe[kind](name, cut)) == rows_of(story.rows[name]), name


def test_plain_tables_have_moved_in_one_request_and_show_what_views_show(
    story: Story, servers: Cluster
) -> None:
    assert [one for one in story.runs if "one table after another" in one] == []
    (opening,) = blocks("docs/cluster.md", "python")
    with environment(**servers.environment):
        catalog = pyiceberg_recipe(opening)["catalog"]
    for name in PLAIN:
        table = catalog.load_table(f"public_tables.{name}")
        assert set(table.metadata.refs) == {"main"}
        rows = table.scan().to_arrow()
        assert rows.num_rows > 0
        found = rows.select(story.rows[name].column_names)
        assert rows_of(found) == rows_of(story.rows[name]), name


def catalog_settings(name: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Spark's settings of a catalog, which is the default one."""
    prefix = f"spark.sql.catalog.{name}"
    return {
        "spark.sql.defaultCatalog": name,
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        **{f"{prefix}.{key}": value for key, value in properties.items()},
    }


def session_with(lake: Lake, settings: Mapping[str, str]) -> SparkSession:
    """A further session of the process, with settings of its own."""
    session = lake.spark.newSession()
    for key, value in settings.items():
        session.conf.set(key, value)
    return session


def test_a_catalog_without_transactions_moves_one_table_after_another_and_says_so(
    embedded: Lake, servers: Cluster
) -> None:
    single = {
        "type": "rest",
        "uri": servers.environment["DBT_DEBEZIUM_CATALOG_URI"],
        "token": TOKEN,
        "warehouse": ONE_BY_ONE,
        "cache-enabled": "false",
        **servers.store,
    }
    session = session_with(embedded, catalog_settings("single", single))

    def moved(number: int, *names: str) -> str:
        chosen = [Chosen(name, f"(select {number} as n)") for name in names]
        call = Call("single", "", "", "'dbt_debezium.read_by' = 'queries'", chosen)
        write(session, call)
        said = move(session, msgspec.structs.replace(call, tables=[]))
        for name in names:
            assert session.table(f"single_tables.{name}").collect() == [(number,)]
        return said

    assert "moves one table after another" in moved(1, "a", "b")
    assert "moves one table after another" in moved(2, "a", "b")
    assert moved(3, "a") == ""


def test_what_cannot_be_reached_or_is_refused_is_one_sentence(
    embedded: Lake, servers: Cluster
) -> None:

    def refusal(uri: str) -> str:
        away = {"type": "rest", "uri": uri, "token": "another-token"}
        settings = catalog_settings("away", away)
        with pytest.raises(DebeziumError) as refused:
            open_catalog(session_with(embedded, settings), settings)
        sentence = str(refused.value)
        assert "\n" not in sentence
        return sentence

    uri = servers.environment["DBT_DEBEZIUM_CATALOG_URI"]
    said = refusal(uri)
    assert said.startswith(f"catalog: {uri} cannot be opened (")
    assert "unknown token" in said
    assert "Connection refused" in refusal("http://127.0.0.1:9")


def test_a_bucket_that_is_not_there_is_one_sentence(embedded: Lake, servers: Cluster) -> None:
    nowhere = {
        "type": "jdbc",
        "uri": f"jdbc:sqlite:{embedded.folder}/nowhere.db",
        "jdbc.schema-version": "V1",
        "warehouse": "s3://nowhere/warehouse",
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "s3.endpoint": servers.environment["DBT_DEBEZIUM_S3_ENDPOINT"],
        "s3.path-style-access": "true",
        "s3.access-key-id": "a",
        "s3.secret-access-key": "b",
        "client.region": "us-east-1",
    }
    session = session_with(embedded, catalog_settings("nowhere", nowhere))
    with pytest.raises(DebeziumError) as refused, Lease(lake_dir(), "land"), writing(session):
        pass
    sentence = str(refused.value)
    assert sentence.startswith(f"store: {nowhere['s3.endpoint']} cannot be used (")
    assert "bucket does not exist" in sentence
    assert "\n" not in sentence


def test_doctor_looks_at_catalog_store_executors_and_archive(
    machine: Machine, story: Story
) -> None:
    lines = story.looked["doctor"].splitlines()
    sentences = [json.loads(line)["sentence"] for line in lines if line.startswith("{")]
    assert [one for one in sentences if one.startswith("executors: ")]
    assert [one for one in sentences if one.startswith("store: ")]
    said = machine.says(COMMAND, "doctor", code=1, PYSPARK_PYTHON="/nowhere/python3")
    assert "executors: /nowhere/python3 cannot run there (" in said
    assert "they need Python " in said
