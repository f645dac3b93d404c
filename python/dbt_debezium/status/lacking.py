"""Which partitions of a table's topics lack what a held transaction waits for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dbt_debezium.judge.traits import TRAITS
from dbt_debezium.messages.topic_names import table_suffix
from dbt_debezium.readers import Reader

PARTITIONS: Final = """
select
    progress.topic,
    progress.partition,
    progress.topic_source,
    progress.sources,
    progress.data_collections,
    progress.contiguous_offset,
    progress.last_offset,
    slice(progress.known_ranges, 1, 2) as first_ranges,
    progress.event_position,
    progress.link_position
from {schema}.cut as published
inner join {schema}.partition_progress as progress
    on published.cut_id = progress.cut_id
where published.channel = 'published'
"""
SHOWN_NUMBERS: Final = 5


@dataclass(frozen=True, slots=True)
class Lacking:
    """What has not landed of one partition."""

    topic: str
    partition: int
    what: str
    """`partition`: nothing of it has landed. `perhaps`: nothing either, and only partitions of
    other topics show that there may be one of this number. `offsets`: those in between. `end`: it
    has not landed past the transaction, and may end in a change of it."""
    first_offset: int | None = None
    """Of `offsets` the first that has not landed; of `end` the last that has."""
    last_offset: int | None = None
    """Of `offsets` the last that has not landed."""

    def entry(self) -> dict[str, Any]:
        """As `status --json` has it."""
        return {
            "topic": self.topic,
            "partition": self.partition,
            "what": self.what,
            "first_offset": self.first_offset,
            "last_offset": self.last_offset,
        }


@dataclass(frozen=True, slots=True)
class LandedTable:
    """What has landed of the topics of one table."""

    has_landed: bool
    lacking: list[Lacking]
    is_passed: bool
    """Whether each partition has come past the transaction and lacks nothing before its end."""


class LandedTopics:
    """How far the partitions of one source's table topics have landed."""

    def __init__(self, source: str, rows: Iterable[dict[str, Any]], connector: str | None) -> None:
        """Take in the rows of PARTITIONS.

        Args:
            source: those of other sources are left out.
            rows: of all sources.
            connector: of the source; None if no change of it is published.
        """
        self._traits = TRAITS.get(connector or "")
        self._topics: dict[str, dict[int, dict[str, Any]]] = {}
        for row in rows:
            if source in (*row["sources"], row["topic_source"]):
                self._topics.setdefault(row["topic"], {})[row["partition"]] = row
        self._most = max(
            (
                partition
                for found in self._topics.values()
                for partition, row in found.items()
                if row["data_collections"]
            ),
            default=0,
        )

    def of_table(self, table: str, commit_position: str | None) -> LandedTable:
        """What has landed of a table, as a transaction that lacks changes of it sees it.

        Args:
            table: as END names it.
            commit_position: of the transaction; None for a snapshot.
        """
        own = {
            topic: found
            for topic, found in self._topics.items()
            if topic.endswith(table_suffix(table))
            or any(table in row["data_collections"] for row in found.values())
        }
        # A run keeps two names of tables that share a partition, so the others may be in it too.
        may_be_shared = any(
            len(row["data_collections"]) > 1
            for found in self._topics.values()
            for row in found.values()
        )
        lacking = [one for topic, found in sorted(own.items()) for one in self._gaps(topic, found)]
        # Kafka has been asked for a partition that is known and has no offset: it is empty.
        filled = [
            row
            for found in own.values()
            for row in found.values()
            if row["last_offset"] is not None
        ]
        reached = [self._is_past(row, commit_position) for row in filled]
        if commit_position is not None:
            lacking += [
                Lacking(topic, partition, "end", row["last_offset"])
                for topic, found in sorted(own.items())
                for partition, row in sorted(found.items())
                if self._is_past(row, commit_position) is False
                and row["contiguous_offset"] == row["last_offset"]
            ]
        is_passed = bool(reached) and all(reached) and not lacking
        if is_passed:
            lacking = [
                Lacking(topic, partition, "offsets", 0, row["first_ranges"][0]["first_offset"] - 1)
                for topic, found in sorted(own.items())
                for partition, row in sorted(found.items())
                if row["first_ranges"] and row["first_ranges"][0]["first_offset"] > 0
            ]
        if is_passed and not lacking:
            lacking = [
                Lacking(topic, partition, "perhaps")
                for topic, found in sorted(own.items())
                for partition in range(max(found) + 1, self._most + 1)
            ]
        return LandedTable(bool(filled) or may_be_shared, lacking, is_passed and not lacking)

    def _gaps(self, topic: str, found: dict[int, dict[str, Any]]) -> list[Lacking]:
        gaps = []
        for partition in range(max(found) + 1):
            row = found.get(partition)
            if row is None:
                gaps.append(Lacking(topic, partition, "partition"))
            elif len(row["first_ranges"]) > 1:
                before, behind = row["first_ranges"]
                gaps.append(
                    Lacking(
                        topic,
                        partition,
                        "offsets",
                        before["last_offset"] + 1,
                        behind["first_offset"] - 1,
                    )
                )
        return gaps

    def _is_past(self, row: dict[str, Any], commit_position: str | None) -> bool | None:
        """Whether a partition holds changes of later transactions; None if nothing tells."""
        if commit_position is None:
            return None
        if row["link_position"] is not None:
            return bool(row["link_position"] >= commit_position)
        reached = row["event_position"]
        names_commit = self._traits is not None and self._traits.change_place == "commit"
        if names_commit and reached is not None:
            return bool(reached > commit_position and not reached.startswith(commit_position))
        return None


