"""Which offsets a landing fetches, from what has landed and what the cluster has. No Spark."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from dbt_debezium.kafka.broker import Topic
from dbt_debezium.messages.internal_topics import kind_of_topic

HEARTBEATS: Final = "__debezium-heartbeat."
"""How Debezium's topics of heartbeats begin."""


@dataclass(frozen=True, slots=True)
class Range:
    """Offsets of a partition that one landing fetches completely, from `start` until before `end`.

    An offset in it without a message is a control record or that of an aborted transaction; in a
    topic with compaction it may be a message that compaction has removed.
    """

    topic: str
    topic_id: str
    partition: int
    start: int
    end: int
    log_start: int
    """First offset that the cluster still had."""
    log_end: int
    """One past the last committed offset that the cluster had."""
    cleanup_policy: str | None = None
    is_log_sure: bool = True
    """See `PartitionEnds.is_sure`."""

    @property
    def is_sure_end(self) -> bool:
        """Whether it is sure that the partition had nothing behind it."""
        return self.is_log_sure and self.end >= self.log_end


@dataclass(frozen=True, slots=True)
class Landed:
    """How far the newest landing of a partition came."""

    topic_id: str
    end: int
    looked_at: datetime | None = None
    """When the cluster was last asked for its end, as far as that was noted."""
    sure_at: datetime | None = None
    """The same, if it was sure then that nothing was behind the end."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to fetch, and what the user must know."""

    ranges: tuple[Range, ...]
    """One for each partition of each topic, also where nothing is new."""
    lost: tuple[Range, ...] = ()
    """Ranges that retention took before anything of their partitions landed."""
    overtaken: tuple[Range, ...] = ()
    """Ranges that it took behind what has landed; their topics go on behind them, too."""
    recreated: tuple[str, ...] = ()
    """Topics with another id than what landed. Nothing of them is fetched."""
    shortened: tuple[Range, ...] = ()
    """What has landed behind the end of its log. Nothing of these topics is fetched."""

    @property
    def offset_count(self) -> int:
        return sum(one.end - one.start for one in self.ranges)

    @property
    def cut_off(self) -> tuple[Range, ...]:
        """Ranges that end before their log does."""
        return tuple(one for one in self.ranges if one.end < one.log_end)

    def limited(self, most: int) -> "Plan":
        """The first offsets of each range, at most so many."""
        first = (replace(one, end=min(one.end, one.start + most)) for one in self.ranges)
        return replace(self, ranges=tuple(first))


def plan_landing(
    topics: Sequence[Topic],
    landed: Mapping[tuple[str, int], Landed],
    starting_offsets: Literal["earliest", "latest"] = "earliest",
) -> Plan:
    """Go on where the newest landing of each partition ended.

    Args:
        landed: by topic and partition.
        starting_offsets: where a topic begins of which nothing has landed. A partition that was
            added to a topic that has landed always begins at its first offset.
    """
    ids = {topic: one.topic_id for (topic, _), one in landed.items()}
    ranges: list[Range] = []
    lost: list[Range] = []
    overtaken: list[Range] = []
    shortened: list[Range] = []
    recreated: list[str] = []
    for topic in topics:
        if ids.get(topic.name, topic.id) != topic.id:
            recreated.append(topic.name)
            continue
        if short := _shortened(topic, landed):
            shortened += short
            continue
        for partition, log in sorted(topic.partitions.items()):
            before = landed.get((topic.name, partition))
            is_new_topic = topic.name not in ids
            if before is not None:
                start = wanted = before.end
            elif is_new_topic and starting_offsets == "latest":
                start = wanted = log.end
            else:
                start, wanted = log.start, 0
            whole = Range(
                topic.name,
                topic.id,
                partition,
                max(start, log.start),
                max(start, log.start, log.end),
                log.start,
                log.end,
                topic.cleanup_policy,
                log.is_sure,
            )
            ranges.append(whole)
            if wanted < log.start:
                gone = replace(whole, start=wanted, end=log.start)
                (lost if before is None else overtaken).append(gone)
    return Plan(tuple(ranges), tuple(lost), tuple(overtaken), tuple(recreated), tuple(shortened))


