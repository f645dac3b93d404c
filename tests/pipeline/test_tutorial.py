"""The tutorial, as a reader gives its commands one after the other: they print what it shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from give import give, stop_spark
from pages import blocks

from dbt_debezium.home import jars_dir

pytestmark = pytest.mark.slow

PAGE = "docs/tutorial.md"
SET_UP = re.compile(r"python3 -m venv|pip install|dbt-debezium jars$")
"""What has set up the environment that runs this test."""


def steps() -> list[tuple[str, list[str]]]:
    """Each command with the lines that the page shows below it."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(blocks(PAGE, "")).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def test_each_command_of_the_tutorial_prints_what_the_tutorial_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_JARS", str(jars_dir().absolute()))
    monkeypatch.delenv("DBT_DEBEZIUM_LAKE", raising=False)
    monkeypatch.chdir(tmp_path)
    stop_spark()
    (program,) = blocks(PAGE, "python")
    done = 0
    for command, shown in steps():
        if SET_UP.match(command):
            continue
        if command == "cd bank":
            monkeypatch.chdir(tmp_path / "bank")
            Path("bank.py").write_text(program)
        elif command == "python bank.py":
            subprocess.run([sys.executable, "bank.py"], check=True)
        else:
            printed = give(command).output.splitlines()
            assert [line for line in shown if line not in printed] == [], (command, printed)
            done += 1
    stop_spark()
    assert done == 15
