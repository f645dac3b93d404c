"""A lake that a newer version has written: commands that read it say what that is worth."""

from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from shop_lake import shop
from small_lake import made_lake, opened, write

from dbt_debezium.cli import main
from dbt_debezium.lake_format import FORMAT, PROPERTY

SENTENCE = (
    f"lake: its tables have format {FORMAT + 1}, and this version of dbt-debezium knows formats "
    f"up to {FORMAT}, so what is read may be wrong; upgrade dbt-debezium on this machine"
)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path))
    return shop(tmp_path)


def mark(folder: Path, lake_format: int) -> None:
    catalog = opened(folder)
    catalog.create_namespace("landing")
    properties = {PROPERTY: str(lake_format)}
    catalog.create_table("landing.lease", pa.schema([("a", pa.int64())]), properties=properties)


def asked(*arguments: str) -> Result:
    ended = CliRunner().invoke(main, [*arguments], catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    return ended


def test_a_query_answers_and_warns_beside_the_answer(lake: Path) -> None:
    mark(lake, FORMAT + 1)
    ended = asked("query", "select status from orders order by id", "--csv")
    assert ended.stdout.splitlines() == ["status", "paid", "again"]
    assert ended.stderr.splitlines() == [SENTENCE]


def test_who_asks_for_the_lease_is_warned_before_a_column_is_missing(lake: Path) -> None:
    mark(lake, FORMAT + 1)
    assert CliRunner().invoke(main, ["lease"]).stderr.startswith(f"{SENTENCE}\n")


def test_a_lake_of_this_version_brings_no_warning(lake: Path) -> None:
    mark(lake, FORMAT)
    assert asked("query", "select 1 as one", "--csv").stderr == ""


def test_status_and_the_page_say_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path))
    catalog = made_lake(tmp_path)
    mark(tmp_path, FORMAT + 1)
    write(catalog, "landing.message", [{"topic": "t"}], pa.schema([("topic", pa.string())]))
    assert SENTENCE in asked("status").stdout
    page = tmp_path / "lake.html"
    asked("report", str(page))
    assert SENTENCE in page.read_text()
