"""How far each partition is published, has landed, and goes in Kafka."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from dbt_debezium.readers import Reader

PARTITIONS: Final = """
with

published as (

    select cut_id from {schema}.cut
    where channel = 'published'

),

waiting as (

    select
        held.topic,
        held.partition,
        count(*) as message_count,
        min(held.`offset`) as first_offset
    from published
    inner join {schema}.held_message as held
        on published.cut_id = held.cut_id
    group by held.topic, held.partition

)

select
    progress.topic,
    progress.partition,
    progress.sources,
    progress.topic_source,
    progress.marker_source,
    progress.contiguous_offset,
    progress.last_offset,
    waiting.message_count as waiting_count,
    waiting.first_offset as first_waiting_offset
from published
inner join {schema}.partition_progress as progress
    on published.cut_id = progress.cut_id
left join waiting
    on progress.topic = waiting.topic and progress.partition = waiting.partition
"""
KAFKA_ENDS: Final = """
select topic, partition, max_by(log_end_offset, landing_id) as log_end_offset from landing.range
group by topic, partition
"""


@dataclass(frozen=True, slots=True)
class PartitionEnds:
    """One partition of a topic."""

    name: str
    published: int
    """How many offsets are behind the cut."""
    waiting: int
    """How many offsets have landed from the first that waits on."""
    unlanded: int
    """How many offsets Kafka had behind the last that has landed."""
    gap: str | None
    """The first offset that has not landed, where later ones have."""

    @property
    def needs_a_look(self) -> bool:
        return bool(self.waiting or self.unlanded or self.gap)


def partition_ends(lake: Reader, schema: str) -> dict[str, list[PartitionEnds]]:
    """The partitions of each source, those that wait or lack something first.

    Args:
        lake: what reads it.
        schema: the schema that models are built in.
    """
    tables = ("cut", "partition_progress", "held_message")
    if not all(lake.has(f"{schema}.{table}") for table in tables):
        return {}
    ends = {}
    if lake.has("landing.range"):
        ends = {
            (one["topic"], one["partition"]): one["log_end_offset"] for one in lake.rows(KAFKA_ENDS)
        }
    found: dict[str, list[PartitionEnds]] = {}
    for row in lake.rows(PARTITIONS.format(schema=schema)):
        partition = _ends(row, ends.get((row["topic"], row["partition"])))
        for source in _sources(row):
            found.setdefault(source, []).append(partition)
    for partitions in found.values():
        partitions.sort(key=lambda one: (not one.needs_a_look, one.name))
    return found


def _sources(row: dict[str, Any]) -> Sequence[str]:
    """The sources of a partition: by its messages, or as its topic's name says."""
    named = row["topic_source"] or row["marker_source"]
    return row["sources"] or ([named] if named else [])


def _ends(row: dict[str, Any], kafka_end: int | None) -> PartitionEnds:
    last, first_waiting = row["last_offset"], row["first_waiting_offset"]
    landed = 0 if last is None else last + 1
    published = landed if first_waiting is None else first_waiting
    contiguous = row["contiguous_offset"]
    has_gap = last is not None and contiguous is not None and contiguous < last
    return PartitionEnds(
        f"{row['topic']}-{row['partition']}",
        published,
        landed - published,
        max(0, (kafka_end or 0) - landed),
        f"{contiguous + 1:,}" if has_gap else None,
    )
