"""The cut of a source, drawn: a bar for each partition, from the cut to the end of the topic."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dbt_debezium.status.partition_ends import PartitionEnds

SHOWN: Final = 40
BLOCKS: Final = {
    "end": "has not landed past the first held transaction",
    "partition": "nothing of it has landed",
}
"""What a partition lacks, by the name in `Lacking`."""
NOTHING: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class CutBar:
    """One partition."""

    partition: PartitionEnds
    waiting_percent: float
    """Of the longest bar: what has landed and waits."""
    unlanded_percent: float
    """Of the longest bar: what Kafka has and no landing yet."""
    blocks: str | None = None
    """What the first held transaction waits for in it; None if it waits for nothing."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The partitions of a source."""

    bars: list[CutBar]
    """The first partitions that block, or in which something waits or is missing."""
    more: int
    """How many more there are."""
    quiet: Sequence[PartitionEnds]
    """Partitions that are published to their end, the first of them."""
    quiet_count: int
    """How many there are."""


def blocking_partitions(held: Iterable[dict[str, Any]]) -> dict[str, str]:
    """What the first held transaction waits for, by the name of the partition.

    Args:
        held: all entries of a source, in the order of its log.
    """
    found: dict[str, str] = {}
    first = None
    for one in held:
        if one["reason"].startswith("follows_") or first not in (None, one["transaction_id"]):
            continue
        first = one["transaction_id"]
        for each in one["lacking"]:
            name = f"{each['topic']}-{each['partition']}"
            if each["what"] == "offsets":
                found[name] = f"offset {each['first_offset']:,} is missing"
            elif each["what"] in BLOCKS:
                found[name] = BLOCKS[each["what"]]
    return found


def cut_of(partitions: Sequence[PartitionEnds], blocking: Mapping[str, str] = NOTHING) -> Cut:
    """The cut of one source.

    Args:
        partitions: those that wait or lack something first.
        blocking: what the first held transaction waits for, by the name of the partition. One of
            which nothing has landed is none of the others.
    """
    known = {one.name: one for one in partitions}
    blocks = [known.get(name, PartitionEnds(name, 0, 0, 0, None)) for name in sorted(blocking)]
    others = [one for one in partitions if one.name not in blocking]
    waiting = [*blocks, *(one for one in others if one.needs_a_look)]
    quiet = [one for one in others if not one.needs_a_look]
    shown = waiting[:SHOWN]
    longest = max((one.waiting + one.unlanded for one in shown), default=0) or 1
    bars = [
        CutBar(
            one,
            round(100 * one.waiting / longest, 1),
            round(100 * one.unlanded / longest, 1),
            blocking.get(one.name),
        )
        for one in shown
    ]
    return Cut(bars, len(waiting) - len(shown), quiet[:SHOWN], len(quiet))
