"""What the judge is given of the links of a chain: transactions, snapshots and lone messages."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from heapq import merge
from itertools import pairwise
from operator import attrgetter
from typing import Literal

from dbt_debezium.evidence.by_end import Surrounding
from dbt_debezium.evidence.facts import Change, Control, Count, Marker
from dbt_debezium.evidence.places import least, log_number, most
from dbt_debezium.evidence.source import SourceEvidence
from dbt_debezium.evidence.transactions import Transaction
from dbt_debezium.judge import marks
from dbt_debezium.judge.places import PAST_ALL


class LinkMarks:
    """The marks of links.

    Args:
        source: what is known of it.
    """

    def __init__(self, source: SourceEvidence) -> None:
        self._source = source

    def collected(self) -> Iterator[marks.Link]:
        """All of them, in the order of the chain."""
        few = [*self._messages(), *self._snapshots()]
        yield from merge(self._links(), sorted(few, key=marks.place_of), key=marks.place_of)

    def _messages(self) -> Iterator[marks.Message]:
        """Logical messages outside of transactions."""
        found: dict[str, Control] = {}
        for one in self._source.facts.controls:
            if one.kind == "message" and one.position is not None:
                known = found.get(one.position)
                if known is None or (known.previous is None and one.previous is not None):
                    found[one.position] = one
        for position, one in found.items():
            yield marks.Message(position, one.previous, one.committed_at)

    def _links(self) -> Iterator[marks.Link]:
        """Of transactions, one at a time, in the order of the chain."""
        for one, counts, markers in self._source.sent.in_order():
            if one.is_uncounted:
                yield self._uncounted(one, counts)
            elif self._source.is_truncate(one):
                if one.position is not None:
                    yield self._truncate(one, markers)
            elif one.has_changes or one.has_end or one.name not in self._source.known.settled:
                yield self._counted(one, counts, markers)

    def _counted(
        self, one: Transaction, counts: list[Count], markers: list[Marker]
    ) -> marks.Counted:
        source, position = self._source, one.stands_at
        if one.has_end:
            # A table that is said never to land, and does, is not waited for either.
            counts = [
                count for count in counts if not source.sent.never_lands(count.data_collection)
            ]
        odd = source.sent.odd_changes(one.name)
        tables = tuple(self._tables(counts, markers, odd))
        ends = [marker for marker in markers if marker.is_end]
        return marks.Counted(
            position,
            one.name,
            tables,
            tuple(
                marks.Event(
                    change.data_collection,
                    change.total_orders,
                    change.table_orders,
                    change.has_one_content,
                    change.place is not None,
                )
                for change in odd
            ),
            has_end=bool(ends),
            event_count=min((end.event_count for end in ends), default=0),
            has_true_sum=all(end.event_count == sum(end.counts.values()) for end in ends),
            end_offsets=tuple(sorted(end.offset for end in ends if source.is_leading(end.topic))),
            begins_again=_begins_again(markers),
            surrounding_partitions=self._surrounding.partitions(position) if ends else (),
            following_place=(source.ends.following_place(position) if ends else None) or PAST_ALL,
            previous_position=None
            if one.previous is None
            else least(*(count.previous for count in counts)),
            first_change=least(*(count.first_place for count in counts)),
            last_place=most(*(count.last_place for count in counts)),
            log_number=log_number(one.log_position),
            has_one_order=not tables or one.name not in source.facts.doubly_ordered,
            closes_window=any(count.closes_window for count in counts),
            lacks_window_place=self._lacks_window_place(one, counts),
            is_unanswered=bool(tables) and one.name in source.unanswered,
            committed_at=one.ended_at or one.committed_at or None,
            misplacement=one.misplacement,
        )

    @cached_property
    def _surrounding(self) -> Surrounding:
        if self._source.marker_partitions == {0}:
            return Surrounding({}, {})
        positions: dict[int, dict[int, str]] = defaultdict(dict)
        for (topic, partition), some in self._source.marker_positions(self._source.sent).items():
            if self._source.is_leading(topic):
                positions[partition] |= some
        return Surrounding(positions, self._source.marker_ends())

    def _tables(
        self, counts: list[Count], markers: list[Marker], odd: list[Change]
    ) -> Iterator[marks.Table]:
        expected = self._source.sent.expected(markers)
        by_table: dict[str, list[Count]] = defaultdict(list)
        for count in counts:
            by_table[count.data_collection].append(count)
        apart = counted_apart(marker for marker in markers if marker.is_end)
        for name in sorted({*expected, *by_table}):
            some = by_table.get(name, [])
            received = sum(count.received for count in some)
            is_regular = all(count.is_regular for count in some)
            if len(some) > 1:
                # One table's changes that name several predecessors are counted apart.
                orders = {
                    order
                    for change in odd
                    if change.data_collection == name
                    for order in change.table_orders
                }
                has_block = all(count.has_block for count in some)
                is_regular = has_block and orders == {*range(1, received + 1)}
            yield marks.Table(
                name,
                max(expected.get(name, [0])),
                min(expected.get(name, [0])),
                received,
                is_regular,
                all(count.copies_agree for count in some),
                sum(count.key_leaves for count in some),
                sum(count.key_enters for count in some),
                name in apart,
            )

    def _lacks_window_place(self, one: Transaction, counts: list[Count]) -> bool:
        """Whether reads name a place in the log by which they belong to the transaction that closes
        their window, and it tells none."""
        closes = any(count.closes_window for count in counts)
        return closes and one.log_position is None and self._has_placed_windows

    @cached_property
    def _has_placed_windows(self) -> bool:
        windows = self._source.facts.stretches.where("kind", "window")
        return self._source.is_ordered_by_end and len(windows) > 0

    def _truncate(self, one: Transaction, markers: list[Marker]) -> marks.Link:
        position = one.stands_at
        assert position is not None  # the caller asks
        if one.misplacement is not None:
            return marks.Counted(position, one.name, misplacement=one.misplacement)
        behind = {marker.offset + 1 for marker in markers}
        first = one.first if one.has_changes else self._source.ends.following_place(position)
        return marks.Truncate(
            position,
            one.name,
            first or PAST_ALL,
            first if one.has_changes else None,
            log_number(one.log_position),
            self._source.ends.following_end(position),
            has_landed=one.has_changes,
            has_next_marker=not behind.isdisjoint(self._marker_offsets),
        )

    @cached_property
    def _marker_offsets(self) -> set[int]:
        return {
            one.offset
            for one in self._source.sent.kept_markers()
            if self._source.is_leading(one.topic)
        }

    def _uncounted(self, one: Transaction, counts: list[Count]) -> marks.Link:
        source, position = self._source, one.stands_at
        is_certain = source.is_in_order or source.sends_markers
        proof: Literal["watermark", "none"] = "watermark" if is_certain else "none"
        if one.misplacement is not None:
            return marks.Counted(position, one.name, misplacement=one.misplacement, proof=proof)
        if not source.names_predecessor:
            return marks.Uncounted(
                position,
                one.name,
                one.last or "",
                proof,
                lacks_window_place=self._lacks_window_place(one, counts),
                is_group=one.name in source.groups.boundary_of,
                boundary_place=source.groups.boundary_of.get(one.name),
            )
        left = sum(count.key_leaves for count in counts)
        return marks.Uncounted(
            position,
            one.name,
            one.named or "",
            proof,
            one.previous,
            one.older,
            has_torn_key=left != sum(count.key_enters for count in counts),
            closes_window=any(count.closes_window for count in counts),
            is_unanswered=one.name in source.unanswered,
            committed_at=one.committed_at,
            has_known_end=one.has_known_end,
            last_change=one.last,
        )

    def _snapshots(self) -> Iterator[marks.Link]:
        for at, reads in self._source.reads.items():
            blocking = self._source.asked.get(at)
            if blocking is None:
                yield marks.Snapshot(self._source.snapshot_positions[at], at)
                continue
            followed = blocking.followed or least(
                *(
                    one.position
                    for one in self._source.sent.values()
                    if one.name == blocking.transaction_id
                    or (blocking.previous is not None and one.previous == blocking.previous)
                )
            )
            last_at = max(one.last_at for one in reads)
            yield marks.BlockingSnapshot(followed or at, at, last_at, followed is not None)


def _begins_again(markers: Iterable[Marker]) -> bool:
    """Whether a BEGIN follows another without an END between them."""
    some = sorted(markers, key=attrgetter("partition", "offset"))
    return any(not (one.is_end or following.is_end) for one, following in pairwise(some))


def counted_apart(markers: Iterable[Marker]) -> frozenset[str]:
    """Tables that one END counts and another does not, where that counts others: two connectors
    have one prefix, and both end the transaction.

    >>> end = Marker("t", 0, 0, None, None, True, "1", None, None, 1, {"a": 1}, None)
    >>> sorted(counted_apart([end, end._replace(counts={"b": 1})]))
    ['a', 'b']
    >>> counted_apart([end, end._replace(counts={"a": 1, "b": 1})])
    frozenset()
    """
    counted = {frozenset(name for name, count in one.counts.items() if count) for one in markers}
    return frozenset[str]().union(
        *(one ^ other for one in counted for other in counted if one - other and other - one)
    )
