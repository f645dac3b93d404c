"""The tutorial, as a reader gives its commands one after the other: they print what it shows.

On the way they ask what the life of eight messages asks, which is about the same lake.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from give import give, stop_spark
from pages import BLOCK, PAGES, blocks

from dbt_debezium.home import jars_dir

pytestmark = pytest.mark.slow

PAGE = "docs/tutorial.md"
LIFE = dict(
    zip(
        ("dbt-debezium run 2.jsonl", "dbt-debezium run 3.jsonl"),
        PAGES["docs/eight-messages.md"].split("\n## The eighth message lands\n"),
        strict=True,
    )
)
"""Parts of the page on eight messages, by the command of the tutorial that they come after."""
SET_UP = re.compile(r"python3 -m venv|pip install|dbt-debezium jars$")
"""What has set up the environment that runs this test."""


def steps(text: str) -> list[tuple[str, list[str]]]:
    """Each command of a page with the lines that the page shows below it."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(
        block for language, block in BLOCK.findall(text) if not language
    ).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def shows(command: str, shown: list[str]) -> None:
    """Give a command, which must print these lines."""
    printed = give(command).output.splitlines()
    assert [line for line in shown if line not in printed] == [], (command, printed)


def test_each_command_of_the_tutorial_prints_what_the_tutorial_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_JARS", str(jars_dir().absolute()))
    monkeypatch.delenv("DBT_DEBEZIUM_LAKE", raising=False)
    monkeypatch.chdir(tmp_path)
    stop_spark()
    (program,) = blocks(PAGE, "python")
    done = asked = 0
    for command, shown in steps(PAGES[PAGE]):
        if SET_UP.match(command):
            continue
        if command == "cd bank":
            monkeypatch.chdir(tmp_path / "bank")
            Path("bank.py").write_text(program)
        elif command == "python bank.py":
            subprocess.run([sys.executable, "bank.py"], check=True)
        else:
            shows(command, shown)
            done += 1
        for query, rows in steps(LIFE.get(command, "")):
            assert rows, query
            shows(query, rows)
            asked += 1
    stop_spark()
    assert (done, asked) == (15, 15)
