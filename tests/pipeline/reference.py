"""What the program writes of itself: docs/commands.md, and tables of reasons and of settings.

Run as a script, it writes them: python tests/pipeline/reference.py
"""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Final

import click

from dbt_debezium.cli import COMMANDS, imported, main
from dbt_debezium.reasons import FLAGS, HELD, QUARANTINED, Reason
from dbt_debezium.settings import DEFAULTS, SAYS

REPOSITORY: Final = Path(__file__).parents[2]
COMMANDS_PAGE: Final = REPOSITORY / "docs" / "commands.md"
RUNBOOK: Final = REPOSITORY / "docs" / "runbook.md"
SETTINGS: Final = REPOSITORY / "docs" / "settings.md"
ONLY_IN_FILE: Final = re.compile(
    r"(?<=<!-- only in the file -->\n).*?(?=<!-- end of only in the file -->)", re.DOTALL
)
SETTINGS_TABLE: Final = re.compile(
    r"(?<=<!-- settings -->\n).*?(?=<!-- end of settings -->)", re.DOTALL
)
TABLE: Final = re.compile(r"(?<=<!-- reasons -->\n).*?(?=<!-- end of reasons -->)", re.DOTALL)
WIDTH: Final = 100
WITHOUT_LAKE: Final = ("init", "jars", "pack", "signal")
"""They neither read nor write a lake."""
HEAD: Final = """# Commands

What `dbt-debezium COMMAND --help` prints. `python tests/pipeline/reference.py` writes this page
from the program.

A command ends with exit code 0 if it did what was asked. It ends with 2 and one sentence if it
refuses, and `run` with 1 if a model or a test failed. Answers are printed to standard output, and
everything else to standard error.

| command | what it does | Spark and Java |
|---|---|---|
"""
EXAMPLE: Final = {
    "source": "shop",
    "table": "public.orders",
    "received": "3",
    "expected": "5",
}
"""What the meaning of a reason has in place of its braces."""


def commands_page() -> str:
    """The page of commands."""
    rows, sections = [], []
    for name in sorted(COMMANDS):
        command = imported(name)
        rows.append(
            f"| [{name}](#{name}) | {command.get_short_help_str()} | {needed(name, command)} |\n"
        )
        sections.append(f"\n## {name}\n\n```\n{help_of(name, command)}\n```\n")
    return HEAD + "".join(rows) + "".join(sections)


def needed(name: str, command: click.Command) -> str:
    """Whether it needs Spark, and so Java."""
    if any("--engine" in one.opts for one in command.params):
        return "not needed where DuckDB can read the lake"
    return "not needed" if name in WITHOUT_LAKE else "needed"


def help_of(name: str, command: click.Command) -> str:
    """What `--help` prints on a terminal of a fixed width."""
    parent = click.Context(main, info_name="dbt-debezium", **main.context_settings)
    context = click.Context(command, parent, name, terminal_width=WIDTH, max_content_width=WIDTH)
    return command.get_help(context)


def reasons_table() -> str:
    """A row for each reason, in the order of the runbook."""
    rows = [
        f"| [{name}](#{name}) | {kind} | {meaning_of(reason)} |\n"
        for kind, known in (("held", HELD), ("flagged", FLAGS), ("quarantined", QUARANTINED))
        for name, reason in sorted(known.items())
    ]
    return "| reason | effect | what its sentence says |\n|---|---|---|\n" + "".join(rows)


def meaning_of(reason: Reason) -> str:
    """What its sentence says, with an example's values; a bar would end the cell."""
    return reason.meaning.format(**EXAMPLE).replace("|", "\\|")


def runbook() -> str:
    """The runbook with its table."""
    return TABLE.sub(lambda _: reasons_table(), RUNBOOK.read_text(encoding="utf-8"), count=1)


def settings_page() -> str:
    """The page of settings with its table."""
    rows = [
        f"| `{name}` | `{shown_default(name)}` | {says.meaning} |\n" for name, says in SAYS.items()
    ]
    table = "| setting | default | meaning |\n|---|---|---|\n" + "".join(rows)
    by_reason: dict[str, list[str]] = defaultdict(list)
    for name, says in SAYS.items():
        if says.only_in_file:
            by_reason[says.only_in_file].append(f"`{name}`")
    only = "".join(
        f"- {' and '.join(names)}, because {reason}.\n" for reason, names in by_reason.items()
    )
    page = SETTINGS.read_text(encoding="utf-8")
    for place, text in ((SETTINGS_TABLE, table), (ONLY_IN_FILE, only)):
        page = place.sub(lambda _, text=text: text, page, count=1)
    return page


def shown_default(name: str) -> str:
    """As dbt_project.yml would have it."""
    default = getattr(DEFAULTS, name)
    return default if isinstance(default, str) else json.dumps(default).replace('"', "")


if __name__ == "__main__":
    SETTINGS.write_text(settings_page(), encoding="utf-8")
    COMMANDS_PAGE.write_text(commands_page(), encoding="utf-8")
    RUNBOOK.write_text(runbook(), encoding="utf-8")
