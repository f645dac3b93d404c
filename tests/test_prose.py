"""Pages and sentences are short and in plain words, and ask for commands that exist. No Spark."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from pages import NOT_RUN, PAGES, commands, mean_length, sentences, word_count

from dbt_debezium.cli import COMMANDS, imported, main
from dbt_debezium.reasons import DISCARDED, FLAGS, HELD, QUARANTINED

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "python" / "dbt_debezium"
LONGEST_README = 120
LONGEST_MEAN = 20
LONGEST_SENTENCE = 45

READ_FIRST = ("README.md", "docs/settings.md", "docs/querying.md", "docs/tables.md")
PLAIN = (
    *READ_FIRST,
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/access.md",
    "docs/cluster.md",
    "docs/compare.md",
    "docs/connectors.md",
    "docs/delete-a-table.md",
    "docs/forms.md",
    "docs/held-transaction.md",
    "docs/how-it-works.md",
    "docs/kafka.md",
    "docs/limits.md",
    "docs/operating.md",
    "docs/own-project.md",
    "docs/rounds.md",
    "docs/rules.md",
    "docs/runbook.md",
    "docs/schedule.md",
    "docs/tutorial.md",
    "docs/types.md",
)
"""Pages that people land on. Decisions, the figures and older changes are records."""

PRIVATE_WORDS = {
    r"holes?": "a gap, or missing",
    r"(?:goes|go|gone|went) on": "continues",
    r"anew": "again",
    r"made again": "recreated",
    r"holds all": "holds everything",
    r"passed over": "skipped, ignored",
    r"let(?:s)? by": "accepted",
    r"c[ao]me(?:s)? to it": "reached it",
    r"tell(?:s)? of": "shows, names",
    r"(?:was|were|is|are) told(?! apart)": "known",
    r"for want of": "without",
    r"stands? twice": "appears twice",
    r"in place of (?:it|them)": "instead",
    r"of which nothing but": "only",
    r"(?:stands?|stood|placed|sorts|lands|landed|directly|right|END) behind": "after",
    r"in front of": "before",
}
"""Our own words of earlier days, and what the field says."""
OPENERS = re.compile(r"^(?:Of|Nor|Else|Nothing of|But of) ")
"""Openings that put the subject last."""


def prose(page: str) -> list[str]:
    return sentences(PAGES[page])


def newest_changes() -> list[str]:
    """The sentences of the changelog's newest part."""
    _, newest, *_ = re.split(r"^## .*\n", PAGES["CHANGELOG.md"], flags=re.MULTILINE)
    return sentences(newest)


def text_of(node: ast.expr) -> str | None:
    """What a string says, with one word for each value that is put in; None for anything else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(text_of(value) or "value" for value in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = text_of(left), text_of(right)
            return "".join(part or "value" for part in parts) if any(parts) else None
    return None


def raised() -> Iterator[str]:
    """The sentences of DebeziumError, each `<where>: <what is wrong>; <what would be right>`."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "DebeziumError"
                and (text := text_of(node.args[0]))
            ):
                yield text


def reasons() -> list[str]:
    """What the program says of each reason, in the words of either command."""
    known = [*HELD.values(), *FLAGS.values(), *QUARANTINED.values(), DISCARDED]
    every = [one for reason in known for one in (reason, *reason.cases.values())]
    texts = [text for one in every for text in (one.meaning, one.remedy, one.preview)]
    return [re.sub(r"\{\w+\}", "value", text) for text in texts if text]


def helps() -> list[str]:
    """What `--help` says of each command and option."""
    texts = [main.help or ""]
    for command in map(imported, COMMANDS):
        texts.append(command.help or "")
        texts += [one.help or "" for one in command.params if isinstance(one, click.Option)]
    return [sentence for text in texts for sentence in sentences(text)]


PROGRAM = {
    "errors": [half for sentence in raised() for half in sentence.split("; ")],
    "help": helps(),
    "reasons": reasons(),
}
"""Sentences of the program; the two halves of an error are two thoughts."""


def test_the_readme_is_short() -> None:
    assert len(PAGES["README.md"].splitlines()) <= LONGEST_README


