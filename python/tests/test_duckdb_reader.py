"""DuckDB reads a lake without Spark and without Java, in Spark's SQL."""

import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pytest
from click.testing import CliRunner

from dbt_debezium.cli import main
from dbt_debezium.errors import DebeziumError
from dbt_debezium.readers.choice import NotForDuckdbError, places_of, reader_at_hand, reader_of

pytest.importorskip("sqlalchemy", reason="`make setup-live` installs what makes small lakes")

from pyiceberg.catalog.sql import SqlCatalog
from small_lake import CUT, add_view, made_lake, query_duckdb, reader, write

from dbt_debezium.readers.duckdb_reader import DuckdbReader
from dbt_debezium.status.lake_size import MAINTAINED_AT, LakeSize, lake_size
from dbt_debezium.status.published_rows import PublishedRows, published_rows
from dbt_debezium.status.snapshot_reads import SnapshotReads, snapshot_reads

MESSAGE = pa.schema([("topic", pa.string()), ("value", pa.binary())])


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlCatalog:
    """An embedded lake with a table of its own, made by PyIceberg."""
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path))
    return made_lake(tmp_path)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> DuckdbReader:
    """Of a catalog without tables."""
    folder = tmp_path_factory.mktemp("empty")
    columns = "catalog_name, table_namespace, table_name, metadata_location, iceberg_type"
    with closing(sqlite3.connect(folder / "catalog.db")) as connection:
        connection.execute(f"create table iceberg_tables ({columns})")
    return reader(folder)


def test_all_queries_of_a_reader_see_one_cut(lake: SqlCatalog, tmp_path: Path) -> None:
    before = reader(tmp_path)
    query = "select cut_id from build.cut where channel = 'published'"
    assert before.rows(query) == [{"cut_id": 1}]
    write(lake, "build.cut", [{"channel": "published", "cut_id": 2}], CUT)
    assert before.rows(query) == [{"cut_id": 1}]
    assert reader(tmp_path).rows(query) == [{"cut_id": 2}]


def test_a_view_of_spark_is_read_with_all_that_it_reads(lake: SqlCatalog, tmp_path: Path) -> None:
    add_view(tmp_path, "part", "select cut_id, array(cut_id, 7) as `all` from build.cut")
    add_view(tmp_path, "whole", "select explode(`all`) as one from build.part as i")
    found = reader(tmp_path)
    assert found.views("build") == {"part", "whole"}
    assert found.views("public") == set()
    assert found.has("build.whole")
    assert not found.has("build.absent")
    query = "with cut as (select one from build.whole) select one from cut order by one"
    assert found.rows(query) == [{"one": 1}, {"one": 7}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select size(array(1, 2)) as x", [{"x": 2}]),
        ("select size(null) as x", [{"x": None}]),
        ("select map_contains_key(map('a', 1), 'a') as x", [{"x": True}]),
        ("select map_contains_key(map('a', 1), 'b') as x", [{"x": False}]),
        ("select array_sort(array_union(array(1, 2), array(2, 3))) as x", [{"x": [1, 2, 3]}]),
        (
            """select from_json('{"a": "x\\\\"y", "b": null}', 'map<string, string>') as x""",
            [{"x": {"a": 'x"y', "b": None}}],
        ),
        ("""select from_json('["a"]', 'array<string>') as x""", [{"x": ["a"]}]),
        (
            "select inline(array(named_struct('a', 1, 'b', null), named_struct('a', 3, 'b', 4)))",
            [{"a": 1, "b": None}, {"a": 3, "b": 4}],
        ),
        (
            "select 0 as x, posexplode(map('a', 5, 'b', 6)) as (at, name, value)",
            [
                {"x": 0, "at": 0, "name": "a", "value": 5},
                {"x": 0, "at": 1, "name": "b", "value": 6},
            ],
        ),
        (
            "select max_by(a, b) as x from values ('old', 1), (null, 2) as t(a, b)",
            [{"x": None}],
        ),
        ("select unix_micros(timestamp '1970-01-01 00:00:01') as x", [{"x": 1_000_000}]),
        ("select case when 1 = 2 then raise_error('x') else 'y' end as x", [{"x": "y"}]),
    ],
)
def test_a_function_of_spark_gives_what_spark_gives(
    empty: DuckdbReader, text: str, expected: list[dict[str, Any]]
) -> None:
    assert empty.rows(text) == expected


