"""How far the partitions of a source have come, and what stands around what cannot be read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce

from msgspec.structs import replace

from dbt_debezium.evidence.facts import Stretch, TopicPartition
from dbt_debezium.evidence.places import most
from dbt_debezium.evidence.state import Partition, Run, Unread, merged_runs
from dbt_debezium.judge.marks import Range
from dbt_debezium.judge.traits import Traits


def compared_place(one: Stretch, traits: Traits | None, *, is_first: bool) -> str | None:
    """The place of a stretch by which partitions are compared; the highest, or the first.

    PostgreSQL: the commit that it names as the one before its own. SQL Server, Db2: its commit.
    Others, whose log holds one transaction after the other: its place in the log.
    """
    if traits and traits.names_predecessor:
        return one.previous
    if traits and traits.change_place == "change":
        return one.first_place if is_first else one.last_place
    if one.kind == "read":
        return (one.last_place or "").partition("/")[0]
    return one.commit_position


class Lines:
    """What is known of each partition: by the state, and by the offsets of this run.

    Args:
        known: of the state.
        landed: offsets that this run is given.
        quiet: partitions whose ends landings have seen, of some of which nothing has landed.
        is_complete: whether all that was sent to a topic has landed. Then an offset without a
            message is no gap: Kafka's transactions take one each.
    """

    def __init__(
        self,
        known: Iterable[Partition],
        landed: Iterable[Range],
        quiet: Iterable[TopicPartition],
        *,
        is_complete: Callable[[str], bool],
    ) -> None:
        self.known = {one.key: one for one in known}
        landed_in: dict[TopicPartition, list[Range]] = {}
        for one in landed:
            landed_in.setdefault((one.topic, one.partition), []).append(one)
        places = sorted({*self.known, *landed_in})
        self.runs: dict[TopicPartition, list[Run]] = {
            place: merged_runs(self.of(place).runs, landed_in.get(place, ())) for place in places
        }
        for place, runs in self.runs.items():
            if is_complete(place[0]):
                self.runs[place] = [reduce(Run.joined, runs)]
        self.places: list[TopicPartition] = sorted({*places, *quiet})

    def of(self, place: TopicPartition) -> Partition:
        """What the state says of a partition."""
        return self.known.get(place) or Partition(*place)

    @property
    def topics(self) -> set[str]:
        """From which something has landed."""
        return {topic for topic, _ in self.runs}

    def ranges(self) -> Iterator[Range]:
        """What has landed without a gap."""
        for place, runs in self.runs.items():
            for one in runs:
                yield Range(*place, one.first, one.last)

    def reached(
        self, place: TopicPartition, stretches: Iterable[Stretch], traits: Traits | None
    ) -> str | None:
        """How far a partition has come: the highest place before its first gap.

        Args:
            place: the partition.
            stretches: of this run in it.
            traits: of the connector.
        """
        runs = self.runs.get(place)
        found = [self.of(place).reached_by_reads]
        if runs:
            found.append(runs[0].reached)
        for one in stretches:
            if one.kind == "read" and traits and traits.change_place == "commit":
                found.append(one.commit_position)
            elif runs and one.first_offset <= runs[0].last:
                is_first = one.last_offset > runs[0].last
                found.append(compared_place(one, traits, is_first=is_first))
        return most(*found) or None


def with_neighbours(one: Unread, stretches: Iterable[Stretch], traits: Traits | None) -> Unread:
    """A message that cannot be read, with what stretches stand around it in its partition."""
    before = []
    behind: list[tuple[int, bool, Stretch]] = []
    for part in stretches:
        if part.first_offset < one.offset:
            before.append(part)
        if part.first_new is not None and part.last_new is not None and part.last_new > one.offset:
            is_first = part.first_new > one.offset
            behind.append((part.first_new if is_first else part.last_new, is_first, part))
    after = most(
        one.after,
        *(compared_place(part, traits, is_first=part.last_offset > one.offset) for part in before),
    )
    behind.sort(key=lambda some: some[:2])
    places = [
        (at, compared_place(part, traits, is_first=is_first)) for at, is_first, part in behind
    ]
    places = [some for some in places if some[1] is not None]
    positions = [
        (at, part.first_place if is_first else part.last_place) for at, is_first, part in behind
    ]
    if one.place_offset is not None:
        places.append((one.place_offset, one.place))
    if one.position_offset is not None:
        positions.append((one.position_offset, one.position))
    nothing: tuple[int | None, str | None] = (None, None)
    place = min(places, default=nothing, key=lambda some: some[0] or 0)
    position = min(positions, default=nothing, key=lambda some: some[0] or 0)
    has_before = one.has_before or bool(before)
    return Unread(
        one.offset, one.known_place, after, has_before, *place, *position, one.transaction_id
    )


def without_doubtful(one: Unread, late: Stretch) -> Unread:
    """The message, where late changes have landed before it of which its settled neighbour may
    be a copy: the message may then be anything."""
    is_doubtful = (
        late.first_offset < one.offset
        and one.position is not None
        and (late.first_place or "") <= one.position <= (late.last_place or "")
    )
    if not is_doubtful:
        return one
    return replace(one, place_offset=None, place=None, position_offset=None, position=None)


def in_a_gap(offset: int, known_place: str, runs: Sequence[Run]) -> Unread | None:
    """A message that has landed now and cannot be read, with its settled neighbours.

    Args:
        offset: of the message.
        known_place: how far the chain has come.
        runs: of its partition, as the state has them.

    Returns:
        None where something else has landed at the offset before: that counts.
    """
    if any(run.has(offset) for run in runs):
        return None
    found = Unread(offset, known_place)
    for run in runs:
        if run.last < offset:
            found.after = most(found.after, run.after)
            is_behind = run.head_offset is not None or run.after is not None
            found.has_before = found.has_before or is_behind
        elif run.head_offset is not None:
            if found.position_offset is None:
                found.position_offset, found.position = run.head_offset, run.head_position
            if found.place_offset is None and run.head_place is not None:
                found.place_offset, found.place = run.head_offset, run.head_place
    return found
