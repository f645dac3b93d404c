"""Nothing that a command prints is obeyed by a terminal, whichever way it prints."""

import io
import re
import subprocess
import sys

import click
import pytest
from rich.table import Table
from rich.text import Text
from test_report_page import troubled

from dbt_debezium import cli
from dbt_debezium.cli.console import PlainConsole
from dbt_debezium.cli.problems import sentence_of
from dbt_debezium.cli.status import say
from dbt_debezium.errors import DebeziumError
from dbt_debezium.progress import LoggedSteps, working

NAME = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202ex [red] [/] :smile: \ud800"
# rich itself leaves out a bell.
SHOWN = "\\x1b[31mred\\x1b]0;title \\x9b2J \\u202ex [red] [/] :smile: \\ud800"

STEP = SHOWN.replace("title", "title\\x07")


def console(is_terminal: bool) -> PlainConsole:
    file = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    return PlainConsole(file=file, force_terminal=is_terminal, width=200)


def printed(said: PlainConsole) -> str:
    said.file.flush()
    text: str = said.file.buffer.getvalue().decode()
    # What rich itself sends: styles, and the movements of a status line.
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text) if said.is_terminal else text


@pytest.mark.parametrize("is_terminal", [True, False])
def test_names_are_printed_as_they_are_but_for_what_a_terminal_obeys(is_terminal: bool) -> None:
    said = console(is_terminal)
    table = Table(NAME)
    table.add_row(Text(NAME), "x")
    said.print(NAME)
    said.print(Text(NAME), soft_wrap=True)
    said.print(table)
    said.rule(NAME)
    text = printed(said)
    assert text.count(SHOWN) >= 3
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", text)


def test_a_step_that_is_wider_than_the_terminal_is_cut() -> None:
    said = console(is_terminal=True)
    said.width = 30
    with working(said, "building") as steps:
        steps.update("8 of 45: is_unique_by_" + "column_" * 10)
        said.print("done")
    lines = printed(said).replace("\r", "\n").splitlines()
    assert "⠋ 8 of 45: is_unique_by_colum…" in lines
    assert all(len(line) <= 30 for line in lines)


def test_steps_are_shown_the_same_way() -> None:
    said = console(is_terminal=True)
    with working(said, f"reading {NAME}") as steps:
        steps.update(NAME)
        said.print("done")
    text = printed(said)
    assert STEP in text
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", text)
    log = console(is_terminal=False)
    times = iter([0.0, 20.0])
    LoggedSteps(log, "begin", lambda: next(times)).update(NAME)
    assert printed(log) == f"{STEP}\n"


SECRET = "jdbc:postgresql://host/db?user=me&password=hunter2"


def test_a_bug_of_a_round_is_told_harmlessly_and_without_passwords(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bug = KeyError(f"\x9b2J {SECRET}")
    bug.add_note("\x1b[31mred")
    sentence = sentence_of(bug)
    stack = capsys.readouterr().err
    assert "\\x1b[31mred" in stack
    for text in (sentence, stack):
        assert "KeyError" in text
        assert "hunter2" not in text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", stack)


def test_a_bug_of_a_command_is_told_harmlessly_and_without_passwords() -> None:
    code = (
        "import sys\n"
        "import dbt_debezium.cli as cli\n"
        "@cli.main.command()\n"
        "def broken():\n"
        "    raise KeyError(sys.argv[2]) from ValueError('\\x1b]0;title\\x07')\n"
        "cli.main(['broken'])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, "broken", SECRET], capture_output=True, check=False
    )
    stack = ended.stderr.decode()
    assert ended.returncode == 1
    assert "KeyError" in stack
    assert "\\x1b]0;title" in stack
    assert "hunter2" not in stack
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", stack)


def lines_of_status(name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What `status` prints of a source of this name."""
    found = troubled(name)
    found.notices.append(f"{name}: a notice")
    say(found)
    return capsys.readouterr().out.splitlines()


def test_a_name_with_line_breaks_makes_no_line_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    forged = "shop\nnothing published: forged"
    plain, broken = lines_of_status("shop", capsys), lines_of_status(forged, capsys)
    assert len(broken) == len(plain)
    assert not [line for line in broken if line.startswith("nothing published")]
    assert any("shop\\nnothing published: forged" in line for line in broken)


def test_an_error_has_a_line_for_each_of_its_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    @click.group(cls=cli.Commands)
    def main() -> None: ...

    @main.command()
    def refused() -> None:
        raise DebeziumError("a\nb: is wrong", "c: is wrong")

    with pytest.raises(SystemExit) as ended:
        main(["refused"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines() == ["a\\nb: is wrong", "c: is wrong"]
    assert sentence_of(DebeziumError("a: is wrong", "c: is wrong")) == "a: is wrong; c: is wrong"
