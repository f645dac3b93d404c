"""What is said of problems."""

import re
import sys
import traceback
from collections.abc import Iterable
from types import TracebackType
from typing import Final

from dbt_debezium.addresses import without_passwords
from dbt_debezium.cli.console import log
from dbt_debezium.errors import DebeziumError, is_of_spark
from dbt_debezium.home import is_carried
from dbt_debezium.package_files import package_dir
from dbt_debezium.writers.terminal import harmless

OF_SPARK: Final = frozenset(
    {"dbt", "dbt_common", "fastavro", "kafka", "py4j", "pyarrow", "pyspark"}
)
"""Modules that `dbt-debezium[spark]` installs."""
INSTALL_SPARK: Final = "pip install 'dbt-debezium[spark]'"
PAGE: Final = re.compile(r"\bdocs/[a-z-]+[.]md\b")


def with_pages(sentence: str) -> str:
    """A sentence in which pages of the documentation have the paths that they have in a wheel.

    In a clone they are where the sentence says.
    """
    folder = package_dir()
    if not is_carried(folder):
        return sentence
    return PAGE.sub(lambda page: str(folder / page[0]), sentence)


def say_problems(sentences: Iterable[str]) -> None:
    """Log what could not be written."""
    for sentence in sentences:
        log.say(sentence)


def known_sentences(error: Exception, where: str) -> list[str] | None:
    """The sentences for an error of input or surroundings, mostly one; None for a bug.

    Args:
        error: what was raised.
        where: what the sentence begins with if the error names no place.
    """
    if isinstance(error, DebeziumError):
        return [with_pages(without_passwords(str(one))) for one in error.args]
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in OF_SPARK:
        return [f"{where}: it needs Spark, which is not installed; {INSTALL_SPARK}"]
    if isinstance(error, OSError):
        return [f"{error.filename or where}: {error.strerror or error}"]
    if is_of_spark(error):
        from dbt_debezium.spark.outages import spark_sentence

        return [with_pages(without_passwords(spark_sentence(where, error)))]
    return None


def sentence_of(error: Exception, where: str = "run") -> str:
    """The sentence for an error after which rounds continue, of a bug too."""
    sentences = known_sentences(error, where)
    if sentences is None:
        # Where it is, only the stack tells.
        print_bug(type(error), error, error.__traceback__)
        sentences = [without_passwords(f"{where}: {type(error).__name__}: {error}")]
    return "; ".join(sentences)


def print_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the stack of a bug, as `sys.excepthook` does; messages of errors may hold data."""
    stack = "".join(traceback.format_exception(kind, error, trace))
    sys.stderr.write(harmless(without_passwords(stack)))
