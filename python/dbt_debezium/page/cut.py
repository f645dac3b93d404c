"""The cut of a source, drawn: a bar for each partition, from the cut to the end of the topic."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dbt_debezium.status.partition_ends import PartitionEnds

SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class CutBar:
    """One partition."""

    partition: PartitionEnds
    waiting_percent: float
    """Of the longest bar: what has landed and waits."""
    unlanded_percent: float
    """Of the longest bar: what Kafka has and no landing yet."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The partitions of a source."""

    bars: list[CutBar]
    """Partitions in which something waits or is missing, the first of them."""
    more: int
    """How many more there are."""
    quiet: Sequence[PartitionEnds]
    """Partitions that are published to their end, the first of them."""
    quiet_count: int
    """How many there are."""


def cut_of(partitions: Sequence[PartitionEnds]) -> Cut:
    """The cut of one source."""
    waiting = [one for one in partitions if one.needs_a_look]
    quiet = [one for one in partitions if not one.needs_a_look]
    shown = waiting[:SHOWN]
    longest = max((one.waiting + one.unlanded for one in shown), default=0) or 1
    bars = [
        CutBar(one, round(100 * one.waiting / longest, 1), round(100 * one.unlanded / longest, 1))
        for one in shown
    ]
    return Cut(bars, len(waiting) - len(shown), quiet[:SHOWN], len(quiet))
