"""What commands share: where they answer, where they say what they do, and how they begin."""

import os
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from dbt_debezium import progress
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import check_project, is_carried, project_dir
from dbt_debezium.kafka import SCHEME
from dbt_debezium.package import refresh, uses_package
from dbt_debezium.writers.terminal import harmless, one_line

if TYPE_CHECKING:
    from dbt_debezium.progress import Steps

PIPE_WIDTH = 160


class PlainConsole(Console):
    """Writes text as it is: no markup, and nothing that a terminal would obey but its own styles.

    Names and values of messages are in nearly every line, and in errors.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def say(self, sentence: str) -> None:
        """Print a sentence in a line of its own, so that no name in it looks like another line."""
        self.print(Text(one_line(sentence)), soft_wrap=True)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=harmless(segment.text))


out = PlainConsole(width=None if sys.stdout.isatty() else PIPE_WIDTH)
"""What a command answers."""
log = PlainConsole(stderr=True)
"""What a command is doing."""
topics_option = click.option(
    "--topics",
    metavar="PATTERN",
    help="With kafka://: a regular expression that fits the names of topics, as 'shop[.].*'; by "
    "default all.",
)
registry_option = click.option(
    "--registry",
    metavar="URL",
    help="With kafka://: the schema registry of Avro messages, as http://localhost:8081.",
)


def check_kafka_options(source: str | None, topics: str | None, registry: str | None) -> None:
    """Refuse options of Kafka that go with another source.

    Raises:
        UsageError: there is one.
    """
    if (topics or registry) and not (source or "").startswith(SCHEME):
        raise click.UsageError(
            f"--{'topics' if topics else 'registry'} goes with kafka://host:port; "
            "landing.yml names its own."
        )


def enter_project(is_needed: bool = True) -> None:
    """Go where dbt goes, so that relative paths of settings mean the same here and there.

    Args:
        is_needed: whether the command works in a project; one that does not stays here if there
            is none.

    Raises:
        DebeziumError: there is no project, the folder is another dbt project, or its settings
            cannot be read.
    """
    project = project_dir()
    if is_carried(project):
        if is_needed:
            raise DebeziumError(
                f"project: neither {Path.cwd()} nor a folder above it has a dbt_project.yml; make "
                "a project with `dbt-debezium init my_lake`, and go there"
            )
        return
    check_project(project)
    if uses_package(project):
        refresh(project)
    os.chdir(project)


def enter_lake(target: str | None) -> None:
    """Go where dbt goes, to look at a lake that is there."""
    from dbt_debezium.spark.session import check_lake

    enter_project()
    check_lake(target)


def working(step: str) -> "AbstractContextManager[Steps]":
    """Show a step, and those that follow it, until it is done."""
    return progress.working(log, step)


def from_anywhere(source: str) -> str:
    """The path seen from anywhere; an address with a scheme as it is."""
    return source if "://" in source else str(Path(source).expanduser().absolute())


def examples(*lines: str) -> str:
    """What `--help` shows below the options: command lines as they are typed.

    >>> examples("dbt-debezium status")
    '\\x08\\nExamples:\\n  dbt-debezium status'
    """
    # click wraps text, but not what stands behind a backspace.
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))
