"""How far each partition has come: what a run publishes of it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dbt_debezium.evidence.facts import TopicPartition
from dbt_debezium.evidence.source import SourceEvidence
from dbt_debezium.evidence.state import Partition
from dbt_debezium.judge import marks


class Progress(NamedTuple):
    """One row per partition of a topic that the source sends to. Another source may have one, too,
    of a partition that both send to."""

    topic: str
    partition: int
    known_ranges: tuple[tuple[int, int], ...]
    """Runs of offsets that have landed without a gap, first and last."""
    contiguous_offset: int | None
    """The last offset before the first gap; None of a partition in which nothing has landed,
    as the next one."""
    last_offset: int | None
    event_position: str | None
    """Up to the first gap the highest commit or place in the log, where changes name no commit
    before their own; None of a partition that sources share."""
    link_position: str | None
    """Up to the first gap the highest commit that a change names as the one before."""
    unplaced_offsets: tuple[int, ...]
    """Of messages that cannot be read, and have not landed whole since."""
    has_signals: bool
    data_collections: tuple[str, ...]
    """Tables of which a change or read has landed, by the names that END uses."""


def progress(
    evidence: SourceEvidence, facts: marks.Facts, partitions: Iterable[Partition]
) -> Iterator[Progress]:
    """How far each partition has come.

    Args:
        evidence: of the run.
        facts: that the judge was given.
        partitions: of the state after the run.
    """
    ranges: dict[TopicPartition, list[tuple[int, int]]] = defaultdict(list)
    for one in (*facts.ranges, *facts.marker_ranges):
        ranges[one.topic, one.partition].append((one.first, one.last))
    reached = {(one.topic, one.partition): one.reached_place for one in facts.partitions}
    known = {one.key: one for one in partitions}
    for place in sorted({*ranges, *reached}):
        runs, state = ranges[place], known.get(place) or Partition(*place)
        yield Progress(
            *place,
            known_ranges=tuple(runs),
            contiguous_offset=runs[0][1] if runs else None,
            last_offset=runs[-1][1] if runs else None,
            event_position=None if evidence.names_predecessor else reached.get(place),
            link_position=reached.get(place) if evidence.names_predecessor else None,
            unplaced_offsets=tuple(state.unplaced),
            has_signals=state.has_signals,
            data_collections=tuple(state.tables),
        )
