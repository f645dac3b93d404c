"""What is said of problems."""

import re
import traceback
from pathlib import Path
from typing import Final

from rich.text import Text

from dbt_debezium.cli.console import log
from dbt_debezium.errors import DebeziumError, is_of_spark
from dbt_debezium.package_files import package_dir

PAGE: Final = re.compile(r"\bdocs/[a-z-]+[.]md\b")


def with_pages(sentence: str) -> str:
    """A sentence that names pages of the documentation by where they are on this machine.

    In a folder that has them, as a clone has, they stay as they are.
    """

    def place(page: re.Match[str]) -> str:
        there = package_dir() / page[0]
        return str(there) if there.is_file() and not Path(page[0]).is_file() else page[0]

    return PAGE.sub(place, sentence)


def say_problem(sentence: str | None) -> None:
    """Say in the log what could not be written, if anything."""
    if sentence:
        log.print(Text(with_pages(sentence)), soft_wrap=True)


def sentence_of(error: Exception, where: str = "run") -> str:
    """The sentence for an error that ended a round, which begins with a place if it names none."""
    if isinstance(error, DebeziumError):
        return str(error)
    if is_of_spark(error):
        from dbt_debezium.outages import spark_sentence

        return spark_sentence(where, error)
    if isinstance(error, OSError):
        return f"{error.filename or where}: {error.strerror or error}"
    # A bug. Where it is, only the stack tells, and the rounds continue.
    traceback.print_exception(error)
    return f"{where}: {type(error).__name__}: {error}"
