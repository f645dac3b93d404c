"""Marks of a source from its messages, as the models are to collect them. No Spark.

Messages are flattened by the product's own flattener. What makes a change itself, which copy is the
first, and what stands around a message that cannot be read follows `stg_message` and
`partition_progress`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import blocking
import wal
from groups import Group, groups_of, is_lone

from dbt_debezium.connectors.settings import DEFAULTS
from dbt_debezium.connectors.settings import Settings as ConnectorSettings
from dbt_debezium.envelope import flatten_message
from dbt_debezium.flat import Flat
from dbt_debezium.judge import ChainEnd, marks
from dbt_debezium.judge.decisions import settles
from dbt_debezium.judge.traits import TRAITS

MESSAGES_OF_END = "*.LogicalDecodingMessageMonitor$LogicalDecodingMessageId@*"
"""The name under which END counts logical messages."""


class Landed(NamedTuple):
    """One message that has landed."""

    topic: str
    partition: int
    offset: int
    flat: Flat


Identity: TypeAlias = tuple[object, ...]
Delivery: TypeAlias = tuple[str, int, int]


def flattened(message: dict[str, object], settings: ConnectorSettings = DEFAULTS) -> Landed:
    """A message as histories write it."""
    headers = [(one["key"], one["value"]) for one in message["headers"]]
    flat = flatten_message(message["topic"], message["key"], message["value"], headers, settings)
    return Landed(message["topic"], message["partition"], message["offset"], flat)


@dataclass(frozen=True)
class Settings:
    """Of a project, and what an earlier run has found out."""

    reaches_the_end: bool = False
    sends_no_truncates: bool = False
    refused_proofs: tuple[str, ...] = ()
    missing_rows: tuple[str, ...] = ()
    marker_partition_count: int = 1
    quiet_partitions: frozenset[tuple[str, int]] = frozenset()
    """Topics and partitions that are quiet for each snapshot."""


@dataclass(frozen=True)
class Known:
    """What a run knows beside messages."""

    end: ChainEnd
    """Of the chain that is published."""
    published: frozenset[str] = frozenset()
    """Ids of its transactions, and of those that were discarded or that a snapshot replaced."""
    newest: str | None = None
    """The last of them."""
    decisions: Sequence[marks.Decision] = ()
    known_places: Mapping[Delivery, str] = field(default_factory=dict)
    """Of each message that cannot be read, how far the chain had come when it landed."""
    settings: Settings = Settings()

    @property
    def settled(self) -> set[str]:
        """Transactions that operators have released or discarded."""
        return {one.transaction_id or "" for one in self.decisions if settles(one.decision)}


def collected(
    source: str,
    landed: Iterable[Landed],
    not_ingested: Sequence[str],
    *,
    is_in_order: bool = False,
) -> list[marks.Mark]:
    """The marks of a source, in their order. The arguments are those of `collector_of`."""
    return collector_of(source, landed, not_ingested, is_in_order=is_in_order).collect()


def collector_of(
    source: str,
    landed: Iterable[Landed],
    not_ingested: Sequence[str],
    *,
    is_in_order: bool = False,
    known: Known | None = None,
) -> "Collector":
    """What has landed of a source, by transaction and by partition.

    Args:
        source: its name. All messages are its own, or of another database of its connector.
        landed: each delivery once or more often, in any order.
        not_ingested: patterns of tables that END counts and that do not land.
        is_in_order: whether `watermark_sources` says that one partition has its changes in the
            order of commits.
        known: nothing by default.
    """
    deliveries = {one[:3]: one for one in landed}
    if is_in_order:
        deliveries = _placed_by_offset(deliveries)
    known_groups = groups_of(one.flat for one in deliveries.values())
    if any(is_lone(one.flat) for one in deliveries.values()):
        deliveries = {
            at: one._replace(flat=_in_group(one.flat, known_groups))
            for at, one in deliveries.items()
        }
    sent = [deliveries[at] for at in sorted(deliveries)]
    collector = Collector(source, sent, not_ingested, known or Known(ChainEnd()))
    collector.is_in_order = is_in_order
    collector.boundaries = {one.transaction_id: one.boundary_place for one in known_groups.values()}
    return collector


def _in_group(flat: Flat, known: Mapping[str, Group]) -> Flat:
    if not is_lone(flat):
        return flat
    return flat._replace(transaction_id=known[flat.transaction_id or ""].transaction_id)


@dataclass
class _Counted:
    """Changes of one transaction and table: the copies of each by what it is."""

    copies: dict[Identity, list[Flat]] = field(default_factory=lambda: defaultdict(list))


class Collector:
    """Facts and links of one source."""

    def __init__(
        self, source: str, landed: list[Landed], not_ingested: Sequence[str], known_before: Known
    ) -> None:
        self.source = source
        self.known = known_before
        self.left_out = [*not_ingested, MESSAGES_OF_END]
        self.partitions: dict[tuple[str, int], list[Landed]] = defaultdict(list)
        self.changes: dict[str, dict[str, _Counted]] = defaultdict(lambda: defaultdict(_Counted))
        self.markers: dict[str, list[Landed]] = defaultdict(list)
        self.is_copy: set[tuple[str, int, int]] = set()
        self.past: dict[str, list[Flat]] = defaultdict(list)
        """Changes that are published."""
        self.reads: dict[str, list[Landed]] = defaultdict(list)
        self.read_markers: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.messages: list[Flat] = []
        self.connector: str | None = None
        self.is_in_order = False
        self.boundaries: dict[str, str | None] = {}
        """Of each group of changes that name no transaction, what shows its end."""
        for place in known_before.settings.quiet_partitions:
            self.partitions[place] = []
        known: set[Identity] = set()
        for one in landed:
            self.partitions[one.topic, one.partition].append(one)
            flat = one.flat
            is_message = flat.kind == "logical_message" and flat.transaction_id is not None
            if flat.kind == "change" or is_message:
                self.connector = flat.connector
            if flat.kind == "change":
                identity = (flat.transaction_id, *_identity(one))
                if identity in known:
                    self.is_copy.add(one[:3])
                known.add(identity)
                if flat.snapshot is not None and flat.snapshot != "incremental":
                    place, name = flat.event_position or "", flat.data_collection or ""
                    self.read_markers[place, name].add(flat.snapshot)
                    if one[:3] not in self.is_copy:
                        self.reads[place].append(one)
                elif flat.transaction_id is None or flat.data_collection is None:
                    pass
                elif self._is_published(flat):
                    self.past[flat.transaction_id].append(flat)
                else:
                    counted = self.changes[flat.transaction_id][flat.data_collection]
                    counted.copies[identity].append(flat)
            elif flat.kind == "transaction_marker" and self._is_own(flat):
                self.markers[flat.transaction_id or ""].append(one)
            elif flat.kind == "logical_message" and flat.transaction_id is None:
                self.messages.append(flat)
        self.traits = TRAITS.get(self.connector or "")
        self.placed = self._placed()
        self._drop_published_reads()

    def _drop_published_reads(self) -> None:
        """Of snapshots that are published no marks are given."""
        end = self.known.end
        for at in [*self.reads]:
            asked = self.blocking.get(at)
            if asked is None:
                is_published = self._snapshot_position(at) <= (end.snapshot_position or "")
            else:
                is_published = (asked.followed or asked.previous or "~") < (end.position or "")
            if is_published:
                del self.reads[at]

    def _is_published(self, flat: Flat) -> bool:
        """As `stg_message` has it: by its place, or by the id where nothing else tells."""
        end = self.known.end
        link, named = end.position or end.snapshot_position, flat.previous_commit_position
        if flat.connector != "postgresql":
            if is_lone(flat):
                return (flat.event_position or "") <= (end.reached_place or "")
            # Others are known by where their END stands; more may land of what is settled.
            has_end = not flat.is_whole_transaction and flat.total_order is not None
            is_known = flat.transaction_id in self.known.published
            return is_known and (not has_end or flat.transaction_id in self.known.settled)
        if named is None:
            return flat.transaction_id in self.known.published
        if link is None or named >= link:
            return False
        is_of_new_stream = flat.transaction_id != self.known.newest and link.startswith(f"{named}+")
        is_behind_snapshot = end.position is None and (flat.event_position or "") > link
        return not is_of_new_stream and not is_behind_snapshot

    def _placed(self) -> dict[str, wal.Placed]:
        """The transactions of PostgreSQL."""
        if not self.traits or not self.traits.names_predecessor:
            return {}
        ends = {
            name: min(filter(None, (one.flat.commit_position for one in some)), default=None)
            for name, some in self.markers.items()
        }
        end = self.known.end
        return wal.placed(
            {name: self._flats(name) for name in self.changes},
            ends,
            self.known.settled,
            end.position or end.snapshot_position,
            reaches_the_end=self.known.settings.reaches_the_end,
        )

    def _is_own(self, flat: Flat) -> bool:
        """Whether a marker is surely of the source.

        BEGIN of SQL Server names no database, and another one may have the same LSN. Db2 has one
        database, which END may name.
        """
        return flat.source in (self.source, f"{self.source}.{flat.database_name}")

    def collect(self) -> list[marks.Mark]:
        facts = [
            self._source(),
            *self._ranges(),
            *self._partition_marks(),
            *self._windows(),
            *self._unlanded_tables(),
            *self._snapshot_tables(),
            *self._snapshot_partitions(),
            *self._log_ranges(),
            *self._unfinished(),
            *self.known.decisions,
            *map(marks.MissingRow, self.known.settings.missing_rows),
        ]
        links = [
            *self._transactions(),
            *self._truncates(),
            *self._uncounted(),
            *self._messages(),
            *self._snapshots(),
        ]
        return [*facts, *sorted(links, key=marks.place_of)]

    # --- rows

    def changes_of(self, transaction_id: str) -> list[Flat]:
        """Of each change of a transaction its first copy, in their order (S3)."""
        tables = self.changes.get(transaction_id, {}).values()
        firsts = [copies[0] for table in tables for copies in table.copies.values()]
        orders = {flat.total_order for flat in firsts}
        if None not in orders and len(orders) == len(firsts):
            return sorted(firsts, key=lambda flat: flat.total_order or 0)
        return sorted(firsts, key=lambda flat: (flat.event_position or "", flat.total_order or 0))

    def reads_at(self, position: str) -> list[Flat]:
        """Of the initial snapshot at a position."""
        return [
            one.flat
            for place, reads in self.reads.items()
            if self._snapshot_position(place) == position
            for one in reads
        ]

    # --- the source

    def _source(self) -> marks.Source:
        ends = [self._position(one) for one in self.markers]
        named = [one.flat.previous_commit_position for one in self._all_changes()]
        if not self.traits or not self.traits.names_predecessor:
            flats = [one.flat for one in self._all_changes()]
            named = [flat.event_position or flat.commit_position or "" for flat in flats]
        if self.traits and self.traits.is_ordered_by_end:
            # As the place of a snapshot that has seen no END.
            places = (one.flat.event_position or "" for one in self._all_changes())
            ends, named = [], [f"{_padded(0)}+{place}" for place in places]
        first = min((at for at in (*ends, *named) if at is not None), default=None)
        return marks.Source(
            self.connector,
            first,
            self.known.settings.reaches_the_end,
            self.known.settings.sends_no_truncates,
            self.known.settings.refused_proofs,
            1 + max(self._marker_partitions),
        )

    def _unfinished(self) -> Iterator[marks.Unfinished]:
        """BEGINs of PostgreSQL without END."""
        for transaction_id in self.placed:
            some = self.markers.get(transaction_id, ())
            if all(one.flat.marker == "BEGIN" for one in some):
                yield from (marks.Unfinished(one.partition, one.offset) for one in some)

    def _all_changes(self) -> Iterator[Landed]:
        """Those that were streamed."""
        for some in self.partitions.values():
            yield from (
                one for one in some if one.flat.kind == "change" and one.flat.snapshot is None
            )

    # --- partitions

    def _ranges(self) -> Iterator[marks.Range]:
        for (topic, partition), some in self.partitions.items():
            if not some:
                continue
            first = last = some[0].offset
            for one in some[1:]:
                if one.offset != last + 1:
                    yield marks.Range(topic, partition, first, last, self._is_of_markers(topic))
                    first = one.offset
                last = one.offset
            yield marks.Range(topic, partition, first, last, self._is_of_markers(topic))

    def _partition_marks(self) -> Iterator[marks.Fact]:
        for (topic, partition), some in self.partitions.items():
            for at, one in enumerate(some):
                if one.flat.kind == "quarantined" and (
                    self._is_of_table(topic) or self._is_of_markers(topic)
                ):
                    behind = [self._place(other) for other in some[:at]]
                    following = [
                        self._place(other) for other in some[at:] if other[:3] not in self.is_copy
                    ]
                    yield marks.Unreadable(
                        topic,
                        partition,
                        one.offset,
                        max((place for place in behind if place is not None), default=None),
                        next((place for place in following if place is not None), None),
                        self._is_of_markers(topic),
                        self._is_of_table(topic)
                        and not any(other.flat.kind == "change" for other in some[:at]),
                        next(
                            (
                                other.flat.event_position
                                for other in some[at:]
                                if other.flat.kind == "change" and other[:3] not in self.is_copy
                            ),
                            None,
                        ),
                        self.known.known_places.get(one[:3]),
                    )
            if self._is_of_table(topic):
                yield marks.Partition(
                    topic,
                    partition,
                    any(one.flat.kind == "change" for one in some),
                    max(filter(None, map(self._reached, _without_gap(some))), default=None),
                    any(one.flat.snapshot == "incremental" for one in some),
                    self._is_of_signals(topic),
                )

    def _is_of_table(self, topic: str) -> bool:
        return topic.removeprefix(self.source).count(".") == 2

    def _is_of_markers(self, topic: str) -> bool:
        return topic.endswith(".transaction")

    def _is_of_signals(self, topic: str) -> bool:
        return any(
            one.flat.signal_type is not None
            for (name, _), some in self.partitions.items()
            if name == topic
            for one in some
        )

    def _reached(self, one: Landed) -> str | None:
        if self.traits and self.traits.names_predecessor:
            return one.flat.previous_commit_position
        if self.traits and self.traits.change_place == "change":
            return one.flat.event_position if one.flat.kind == "change" else None
        return one.flat.commit_position

    def _place(self, one: Landed) -> str | None:
        if one.flat.kind != "change":
            return None
        if _is_read(one) and self.traits and self.traits.change_place == "commit":
            return (one.flat.event_position or "").partition("/")[0]
        return self._reached(one)

    # --- snapshots

    @cached_property
    def blocking(self) -> dict[str, blocking.Asked]:
        """What asks for a blocking snapshot, by the place of its reads."""
        if not self.traits or not self.traits.names_predecessor:
            return {}
        reads = {place: [one.flat for one in some] for place, some in self.reads.items()}
        return blocking.asked(reads, [one for some in self.changes for one in self._flats(some)])

    def _snapshots(self) -> Iterator[marks.Link]:
        for at, reads in self.reads.items():
            asked = self.blocking.get(at)
            if asked is None:
                yield marks.Snapshot(self._snapshot_position(at), at)
                continue
            followed = asked.followed or min(
                filter(
                    None,
                    (
                        one.position
                        for one in self.placed.values()
                        if one.transaction_id == asked.transaction_id
                        or (asked.previous is not None and one.previous == asked.previous)
                    ),
                ),
                default=None,
            )
            last = max((one.flat.committed_at_micros or 0 for one in reads), default=None)
            yield marks.BlockingSnapshot(followed or at, at, last, followed is not None)

    @cached_property
    def unanswered(self) -> set[str]:
        """Transactions that ask for a blocking snapshot of which no read has landed."""
        changes = [one for some in self.changes for one in self._flats(some)]
        return blocking.unanswered(self.blocking.values(), changes)

    def _windows(self) -> Iterator[marks.Window]:
        if self.traits and self.traits.names_predecessor:
            reads = (
                one.flat
                for some in self.partitions.values()
                for one in some
                if one.flat.snapshot == "incremental" and one.flat.kind == "change"
            )
            named = {one.previous_commit_position for one in reads if not self._is_published(one)}
            yield from map(marks.Window, sorted(named, key=lambda one: one or ""))

    def _unlanded_tables(self) -> Iterator[marks.UnlandedTable]:
        topics = {topic for topic, _ in self.partitions}
        landed = {one.flat.data_collection for one in self._all_changes()}
        landed |= {one.flat.data_collection for reads in self.reads.values() for one in reads}
        last: dict[str, str] = {}
        for transaction_id, some in self.markers.items():
            if transaction_id in self.known.settled:
                continue
            for name in self._expected(some):
                position = self._position(transaction_id)
                suffix = ".".join(["", *name.split(".")[-2:]])
                has_topic = any(topic.endswith(suffix) for topic in topics)
                if position is not None and name not in landed and not has_topic:
                    last[name] = max(last.get(name, ""), position)
        yield from (marks.UnlandedTable(name, position) for name, position in last.items())

    def _snapshot_tables(self) -> Iterator[marks.SnapshotTable]:
        for place, reads in self.reads.items():
            position = self._snapshot_position(place)
            counts = Counter(one.flat.data_collection or "" for one in reads)
            for name, count in counts.items():
                markers = tuple(sorted(self.read_markers[place, name] - {"true"}))
                is_blocking = self.blocking.get(place) is not None
                yield marks.SnapshotTable(position, name, count, markers, is_blocking)

    def _snapshot_partitions(self) -> Iterator[marks.SnapshotPartition]:
        for place in self.reads:
            position = self._snapshot_position(place)
            for (topic, partition), some in self.partitions.items():
                if self._is_of_table(topic):
                    offsets = _offsets_around(place, some)
                    is_quiet = (topic, partition) in self.known.settings.quiet_partitions
                    yield marks.SnapshotPartition(position, topic, partition, *offsets, is_quiet)

    # --- the chain

    def _position(self, transaction_id: str) -> str | None:
        """Where a transaction was committed."""
        if transaction_id in self.placed:
            return self.placed[transaction_id].position
        markers = self.markers.get(transaction_id, ())
        if self.traits and self.traits.is_ordered_by_end:
            offsets = [one.offset for one in markers if one.flat.marker == "END"]
            if offsets and self._marker_partitions != {0}:
                # Numbers of one log have an order that offsets of several partitions lack.
                published = self.known.end.position or _padded(0)
                return f"{published[:20]}/{self._log_position(transaction_id).partition('#')[2]}"
            if offsets:
                return _padded(min(offsets))
            if (lone := self._lone_position(transaction_id)) is not None:
                return lone
            if transaction_id in self.known.settled or self._is_uncounted(transaction_id):
                return self._position_without_end(transaction_id)
            return self._truncate_position(transaction_id)
        ends = (one.flat.commit_position for one in markers)
        position = min((at for at in ends if at is not None), default=None)
        if position is None:
            changes = self.changes.get(transaction_id, {}).values()
            flats = (flat for one in changes for copies in one.copies.values() for flat in copies)
            position = next((flat.commit_position for flat in flats), None)
        return position

    def _lone_position(self, transaction_id: str) -> str | None:
        """Behind its BEGIN, if that stays alone: another transaction has begun since (MariaDB)."""
        markers = self.markers.get(transaction_id, ())
        is_alone = markers and all(one.flat.marker == "BEGIN" for one in markers)
        if not is_alone or not self._log_position(transaction_id).startswith("domain-"):
            return None
        begin = min(one.offset for one in markers) + 1
        return None if begin >= self._last_begin else _padded(begin)

    @cached_property
    def _last_begin(self) -> int:
        """Where the newest transaction begins; 0 in several partitions, which have no order."""
        if any(one.partition for some in self.markers.values() for one in some):
            return 0
        return max(
            min(one.offset + (one.flat.marker == "BEGIN") for one in some)
            for some in self.markers.values()
        )

    def _expected(self, markers: Iterable[Landed]) -> dict[str, list[int]]:
        """Of each table that lands what each END counts, 0 where it does not."""
        ends = [one.flat.collection_counts or {} for one in markers if one.flat.marker == "END"]
        names = {name for counts in ends for name in counts}
        return {
            name: [counts.get(name, 0) for counts in ends]
            for name in names
            if not any(fnmatchcase(name, pattern) for pattern in self.left_out)
        }

    def _transactions(self) -> Iterator[marks.TransactionMark]:
        for transaction_id in sorted(self.markers.keys() | self.changes.keys()):
            if self._is_truncate(transaction_id) or self._is_uncounted(transaction_id):
                continue
            if self._is_begun_before(transaction_id):
                continue
            position = self._position(transaction_id)
            markers = self.markers.get(transaction_id, [])
            misplacement = self._misplacement(transaction_id, position)
            if misplacement is not None:
                position = misplacement.position
                yield misplacement
            for one in markers:
                if one.flat.marker == "BEGIN":
                    yield marks.Begin(position, transaction_id, one.partition, one.offset)
                else:
                    count, counts = one.flat.event_count or 0, one.flat.collection_counts or {}
                    is_true = count == sum(counts.values())
                    yield marks.End(
                        position,
                        transaction_id,
                        one.partition,
                        one.offset,
                        count,
                        is_true,
                        *_log_number(one.flat),
                        tuple(self._surrounding_partitions(position)),
                        self._following_place(position),
                        one.flat.committed_at_micros,
                    )
            yield from self._tables(position, transaction_id, markers)

    def _is_begun_before(self, transaction_id: str) -> bool:
        """Whether nothing of it has landed but BEGINs, and it is published."""
        markers = self.markers.get(transaction_id, ())
        return (
            transaction_id in self.known.published
            and transaction_id not in self.changes
            and all(one.flat.marker == "BEGIN" for one in markers)
        )

    def _misplacement(self, transaction_id: str, position: str | None) -> marks.Unplaced | None:
        """Why its END tells no place, where END is the order."""
        if self._lone_position(transaction_id) is not None:
            return marks.Unplaced(position, transaction_id, "end_not_sent")
        if not self.traits or not self.traits.is_ordered_by_end or position is None:
            return None
        published = self.known.end.position or ""
        place = max((flat.event_position or "" for flat in self._flats(transaction_id)), default="")
        logs = {self._log_position(one).partition("#")[0] for one in self.markers}
        if self._marker_partitions != {0} and len(logs) > 1:
            return marks.Unplaced(None, transaction_id, "unordered_partitions")
        is_new = place > (self.known.end.reached_place or "")
        if is_new and "+" not in position and position <= published:
            known = f"{published.partition('+')[0]}+{place}"
            return marks.Unplaced(known, transaction_id, "topic_made_again")
        return None

    def _tables(
        self, position: str | None, transaction_id: str, markers: list[Landed]
    ) -> Iterator[marks.TransactionMark]:
        expected = self._expected(markers)
        changes = self.changes.get(transaction_id, {})
        orders = [flat.total_order for flat in self.changes_of(transaction_id)]
        has_one_order = len({*orders} - {None}) == len(orders)
        tables = [
            replace(
                _table(position, transaction_id, name, expected.get(name, [0]), changes.get(name)),
                has_one_order=has_one_order,
                is_unanswered=transaction_id in self.unanswered,
            )
            for name in sorted(expected.keys() | changes.keys())
        ]
        yield from tables
        if has_one_order and all(
            one.has_every_number and one.copies_agree and one.received_count == one.expected_count
            for one in tables
        ):
            return
        events = [(name, copies) for name, one in changes.items() for copies in one.copies.values()]
        for name, copies in sorted(events, key=lambda event: _log_order(event[1])):
            yield marks.Event(
                position,
                transaction_id,
                name,
                tuple(sorted({flat.total_order or 0 for flat in copies})),
                tuple(sorted({flat.data_collection_order or 0 for flat in copies})),
                len({(flat.before, flat.after) for flat in copies}) == 1,
                all(flat.event_position is not None for flat in copies),
            )

    def _surrounding_partitions(self, position: str | None) -> Iterator[int]:
        """Those of several in which two neighbouring markers stand around a position."""
        partitions = self._marker_partitions
        for partition in partitions if position and partitions != {0} else ():
            ends = {-1: ""} | {
                one.offset: self._position(transaction_id)
                for transaction_id, some in self.markers.items()
                for one in some
                if one.partition == partition
            }
            for offset, after in ends.items():
                before = ends.get(offset - 1)
                if before is not None and after is not None and before < position <= after:
                    yield partition
                    break

    @cached_property
    def _marker_partitions(self) -> set[int]:
        """Of the transaction topic; only the first, before anything of it has landed."""
        landed = {at[1] for at in self.partitions if self._is_of_markers(at[0])} or {0}
        return landed | {*range(self.known.settings.marker_partition_count)}

    # --- MySQL

    def _flats(self, transaction_id: str) -> list[Flat]:
        changes = self.changes.get(transaction_id, {}).values()
        return [flat for one in changes for copies in one.copies.values() for flat in copies]

    def _first_place(self, transaction_id: str) -> str | None:
        places = (flat.event_position for flat in self._flats(transaction_id))
        return min((at for at in places if at is not None), default=None)

    def _log_position(self, transaction_id: str) -> str:
        flats = [
            *self._flats(transaction_id),
            *(one.flat for one in self.markers.get(transaction_id, ())),
        ]
        return next((flat.log_position for flat in flats if flat.log_position), "")

    def _ended(self) -> list[tuple[str, str]]:
        """Position and id of each transaction with an END, in their order."""
        return sorted(
            (self._position(one) or "", one)
            for one, some in self.markers.items()
            if any(marker.flat.marker == "END" for marker in some)
        )

    def _following_place(self, position: str | None) -> str | None:
        if position is None or not self.traits or not self.traits.is_ordered_by_end:
            return None
        following = (self._first_place(one) for at, one in self._ended() if at > position)
        return next((place for place in following if place is not None), None)

    def _truncate_position(self, transaction_id: str) -> str | None:
        """Behind the last END before it in its log; None of what is no truncate by itself."""
        flats = self._flats(transaction_id)
        if not any(flat.is_whole_transaction for flat in flats):
            return None
        return self._position_without_end(transaction_id)

    def _position_without_end(self, transaction_id: str) -> str | None:
        """Behind the last END before it in its log; None where no change of it has landed."""
        flats = self._flats(transaction_id)
        if not flats:
            return None
        log_position = self._log_position(transaction_id)
        log = log_position.partition("#")[0]
        before = [
            position
            for position, one in self._ended()
            if self._log_position(one).startswith(f"{log}#")
            and self._log_position(one) < log_position
        ]
        place = max(flat.event_position or "" for flat in flats)
        published = self.known.end.position or self.known.end.snapshot_position or _padded(0)
        return f"{max([*before, published.partition('+')[0]])}+{place}"

    def _is_truncate(self, transaction_id: str) -> bool:
        """Or a BEGIN that stays alone, which may be that of one."""
        flats = self._flats(transaction_id)
        if not flats:
            return self._lone_position(transaction_id) is not None
        return any(flat.is_whole_transaction for flat in flats)

    def _truncates(self) -> Iterator[marks.Link]:
        logs = {self._log_position(one).partition("#")[0] for one in self.markers}
        for transaction_id in sorted(self.changes.keys() | self.markers.keys()):
            position = self._position(transaction_id)
            is_uncounted = self._is_uncounted(transaction_id)
            if not self._is_truncate(transaction_id) or position is None or is_uncounted:
                continue
            flats = self._flats(transaction_id)
            markers = self.markers.get(transaction_id, [])
            if not markers and len(logs) > 1 and any(log.startswith("domain-") for log in logs):
                yield marks.Unplaced(position, transaction_id, "unplaced_truncate")
                continue
            flat = flats[0] if flats else markers[0].flat
            ends = (int(at) for at, _ in self._ended() if at > position)
            known = {one.offset for some in self.markers.values() for one in some}
            yield marks.Truncate(
                position,
                transaction_id,
                flat.event_position if flats else self._following_place(position),
                *_log_number(flat),
                next(ends, None),
                has_landed=bool(flats),
                has_next_marker=any(one.offset + 1 in known for one in markers),
            )

    def _is_uncounted(self, transaction_id: str) -> bool:
        """Whether nothing counts its changes, which have no transaction block either."""
        flats = self._flats(transaction_id)
        if self.traits is None or not flats:
            return False
        if self.connector == "cdl":
            return True
        if flats[0].is_whole_transaction:
            return self._has_blockless
        ends = (one.flat.marker == "END" for one in self.markers.get(transaction_id, ()))
        return all(flat.total_order is None for flat in flats) and not any(ends)

    @cached_property
    def _has_blockless(self) -> bool:
        """Whether a change has no transaction block, so that truncates are counted by none."""
        changes = [flat for one in self.changes for flat in self._flats(one)]
        return any(flat.total_order is None for flat in changes)

    def _uncounted(self) -> Iterator[marks.Link]:
        for transaction_id in self.changes:
            if not self._is_uncounted(transaction_id) or transaction_id in self.placed:
                continue
            places = (flat.event_position for flat in self._flats(transaction_id))
            place = max((at for at in places if at is not None), default="")
            is_certain = self.is_in_order or self.connector != "cdl"
            proof: Literal["watermark", "none"] = "watermark" if is_certain else "none"
            if self.is_in_order and len({one[:2] for one in self._all_changes()}) > 1:
                at = f"{place}/{transaction_id}"
                yield marks.Unplaced(at, transaction_id, "several_partitions", proof)
            else:
                position = place if self.connector == "cdl" else self._position(transaction_id)
                yield marks.Uncounted(
                    position,
                    transaction_id,
                    place,
                    proof,
                    is_group=transaction_id in self.boundaries,
                    boundary_place=self.boundaries.get(transaction_id),
                )
        for one in self.placed.values():
            if one.is_uncounted:
                flats = self.changes_of(one.transaction_id)
                left = sum(flat.new_row_key is not None for flat in flats)
                yield marks.Uncounted(
                    one.position,
                    one.transaction_id,
                    one.named or "",
                    "watermark",
                    one.previous,
                    one.older_position,
                    has_torn_key=left != sum(flat.old_row_key is not None for flat in flats),
                    closes_window=any(
                        flat.signal_type == "snapshot-window-close" for flat in flats
                    ),
                    is_unanswered=one.transaction_id in self.unanswered,
                    committed_at=max((flat.committed_at_micros or 0 for flat in flats), default=0),
                    has_known_end=one.has_known_end,
                )

    def _snapshot_position(self, place: str) -> str:
        """Its place; where END is the order, behind the transactions that it has seen."""
        if not self.traits or not self.traits.is_ordered_by_end:
            return place
        seen = [
            position
            for position, one in self._ended()
            if (flats := [*self._flats(one), *self.past.get(one, ())])
            and max(flat.event_position or "" for flat in flats) <= place
        ]
        return f"{max(seen, default=_padded(0))}+{place}"

    def _log_ranges(self) -> Iterator[marks.LogRange]:
        numbers: dict[str, set[int]] = defaultdict(set)
        for some in self.partitions.values():
            for one in some:
                flat = one.flat
                if (
                    flat.marker == "END"
                    or flat.kind == "schema_change"
                    or flat.is_whole_transaction
                ):
                    log, number = _log_number(flat)
                    if log is not None and number is not None:
                        numbers[log].add(number)
        for log, known in numbers.items():
            for first in sorted(known):
                if first - 1 not in known:
                    last = next(
                        at for at in range(first, first + len(known)) if at + 1 not in known
                    )
                    yield marks.LogRange(log, first, last)

    def _messages(self) -> Iterator[marks.Message]:
        known = {(one.event_position, one.previous_commit_position): one for one in self.messages}
        for (position, previous), one in known.items():
            if position is not None:
                yield marks.Message(position, previous, one.committed_at_micros)


def _placed_by_offset(deliveries: dict[Delivery, Landed]) -> dict[Delivery, Landed]:
    """Changes at the highest LSN up to there and their offset; copies nowhere (S22)."""
    placed = {}
    highest = ""
    known: set[Identity] = set()
    for at in sorted(deliveries):
        one = deliveries[at]
        position = None
        if one.flat.kind == "change":
            identity = (one.flat.transaction_id, *_identity(one))
            if identity not in known:
                highest = max(highest, one.flat.event_position or "")
                position = f"{highest}/{_padded(one.offset)}"
            known.add(identity)
        placed[at] = one._replace(flat=one.flat._replace(event_position=position))
    return placed


def _without_gap(some: Sequence[Landed]) -> Iterator[Landed]:
    """The messages of a partition up to the first gap: behind it, nothing shows what is missing."""
    for at, one in enumerate(some):
        if one.offset != some[0].offset + at:
            return
        yield one


def _identity(one: Landed) -> Identity:
    """What makes a change itself within its transaction (S1)."""
    flat = one.flat
    if flat.row_key is None and flat.snapshot is not None:
        return one[:3]
    what = (flat.schema_name, flat.table_name, flat.operation, flat.event_position)
    if flat.row_key is None:
        return (*what, flat.total_order, flat.before, flat.after)
    if flat.snapshot is not None:
        return (*what, flat.row_key, flat.after)
    return (*what, flat.row_key)


def _log_order(copies: Sequence[Flat]) -> tuple[str, int]:
    return copies[0].event_position or "", min(flat.total_order or 0 for flat in copies)


def _table(
    position: str | None,
    transaction_id: str,
    name: str,
    expected: Sequence[int],
    counted: _Counted | None,
) -> marks.Table:
    copies = [*counted.copies.values()] if counted else []
    orders = {flat.data_collection_order for some in copies for flat in some}
    contents = [
        {(flat.before, flat.after, flat.total_order, flat.data_collection_order) for flat in some}
        for some in copies
    ]
    named = {flat.previous_commit_position for some in copies for flat in some}
    return marks.Table(
        position,
        transaction_id,
        name,
        max(expected, default=0),
        min(expected, default=0),
        len(copies),
        orders == {*range(1, len(copies) + 1)},
        all(len(one) == 1 for one in contents),
        min((at for at in named if at is not None), default=None),
        sum(some[0].operation == "d" and some[0].new_row_key is not None for some in copies),
        sum(some[0].operation == "c" and some[0].old_row_key is not None for some in copies),
        any(flat.signal_type == "snapshot-window-close" for some in copies for flat in some),
        min((flat.event_position or "" for some in copies for flat in some), default=None),
        max((flat.event_position or "" for some in copies for flat in some), default=None),
    )


def _offsets_around(
    position: str, some: Sequence[Landed]
) -> tuple[int | None, int | None, int | None, int | None, int | None]:
    """The offsets of a `SnapshotPartition`."""
    readable = [one for one in some if one.flat.kind not in ("quarantined", "tombstone")]
    first_offset = min((one.offset for one in readable), default=None)
    reads = [
        one.offset for one in readable if _is_read(one) and one.flat.event_position == position
    ]
    if reads:
        newer = (one.offset for one in readable if one.offset > reads[-1] and not _is_read(one))
        older = (one.offset for one in readable if one.offset < reads[0])
        return reads[0], reads[-1], max(older, default=None), min(newer, default=None), first_offset
    passing = [
        one.offset
        for one in readable
        if one.flat.kind == "change"
        and one.flat.snapshot != "incremental"
        and (one.flat.event_position or "") > position
    ]
    newer_offset = min(passing, default=None)
    older = (
        one.offset
        for one in readable
        if one.flat.kind == "change"
        and one.flat.snapshot != "incremental"
        and (newer_offset is None or one.offset < newer_offset)
    )
    return None, None, max(older, default=None), newer_offset, first_offset


def _padded(offset: int) -> str:
    return str(offset).zfill(20)


def _log_number(flat: Flat) -> tuple[str | None, int | None]:
    """The log that numbers every transaction and statement, and the number there."""
    log, _, number = (flat.log_position or "").partition("#")
    return (log, int(number)) if number.isdigit() and log not in ("scn", "commit") else (None, None)


def _is_read(one: Landed) -> bool:
    return one.flat.snapshot not in (None, "incremental")