def test_a_query_that_duckdb_refuses_ends_in_a_sentence_that_names_spark(
    empty: DuckdbReader,
) -> None:
    with pytest.raises(DebeziumError, match=r"lake: DuckDB cannot read it .*--engine spark"):
        empty.rows("select raise_error('no such luck') as x")


def test_a_file_that_is_no_catalog_is_named(tmp_path: Path) -> None:
    (tmp_path / "catalog.db").write_text("something else")
    with pytest.raises(DebeziumError, match=r"catalog: .*catalog.db cannot be opened .*profiles"):
        reader(tmp_path)


def test_a_catalog_that_another_process_writes_is_said_to_be_busy_and_not_damaged(
    lake: SqlCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dbt_debezium.readers.file_places.LOCK_SECONDS", 0.1)
    with closing(sqlite3.connect(tmp_path / "catalog.db", isolation_level=None)) as writer:
        writer.execute("begin exclusive")
        with pytest.raises(DebeziumError, match=r"\(database is locked\); ask again") as raised:
            reader(tmp_path)
    assert "damaged" not in str(raised.value)


WRITER = """
import os, sqlite3, sys
writer = sqlite3.connect(sys.argv[1], isolation_level=None)
writer.execute("pragma cache_size = 1")
writer.execute("begin immediate")
writer.execute("update iceberg_tables set previous_metadata_location = hex(randomblob(100000))")
os._exit(9)
"""
"""It dies when SQLite has written some pages of a commit, and has noted what was in them."""


def test_a_catalog_whose_writer_was_killed_is_said_to_need_the_next_command_that_writes(
    lake: SqlCatalog, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-c", WRITER, tmp_path / "catalog.db"], check=False)
    with pytest.raises(DebeziumError, match=r"catalog.db .*killed; ask Spark with --engine spark"):
        reader(tmp_path)


def test_a_catalog_that_is_being_made_has_no_tables_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path))
    (tmp_path / "catalog.db").touch()
    ended = CliRunner().invoke(main, ["status", "--engine", "duckdb"])
    assert ended.exit_code == 2
    assert ended.stderr.startswith(f"lake: nothing has landed in {tmp_path};")


def test_a_table_that_a_view_reads_and_the_catalog_lacks_is_named(
    lake: SqlCatalog, tmp_path: Path
) -> None:
    add_view(tmp_path, "part", "select * from build.gone")
    missing = "lake: the catalog has no table build.gone; run `dbt-debezium run`"
    with pytest.raises(DebeziumError, match=missing):
        reader(tmp_path).rows("select * from build.part")
    assert missing in query_duckdb("from build.part").stderr


@pytest.mark.parametrize(
    "text",
    [
        None,
        "{",
        "{}",
        '{"current-version-id": 2, "versions": []}',
        '{"current-version-id": 2, "versions": [{"version-id": 2, "representations": []}]}',
    ],
)
@pytest.mark.parametrize("ending", ["metadata.json", "gz.metadata.json"])
def test_a_view_that_cannot_be_read_is_named(
    lake: SqlCatalog, tmp_path: Path, text: str | None, ending: str
) -> None:
    add_view(tmp_path, "part", "select 1")
    file = tmp_path / f"damaged.{ending}"
    if text:
        file.write_text(text)
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as connection, connection:
        place = "update iceberg_tables set metadata_location = ? where table_name = 'part'"
        connection.execute(place, (str(file),))
    ended = query_duckdb("from build.part")
    assert ended.exit_code == 2
    assert f"lake: the view build.part cannot be read from {file} (" in ended.stderr
    assert ended.stderr.endswith("); ask again, or ask Spark with --engine spark\n")


def test_files_that_are_gone_are_not_laid_to_the_query(lake: SqlCatalog, tmp_path: Path) -> None:
    write(lake, "build.one", [{"topic": "t", "value": b""}], MESSAGE)
    (data,) = (tmp_path / "warehouse").rglob("one/data/*.parquet")
    data.unlink()
    ended = query_duckdb("from build.one")
    assert ended.exit_code == 2
    assert ended.stderr.startswith("query: IO Error: ")
    assert ended.stderr.endswith("; ask again, or ask Spark with --engine spark\n")


