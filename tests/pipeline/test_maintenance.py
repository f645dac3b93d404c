"""A lake that many runs have written stays small, and readers see the same rows all the while."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from arrivals import Arrival, renamed
from click.testing import CliRunner
from dbt.adapters.spark.session import Cursor
from lake import Lake, capture, open_lake, tables_of
from oracle import read_messages
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped] # it has no types
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark writes it
from rendered import rendered

from dbt_debezium.cli import main
from dbt_debezium.diff import Histories, RowDiff
from dbt_debezium.errors import CannotWorkError, DebeziumError
from dbt_debezium.lease import LostLeaseError
from dbt_debezium.lease.breaking import break_lease
from dbt_debezium.maintenance import files
from dbt_debezium.maintenance.maintain import (
    Maintained,
    has_removed_today,
    is_due,
    maintain,
)
from dbt_debezium.maintenance.orphans import OLDEST, remove_orphans
from dbt_debezium.maintenance.ranges import FEWEST_RANGES, join_ranges
from dbt_debezium.maintenance.retention import history_starts, old_landings
from dbt_debezium.maintenance.tables import LakeTable, lake_table, lake_tables
from dbt_debezium.readers.moment import Wanted, read_time, shown_commits
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.settings import Settings
from dbt_debezium.status.lake_size import MAINTAINED_AT

pytestmark = pytest.mark.slow

PARTS = 4
MODELLED = {"orders", "order_items"}
BY_ITSELF: dict[str, object] = {"longest_query_hours": 0, "maintain_after_runs": 1}
ONE_DAY_OF_MESSAGES = Settings(longest_query_hours=0, maintain_after_runs=2, keep_message_days=1)
ONE_DAY_OF_VERSIONS = Settings(longest_query_hours=0, maintain_after_runs=2, keep_version_days=1)
REFUSED = (PySparkException, Py4JJavaError)
"""PySpark does not know every error of Java's threads."""
DAY = 86_400_000
YEAR_2100 = 4_102_444_800_000
MAINTAIN = "dbt_debezium.maintenance.maintain"
OLD = "2026-11-21 02:36:49"
"""In the middle of the capture: what ended before it is old."""
LONG_AGO = time.time() - 2 * OLDEST.total_seconds()


@pytest.fixture(scope="module")
def parts() -> list[Arrival]:
    sent = read_messages(capture("shop_basic"))
    step = len(sent) // PARTS + 1
    parts = [Arrival(f"part_{at}", sent[at : at + step], []) for at in range(0, len(sent), step)]
    unreadable = {**sent[0], "topic": "other.public.t", "key": None, "value": "no JSON"}
    parts[0].messages.append(unreadable)
    change = next(one for one in sent if one["topic"] == "shop.public.orders")
    parts[1].messages.append(renamed(change, "shop", "without_end"))
    days_later = unreadable["timestamp"] + 3 * DAY
    newer = {**unreadable, "offset": unreadable["offset"] + 1, "timestamp": days_later}
    parts[-1].messages.append(newer)
    return parts