def test_every_plain_page_is_there() -> None:
    assert set(PLAIN) <= PAGES.keys()


@pytest.mark.parametrize("page", PLAIN)
def test_the_sentences_of_a_page_are_short(page: str) -> None:
    assert mean_length(prose(page)) <= LONGEST_MEAN
    assert [one for one in prose(page) if word_count(one) > LONGEST_SENTENCE] == []


def test_the_newest_changes_are_short() -> None:
    assert mean_length(newest_changes()) <= LONGEST_MEAN


@pytest.mark.parametrize("kind", PROGRAM)
def test_the_program_s_sentences_are_short(kind: str) -> None:
    assert mean_length(PROGRAM[kind]) <= LONGEST_MEAN
    assert [one for one in PROGRAM[kind] if word_count(one) > LONGEST_SENTENCE] == []


@pytest.mark.parametrize("where", [*PLAIN, *PROGRAM])
def test_no_word_is_our_own(where: str) -> None:
    some = PROGRAM[where] if where in PROGRAM else prose(where)
    for word, better in PRIVATE_WORDS.items():
        found = [one for one in some if re.search(rf"\b{word}\b", one, re.IGNORECASE)]
        assert found == [], f"write: {better}"


@pytest.mark.parametrize("page", PLAIN)
def test_the_subject_comes_first(page: str) -> None:
    assert [one for one in prose(page) if OPENERS.match(one)] == []


def test_every_refusal_says_what_would_be_right() -> None:
    # Some sentences are another program's, put in as they are.
    own = (one for one in raised() if not re.search(r": (?:value)+$", one))
    assert [one for one in own if "; " not in one] == []


def test_every_command_of_a_page_exists() -> None:
    named = {
        name
        for page in PLAIN
        for name in re.findall(r"`dbt-debezium ([a-z]+)", PAGES[page])
        + [words.split()[1] for words in commands(page) if words.startswith("dbt-debezium ")]
    }
    assert named - {"COMMAND"} <= {*COMMANDS}


def test_every_option_that_a_page_names_exists() -> None:
    known = {
        option
        for command in map(imported, COMMANDS)
        for parameter in command.params
        for option in parameter.opts
    }
    of_dbt = {"--full-refresh", "--select", "--vars", "--store-failures"}
    named = {
        option
        for page in (*READ_FIRST, "docs/limits.md", "docs/runbook.md")
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGES[page])
    }
    assert named - of_dbt - {"--help"} <= known


def test_every_command_is_ours_to_run_or_says_why_it_is_not_run() -> None:
    found = {command for page in PAGES for command in commands(page)}
    others = {command for command in found if not command.startswith("dbt-debezium ")}
    assert others - NOT_RUN.keys() == set()
    assert NOT_RUN.keys() <= found


def test_what_is_not_built_is_in_no_help() -> None:
    assert not [name for name in COMMANDS if "not built" in (imported(name).help or "")]


@pytest.mark.parametrize("page", PAGES)
def test_every_picture_is_there_and_has_a_description(page: str) -> None:
    for said, picture in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", PAGES[page]):
        file = (REPOSITORY / page).parent / picture
        assert word_count(said) > 8, picture
        assert file.suffix != ".svg" or "<desc" in file.read_text(encoding="utf-8")
        assert file.stat().st_size < 300_000


def test_the_readme_calls_a_connector_live_that_was_run_against_a_server() -> None:
    names = {"CDL": "Huawei CDL"}
    header, evidence = (
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in PAGES["docs/connectors.md"].splitlines()
        if line.startswith(("| | PostgreSQL | MySQL | ", "| create, update, delete |"))
    )
    said = {
        name: status
        for row, status in re.findall(r"^\| (.+?) \| \*(\w+)\*", PAGES["README.md"], re.MULTILINE)
        for name in row.split(", ")
    }
    for name, found in zip(header, evidence[1:], strict=True):
        wanted = "live" if found.startswith("server") else "documented"
        assert said.pop(names.get(name, name)) == wanted, name
    assert said.keys() <= {"any other connector that sends BEGIN and END"}