def _shortened(topic: Topic, landed: Mapping[tuple[str, int], Landed]) -> list[Range]:
    """Of partitions whose log ends before what has landed: from its end on, what has landed.

    The cluster gives these offsets out again.
    """
    return [
        Range(topic.name, topic.id, number, log.end, before.end, log.start, log.end)
        for number, log in sorted(topic.partitions.items())
        if (before := landed.get((topic.name, number))) and log.end < before.end
    ]


def plan_sentences(where: str, plan: Plan) -> list[str]:
    """What the cluster no longer has: one sentence for each topic.

    Args:
        where: the block's name, or the address.
        plan: what a landing would fetch.
    """
    return _gone_sentences(where, plan.lost) + failed_sentences(where, plan)


def _gone_sentences(where: str, gone_ranges: Sequence[Range]) -> list[str]:
    gone: dict[str, list[Range]] = defaultdict(list)
    for one in gone_ranges:
        if is_of_source(one.topic):
            gone[one.topic].append(one)
    said = []
    for topic, ranges in sorted(gone.items()):
        count = sum(one.end - one.start for one in ranges)
        said.append(
            f"{where}: {topic}: retention removed {count:,} offsets before they landed "
            f"(partition {ranges[0].partition}: {ranges[0].start} to {ranges[0].end - 1}); "
            "take a new snapshot of the source, unless one has been sent since"
        )
    return said


def failed_sentences(where: str, plan: Plan) -> list[str]:
    """One sentence for each topic that lacks what was there, or is not landed any more.

    Args:
        where: the block's name, or the address.
        plan: what a landing would fetch.
    """
    short = {one.topic: one for one in reversed(plan.shortened)}
    said = _gone_sentences(where, plan.overtaken)
    said += [
        f"{where}: {topic}: partition {one.partition} ends at offset {one.start}, although offsets "
        f"up to {one.end - 1} have landed, so the topic is not landed; the cluster has lost "
        "messages, or the topic was deleted and created again: if it stays so, "
        "begin a new lake, or have the connector write to topics of another name"
        for topic, one in sorted(short.items())
    ]
    return said + [
        f"{where}: {topic}: the topic was deleted and created again, so it is not landed; "
        "its offsets began anew and cannot be told from those before: "
        "begin a new lake, or have the connector write to topics of another name"
        for topic in plan.recreated
    ]


def is_of_source(topic: str) -> bool:
    """Whether a topic may hold changes, BEGIN and END; others lack nothing that a table needs."""
    return kind_of_topic(topic) != "internal" and not topic.startswith(HEARTBEATS)


def noted(
    plan: Plan, landed: Mapping[tuple[str, int], Landed], is_look_due: bool = False
) -> tuple[Range, ...]:
    """The ranges that a landing writes down: not those in which nothing is new, most of the time.

    An empty one is noted once, because a snapshot waits for partitions without messages too. When a
    look is due all are noted, because a snapshot does not wait for silent ones for ever.

    Args:
        landed: by topic and partition.
        is_look_due: see `Silence`.
    """
    return tuple(
        one
        for one in plan.ranges
        if is_look_due or one.end > one.start or (one.topic, one.partition) not in landed
    )


def parts(ranges: Sequence[Range], most: int) -> Iterator[tuple[Range, ...]]:
    """Split a long plan into landings of at most so many offsets.

    Each part takes its share of every partition, so that a source's partitions advance together.
    The empty ranges come with the last part.

    >>> one = Range("t", "id", 0, 0, 5, 0, 5)
    >>> [[(part.start, part.end) for part in some] for some in parts([one], 2)]
    [[(0, 1)], [(1, 3)], [(3, 5)]]
    >>> [*parts([], 2)]
    []
    """
    total = sum(one.end - one.start for one in ranges)
    count = max(1, -(-total // most))
    for number in range(count):
        is_last = number == count - 1
        some = []
        for one in ranges:
            length = one.end - one.start
            start = one.start + length * number // count
            end = one.start + length * (number + 1) // count
            if end > start or is_last:
                some.append(replace(one, start=start, end=end))
        if some:
            yield tuple(some)
