"""What is said of problems that end no command."""

import traceback

from rich.text import Text

from dbt_debezium.cli.console import log
from dbt_debezium.errors import DebeziumError, is_of_spark


def say_problem(sentence: str | None) -> None:
    """Say in the log what could not be written, if anything."""
    if sentence:
        log.print(Text(sentence), soft_wrap=True)


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
