"""A lake that many runs have written stays small, and readers see the same rows all the while."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from arrivals import Arrival
from click.testing import CliRunner
from lake import Lake, capture, open_lake, tables_of
from oracle import read_messages
from pyspark.sql import SparkSession

from dbt_debezium.cli import main
from dbt_debezium.maintenance.maintain import Settings, is_due, maintain
from dbt_debezium.maintenance.orphans import OLDEST, remove_orphans
from dbt_debezium.maintenance.tables import LakeTable, lake_table, lake_tables

PARTS = 4
BY_ITSELF: dict[str, object] = {"longest_query_hours": 0, "maintain_after_runs": 1}
LONG_AGO = time.time() - 2 * OLDEST.total_seconds()


@pytest.fixture(scope="module")
def parts() -> list[Arrival]:
    sent = read_messages(capture("shop_basic"))
    step = len(sent) // PARTS + 1
    return [Arrival(f"part_{at}", sent[at : at + step], []) for at in range(0, len(sent), step)]


@pytest.fixture(scope="module")
def lake(parts: list[Arrival], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """What all runs but one have left."""
    tables = tables_of([message for part in parts for message in part.messages])
    with open_lake(tmp_path_factory.mktemp("maintenance"), tables, BY_ITSELF) as opened:
        for part in parts[:-1]:
            opened.land_arrivals(part.prefix, [part])
            assert opened.build(command="run"), opened.lines
        yield opened


def rows(lake: Lake) -> Counter[object]:
    """All that readers see."""
    return Counter(
        (name, repr(row))
        for table in lake.tables
        for name in (table.model_name, f"{table.model_name}_history")
        for row in lake.rows(f"select * from public.{name}")
    )


def history(lake: Lake) -> LakeTable:
    found = lake_table(lake.spark, "build.orders_history")
    assert found is not None
    return found


def snapshot_counts(lake: Lake) -> dict[str, int]:
    tables = lake_tables(lake.spark, ("landing", "build"))
    return {table.name: sum(1 for _ in table.snapshots()) for table in tables}


def test_a_query_that_has_begun_reads_on_and_small_files_are_joined(lake: Lake) -> None:
    query = lake.spark.sql("select * from public.orders order by id")
    before, shown = rows(lake), query.count()
    many = history(lake).data_file_count
    # Three runs have left small files, however long what they replaced is kept.
    assert is_due(lake.spark, Settings(6, 3, 60), "build")
    assert not is_due(lake.spark, Settings(6, 4, 60), "build")
    assert not is_due(lake.spark, Settings(6, 0, 60), "build")
    report = maintain(lake.spark, Settings(6, 2, 60), "build")
    assert not is_due(lake.spark, Settings(6, 1, 60), "build")
    assert history(lake).data_file_count < many / 2
    assert all(one.snapshot_count == 0 for one in report.tables if "int_" not in one.name)
    assert query.count() == shown
    assert rows(lake) == before


def test_a_look_changes_nothing(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(lake.project)
    before = snapshot_counts(lake)
    told = CliRunner().invoke(main, ["maintain", "--dry-run"], catch_exceptions=False)
    assert "build.cut: " in told.stdout
    assert "snapshots to be removed" in told.stdout
    assert snapshot_counts(lake) == before


def test_a_landing_that_was_interrupted_finds_its_last_commit(lake: Lake) -> None:
    waiting = lake.folder / "lake" / "inbox" / "0.jsonl"
    waiting.write_text("{}")
    before = snapshot_counts(lake)["landing.message"]
    report = maintain(lake.spark, Settings(0, 2, 60), "build", seconds=0)
    waiting.unlink()
    assert [sentence.partition(",")[0] for sentence in report.skipped] == [
        "landing.message: left alone"
    ]
    assert snapshot_counts(lake)["landing.message"] == before
    assert report.left[-1] == "build.cut", "which says that maintenance is still due"


def test_runs_maintain_by_themselves_what_no_query_reads_any_more(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake.project)
    before = rows(lake)
    told = CliRunner().invoke(main, ["run"], catch_exceptions=False)
    assert "snapshots removed" in told.stdout, told.output
    assert rows(lake) == before
    # What runs alone read is kept for ten minutes.
    counts = snapshot_counts(lake)
    assert counts["build.orders_history"] == counts["build.cut"] == 1


def test_what_killed_runs_left_goes_and_what_tables_name_stays(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake.project)
    before = rows(lake)
    folder = Path(str(history(lake).iceberg.location())) / "data"
    old, young = folder / "old.parquet", folder / "young.parquet"
    for path in (old, young):
        path.write_bytes(b"PAR1")
    make_old(path for path in folder.parent.rglob("*") if path != young)
    told = CliRunner().invoke(main, ["maintain"], catch_exceptions=False)
    assert "build.orders_history: 1 file that nothing names removed" in told.stdout
    assert (old.exists(), young.exists()) == (False, True)
    assert rows(lake) == before


def test_views_keep_their_newest_metadata_alone(lake: Lake) -> None:
    folder = lake.folder / "lake" / "warehouse" / "build" / "int_log_island" / "metadata"
    assert lake.build("--select", "int_log_island", command="run"), lake.lines
    count = len([*folder.glob("*.metadata.json")])
    assert count > 1
    report = maintain(lake.spark, Settings(6, 2, 60), "build")
    assert "build.int_log_island" not in {one.name for one in report.tables}, "it is too young"
    make_old(folder.iterdir())
    report = maintain(lake.spark, Settings(6, 2, 60), "build")
    assert [one.orphan_count for one in report.tables if one.name == "build.int_log_island"] == [
        count - 1
    ]
    assert len([*folder.iterdir()]) == 2, "the newest file and its checksum"
    assert lake.rows("select count(*) from build.int_log_island") == [(0,)]


def test_a_lake_with_a_relative_path_keeps_its_files(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(java_folder(lake.spark))
    location = os.path.relpath(tmp_path / "table")
    lake.spark.sql(
        f"create table build.relative using iceberg location '{location}' "
        "tblproperties ('dbt_debezium.read_by' = 'queries') as select 1 as id"
    )
    orphan = tmp_path / "table" / "data" / "orphan.parquet"
    orphan.write_bytes(b"PAR1")
    make_old((tmp_path / "table").rglob("*"))
    table = lake_table(lake.spark, "build.relative")
    assert table is not None
    assert remove_orphans(lake.spark, table, dry_run=False) == 1
    assert not orphan.exists()
    assert lake.rows("select * from build.relative") == [(1,)]
    lake.spark.sql("drop table build.relative")


def test_the_runs_after_it_go_on(lake: Lake, parts: list[Arrival]) -> None:
    lake.land_arrivals(parts[-1].prefix, parts[-1:])
    assert lake.build(command="run"), lake.lines
    assert lake.counted() == sum(len(part.messages) for part in parts)
    assert all(cut["held"] == [] for cut in lake.cuts().values())


def make_old(paths: Iterator[Path]) -> None:
    for path in paths:
        os.utime(path, (LONG_AGO, LONG_AGO))


def java_folder(spark: SparkSession) -> str:
    """Where a relative path begins for Spark."""
    jvm = spark._jvm
    assert jvm is not None
    return str(jvm.java.lang.System.getProperty("user.dir"))
