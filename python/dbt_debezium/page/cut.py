"""The cut of a source, drawn: a bar for each partition, from the cut to the end of the topic."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dbt_debezium.partition_ends import PartitionEnds

SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class CutBar:
    """One partition."""

    partition: PartitionEnds
    waiting_percent: float
    """Of the longest bar: what has landed and waits."""
    unlanded_percent: float
    """Of the longest bar: what Kafka has and no landing yet."""


def cut_bars(partitions: Sequence[PartitionEnds]) -> list[CutBar]:
    """The bars of one source, the first of its partitions."""
    shown = partitions[:SHOWN]
    longest = max((one.waiting + one.unlanded for one in shown), default=0) or 1
    return [
        CutBar(one, round(100 * one.waiting / longest, 1), round(100 * one.unlanded / longest, 1))
        for one in shown
    ]
