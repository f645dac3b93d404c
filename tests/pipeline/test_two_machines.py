"""Two machines on one catalog: one run at a time, each file once, and nothing is lost between them.

A machine is a lock folder of its own. All of them write to one catalog and one warehouse, through
one Spark session, and each write can be made to wait until the other machine has done something.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from arrivals import Arrival, pieces, write_arrivals
from click.testing import CliRunner
from lake import Lake, capture, open_lake, tables_of
from oracle import read_messages
from pyspark.sql.functions import lit

from dbt_debezium.build import environment
from dbt_debezium.cli import main
from dbt_debezium.errors import DebeziumError
from dbt_debezium.landing import land as landing
from dbt_debezium.lease import Lease, LostLeaseError, writing
from dbt_debezium.lease.breaking import break_lease
from dbt_debezium.lease.holding import TOKEN, take
from dbt_debezium.lease.row import LeaseRow, read_row, replace_row


@pytest.fixture(scope="module")
def parts() -> list[Arrival]:
    return pieces(read_messages(capture("truncate")), 6)


@pytest.fixture(scope="module")
def lake(parts: list[Arrival], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """What one machine has landed."""
    messages = [message for part in parts for message in part.messages]
    tables = tables_of(messages, only={"a", "nopk"})
    with open_lake(tmp_path_factory.mktemp("machines"), tables) as opened:
        profiles = opened.project / "profiles.yml"
        folder = "{{ env_var('DBT_DEBEZIUM_LAKE', 'lake') }}"
        profiles.write_text(profiles.read_text().replace(folder, str(opened.folder / "lake")))
        # Written once: a file of gzip has the time in it, and then another hash.
        for part in parts:
            write_arrivals(opened.folder / part.prefix, [part])
        land(opened, "part_0")
        yield opened


@contextmanager
def another_machine(lake: Lake, name: str = "other") -> Iterator[Lake]:
    """The same lake, seen from a machine with lock files and an inbox of its own."""
    token = lake.spark.conf.get(TOKEN, "")
    with environment(DBT_DEBEZIUM_LAKE=str(lake.folder / name)):
        yield lake
    lake.spark.conf.set(TOKEN, token or "")


def meanwhile(patch: pytest.MonkeyPatch, owner: Any, name: str, action: Callable[[], None]) -> None:
    """Have something happen just before a function is called, once."""
    plain = getattr(owner, name)

    def delayed(*arguments: Any, **named: Any) -> Any:
        patch.setattr(owner, name, plain)
        action()
        return plain(*arguments, **named)

    patch.setattr(owner, name, delayed)


def land(lake: Lake, part: str) -> int:
    """Land a part of the log; how many messages it added."""
    return lake.land(lake.folder / part).message_count


def unnamed_files(lake: Lake) -> set[str]:
    """Data files of the landing that no snapshot names."""
    named = lake.rows("select file_path from landing.message.all_data_files")
    there = {str(one) for one in (lake.folder / "lake").rglob("landing/message/**/*.parquet")}
    assert there
    return there - {path for (path,) in named}


def message_count(lake: Lake) -> int:
    return lake.spark.table("landing.message").count()


def current_row(lake: Lake) -> LeaseRow:
    seen = read_row(lake.spark)
    assert seen is not None
    assert seen.row is not None
    return seen.row


def expire(lake: Lake) -> None:
    """Let an hour pass in which the holder says nothing."""
    seen = read_row(lake.spark)
    assert seen is not None
    assert seen.row is not None
    assert seen.row.heartbeat_at is not None
    assert seen.row.expires_at is not None
    hour = timedelta(hours=1)
    row = replace(
        seen.row, heartbeat_at=seen.row.heartbeat_at - hour, expires_at=seen.row.expires_at - hour
    )
    assert replace_row(lake.spark, seen, row)


@pytest.mark.slow
def test_a_landing_that_sleeps_before_it_writes_loses_nothing(
    lake: Lake, parts: list[Arrival], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has its number; another machine takes over, lands and publishes; then it writes.

    The plan of a landing from Kafka that slept, too, moves no cut back.
    """

    def land_and_publish() -> None:
        expire(lake)
        with another_machine(lake):
            land(lake, "part_2")
            assert lake.build(command="run"), lake.lines

    meanwhile(monkeypatch, landing, "write_messages", land_and_publish)
    with pytest.raises(DebeziumError, match=r"landing \d+ of another run came before landing \d+"):
        land(lake, "part_1")
    assert unnamed_files(lake) == set()
    lake.spark.sql(
        "insert into landing.range (landing_id, topic, partition, is_landed)"
        " select landing_id - 1, 'late', 0, false from landing.lease"
    )
    assert land(lake, "part_1") == len(parts[1].messages)
    assert lake.build(command="run"), lake.lines
    assert lake.counted() == sum(len(part.messages) for part in parts[:3]) == message_count(lake)


