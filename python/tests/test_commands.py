"""Commands that only look make nothing, and say that there is nothing to look at."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt_debezium.cli import main
from dbt_debezium.home import project_dir


@pytest.mark.parametrize(
    "command", [["status"], ["query", "select 1"], ["diff", "shop", "1"], ["scaffold"]]
)
def test_a_folder_without_a_lake_is_refused_and_stays_as_it_is(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = tmp_path / "mistyped"
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(lake))
    ended = CliRunner().invoke(main, command)
    assert ended.exit_code == 2
    assert f"lake: nothing has landed in {lake}; run `dbt-debezium land`" in ended.stderr
    assert not lake.exists()


def test_a_target_that_the_profile_lacks_is_refused_and_those_it_has_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path))
    ended = CliRunner().invoke(main, ["land", str(project_dir() / "README.md"), "--target", "nope"])
    assert ended.exit_code == 2
    assert "has no target 'nope'; there is: local, test, prod\n" in ended.stderr
