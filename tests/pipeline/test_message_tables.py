"""A table of messages that someone else fills lands row by row, each once."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from lake import Lake, open_lake

from dbt_debezium.errors import DebeziumError
from dbt_debezium.message_tables.block import TableBlock
from dbt_debezium.message_tables.land import TableLanded, land_table
from dbt_debezium.message_tables.removed import note_removed

pytestmark = pytest.mark.slow

RENAMED = {"offset": "at", "value": "payload", "timestamp": "sent"}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with open_lake(tmp_path_factory.mktemp("message_tables"), []) as lake:
        lake.spark.sql("create schema raw")
        yield lake


def create(lake: Lake, name: str) -> TableBlock:
    """A table with the columns of Spark's Kafka source."""
    lake.spark.sql(
        f"create table raw.{name} (key binary, value binary, topic string, partition int,"
        " offset bigint, timestamp timestamp, timestampType int,"
        " headers array<struct<key: string, value: binary>>) using iceberg"
    )
    return TableBlock(f"raw.{name}")


def send(lake: Lake, block: TableBlock, *offsets: int) -> None:
    rows = ", ".join(
        f"(binary('k{at}'), binary('v{at}'), '{block.table}', 0, {at}, timestamp'2026-01-01', 0,"
        " array(struct('h' as key, binary('x') as value)))"
        for at in offsets
    )
    lake.spark.sql(f"insert into {block.table} values {rows}")


def land(lake: Lake, block: TableBlock) -> TableLanded:
    return land_table(lake.spark, "test", block, None)


def landed(lake: Lake, topic: str) -> list[object]:
    rows = lake.rows(
        f"select `offset` from landing.message where topic = '{topic}' order by `offset`"
    )
    return [at for (at,) in rows]


def test_each_snapshot_lands_once(lake: Lake) -> None:
    block = create(lake, "appended")
    send(lake, block, 0, 1)
    assert land(lake, block) == TableLanded(2)
    assert land(lake, block) == TableLanded(0)
    send(lake, block, 2)
    send(lake, block, 3)
    assert land(lake, block) == TableLanded(2)
    ((key, value, header),) = lake.rows(
        "select cast(key as string), cast(value as string), cast(headers[0].value as string)"
        " from landing.message where topic = 'raw.appended' and `offset` = 3"
    )
    assert (key, value, header) == ("k3", "v3", "x")
    assert landed(lake, "raw.appended") == [0, 1, 2, 3]


def test_a_table_that_is_compacted_brings_nothing_again(lake: Lake) -> None:
    block = create(lake, "compacted")
    send(lake, block, 0)
    send(lake, block, 1)
    assert land(lake, block) == TableLanded(2)
    lake.spark.sql(
        "call system.rewrite_data_files(table => 'raw.compacted',"
        " options => map('rewrite-all', 'true'))"
    )
    assert land(lake, block) == TableLanded(0)
    send(lake, block, 2)
    assert land(lake, block) == TableLanded(1)


def test_where_snapshots_are_gone_or_rewritten_only_what_has_not_landed_lands(lake: Lake) -> None:
    block = create(lake, "expired")
    send(lake, block, 0, 1)
    assert land(lake, block).message_count == 2
    send(lake, block, 2)
    send(lake, block, 3)
    lake.spark.sql(
        "call system.expire_snapshots(table => 'raw.expired', retain_last => 1,"
        " older_than => timestamp'2100-01-01')"
    )
    assert land(lake, block) == TableLanded(2, compared=True)
    lake.spark.sql("insert overwrite raw.expired select * from raw.expired where `offset` > 1")
    send(lake, block, 4)
    assert land(lake, block) == TableLanded(1, compared=True)
    assert landed(lake, "raw.expired") == [0, 1, 2, 3, 4]


def test_what_has_landed_and_was_removed_does_not_land_again(lake: Lake) -> None:
    block = create(lake, "removed")
    send(lake, block, 0, 1, 3)
    assert land(lake, block) == TableLanded(3)
    send(lake, block, 4)
    mine = "topic = 'raw.removed'"
    note_removed(lake.spark, mine)
    lake.spark.sql(f"delete from landing.message where {mine}")
    lake.spark.sql("insert overwrite raw.removed select * from raw.removed")
    send(lake, block, 2)
    assert land(lake, block) == TableLanded(2, compared=True)
    assert landed(lake, "raw.removed") == [2, 4]


@pytest.mark.parametrize("has_written", [False, True])
def test_a_landing_that_was_killed_is_finished_by_the_next_one(
    lake: Lake, has_written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = create(lake, f"killed_{has_written}".lower())
    send(lake, block, 0)
    killed = "_mark_landed" if has_written else "F.lit"
    with monkeypatch.context() as patched:
        patched.setattr(f"dbt_debezium.message_tables.land.{killed}", interrupt)
        with pytest.raises(KeyboardInterrupt):
            land(lake, block)
    assert land(lake, block).message_count == (0 if has_written else 1)
    assert landed(lake, str(block.table)) == [0]


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_columns_of_other_names_and_types_are_read_and_missing_ones_named(lake: Lake) -> None:
    lake.spark.sql(
        "create table raw.renamed using iceberg as select 'raw.renamed' as topic, 0L as partition,"
        " 7L as at, 'k' as key, '{}' as payload, 1795228000000L as sent"
    )
    with pytest.raises(
        DebeziumError,
        match=r"test: raw.renamed has no column offset, but topic, partition, at, .*; name the one "
        r"that holds it in a block of landing\.yml, as columns: \{offset: NAME\}",
    ):
        land(lake, TableBlock("raw.renamed"))
    assert land(lake, TableBlock("raw.renamed", columns=RENAMED)) == TableLanded(1)
    assert lake.rows(
        "select `offset`, cast(value as string), cast(timestamp as string), size(headers)"
        " from landing.message where topic = 'raw.renamed'"
    ) == [(7, "{}", "2026-11-21 02:26:40", 0)]


def test_each_parquet_file_lands_once(lake: Lake, tmp_path: Path) -> None:
    def write(folder: str, at: int) -> None:
        lake.spark.sql(
            f"select 'files' as topic, 0 as partition, {at}L as offset, binary('k') as key,"
            " binary('{}') as value"
        ).coalesce(1).write.mode("overwrite").parquet(str(tmp_path / "raw" / folder))

    write("day=[1]", 0)
    write("day=2", 1)
    block = TableBlock(files=(tmp_path / "raw").as_uri())
    assert land(lake, block) == TableLanded(2, 2)
    assert land(lake, block) == TableLanded(0, 0)
    write("day=3", 2)
    assert land(lake, block) == TableLanded(1, 1)
    assert landed(lake, "files") == [0, 1, 2]
    some = TableBlock(files=f"{(tmp_path / 'raw').as_uri()}/day=*")
    assert land(lake, some).file_count == 3  # another name for them is another source
    with pytest.raises(DebeziumError, match=r"test: files: no Parquet file fits .*none; name a"):
        land(lake, TableBlock(files=(tmp_path / "none").as_uri()))


def test_what_is_no_table_of_messages_is_refused(lake: Lake) -> None:
    with pytest.raises(DebeziumError, match=r"test: raw\.none cannot be read as an Iceberg table"):
        land(lake, TableBlock("raw.none"))
    with pytest.raises(DebeziumError, match="test: files: nowhere://a/b cannot be listed"):
        land(lake, TableBlock(files="nowhere://a/b"))