@pytest.mark.fault(74)
def test_a_second_machine_is_refused_and_told_who_works(
    lake: Lake, parts: list[Arrival], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []
    before = message_count(lake)

    def land_too() -> None:
        with another_machine(lake), pytest.raises(DebeziumError) as error:
            land(lake, "part_3")
        refused.append(str(error.value))
        assert message_count(lake) == before

    meanwhile(monkeypatch, landing, "write_messages", land_too)
    land(lake, "part_3")
    (sentence,) = refused
    assert f"pid {os.getpid()}, land {lake.folder / 'part_3'}, since " in sentence
    assert "last heard of " in sentence
    assert message_count(lake) == before + len(parts[3].messages)
    row = current_row(lake)
    assert (row.token, row.holder) == (None, None)


@pytest.mark.fault(42)
def test_a_file_that_another_machine_has_landed_adds_nothing(lake: Lake) -> None:
    known = "select count(distinct identity) from landing.file"
    before, files = message_count(lake), lake.rows(known)
    with another_machine(lake, "third"):
        landed = lake.land(lake.folder / "part_3")
        assert (landed.message_count, landed.file_count) == (0, 0)
        # From now on this machine knows it without asking.
        assert lake.land(lake.folder / "part_3").landing_id is None
    assert lake.rows(known) == files
    assert message_count(lake) == before


def test_a_container_takes_the_lease_of_its_dead_predecessor_at_once(lake: Lake) -> None:
    """Each has a folder of its own, as one whose disk is new; only the name is the same."""

    def write(folder: str) -> str:
        with Lease(lake.folder / folder, "dbt-debezium run"), writing(lake.spark) as held:
            return held.token

    with environment(DBT_DEBEZIUM_MACHINE="shop-0"), another_machine(lake, "killed"):
        # Nobody gives it back, as after a kill.
        killed = take(lake.spark, lake.folder / "killed", "dbt-debezium run")
    with (
        environment(DBT_DEBEZIUM_MACHINE="shop-1"),
        another_machine(lake, "another"),
        pytest.raises(DebeziumError, match=r"another run holds its lease \(.*if it is dead"),
    ):
        write("another")
    assert (current_row(lake).machine, current_row(lake).token) == ("named shop-0", killed.token)
    with environment(DBT_DEBEZIUM_MACHINE="shop-0"), another_machine(lake, "restarted"):
        assert write("restarted") != killed.token
        # Had it not been dead, it would have lost the lake.
        with pytest.raises(LostLeaseError, match="lake: this run has lost its lease"):
            killed.confirm()
    assert current_row(lake).token is None


def test_a_holder_that_was_silent_too_long_or_is_broken_has_lost_the_lake(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake.project)
    folder = lake.folder / "lake"
    with Lease(folder, "land one"), writing(lake.spark) as held:
        told = CliRunner().invoke(main, ["lease"], catch_exceptions=False)
        assert f"pid {os.getpid()}, land one, since " in told.stdout
        expire(lake)
        with another_machine(lake), Lease(lake.folder / "other", "two"), writing(lake.spark):
            pass
        with pytest.raises(LostLeaseError, match="which another run has held since"):
            held.confirm()
        with pytest.raises(LostLeaseError, match="it publishes nothing more"):
            held.new_landing_id()
    with Lease(folder, "land three"), writing(lake.spark) as held:
        told = CliRunner().invoke(main, ["lease", "--break"], catch_exceptions=False)
        assert "taken from " in told.stdout
        assert break_lease(lake.spark) is None
        with pytest.raises(LostLeaseError, match="which somebody has broken"):
            held.confirm()
    told = CliRunner().invoke(main, ["lease"], catch_exceptions=False)
    assert told.stdout == "no run holds the lease\n"


def refusal(lake: Lake, *options: str) -> str:
    """What a run says that publishes nothing."""
    try:
        assert not lake.build(*options, command="run")
    except DebeziumError as error:
        return str(error)
    return "\n".join(lake.lines)


@pytest.mark.slow
def test_a_run_that_has_lost_the_lake_publishes_nothing(
    lake: Lake, parts: list[Arrival], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sleeps just before it opens its cut, or before it publishes, and another one works."""
    from dbt.adapters.spark.session import Cursor

    for part in parts[:5]:
        land(lake, part.prefix)
    pointer = "select * from build.cut order by channel"
    plain = Cursor.execute
    for moment in ("as opened", "on pointer.channel = published.channel"):
        written: list[Any] = []

        def execute(
            cursor: Cursor,
            sql: str,
            *parameters: Any,
            moment: str = moment,
            written: list[Any] = written,
        ) -> None:
            if moment in sql and "merge into" in sql and not written:
                break_lease(lake.spark)
                with (
                    another_machine(lake),
                    Lease(lake.folder / "other", "the other run"),
                    writing(lake.spark),
                ):
                    # As another run's publication does: a new snapshot of the table.
                    lake.spark.sql("update build.cut set is_clean = is_clean")
                written.append(lake.rows(pointer))
            plain(cursor, sql, *parameters)

        with monkeypatch.context() as patch:
            patch.setattr(Cursor, "execute", execute)
            assert "this run has lost its lease to another one" in refusal(lake)
        assert [lake.rows(pointer)] == written
    assert lake.build(command="run"), lake.lines
    assert lake.counted() == sum(len(part.messages) for part in parts[:5]) == message_count(lake)


@pytest.mark.slow
def test_a_statement_that_sleeps_replaces_nothing_that_another_run_has_written(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It began before the other run took the lake, and writes after that has published."""
    from dbt.adapters.spark.session import Cursor

    assert lake.build(command="run"), lake.lines
    plain = Cursor.execute
    for name, *options in (("table_flag__stored",), ("commit", "--full-refresh")):
        table = lake.spark.table(f"build.`{name}`")
        written: list[Any] = []

        def execute(
            cursor: Cursor,
            sql: str,
            *parameters: Any,
            name: str = name,
            table: Any = table,
            written: list[Any] = written,
        ) -> None:
            if f"insert into build.{name}" in sql.replace("`", "") and not written:
                break_lease(lake.spark)
                ((cut_id,),) = lake.rows("select cut_id from build.cut where channel = 'candidate'")
                # As another run has it that has opened the same cut.
                row = dict.fromkeys(table.columns) | {"cut_id": cut_id}
                rows = lake.spark.createDataFrame([row], table.schema)
                rows.writeTo(f"build.`{name}`").append()
                written.append(snapshot_of(lake, name))
            plain(cursor, sql, *parameters)

        with monkeypatch.context() as patch:
            patch.setattr(Cursor, "execute", execute)
            said = refusal(lake, *options)
        assert f"{name.removesuffix('__stored')}: another run has written" in said
        assert [snapshot_of(lake, name)] == written
    assert lake.build(command="run"), lake.lines
    assert lake.counted() == message_count(lake)


@pytest.mark.slow
def test_a_run_that_fails_once_it_has_lost_the_lake_says_why(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other run has replaced what a statement reads or makes."""
    from dbt.adapters.spark.session import Cursor

    # The first run of a lake makes its tables by other statements.
    assert lake.build(command="run"), lake.lines
    plain = Cursor.execute
    broken: list[LeaseRow | None] = []

    def execute(cursor: Cursor, sql: str, *parameters: Any) -> None:
        if "into build.commit" in sql.replace("`", "") and not broken:
            broken.append(break_lease(lake.spark))
            lake.spark.sql("drop table build.stg_message")
        plain(cursor, sql, *parameters)

    with monkeypatch.context() as patch:
        patch.setattr(Cursor, "execute", execute)
        said = refusal(lake)
    assert "this run has lost its lease to another one" in said
    assert lake.build(command="run"), lake.lines
    assert lake.counted() == message_count(lake)


@pytest.mark.slow
def test_a_run_publishes_nothing_after_another_has_written_between_two_of_its_statements(
    lake: Lake, parts: list[Arrival], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one had begun its statement before it lost the lake."""
    from dbt.adapters.spark.session import Cursor

    assert lake.build(command="run"), lake.lines
    for part in parts:
        land(lake, part.prefix)
    plain = Cursor.execute
    for moment, changed, makes_it_fail in (
        ("into build.commit", "stg_message", False),
        ("into build.commit", "stg_message", True),
        ("new.is_version then", None, False),
    ):
        written: list[str] = []

        def execute(
            cursor: Cursor,
            sql: str,
            *parameters: Any,
            moment: str = moment,
            changed: str | None = changed,
            makes_it_fail: bool = makes_it_fail,
            written: list[str] = written,
        ) -> None:
            if moment in sql.replace("`", "") and not written:
                if changed:
                    table = f"build.{changed}"
                    rows = lake.spark.table(table).localCheckpoint()
                    if makes_it_fail:
                        rows = rows.select(lit(1).alias("other"))
                    name, value = "dbt_debezium.lease", "another"
                    rows.writeTo(table).tableProperty(name, value).createOrReplace()
                else:
                    table = sql.replace("`", "").split("merge into ")[1].split()[0]
                    option = "snapshot-property.dbt-debezium.lease"
                    row = lake.spark.table(table).limit(1).withColumn("_valid_from", lit(1 << 40))
                    row.writeTo(table).option(option, "another").append()
                written.append(table.removeprefix("build."))
            plain(cursor, sql, *parameters)

        with monkeypatch.context() as patch:
            patch.setattr(Cursor, "execute", execute)
            said = refusal(lake)
        assert f"{written[0]}: another run has written" in said
    assert lake.build(command="run"), lake.lines
    assert lake.counted() == message_count(lake)


def snapshot_of(lake: Lake, name: str) -> object:
    """The newest snapshot of a table of the build schema."""
    query = f"select snapshot_id from build.`{name}`.refs where name = 'main'"
    return lake.rows(query)
