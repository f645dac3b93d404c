"""Tables whose files are elsewhere: runs refuse them, and maintenance deletes nothing there."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lake import Lake, open_lake

from dbt_debezium.errors import DebeziumError
from dbt_debezium.maintenance.maintain import Report, maintain
from dbt_debezium.maintenance.orphans import OLDEST
from dbt_debezium.settings import Settings
from dbt_debezium.spark.java_methods import java

pytestmark = pytest.mark.slow

OURS = "'dbt_debezium.read_by' = 'runs'"
LONG_AGO = time.time() - 2 * OLDEST.total_seconds()
YEAR_2100 = 4_102_444_800_000


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with open_lake(tmp_path_factory.mktemp("places"), []) as opened:
        opened.spark.sql("create namespace build")
        opened.spark.sql("create namespace other")
        yield opened


@pytest.fixture
def warehouse(lake: Lake) -> Path:
    return lake.folder / "lake" / "warehouse"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """An old file of somebody else, in a folder with links to nothing of the lake."""
    return old_file(tmp_path / "victim" / "data" / "important.parquet")


def old_file(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"PAR1")
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def create(lake: Lake, name: str, clause: str = "", properties: str = OURS) -> None:
    lake.spark.sql(
        f"create table {name} using iceberg {clause} tblproperties ({properties}) as select 1 as id"
    )


def maintained(lake: Lake) -> Report:
    return maintain(
        lake.spark,
        Settings(longest_query_hours=6, maintain_after_runs=2),
        "build",
        has_orphans=True,
    )


def test_a_table_of_its_own_folder_loses_what_nothing_names(lake: Lake, warehouse: Path) -> None:
    create(lake, "build.own")
    orphan = old_file(warehouse / "build" / "own" / "data" / "orphan.parquet")
    report = maintained(lake)
    assert [(one.name, one.orphan_count) for one in report.tables] == [("build.own", 1)]
    assert not orphan.exists()
    lake.spark.sql("drop table build.own")


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_a_table_elsewhere_is_left_alone(lake: Lake, victim: Path, scheme: str) -> None:
    create(lake, "build.moved", f"location '{scheme}{victim.parents[1]}'")
    (sentence,) = maintained(lake).skipped
    assert sentence.startswith(
        f"build.moved: left alone, because its files are in {victim.parents[1]}"
    )
    assert "outside of the warehouse" in sentence
    assert victim.exists()
    lake.spark.sql("drop table build.moved")


def test_a_link_out_of_the_warehouse_is_no_way_out(
    lake: Lake, warehouse: Path, victim: Path
) -> None:
    (warehouse / "build").mkdir(parents=True, exist_ok=True)
    (warehouse / "build" / "link").symlink_to(victim.parents[1])
    create(lake, "build.linked", f"location '{warehouse}/build/link'")
    assert "outside of the warehouse" in maintained(lake).skipped[0]
    assert victim.exists()
    lake.spark.sql("drop table build.linked")


@pytest.mark.parametrize(
    "name",
    ["write.data.path", "write.metadata.path", "write.object-storage.path"],
)
def test_properties_that_place_files_elsewhere_count_too(
    lake: Lake, victim: Path, name: str
) -> None:
    create(lake, "build.placed", properties=f"{OURS}, '{name}' = '{victim.parents[1]}'")
    assert "outside of the warehouse" in maintained(lake).skipped[0]
    assert victim.exists()
    lake.spark.sql("drop table build.placed")


@pytest.mark.parametrize("place", ["build", "other/theirs", "other/theirs/data"])
def test_a_table_in_or_around_another_ones_folder_deletes_nothing_of_it(
    lake: Lake, warehouse: Path, place: str
) -> None:
    create(lake, "other.theirs", properties="'a' = 'b'")
    create(lake, "build.own")
    files = [
        old_file(warehouse / folder / "data" / "old.parquet")
        for folder in ("other/theirs", "build/own")
    ]
    create(lake, "build.nested", f"location '{warehouse}/{place}'")
    assert any("build.nested: left alone" in one for one in maintained(lake).skipped)
    assert files[0].exists()
    assert files[1].exists() == (place == "build")
    for table in ("build.nested", "build.own", "other.theirs"):
        lake.spark.sql(f"drop table {table}")
    files[1].unlink(missing_ok=True)


def test_a_removed_snapshot_takes_no_file_along_that_is_elsewhere(
    lake: Lake, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(lake, "build.named")
    iceberg = java(lake.spark).org.apache.iceberg
    util = iceberg.spark.Spark3Util
    table = util.loadIcebergTable(lake.spark._jsparkSession, "lake.build.named")
    builder = iceberg.DataFiles.builder(table.spec())
    file = builder.withPath(str(victim)).withFileSizeInBytes(4).withRecordCount(1).build()
    table.newFastAppend().appendFile(file).commit()
    own = [Path(row[0]) for row in lake.rows("select file_path from build.named.files")]
    table.newDelete().deleteFromRowFilter(iceberg.expressions.Expressions.alwaysTrue()).commit()
    lake.spark.sql("insert into build.named select 2")
    monkeypatch.setattr("dbt_debezium.maintenance.maintain._now", lambda: YEAR_2100)
    report = maintained(lake)
    counts = {one.name: one.snapshot_count for one in report.tables}
    assert counts["build.named"] == 3
    assert report.skipped == (
        "build.named: 1 file that its old snapshots name stays, because it is elsewhere",
    )
    assert [one.exists() for one in own if one != victim] == [False]
    assert victim.exists()
    lake.spark.sql("drop table build.named")


def test_a_run_refuses_a_table_of_ours_that_is_elsewhere(lake: Lake, victim: Path) -> None:
    comment = f"innocent\nLocation: {lake.folder}/lake/warehouse/build/int_cut"
    create(lake, "build.int_cut", f"location '{victim.parents[1]}' comment '{comment}'")
    create(lake, "build.int_change", f"comment 'a comment\nLocation: {victim.parents[1]}'")
    create(lake, "build.theirs", f"location '{victim.parents[2]}/theirs'", "'a' = 'b'")
    with pytest.raises(DebeziumError) as refused:
        lake.build(command="run")
    folder = victim.parents[1]
    assert str(refused.value).startswith(
        f"build.int_cut: its files are in {folder}, outside of the warehouse"
    )
    assert "drop the table in a Spark session" in str(refused.value)
    assert "build.int_change:" not in str(refused.value)
    lake.spark.sql("drop table build.int_cut")
