"""How far each partition has come: what a run publishes of it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dbt_debezium.evidence.facts import Place
from dbt_debezium.evidence.source import SourceEvidence
from dbt_debezium.evidence.state import Partition
from dbt_debezium.evidence.topics import Role
from dbt_debezium.judge import marks


class Progress(NamedTuple):
    """One row per partition of a topic that the source sends to. Another source may have one, too,
    of a partition that both send to."""

    topic: str
    partition: int
    ranges: tuple[tuple[int, int], ...]
    """Runs of offsets that have landed without a gap, first and last."""
    reached_place: str | None
    has_changes: bool
    """Whether a change or read of this source has landed."""
    role: Role
    """What the topic holds of this source."""
    is_leading: bool
    """Of a topic with BEGIN and END: whether its offsets link transactions."""
    contiguous_offset: int | None
    """The last offset in front of the first gap; None of a partition in which nothing has landed,
    as the next one."""
    last_offset: int | None
    event_position: str | None
    """Up to the first gap the highest commit or place in the log, where changes name no commit
    before their own; None of a partition that sources share."""
    link_position: str | None
    """Up to the first gap the highest commit that a change names as the one before."""
    unplaced_offsets: tuple[int, ...]
    """Of messages that cannot be read, and have not landed whole since."""
    has_incremental_reads: bool
    has_signals: bool
    has_controls: bool
    """Whether a message has landed that is no change, and no tombstone: BEGIN, END, DDL."""
    data_collections: tuple[str, ...]
    """Tables of which a change or read has landed, by the names that END uses."""


def progress(
    evidence: SourceEvidence, facts: marks.Facts, partitions: Iterable[Partition]
) -> Iterator[Progress]:
    """How far each partition has come.

    Args:
        evidence: of the run.
        facts: that the judge was given.
        partitions: of the state behind the run.
    """
    ranges: dict[Place, list[tuple[int, int]]] = defaultdict(list)
    for one in (*facts.ranges, *facts.marker_ranges):
        ranges[one.topic, one.partition].append((one.first, one.last))
    lines = {(one.topic, one.partition): one for one in facts.partitions}
    known = {one.key: one for one in partitions}
    for place in sorted({*ranges, *lines}):
        topic, line, runs = evidence.topic(place[0]), lines.get(place), ranges[place]
        state = known.get(place) or Partition(*place)
        reached = line.reached_place if line else None
        yield Progress(
            *place,
            ranges=tuple(runs),
            reached_place=reached,
            has_changes=state.has_changes,
            role=topic.role,
            is_leading=topic.role == "transactions" and topic.is_leading,
            contiguous_offset=runs[0][1] if runs else None,
            last_offset=runs[-1][1] if runs else None,
            event_position=None if evidence.names_predecessor else reached,
            link_position=reached if evidence.names_predecessor else None,
            unplaced_offsets=tuple(state.unplaced),
            has_incremental_reads=state.has_windows,
            has_signals=state.has_signals,
            has_controls=state.has_controls,
            data_collections=tuple(state.tables),
        )
