"""Public tables that are kept as plain ones show what their views show, and move together.

Each commit of the source changes the row 1 of `a` and of `b` to the same number. A reader that asks
the catalog for both tables again and again must never see two numbers.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from arrivals import Arrival
from dbt.adapters.spark.session import Cursor
from engines import rows_of
from lake import Lake, open_lake, tables_of
from pyiceberg.table import StaticTable
from streams import Change, Postgresql, create, delete, move, truncate, update

from dbt_debezium.errors import DebeziumError
from dbt_debezium.lease.breaking import break_lease
from dbt_debezium.maintenance.maintain import maintain
from dbt_debezium.maintenance.tables import BRANCH, lake_table
from dbt_debezium.public_tables import move as moving
from dbt_debezium.public_tables.table import Call, Chosen
from dbt_debezium.public_tables.write import write
from dbt_debezium.scaffold.model_files import history_sql
from dbt_debezium.settings import Settings

pytestmark = pytest.mark.slow

KEPT = ("a", "b", "published_cut", "total")
TOTAL = """
{{ config(materialized='published_table') }}
select sum(n) as n from {{ ref('a_history') }} where _valid_to is null
"""


class Source(Postgresql):
    """A database whose commits change the row 1 of two tables."""

    def __init__(self) -> None:
        super().__init__("shop")
        self.number = 0

    def step(self, *changes: Change) -> None:
        """Commit some changes, and the number of the commit."""
        self.number += 1
        note = create if self.number == 1 else update
        self.commit(*changes, *(note(table, id=1, n=self.number) for table in "ab"))

    def land(self, lake: Lake) -> None:
        """Land what was sent since the last time."""
        sent = self.landings[0][:]
        self.landings[0].clear()
        lake.land_arrivals(f"part_{self.number}", [Arrival(self.prefix, sent, [])])


@pytest.fixture(scope="module")
def source() -> Source:
    source = Source()
    rows = [create(table, id=row, n=0) for table in "ab" for row in (2, 3)]
    source.step(*rows)
    return source


@pytest.fixture(scope="module")
def lake(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """What the first run has left."""
    tables = tables_of(source.landings[0])
    folder = tmp_path_factory.mktemp("public_tables")
    with open_lake(folder, tables, {"public_as_table": ["[ab]", "t*", "published_cut"]}) as opened:
        (opened.project / "models" / "history" / "total.sql").write_text(TOTAL)
        with pytest.raises(DebeziumError, match=r'public_as_table: "\[ab\]" names no public table'):
            opened.build(command="run")
        settings = opened.project / "dbt_project.yml"
        settings.write_text(settings.read_text().replace("'[ab]'", "a\n  - b"))
        source.land(opened)
        with one_number(opened) as seen:
            assert opened.build(command="run"), opened.lines
        assert seen == [None, 1]
        yield opened


def main_of(lake: Lake) -> dict[str, Any]:
    """What `main` of each table is."""
    tables = {name: lake_table(lake.spark, f"public_tables.{name}") for name in KEPT}
    return {
        name: one and one.iceberg.currentSnapshot().snapshotId() for name, one in tables.items()
    }


def assert_equal_views(lake: Lake) -> None:
    for name in KEPT:
        found = lake.spark.table(f"public_tables.{name}").drop("_source", "_row_key").toArrow()
        expected = lake.spark.table(f"public.{name}").toArrow()
        assert found.column_names == expected.column_names
        assert rows_of(found) == rows_of(expected), name


@contextmanager
def one_number(lake: Lake) -> Iterator[list[int | None]]:
    """The numbers that a reader of both tables sees during a block, each in one transaction."""
    pairs: list[tuple[str, ...]] = []
    ended = threading.Event()

    def look() -> None:
        file = f"file:{lake.folder / 'lake' / 'catalog.db'}?mode=ro"
        with closing(sqlite3.connect(file, uri=True)) as connection:
            while not ended.wait(0.002):
                rows = connection.execute(
                    "select metadata_location from iceberg_tables where table_name in ('a', 'b') "
                    "and table_namespace = 'public_tables' order by table_name"
                ).fetchall()
                pair = tuple(location for (location,) in rows)
                if len(pair) == 2 and pair not in pairs:
                    pairs.append(pair)

    thread = threading.Thread(target=look)
    thread.start()
    seen: list[int | None] = []
    try:
        yield seen
    finally:
        ended.set()
        thread.join()
    for pair in pairs:
        first, second = (number_in(location) for location in pair)
        assert first == second
        if first not in seen:
            seen.append(first)


def number_in(location: str) -> int | None:
    """The number of the row 1; None of an empty table."""
    rows = StaticTable.from_metadata(location).scan("id = 1").to_arrow().to_pylist()
    return rows[0]["n"] if rows else None


def test_tables_show_what_views_show_after_every_kind_of_change(lake: Lake, source: Source) -> None:
    assert_equal_views(lake)
    source.step(create("a", id=4, n=4), delete("a", id=2, n=0))
    source.step(*move("a", 5, id=4, n=4))
    source.step(truncate("b"), create("b", id=1, n=0), create("b", id=9, n=9))
    source.land(lake)
    with one_number(lake) as seen:
        assert lake.build(command="run"), lake.lines
    assert seen == [1, source.number]
    assert_equal_views(lake)
    assert lake.rows("select id from public_tables.a order by id") == [(1,), (3,), (5,)]
    # Of the rows that stay as they are, none is written again.
    added = (
        "select summary['added-records'] from public_tables.a.snapshots "
        "order by committed_at desc limit 1"
    )
    assert lake.rows(added) == [("2",)]
    # Iceberg notes when it was shown, from where maintenance counts, beside when it was written.
    table = lake_table(lake.spark, "public_tables.a")
    assert table is not None
    (*_, written), (*_, shown) = table.snapshots(), table.shown()
    assert shown.snapshot_id == written.snapshot_id
    assert shown.committed_at > written.committed_at


def test_a_run_that_does_not_publish_moves_no_table(
    lake: Lake, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = main_of(lake)
    source.step(delete("a", id=3, n=0))
    source.land(lake)
    plain = Cursor.execute

    def execute(cursor: Cursor, sql: str, *parameters: Any) -> None:
        if "on pointer.channel = published.channel" in sql:
            raise KeyError("killed here")
        plain(cursor, sql, *parameters)

    with monkeypatch.context() as patch:
        patch.setattr(Cursor, "execute", execute)
        with pytest.raises(DebeziumError, match="killed here"):
            lake.build(command="run")
    assert main_of(lake) == before
    table = lake_table(lake.spark, "public_tables.a")
    assert table is not None
    assert table.iceberg.refs().containsKey(BRANCH)
    # What the killed run has written is newer than what readers see, and that stays.
    maintain(lake.spark, Settings(longest_query_hours=0, maintain_after_runs=1), "build")
    table.iceberg.refresh()
    assert not table.iceberg.refs().containsKey(BRANCH)
    assert main_of(lake) == before
    assert lake.rows("select n from public_tables.a where id = 1") == [(source.number - 1,)]


def test_a_run_that_has_lost_the_lake_moves_no_table_and_the_next_one_does(
    lake: Lake, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run brings no news: the tables alone are behind."""
    before = main_of(lake)
    plain = Cursor.execute

    def execute(cursor: Cursor, sql: str, *parameters: Any) -> None:
        if "move_public_tables" in sql:
            break_lease(lake.spark)
        plain(cursor, sql, *parameters)

    with monkeypatch.context() as patch:
        patch.setattr(Cursor, "execute", execute)
        with pytest.raises(DebeziumError, match="lost its lease"):
            lake.build(command="run")
    assert lake.rows("select n from public.a where id = 1") == [(source.number,)]
    assert main_of(lake) == before
    with one_number(lake) as seen:
        assert lake.build(command="run"), lake.lines
    assert seen == [source.number - 1, source.number]
    assert_equal_views(lake)


