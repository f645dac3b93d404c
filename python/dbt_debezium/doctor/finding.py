"""What a check has found."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from dbt_debezium.errors import DebeziumError, innermost, is_of_spark
from dbt_debezium.spark.outages import outage_of

Level = Literal["ok", "note", "wrong"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence, and how bad it is."""

    level: Level
    """note: it works, and could be better. wrong: a command fails, or rows are missing."""
    sentence: str


def checked(check: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings of a check; what ends it is one of them.

    >>> def check():
    ...     yield Finding("ok", "java: 17")
    ...     raise DebeziumError("jars: none; run `dbt-debezium jars`")
    >>> [one.level for one in checked(check)]
    ['ok', 'wrong']
    """
    try:
        yield from check()
    except DebeziumError as error:
        yield from (Finding("wrong", str(one)) for one in error.args)
    except Exception as error:
        # As where executors have no Python.
        if not is_of_spark(error):
            raise
        sentence = outage_of(error) or f"spark: {innermost(error)}; look at its log"
        yield Finding("wrong", str(sentence))