def landed_partitions(lake: Reader, schema: str) -> list[dict[str, Any]]:
    """The partitions of topics of tables, as the published run has left them."""
    return lake.rows(PARTITIONS.format(schema=schema))


def lacking_text(lacking: Sequence[dict[str, Any]]) -> str:
    """What has not landed, to stand behind a colon.

    Args:
        lacking: entries of `Lacking`.

    >>> one = {"topic": "t", "partition": 1, "first_offset": None, "last_offset": None}
    >>> lacking_text([one | {"what": "partition"}, one | {"what": "partition", "partition": 3}])
    'partitions 1 and 3 of t have not landed'
    >>> lacking_text([one | {"what": "offsets", "first_offset": 4, "last_offset": 4}])
    'offset 4 of partition 1 of t has not landed'
    >>> lacking_text([one | {"what": "end", "first_offset": 9}])
    'partition 1 of t has landed up to offset 9, not past it'
    >>> lacking_text([one | {"what": "perhaps"}])
    'all partitions of t that have landed are past it, but other topics also have partition 1'
    """
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in lacking:
        found.setdefault((one["what"], one["topic"]), []).append(one)
    return ", and ".join(_text(what, topic, some) for (what, topic), some in found.items())


def _text(what: str, topic: str, some: Sequence[dict[str, Any]]) -> str:
    one, is_single = some[0], len(some) == 1
    partitions = _numbers("partition", [each["partition"] for each in some])
    if what == "perhaps":
        return (
            f"all partitions of {topic} that have landed are past it, but other topics also have "
            f"{partitions}"
        )
    if what == "end" and is_single:
        return f"{partitions} of {topic} has landed up to offset {one['first_offset']}, not past it"
    if what == "end":
        return f"{partitions} of {topic} have not landed past it"
    if what == "offsets" and is_single:
        first, last = one["first_offset"], one["last_offset"]
        if first == last:
            return f"offset {first} of {partitions} of {topic} has not landed"
        return f"offsets {first} to {last} of {partitions} of {topic} have not landed"
    if what == "offsets":
        return f"offsets of {partitions} of {topic} have not landed"
    return f"{partitions} of {topic} {'has' if is_single else 'have'} not landed"


def _numbers(noun: str, numbers: Sequence[int]) -> str:
    """Numbers with their noun.

    >>> _numbers("partition", [1]), _numbers("partition", [0, 2, 3])
    ('partition 1', 'partitions 0, 2 and 3')
    >>> _numbers("partition", range(9))
    'partitions 0, 1, 2, 3, 4 and 4 more'
    """
    if len(numbers) == 1:
        return f"{noun} {numbers[0]}"
    shown = [str(one) for one in numbers[:SHOWN_NUMBERS]]
    if len(numbers) > SHOWN_NUMBERS:
        shown.append(f"{len(numbers) - SHOWN_NUMBERS} more")
    return f"{noun}s {', '.join(shown[:-1])} and {shown[-1]}"