@pytest.fixture(scope="module")
def lake(parts: list[Arrival], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """What all runs but one have left."""
    tables = tables_of(read_messages(capture("shop_basic")), only=MODELLED)
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


def test_a_query_that_has_begun_reads_on_and_small_files_are_joined(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A run writes one file to a history: three are as few as three runs leave.
    monkeypatch.setattr(files, "FEWEST_FILES", 3)
    query = lake.spark.sql("select * from public.orders order by id")
    before, shown = rows(lake), query.count()
    many = history(lake).data_file_count
    # Three runs have left small files, however long what they replaced is kept.
    assert is_due(lake.spark, Settings(longest_query_hours=6, maintain_after_runs=3), "build")
    assert not is_due(lake.spark, Settings(longest_query_hours=6, maintain_after_runs=4), "build")
    assert not is_due(lake.spark, Settings(longest_query_hours=6, maintain_after_runs=0), "build")
    report = maintain(lake.spark, Settings(longest_query_hours=6, maintain_after_runs=2), "build")
    assert not is_due(lake.spark, Settings(longest_query_hours=6, maintain_after_runs=1), "build")
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


def test_a_landing_that_was_interrupted_finds_its_messages(lake: Lake) -> None:
    """One that brought none, and never will, keeps nothing waiting."""
    plan = "{}, 'a', 'b', 0, 0, 1, 0, 1, 'delete', true, current_timestamp(), false"
    lake.spark.sql(f"insert into landing.range values ({plan.format(1000)})")
    assert not maintain(
        lake.spark, Settings(longest_query_hours=6, maintain_after_runs=2), "build", seconds=0
    ).skipped
    lake.spark.sql(f"insert into landing.range values ({plan.format(2)})")
    before = snapshot_counts(lake)["landing.message"]
    report = maintain(
        lake.spark, Settings(longest_query_hours=0, maintain_after_runs=2), "build", seconds=0
    )
    lake.spark.sql("delete from landing.range")
    assert [sentence.partition(",")[0] for sentence in report.skipped] == [
        "landing.message: left alone"
    ]
    assert snapshot_counts(lake)["landing.message"] == before
    assert report.left[-1] == "build.cut", "which says that maintenance is still due"


def test_ranges_that_follow_each_other_become_one(lake: Lake) -> None:
    """Each landing from Kafka adds some, and reads them all. Those of landings that are not
    published yet stay: an offset without a message is a gap until the landing is read. Of looks
    at a silent partition, the last one stays."""
    lake.spark.sql(
        "insert into landing.range"
        " select id + 1, 'a', 'b', cast(id % 2 as int), id div 2 * 10, id div 2 * 10 + 10, 0,"
        " id div 2 * 10 + 10, 'delete', true, timestamp'2026-11-27', true from range(1200)"
    )
    fetched = "'b', 0, {}, {}, 0, 9, 'delete', true, timestamp'2026-11-27'"
    behind_a_hole, compacted, unfinished = (
        f"(1, 'holes', {fetched.format(0, 5)}, true), (2, 'holes', {fetched.format(7, 9)}, true)",
        f"(3, 'holes', {fetched.format(9, 12).replace('delete', 'compact')}, true)",
        f"(4, 'holes', {fetched.format(12, 14)}, false)",
    )
    silent = ", ".join(
        f"({landing_id}, 'b', {fetched.format(start, 5)}, true)"
        for landing_id, start in ((5, 0), (6, 5), (7, 5))
    )
    lake.spark.sql(
        f"insert into landing.range values {behind_a_hole}, {compacted}, {unfinished}, {silent}"
    )
    table = lake_table(lake.spark, "landing.range")
    assert table is not None
    shown = (
        "select landing_id, topic, partition, start_offset, end_offset, log_end_offset"
        " from landing.range order by topic, partition, start_offset"
    )
    before = lake.rows(shown)
    join_ranges(lake.spark, table, FEWEST_RANGES - 1)
    assert lake.rows(shown) == before, "so few are not worth it"
    join_ranges(lake.spark, table, 1198)
    assert lake.rows(shown) == [
        (1197, "a", 0, 0, 5990, 5990),
        (1199, "a", 0, 5990, 6000, 6000),
        (1198, "a", 1, 0, 5990, 5990),
        (1200, "a", 1, 5990, 6000, 6000),
        (5, "b", 0, 0, 5, 9),
        (7, "b", 0, 5, 5, 9),
        *before[-4:],
    ]
    lake.spark.sql("delete from landing.range")


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
    pointer = lake_table(lake.spark, "build.cut")
    assert pointer is not None
    at = datetime.fromisoformat(pointer.iceberg.properties()[MAINTAINED_AT])
    assert timedelta() <= datetime.now(UTC) - at < timedelta(minutes=9)


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
    folder = lake.folder / "lake" / "warehouse" / "build" / "int_operator_decision" / "metadata"
    assert lake.build("--select", "int_operator_decision", command="run"), lake.lines
    count = len([*folder.glob("*.metadata.json")])
    assert count > 1
    report = maintain(lake.spark, Settings(longest_query_hours=6, maintain_after_runs=2), "build")
    assert "build.int_operator_decision" not in {one.name for one in report.tables}, (
        "it is too young"
    )
    make_old(folder.iterdir())
    report = maintain(lake.spark, Settings(longest_query_hours=6, maintain_after_runs=2), "build")
    assert [
        one.orphan_count for one in report.tables if one.name == "build.int_operator_decision"
    ] == [count - 1]
    assert len([*folder.iterdir()]) == 1, "the newest file"
    assert lake.rows("select count(*) from build.int_operator_decision") == [(0,)]


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


def test_the_runs_after_it_go_on(
    lake: Lake, parts: list[Arrival], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But not one whose messages another machine, which slept, has removed since it began."""
    lake.land_arrivals(parts[-1].prefix, parts[-1:])
    published = lake.rows("select * from build.cut where channel = 'published'")
    say = "alter table landing.message {} tblproperties ('dbt_debezium.removed_up_to'{})"
    plain = Cursor.execute

    def execute(cursor: Cursor, sql: str, *parameters: object) -> None:
        plain(cursor, sql, *parameters)
        if "as opened" in sql:
            lake.spark.sql(say.format("set", " = '4'"))

    monkeypatch.setattr(Cursor, "execute", execute)
    with pytest.raises(DebeziumError, match="landing 4 were removed while this run read what came"):
        lake.build(command="run")
    monkeypatch.undo()
    assert lake.rows("select * from build.cut where channel = 'published'") == published
    lake.spark.sql(say.format("unset", ""))
    assert lake.build(command="run"), lake.lines
    assert lake.counted() == sum(len(part.messages) for part in parts)
    assert lake.cuts()["shop"]["held"] == []


def landings(lake: Lake) -> list[object]:
    found = lake.rows("select distinct landing_id from landing.message order by landing_id")
    return [landing_id for (landing_id,) in found]


def test_a_clock_that_is_years_ahead_removes_nothing_young(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{MAINTAIN}._now", lambda: YEAR_2100)
    week = Settings(
        longest_query_hours=0, maintain_after_runs=2, keep_message_days=7, keep_version_days=1
    )
    look = maintain(lake.spark, week, "build", dry_run=True)
    assert not any(one.row_count for one in look.tables)
    assert not has_removed_today(lake.spark, "build")


def test_old_messages_go_by_landing_but_not_the_newest_and_not_what_is_held_or_unreadable(
    lake: Lake, parts: list[Arrival]
) -> None:
    before = rows(lake)
    assert landings(lake) == [1, 2, 3, 4]
    count = len(parts[2].messages)
    look = maintain(lake.spark, ONE_DAY_OF_MESSAGES, "build", dry_run=True)
    assert [one.row_count for one in look.tables if one.name == "landing.message"] == [count]
    assert landings(lake) == [1, 2, 3, 4]
    (published,) = lake.spark.table("build.cut").where("channel = 'published'").collect()
    since = "timestamp '2100-01-01 00:00:00Z'"
    assert old_landings(lake.spark, "build", published, since) == [(3, 3)]
    # After a rollback of the pointer alone, nothing tells what its cut held.
    older = Row(cut_id=0, landing_id=published.landing_id)
    assert old_landings(lake.spark, "build", older, since) == []

    def lose(name: str, *_: int) -> None:
        if name == "landing.message":
            break_lease(lake.spark)

    with pytest.raises(LostLeaseError, match="which somebody has broken"):
        maintain(lake.spark, ONE_DAY_OF_MESSAGES, "build", on_table=lose)
    assert landings(lake) == [1, 2, 3, 4]
    done = maintain(lake.spark, ONE_DAY_OF_MESSAGES, "build")
    assert [one.row_count for one in done.tables if one.row_count] == [count]
    assert landings(lake) == [1, 2, 4], "1 has what cannot be read, 2 what is held"
    assert rows(lake) == before
    again = maintain(lake.spark, ONE_DAY_OF_MESSAGES, "build")
    assert not any(one.row_count for one in again.tables)


def test_removed_messages_do_not_land_again(lake: Lake, parts: list[Arrival]) -> None:
    assert lake.land(lake.folder / parts[2].prefix).message_count == 0


def test_a_run_that_would_begin_before_what_was_removed_is_refused_before_anything_is_built(
    lake: Lake,
) -> None:
    before = snapshot_counts(lake)
    lacks = "old messages up to landing 3 are removed, and this run would begin after landing "
    with pytest.raises(CannotWorkError, match=f"{lacks}0 .*; leave out --full-refresh"):
        lake.build("--full-refresh")
    after = snapshot_counts(lake)
    # The run takes the lease before it looks, and gives it back.
    del before["landing.lease"], after["landing.lease"]
    assert after == before

    profiles = lake.project / "profiles.yml"
    text = profiles.read_text()
    profiles.write_text(text.replace("schema: build", "schema: fresh"))
    with pytest.raises(CannotWorkError, match=f"{lacks}0 .*; build in the schema that has them"):
        lake.build(command="run")
    profiles.write_text(text)
    lake.spark.sql("drop schema if exists fresh")

    restored = "update build.cut set landing_id = {} where channel = 'published'"
    ((landing_id,),) = lake.rows("select landing_id from build.cut where channel = 'published'")
    lake.spark.sql(restored.format(2))
    with pytest.raises(CannotWorkError, match=f"{lacks}2 and lack their rows"):
        lake.build(command="run")
    lake.spark.sql(restored.format(landing_id))


def test_old_messages_stay_while_another_schema_is_built_from_them(lake: Lake) -> None:
    lake.spark.sql("create schema other")
    lake.spark.sql(
        "create table other.cut using iceberg"
        " tblproperties ('dbt_debezium.read_by' = 'queries') as select 1 as id"
    )
    report = maintain(lake.spark, ONE_DAY_OF_MESSAGES, "build", dry_run=True)
    lake.spark.sql("drop table other.cut")
    lake.spark.sql("drop schema other")
    advice = "set keep_message_days: forever while it is"
    told = f"no old messages are removed, because other is built from them too; {advice}"
    assert f"landing.message: {told}" in report.skipped


def as_of(lake: Lake, number: int) -> Counter[object]:
    """The rows of all tables at a commit."""
    tables = (
        f"select '{table.model_name}', to_json(struct(versions.*)) from"
        " (select * except (_valid_to, _valid_to_at) from "
        + rendered("as_of_commit", f"public.{table.model_name}_history", number)
        + ") as versions"
        for table in lake.tables
    )
    return Counter(lake.rows(" union all ".join(tables)))


def changed_by(lake: Lake, number: int) -> list[RowDiff]:
    found = Histories(SparkReader(lake.spark), "build", "public")
    return found.changes(found.commits("shop", number, number))


def time_of_the_first_commit(lake: Lake) -> str:
    ((at,),) = lake.rows(
        "select cast(min_by(committed_at, commit_number) as string) from public.commit"
        " where source = 'shop'"
    )
    return str(at)


def test_old_versions_go_and_what_needs_them_is_refused(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{MAINTAIN}.kept_since", lambda *_: f"timestamp '{OLD}Z'")
    ((start, start_at),) = lake.rows(
        "select max(commit_number), max_by(committed_at, commit_number) from public.commit"
        " where source = 'shop' and commit_number < (select min(commit_number) from public.commit"
        f" where source = 'shop' and committed_at >= timestamp '{OLD}Z')"
    )
    assert isinstance(start, int)
    last = lake.cuts()["shop"]["commit_number"]
    states = {number: as_of(lake, number) for number in (start, start + 1, last)}
    changed = changed_by(lake, start + 1)
    later = f"select * from public.orders_changes where source = 'shop' and commit_number > {start}"
    changes = Counter(lake.rows(later))
    assert changes
    ended = f"select count(*) from build.orders_history where _valid_to <= {start}"
    assert lake.rows(ended) != [(0,)]

    # A commit from before 1970 has no time.
    moved = (
        "update build.commit set committed_at = committed_at {} interval 36500 days"
        f" where source = 'shop' and commit_number = {start}"
    )
    lake.spark.sql(moved.format("-"))
    pointer = lake_table(lake.spark, "build.cut")
    assert pointer is not None
    now = time.time_ns() // 1_000_000
    (published,) = lake.spark.table("build.cut").where("channel = 'published'").collect()
    since = f"timestamp '{OLD}Z'"
    starts = history_starts(lake.spark, "build", pointer, published, since, now)
    assert starts["shop"].commit_number < start
    # What was published after the cut that readers are back at does not count.
    assert not history_starts(lake.spark, "build", pointer, Row(cut_id=0), since, now)
    lake.spark.sql(moved.format("+"))

    # A query that began before the newest cut may still read the one before it.
    hours = msgspec.structs.replace(ONE_DAY_OF_VERSIONS, longest_query_hours=6)
    assert not any(one.row_count for one in maintain(lake.spark, hours, "build").tables)

    # Killed between two histories.
    with monkeypatch.context() as patched:
        patched.setattr(f"{MAINTAIN}._maintain_table", killed_behind_orders)
        with pytest.raises(KeyboardInterrupt):
            maintain(lake.spark, ONE_DAY_OF_VERSIONS, "build")
    told = "select history_from, history_from_at from public.published_cut where source = 'shop'"
    for _ in ("killed", "done"):
        assert lake.rows(told) == [(start, start_at)]
        assert {number: as_of(lake, number) for number in states} == states
        with pytest.raises(REFUSED, match=f"ask for commit {start} or a later one"):
            as_of(lake, start - 1)
        done = maintain(lake.spark, ONE_DAY_OF_VERSIONS, "build")
    assert not any(one.row_count for one in done.tables)
    assert has_removed_today(lake.spark, "build")
    with monkeypatch.context() as patched:
        patched.setattr(f"{MAINTAIN}._now", lambda: YEAR_2100)
        assert not has_removed_today(lake.spark, "build")
    assert lake.rows(ended) == [(0,)]

    # A pointer that was restored knows nothing of it.
    none = F.lit(None).cast("bigint")
    cuts = F.transform("source_cuts", lambda cut: cut.withField("history_from", none))
    forgotten = lake.spark.table("build.cut").withColumn("source_cuts", cuts)
    forgotten.writeTo("build.cut").overwrite(F.lit(True))
    assert lake.rows(told) == [(None, start_at)]
    maintain(lake.spark, ONE_DAY_OF_VERSIONS, "build")
    assert lake.rows(told) == [(start, start_at)]

    first_at = time_of_the_first_commit(lake)
    early = rendered("as_of_time", "public.orders_history", first_at, "public.commit")
    with pytest.raises(REFUSED, match="as_of_time: shop cannot be shown at that"):
        lake.rows(f"select * from {early}")
    # No source has committed anything then, so no version of that time was removed.
    before = rendered("as_of_time", "public.orders_history", "2020-01-01", "public.commit")
    assert lake.rows(f"select * from {before}") == []
    late = rendered("as_of_time", "public.orders_history", OLD, "public.commit")
    assert lake.rows(f"select count(*) from {late}") != [(0,)]
    with pytest.raises(REFUSED, match="or give source_name if the rows are of another source"):
        lake.rows(f"select * from {early}")
    others = (
        rendered("as_of_commit", "public.orders_history", start - 1, "other"),
        rendered("as_of_time", "public.orders_history", first_at, "public.commit", "other"),
    )
    for other in others:
        assert lake.rows(f"select * from {other}") == []
    assert changed_by(lake, start + 1) == changed
    with pytest.raises(DebeziumError, match=f"ask for a commit after {start}"):
        changed_by(lake, start)
    # An update whose row before it is removed would look like an insert.
    shown = lake.rows("select * from public.orders_changes where source = 'shop'")
    assert Counter(shown) == changes
    for wanted in (Wanted({"shop": start - 1}), Wanted({}, read_time(first_at))):
        with pytest.raises(DebeziumError, match=f"ask for commit {start} of shop made at "):
            shown_commits(SparkReader(lake.spark), "build", wanted)
    assert shown_commits(SparkReader(lake.spark), "build", Wanted({"shop": start}))


def test_a_history_that_lost_all_of_its_versions_refuses_too(lake: Lake) -> None:
    found = history(lake).iceberg.currentSnapshot()
    lake.spark.sql("delete from build.orders_history")
    early = (
        rendered("as_of_commit", "public.orders_history", 1),
        # The number may be an expression of SQL, whatever quotes it has.
        rendered("as_of_commit", "public.orders_history", "cast('1' as bigint)"),
        rendered(
            "as_of_time", "public.orders_history", time_of_the_first_commit(lake), "public.commit"
        ),
    )
    try:
        # Adaptive planning drops a join once one of its sides is empty.
        for adaptive in ("true", "false"):
            lake.spark.sql(f"set spark.sql.adaptive.enabled = {adaptive}")
            for query in early:
                with pytest.raises(REFUSED, match="because older versions are removed"):
                    lake.rows(f"select * from {query}")
    finally:
        lake.spark.sql("reset spark.sql.adaptive.enabled")
        rollback = f"'build.orders_history', {found.snapshotId()}"
        lake.spark.sql(f"call system.rollback_to_snapshot({rollback})")


def test_a_run_after_that_keeps_what_readers_see_and_drops_what_is_delivered_again(
    lake: Lake, parts: list[Arrival], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, told = rows(lake), lake.cuts()["shop"]
    current = lake.rows("select * from public.orders order by id")
    again = Arrival("again", parts[2].messages[-200:], [])
    assert lake.land_arrivals("again", [again]).message_count == 200
    # A history that is gone is built again from all changes, without the messages.
    lake.spark.sql("drop table build.orders_history")
    assert lake.build(command="run"), lake.lines
    assert lake.rows("select * from public.orders order by id") == current
    after = rows(lake)
    assert not before - after
    assert after - before
    monkeypatch.setattr(f"{MAINTAIN}.kept_since", lambda *_: f"timestamp '{OLD}Z'")
    maintain(lake.spark, ONE_DAY_OF_VERSIONS, "build")
    assert rows(lake) == before
    assert lake.cuts()["shop"]["commit_number"] == told["commit_number"]
    assert lake.rows("select count(history_from) from public.published_cut") == [(1,)]


def killed_behind_orders(_: SparkSession, table: LakeTable, *__: object) -> Maintained:
    if table.name == "build.orders_history":
        raise KeyboardInterrupt
    return Maintained(table.name, 0, 0, 0)


def make_old(paths: Iterator[Path]) -> None:
    for path in paths:
        os.utime(path, (LONG_AGO, LONG_AGO))


def java_folder(spark: SparkSession) -> str:
    """Where a relative path begins for Spark."""
    jvm = spark._jvm
    assert jvm is not None
    return str(jvm.java.lang.System.getProperty("user.dir"))
