"""Half of a lake is called that by every command, and no command makes another half."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyiceberg.catalog.sql import SqlCatalog
from small_lake import made_lake

from dbt_debezium.cli import main
from dbt_debezium.errors import CannotWorkError, DebeziumError
from dbt_debezium.home import project_dir
from dbt_debezium.rounds.loop import run_rounds
from dbt_debezium.rounds.round import Round
from dbt_debezium.rounds.sources import NoSource
from dbt_debezium.spark.lost_catalog import check_catalog_file, remedy_of
from dbt_debezium.spark.session import session_of

CATALOG = "spark.sql.catalog.lake"


def settings_of(folder: Path) -> dict[str, Any]:
    return {
        "spark.sql.defaultCatalog": "lake",
        f"{CATALOG}.uri": f"jdbc:sqlite:{folder}/catalog.db",
        f"{CATALOG}.warehouse": str(folder / "warehouse"),
    }


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlCatalog:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path))
    return made_lake(tmp_path)


def removed(file: Path) -> None:
    file.unlink()


def emptied(file: Path) -> None:
    os.truncate(file, 0)


def without_rows(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("delete from iceberg_tables")


LOSSES = {"is gone": removed, "is empty": emptied, "names no table": without_rows}
COMMANDS = (
    ["status"],
    ["status", "--engine", "duckdb"],
    ["status", "--engine", "spark"],
    ["report", "lake.html"],
    ["query", "select 1"],
    ["query", "select 1", "--engine", "duckdb"],
    ["diff", "shop", "1"],
    ["scaffold"],
    ["views", "--dialect", "trino"],
    ["quarantine"],
    ["quarantine", "--retry"],
    ["maintain"],
    ["land", str(project_dir() / "tests" / "data" / "reality" / "rpk_pretty")],
    ["run"],
    ["run", "--every", "30s"],
)


@pytest.mark.usefixtures("lake")
@pytest.mark.parametrize(("what", "lose"), LOSSES.items(), ids=LOSSES)
def test_a_lost_catalog_beside_a_full_warehouse_is_called_that(
    what: str, lose: Callable[[Path], None], tmp_path: Path
) -> None:
    file = tmp_path / "catalog.db"
    check_catalog_file(settings_of(tmp_path))
    lose(file)
    sentence = f"catalog: {file} {what}, and {tmp_path / 'warehouse'} holds files of tables; put "
    with pytest.raises(CannotWorkError, match=sentence):
        check_catalog_file(settings_of(tmp_path))
    with pytest.raises(CannotWorkError, match=sentence):
        session_of(settings_of(tmp_path))


@pytest.mark.usefixtures("lake")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_refuses_it_and_makes_no_other_lake(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `run --every` chooses Java's options for its whole process, which is the test's here.
    monkeypatch.setenv("DBT_DEBEZIUM_JAVA_OPTIONS", "-Xshare:auto")
    (tmp_path / "catalog.db").unlink()
    before = sorted(one for one in tmp_path.rglob("*.*") if "inbox" not in one.parts)
    ended = CliRunner().invoke(main, command)
    assert ended.exit_code == 2, ended.output
    assert "is gone, and" in ended.stderr
    assert "holds files of tables; put the file back from a backup" in ended.stderr
    left = {one.name for one in tmp_path.rglob("*.*") if "inbox" not in one.parts}
    assert left - {one.name for one in before} <= {"run.lock", "health.json", "rounds.json"}


@pytest.mark.usefixtures("lake")
def test_doctor_calls_it_a_problem(tmp_path: Path) -> None:
    (tmp_path / "catalog.db").unlink()
    ended = CliRunner().invoke(main, ["doctor"])
    assert ended.exit_code == 1
    assert f"wrong catalog: {tmp_path / 'catalog.db'} is gone, and" in ended.output


@pytest.mark.usefixtures("lake")
def test_a_catalog_without_its_warehouse_is_called_that(tmp_path: Path) -> None:
    (tmp_path / "warehouse").rename(tmp_path / "elsewhere")
    with pytest.raises(CannotWorkError, match=r"warehouse is gone, and with it the files of all"):
        check_catalog_file(settings_of(tmp_path))


def test_tables_of_an_earlier_warehouse_may_lie_elsewhere(lake: SqlCatalog, tmp_path: Path) -> None:
    settings = settings_of(tmp_path) | {f"{CATALOG}.warehouse": str(tmp_path / "another")}
    check_catalog_file(settings)


def test_a_new_lake_and_one_whose_first_table_was_begun_are_no_loss(tmp_path: Path) -> None:
    check_catalog_file(settings_of(tmp_path))
    # Iceberg writes a table's metadata first, and then the catalog.
    metadata = tmp_path / "warehouse" / "landing" / "message" / "metadata"
    metadata.mkdir(parents=True)
    (metadata / "00000-a.metadata.json").write_text("{}")
    check_catalog_file(settings_of(tmp_path))
    (tmp_path / "catalog.db").touch()
    check_catalog_file(settings_of(tmp_path))


@pytest.mark.usefixtures("lake")
def test_a_catalog_that_is_locked_is_neither_lost_nor_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dbt_debezium.spark.lost_catalog.LOCK_SECONDS", 0.1)
    with closing(sqlite3.connect(tmp_path / "catalog.db", isolation_level=None)) as writer:
        writer.execute("begin exclusive")
        check_catalog_file(settings_of(tmp_path))
    for said in ("[SQLITE_BUSY] The database file is locked", "SQLITE_LOCKED_SHAREDCACHE"):
        assert remedy_of(said) == "ask again, because another process is writing it"
    assert "damaged" not in remedy_of("[SQLITE_CANTOPEN] Unable to open the database file")
    assert "damaged" in remedy_of("[SQLITE_NOTADB] File opened that is not a database file")


class Forever:
    """What nobody stops; a round too many fails the test."""

    is_asked_for = False
    rounds = 0

    def wait(self, _: float) -> None:
        self.rounds += 1
        assert self.rounds < 5


def test_a_lake_that_vanishes_ends_the_rounds_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lake"
    folder.mkdir()
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(folder))
    made_lake(folder)
    project = project_dir()
    rounds = Round(
        project,
        project / "profiles.yml",
        None,
        (),
        NoSource(),
        lambda: pytest.fail("Spark started"),
        lambda: "build",
        lambda _: ([], []),
    )
    told: list[object] = []

    def one_round() -> Any:
        try:
            return rounds.run()
        finally:
            if told and folder.exists():
                folder.rename(tmp_path / "gone")

    def build(*_: Any, **__: Any) -> bool:
        raise DebeziumError("dbt build: failed")

    monkeypatch.setattr("dbt_debezium.rounds.round.run_dbt", build)
    with pytest.raises(CannotWorkError, match=r"lake/catalog.db is gone, which an earlier round"):
        run_rounds(one_round, 1, Forever(), told.append, str)
    assert len(told) == 2
    assert not folder.exists()