def test_the_size_of_a_table_is_that_of_the_files_that_it_has_now(
    lake: SqlCatalog, tmp_path: Path
) -> None:
    for cut in range(3):
        write(lake, "build.cut", [{"channel": "published", "cut_id": cut}] * 9**cut, CUT)
    lake.create_table("build.new", CUT)
    [now, *_] = sorted(
        (tmp_path / "warehouse").rglob("cut/data/*.parquet"), key=lambda file: -file.stat().st_mtime
    )
    expected = {"cut": now.stat().st_size, "new": 0}
    assert reader(tmp_path).sizes("build", ["cut", "new"]) == expected


def test_the_size_of_a_lake_is_that_of_its_largest_tables(lake: SqlCatalog, tmp_path: Path) -> None:
    assert lake_size(reader(tmp_path), {}, "build") == LakeSize({})
    lake.create_namespace("landing")
    write(lake, "landing.message", [{"topic": "t", "value": b"{}"}] * 9, MESSAGE)
    write(lake, "build.cut", [{"cut_id": 1}], pa.schema([("cut_id", pa.int64())]))
    with lake.load_table("build.cut").transaction() as changed:
        changed.set_properties({MAINTAINED_AT: "2026-11-28T10:00:00Z"})
    found = lake_size(reader(tmp_path), {"orders": 7, "items": 5}, "build")
    assert found.stored == {"landed messages": found.stored["landed messages"], "histories": 12}
    assert 0 < found.stored["landed messages"] < 10_000
    assert found.maintained_at == "2026-11-28T10:00:00Z"


def test_rows_of_public_tables_are_counted_by_table_and_source(
    lake: SqlCatalog, tmp_path: Path
) -> None:
    value = pa.struct([("column", pa.string()), ("raw_text", pa.string())])
    change = pa.struct(
        [
            ("source", pa.string()),
            ("committed_at", pa.timestamp("us", "UTC")),
            ("unrepresentable", pa.list_(value)),
        ]
    )
    early, late = (datetime(2026, 11, day, tzinfo=UTC) for day in (20, 21))
    lacks = [{"column": "at", "raw_text": "x"}]
    changes = [
        {"source": "shop", "committed_at": early, "unrepresentable": lacks * 2},
        {"source": "shop", "committed_at": late, "unrepresentable": []},
        {"source": "shop", "committed_at": None, "unrepresentable": None},
        {"source": "crm", "committed_at": None, "unrepresentable": None},
    ]
    rows = [{"_change": one} for one in changes]
    write(lake, "build.orders_history", rows, pa.schema([("_change", change)]))
    write(lake, "build.items_history", [], pa.schema([("_change", change)]))
    for name in ("orders", "items"):
        add_view(tmp_path, name, f"select * from build.{name}_history", "public")
    found = published_rows(reader(tmp_path), ["orders", "items", "not_there"], "public")
    assert found == [
        PublishedRows("orders", "crm", 1, 0, None),
        PublishedRows("orders", "shop", 3, 2, "2026-11-21T00:00:00.000000Z"),
    ]


def test_reads_of_a_held_snapshot_are_counted_by_table(lake: SqlCatalog, tmp_path: Path) -> None:
    columns = ("source", "data_collection", "topic", "operation")
    schema = pa.schema([("cut_id", pa.int64()), *((name, pa.string()) for name in columns)])
    messages = [
        (1, "shop", "public.a", "shop.public.a", "r"),
        (1, "shop", "public.a", "shop.public.a", "r"),
        (1, "shop", None, "b", "r"),
        (1, "shop", "public.a", "shop.public.a", "u"),
        (1, "crm", "public.a", "crm.public.a", "r"),
        (2, "shop", "public.a", "shop.public.a", "r"),
    ]
    rows = [dict(zip(("cut_id", *columns), one, strict=True)) for one in messages]
    write(lake, "build.held_message", rows, schema)
    held = [{"source": "shop", "held": [{"transaction_id": "snapshot 10"}]}]
    other = [{"source": "crm", "held": [{"transaction_id": "7"}]}]
    found = snapshot_reads(reader(tmp_path), held + other, "build")
    assert found == {"shop": [SnapshotReads("b", 1), SnapshotReads("public.a", 2)]}
    assert snapshot_reads(reader(tmp_path), other, "build") == {}


