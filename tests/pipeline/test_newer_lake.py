"""A lake that a newer version has written: an older one reads it, and writes nothing to it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from arrivals import Arrival, pieces, write_arrivals
from click.testing import CliRunner
from lake import Lake, capture, open_lake, tables_of
from oracle import read_messages

from dbt_debezium.cli import main
from dbt_debezium.errors import DebeziumError
from dbt_debezium.lake_format import FORMAT, PROPERTY
from dbt_debezium.lease import Lease, LostLeaseError, writing
from dbt_debezium.lease.row import TABLE

NEWER = FORMAT + 1
SENTENCE = (
    f"lake: its tables have format {NEWER}, and this version of dbt-debezium knows formats up to "
    f"{FORMAT}; upgrade dbt-debezium on this machine"
)


@pytest.fixture(scope="module")
def parts() -> list[Arrival]:
    return pieces(read_messages(capture("truncate")), 2)


@pytest.fixture(scope="module")
def lake(parts: list[Arrival], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """One part has landed."""
    messages = [message for part in parts for message in part.messages]
    tables = tables_of(messages, only={"a", "nopk"})
    with (
        open_lake(tmp_path_factory.mktemp("newer"), tables) as opened,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.chdir(opened.project)
        for part in parts:
            write_arrivals(opened.folder / part.prefix, [part])
        says(opened, "land", "part_0")
        yield opened


@contextmanager
def marked(lake: Lake, mark: object) -> Iterator[None]:
    """A lake of another format, for a `with` block."""
    before = mark_of(lake)
    mark_as(lake, mark)
    try:
        yield
    finally:
        mark_as(lake, before)


def mark_as(lake: Lake, mark: object) -> None:
    lake.spark.sql(f"alter table {TABLE} set tblproperties ('{PROPERTY}' = '{mark}')")


def mark_of(lake: Lake) -> str | None:
    properties = dict(lake.rows(f"show tblproperties {TABLE}"))
    mark = properties.get(PROPERTY)
    return None if mark is None else str(mark)


def says(lake: Lake, command: str, *arguments: str, code: int = 0) -> str:
    """What a command says; parts of the log are named without their folder."""
    paths = [str(lake.folder / one) if one.startswith("part_") else one for one in arguments]
    ended = CliRunner().invoke(main, [command, *paths], catch_exceptions=False)
    assert ended.exit_code == code, ended.output
    return ended.output


def state_of(lake: Lake) -> list[object]:
    """All tables and views of the lake, each as its newest metadata file names it."""
    with closing(sqlite3.connect(lake.folder / "lake" / "catalog.db")) as catalog:
        query = "select table_namespace, table_name, metadata_location from iceberg_tables"
        return sorted(catalog.execute(query).fetchall())


def test_each_command_that_writes_refuses_it_in_one_sentence_and_changes_nothing(
    lake: Lake, parts: list[Arrival]
) -> None:
    with marked(lake, NEWER):
        before = state_of(lake)
        for command in (
            ("land", "part_1"),
            ("run", "part_1"),
            ("run", "--full-refresh"),
            ("maintain",),
            ("lease", "--break"),
        ):
            said = says(lake, *command, code=2)
            assert said.strip().splitlines()[-1].endswith(SENTENCE), command
        assert state_of(lake) == before
    assert f"landed {len(parts[1].messages):,} messages" in says(lake, "land", "part_1")


def test_commands_that_read_answer_and_doctor_names_both_formats(lake: Lake) -> None:
    with marked(lake, NEWER):
        assert "messages have landed and none is published" in says(lake, "status")
        assert says(lake, "query", "--json", "select max(landing_id) as n from landing.message")
        assert f"wrong {SENTENCE}\n" in says(lake, "doctor", code=1)
    assert f"ok    lake: its tables have format {FORMAT}; this version" in says(lake, "doctor")


def test_a_mark_that_is_no_number_is_not_taken_for_an_older_one(lake: Lake) -> None:
    with marked(lake, "1.5"):
        assert "have format 1.5, and" in says(lake, "lease", "--break", code=2)


def test_a_lake_without_a_mark_is_an_old_one_and_gets_it_with_the_first_write(lake: Lake) -> None:
    lake.spark.sql(f"alter table {TABLE} unset tblproperties ('{PROPERTY}')")
    assert mark_of(lake) is None
    says(lake, "maintain")
    assert mark_of(lake) == str(FORMAT)


def test_a_command_that_cannot_mark_the_lake_leaves_no_lease_behind(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise DebeziumError("catalog: away")

    lake.spark.sql(f"alter table {TABLE} unset tblproperties ('{PROPERTY}')")
    with monkeypatch.context() as patch:
        patch.setattr("dbt_debezium.lease.holding.record_format", fail)
        with (
            pytest.raises(DebeziumError, match="catalog: away"),
            Lease(lake.folder / "lake", "land"),
            writing(lake.spark),
        ):
            pass
    assert says(lake, "lease") == "no run holds the lease\n"
    says(lake, "maintain")


def test_a_run_stops_when_a_newer_version_has_taken_the_lake_meanwhile(lake: Lake) -> None:
    with Lease(lake.folder / "lake", "land"), writing(lake.spark) as held:
        with marked(lake, NEWER), pytest.raises(LostLeaseError, match=f"have format {NEWER}, and"):
            held.confirm()
        with pytest.raises(LostLeaseError, match=f"have format {NEWER}, and"):
            held.check()