def test_a_run_that_loses_the_lake_while_it_moves_tables_says_so(
    lake: Lake, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other run has moved them by the time this one would."""
    source.step()
    source.land(lake)
    plain = moving._commit

    def late(*arguments: Any) -> bool:
        break_lease(lake.spark)
        lake.spark.sql("alter table public_tables.total set tblproperties ('moved' = 'yes')")
        return plain(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(moving, "_commit", late)
        with pytest.raises(DebeziumError, match="lost its lease"):
            lake.build(command="run")
    assert lake.build(command="run"), lake.lines
    assert_equal_views(lake)


def test_nothing_moves_once_another_run_has_written_to_one_of_the_tables(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does so at the last instant: published_cut comes first, and is taken back."""
    marts = [Chosen("total", "build.total"), Chosen("published_cut", "public.published_cut")]
    before = main_of(lake)
    plain = moving._commit

    def late(*arguments: Any) -> bool:
        lake.spark.sql("delete from public_tables.total where true")
        return plain(*arguments)

    write(lake.spark, step_on(marts))
    monkeypatch.setattr(moving, "_commit", late)
    with pytest.raises(DebeziumError, match="another run has written to total"):
        moving.move(lake.spark, step_on([]))
    assert before.pop("total") != main_of(lake).pop("total")
    assert {name: one for name, one in main_of(lake).items() if name in before} == before


def test_a_table_of_somebody_else_is_not_written_to(lake: Lake) -> None:
    lake.spark.sql("create table public_tables.mine using iceberg as select 1 as id")
    with pytest.raises(DebeziumError, match=r"public_tables[.]mine: is a table that no run"):
        write(lake.spark, step_on([Chosen("mine", "public.published_cut")]))
    assert lake.rows("select * from public_tables.mine") == [(1,)]


def step_on(tables: list[Chosen]) -> Call:
    return Call(
        "public", "build.cut", "build.int_cut", "'dbt_debezium.read_by' = 'queries'", tables
    )


def test_a_new_column_shows_with_the_commit_before(lake: Lake, source: Source) -> None:
    source.step(create("a", id=6, n=6, note="new"))
    tables = tables_of(source.landings[0])
    source.land(lake)
    (one,) = (table for table in tables if table.table == "a")
    model = lake.project / "models" / "history" / "a_history.sql"
    captured = one.captured() | {"schema_changes": "evolve"}
    model.write_text(history_sql(captured, "a", one.facts.types()))
    with one_number(lake) as seen:
        assert lake.build(command="run"), lake.lines
    assert seen == [source.number - 1, source.number]
    assert_equal_views(lake)
    assert lake.rows("select note from public_tables.a where id = 6") == [("new",)]


def test_a_full_refresh_writes_the_tables_anew(lake: Lake, source: Source) -> None:
    source.step(delete("b", id=9, n=9))
    source.land(lake)
    with one_number(lake) as seen:
        assert lake.build("--full-refresh", command="run"), lake.lines
    assert seen == [source.number - 1, source.number]
    assert_equal_views(lake)
