"""What a person who types a command for the first time meets."""

import io
import os
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from dbt_debezium import cli as commands_folder
from dbt_debezium import progress
from dbt_debezium.cli import COMMANDS, imported, main
from dbt_debezium.spark.java_output import KNOWN, relay


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_described_in_six_words_at_most(name: str) -> None:
    command = imported(name)
    assert command.name == name
    assert command.short_help
    assert len(command.short_help.split()) <= 6
    assert command.help


def test_each_module_of_a_command_is_one() -> None:
    folder = Path(commands_folder.__file__).parent
    modules = {file.stem for file in folder.glob("*.py") if "@click.command(" in file.read_text()}
    assert modules == {*COMMANDS}


def test_no_description_is_cut_off() -> None:
    shown = CliRunner().invoke(main, ["--help"]).stdout
    assert "..." not in shown.partition("Commands:")[2]


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["stauts"], "Did you mean 'status'?"),
        (["qurey", "select 1"], "Did you mean 'query'?"),
        (["run", "--evry", "30s"], "Did you mean '--every'?"),
        (["run", "--ful-refresh"], "Did you mean '--full-refresh'?"),
        (["run", "--healthfile=a"], "Did you mean '--health-file'?"),
        (["query", "select 1", "--engin", "duckdb"], "Did you mean '--engine'?"),
    ],
)
def test_what_is_misspelt_is_refused_with_what_was_meant(
    arguments: list[str], meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path / "lake"))
    ended = CliRunner().invoke(main, arguments)
    assert ended.exit_code == 2
    assert meant in ended.stderr
    assert not (tmp_path / "lake").exists()


def test_options_of_dbt_are_none_of_ours_to_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path / "lake"))
    options = [
        "--full-refresh",
        "--no-partial-parse",
        "--vars={}",
        "--threads",
        "2",
        "--nope-at-all",
    ]
    ended = CliRunner().invoke(main, ["run", *options])
    assert "No such option '--nope-at-all'" in ended.stderr


class Noticed(io.StringIO):
    """A log of which a test learns that something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def write(self, text: str) -> int:
        count = super().write(text)
        self.written.set()
        return count


def test_a_long_step_says_now_and_then_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PAUSE", 0.01)
    log = Noticed()
    with progress.working(Console(file=log), "starting Spark"):
        assert log.written.wait(60)
    assert log.getvalue().startswith("starting Spark, for 0 s\n")
    assert "progress" not in {one.name for one in threading.enumerate()}


def test_a_step_that_is_stopped_says_nothing_more() -> None:
    log = io.StringIO()
    steps = progress.LoggedSteps(Console(file=log), "fetching jars", pause=0.0)
    steps.tick()
    steps.stop()
    steps.tick()
    assert log.getvalue() == "fetching jars, for 0 s\n"


def test_java_says_all_but_what_it_says_at_each_start(capfd: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"WARN a: b\n" + KNOWN[0] + b"\n" + "é ".encode() + KNOWN[0] + b"\nno end")
    os.close(writing)
    relay(reading)
    assert capfd.readouterr().err == f"WARN a: b\né {KNOWN[0].decode()}\nno end"