def test_status_and_report_look_at_a_lake_without_java(
    lake: SqlCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dbt_debezium.readers.choice.spark_session", pytest.fail)
    lake.create_namespace("landing")
    write(lake, "landing.message", [{"topic": "t", "value": b"{}"}] * 1_200, MESSAGE)
    ended = CliRunner().invoke(main, ["status"], catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    said = "1,200 messages have landed and none is published; run `dbt-debezium run`"
    assert said in ended.stdout
    assert CliRunner().invoke(main, ["status", "--json"]).stdout == "[]\n"
    page = tmp_path / "lake.html"
    ended = CliRunner().invoke(main, ["report", str(page)], catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    assert "Nothing is published: 1,200 messages have landed" in page.read_text()


def test_a_page_that_cannot_be_written_ends_the_command(lake: SqlCatalog, tmp_path: Path) -> None:
    lake.create_namespace("landing")
    write(lake, "landing.message", [{"topic": "t", "value": b"{}"}], MESSAGE)
    page = tmp_path / "no" / "lake.html"
    ended = CliRunner().invoke(main, ["report", str(page)])
    assert ended.exit_code == 2
    assert f"report: {page} cannot be written (No such file or directory); name" in ended.stderr


def test_where_nothing_can_read_a_lake_without_starting_spark_a_page_waits_for_news(
    lake: SqlCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(reader_at_hand(None, None, "build"), DuckdbReader)
    monkeypatch.setattr("dbt_debezium.readers.choice.is_installed", lambda: False)
    with pytest.raises(DebeziumError) as refused:
        reader_at_hand(None, None, "build")
    assert str(refused.value) == (
        "duckdb: it is not installed, and nothing has started Spark; "
        "pip install dbt-debezium, or wait for news"
    )


def test_a_page_that_waits_for_news_asks_nobody_to_install_what_would_not_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of_hive = {"spark.sql.defaultCatalog": "lake", f"{CATALOG}.type": "hive"}
    monkeypatch.setattr("dbt_debezium.readers.choice.settings_of_target", lambda _: of_hive)
    with pytest.raises(DebeziumError) as refused:
        reader_at_hand(None, None, "build")
    assert str(refused.value) == (
        "duckdb: the catalog lake is neither a file of SQLite with its tables on this machine nor "
        "a REST catalog, and nothing has started Spark; wait for news"
    )


CATALOG = "spark.sql.catalog.lake"


@pytest.mark.parametrize(
    "settings",
    [
        {"spark.remote": "sc://host"},
        {f"{CATALOG}.type": "hive"},
        {f"{CATALOG}.type": "jdbc", f"{CATALOG}.uri": "jdbc:postgresql://a/b"},
        {f"{CATALOG}.uri": "jdbc:sqlite:/a/catalog.db", f"{CATALOG}.warehouse": "s3://a/b"},
    ],
)
def test_what_duckdb_cannot_open_is_left_to_spark(settings: Mapping[str, str]) -> None:
    with pytest.raises(NotForDuckdbError, match="duckdb: the catalog lake is neither a file"):
        places_of({"spark.sql.defaultCatalog": "lake", **settings}, "build")


def test_a_rest_catalog_without_an_address_is_refused() -> None:
    settings = {"spark.sql.defaultCatalog": "lake", f"{CATALOG}.type": "rest"}
    with pytest.raises(DebeziumError, match=f"catalog: {CATALOG}.uri is not set; name the address"):
        places_of(settings, "build")


def test_a_rest_catalog_that_does_not_answer_is_named_without_its_secrets() -> None:
    settings = {
        "spark.sql.defaultCatalog": "lake",
        f"{CATALOG}.type": "rest",
        f"{CATALOG}.uri": "http://me:hidden@127.0.0.1:1/",
        f"{CATALOG}.token": "hidden",
    }
    with pytest.raises(DebeziumError, match=r"Connection refused.*; check its address") as raised:
        places_of(settings, "build")
    assert "hidden" not in str(raised.value)


def test_spark_is_asked_where_duckdb_is_not_installed_unless_a_person_wants_duckdb(
    lake: SqlCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(name: str) -> Any:
        return None if name == "duckdb_extension_iceberg" else find_spec(name)

    monkeypatch.setattr("dbt_debezium.readers.duckdb_reader.find_spec", without)
    told: list[str] = []
    started: list[str | None] = []
    monkeypatch.setattr("dbt_debezium.readers.choice.spark_session", started.append)
    reader_of(None, "build", "auto", told.append)
    assert (told, started) == (["starting Spark"], [None])
    with pytest.raises(NotForDuckdbError, match=r"pip install dbt-debezium, or use"):
        reader_of(None, "build", "duckdb", told.append)
