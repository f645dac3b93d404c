"""How far the partitions of a source have come, and what stands around what cannot be read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce

from msgspec.structs import replace

from dbt_debezium.evidence.facts import Rows, Stretch, TopicPartition
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
    """What is known of each partition: by the state, and by the messages of this run.

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
        """As the run before has left them."""
        landed_in: dict[TopicPartition, list[Range]] = {}
        for one in landed:
            landed_in.setdefault((one.topic, one.partition), []).append(one)
        self.now: dict[TopicPartition, Partition] = {}
        """Those from which something has landed. What is settled, Settlement adds."""
        for place in sorted({*self.known, *landed_in}):
            old = self.known.get(place) or Partition(*place)
            runs = merged_runs(old.runs, landed_in.get(place, ()))
            if is_complete(old.topic):
                runs = [reduce(Run.joined, runs)]
            tables = [*old.tables]
            self.now[place] = replace(
                old, runs=runs, tables=tables, unread=[], unplaced=[], passed=[], markers={}
            )
        self.places: list[TopicPartition] = sorted({*self.now, *quiet})

    def note(self, stretches: Rows[Stretch], shared: Iterable[TopicPartition]) -> None:
        """Take in what the messages of this run show of partitions.

        Args:
            stretches: where they lie.
            shared: partitions with messages of another source.
        """
        names = ("topic", "partition", "kind", "data_collection", "has_signals")
        for topic, partition, kind, table, has_signals in stretches.distinct(*names):
            if kind == "other":
                continue
            line = self.now[topic, partition]
            line.has_changes = True
            line.has_windows = line.has_windows or kind == "window"
            line.has_signals = line.has_signals or has_signals
            if table is not None and table not in line.tables:
                line.tables.append(table)
        for place in shared:
            self.now[place].is_shared = True

    def of(self, place: TopicPartition) -> Partition:
        """What is known of a partition, also of one from which nothing has landed."""
        return self.now.get(place) or Partition(*place)

    def ranges(self) -> Iterator[Range]:
        """What has landed without a gap. Where only another source has sent to a partition, that
        does not say how far this one has come."""
        for place, line in self.now.items():
            for one in line.runs if line.has_changes or not line.is_shared else ():
                yield Range(*place, one.first, one.last)

    def reached(self, place: TopicPartition) -> str | None:
        """How far a partition has come by what is settled: the highest place before its first
        gap."""
        line = self.of(place)
        return most(line.reached_by_reads, *(one.reached for one in line.runs[:1]))

    def reached_by(self, one: Stretch, traits: Traits | None) -> str | None:
        """Likewise by a stretch of this run."""
        if one.kind == "read" and traits and traits.change_place == "commit":
            return one.commit_position
        last = self.now[one.key].runs[0].last
        if one.first_offset > last:
            return None
        return compared_place(one, traits, is_first=one.last_offset > last)


def with_neighbours(one: Unread, stretches: Iterable[Stretch], traits: Traits | None) -> Unread:
    """A message that cannot be read, with what stretches stand around it in its partition."""
    after, has_before = one.after, one.has_before
    places = [(one.place_offset, one.place)]
    positions = [(one.position_offset, one.position)]
    for part in stretches:
        if part.first_offset < one.offset:
            has_before = True
            is_first = part.last_offset > one.offset
            after = most(after, compared_place(part, traits, is_first=is_first))
        if part.first_new is None or part.last_new is None or part.last_new <= one.offset:
            continue
        is_first = part.first_new > one.offset
        at = part.first_new if is_first else part.last_new
        place = compared_place(part, traits, is_first=is_first)
        if place is not None:
            places.append((at, place))
        positions.append((at, part.first_place if is_first else part.last_place))
    place_at, position_at = min(places, key=_offset), min(positions, key=_offset)
    return Unread(
        one.offset, one.known_place, after, has_before, *place_at, *position_at, one.transaction_id
    )


def _offset(placed: tuple[int | None, str | None]) -> tuple[bool, int]:
    """What is not known comes last."""
    return placed[0] is None, placed[0] or 0


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
