"""Durations as people write them."""

import re
from typing import Final

from dbt_debezium.errors import DebeziumError

SECONDS: Final = {"s": 1, "m": 60, "h": 3600}
DURATION: Final = re.compile(r"(?:\d+[smh])+")


def seconds_of(where: str, text: str) -> int:
    """A duration in seconds.

    Args:
        where: begins the sentence of an error.
        text: numbers, each with s, m or h.

    Raises:
        DebeziumError: it is no duration, or nothing.

    >>> seconds_of("run: --every", "1m30s")
    90
    >>> seconds_of("run: --every", "30")
    Traceback (most recent call last):
    dbt_debezium.errors.DebeziumError: run: --every: '30' is no duration; write one as 30s, 5m or 1h
    """
    seconds = 0
    if DURATION.fullmatch(text):
        seconds = sum(
            int(number) * SECONDS[unit] for number, unit in re.findall(r"(\d+)([smh])", text)
        )
    if not seconds:
        raise DebeziumError(f"{where}: '{text}' is no duration; write one as 30s, 5m or 1h")
    return seconds
