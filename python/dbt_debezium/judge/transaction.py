"""Is a transaction whole? (S13)"""

from collections.abc import Iterable
from itertools import groupby, pairwise
from operator import attrgetter
from typing import TypeAlias

from dbt_debezium.judge.marks import (
    Begin,
    End,
    Event,
    LogNumber,
    Table,
    TransactionMark,
    Truncate,
    Uncounted,
    Unplaced,
)
from dbt_debezium.judge.partitions import Partitions
from dbt_debezium.judge.places import END, NOWHERE, Span
from dbt_debezium.judge.restart import is_renumbered, is_whole_by_overlap
from dbt_debezium.judge.traits import Traits
from dbt_debezium.judge.unread import UnreadMessages
from dbt_debezium.judge.verdicts import Proof
from dbt_debezium.reasons.hold_reason import HoldReason


class Counted:
    """A transaction that END counts, by all of its marks."""

    def __init__(self, marks: Iterable[TransactionMark]) -> None:
        self._begins: list[Begin] = []
        self._ends: list[End] = []
        self._tables: list[Table] = []
        self._events: list[Event] = []
        self._misplacement: HoldReason | None = None
        self.proof: Proof = "counted"
        for mark in marks:
            self.position, self.transaction_id = mark.position, mark.transaction_id
            match mark:
                case Begin():
                    self._begins.append(mark)
                case End():
                    self._ends.append(mark)
                case Table():
                    self._tables.append(mark)
                case Event():
                    self._events.append(mark)
                case Unplaced():
                    self._misplacement, self.proof = mark.reason, mark.proof

    @property
    def has_changes(self) -> bool:
        return any(table.received_count for table in self._tables)

    @property
    def has_place(self) -> bool:
        """Whether a change of it tells a place. One without any names no commit either."""
        return any(table.first_place for table in self._tables)

    @property
    def previous_position(self) -> str | None:
        """The commit that its changes name as the one before; None for none."""
        return min(
            (one.previous_position for one in self._tables if one.previous_position), default=None
        )

    @property
    def log_number(self) -> LogNumber | None:
        """The log that numbers it, and its number there."""
        numbers = [one.log_number for one in self._ends]
        numbers += [one.log_number for one in self._tables]
        return next(filter(None, numbers), None)

    @property
    def first_place(self) -> str:
        """Of its changes; without any, of the next transaction's."""
        places = (one.first_place for one in self._tables)
        return min(filter(None, places), default=self._following_place)

    @property
    def _following_place(self) -> str:
        return next((end.following_place for end in self._ends if end.following_place), END)

    @property
    def last_place(self) -> str | None:
        return max(filter(None, (one.last_place for one in self._tables)), default=None)

    def end_offsets(self, traits: Traits) -> tuple[int, ...]:
        """Offsets of its ENDs; of the first alone, where that is its place."""
        offsets = tuple(sorted(end.offset for end in self._ends if end.is_leading))
        return offsets[:1] if traits.is_ordered_by_end else offsets

    @property
    def surrounding_partitions(self) -> set[int]:
        return {partition for end in self._ends for partition in end.surrounding_partitions}

    @property
    def closes_window(self) -> bool:
        return any(table.closes_window for table in self._tables)

    @property
    def lacks_window_place(self) -> bool:
        return any(table.lacks_window_place for table in self._tables)

    @property
    def is_unanswered(self) -> bool:
        return any(table.is_unanswered for table in self._tables)

    @property
    def committed_at(self) -> int | None:
        """By its first END, else by its changes."""
        times = [one.committed_at for one in self._ends]
        times += [one.committed_at for one in self._tables]
        return next(iter(times), None)

    def span(self, traits: Traits) -> Span:
        """Where its changes stand. Its position must be known."""
        assert self.position is not None
        match traits.change_place:
            case "predecessor" if self.has_changes:
                return Span(self.previous_position or NOWHERE, self.position)
            case "predecessor":
                return Span(self.position, self.position)
            case "commit":
                return Span(self.position if self.has_changes else END, self.position)
            case "change" if self.has_changes:
                return Span(self.first_place, self.last_place or END, self._following_place)
            case "change":
                return Span(END, END, self._following_place)

    def is_seen_whole(self, traits: Traits, partitions: Partitions, unread: UnreadMessages) -> bool:
        """Whether everything that was sent of it has landed and can be read."""
        span = self.span(traits)
        return partitions.are_past(span) and not unread.may_be_of(span)

    def hold_reason(
        self, traits: Traits, partitions: Partitions, unread: UnreadMessages
    ) -> HoldReason | None:
        """Why it cannot be published by itself; None where every change of it has landed."""
        if self._misplacement is not None:
            return self._misplacement
        if not self._ends:
            return "no_end"
        if self.position is None:
            return "no_commit_position"
        if any(table.received_count < table.expected_count for table in self._tables):
            return "missing_events"
        has_surplus = any(table.received_count > table.expected_count for table in self._tables)
        if self._has_every_number() and not has_surplus:
            must_be_seen = self._begins_again()
        elif self._is_whole_by_overlap():
            must_be_seen = False
        elif self._is_renumbered_by_table():
            must_be_seen = True
        elif self._is_counted_apart():
            return "shared_topic_prefix"
        else:
            return "too_many_events" if has_surplus else "contradicting_events"
        if must_be_seen and not self.is_seen_whole(traits, partitions, unread):
            return "shared_topic_prefix" if self._is_counted_apart() else "unproven_restart"
        return self._torn_key()

    def _is_counted_apart(self) -> bool:
        """Whether two connectors end it: a restart counts no table that the whole does not."""
        return any(table.is_counted_apart for table in self._tables)

    def _has_every_number(self) -> bool:
        return all(end.has_true_sum for end in self._ends) and all(
            table.has_every_number and table.copies_agree and table.has_one_order
            for table in self._tables
        )

    def _begins_again(self) -> bool:
        """Whether a BEGIN follows another without an END between them: a restart inside it."""
        markers = sorted((*self._begins, *self._ends), key=attrgetter("partition", "offset"))
        return any(
            isinstance(one, Begin) and isinstance(following, Begin)
            for one, following in pairwise(markers)
        )

    def _is_whole_by_overlap(self) -> bool:
        expected_count = min(end.event_count for end in self._ends)
        return self._can_be_ranked() and is_whole_by_overlap(
            [one.total_orders for one in self._events], expected_count
        )

    def _is_renumbered_by_table(self) -> bool:
        """Whether the numbers of each table fit; what is missing between them leaves no trace."""
        by_table = {
            name: [one.table_orders for one in events]
            for name, events in groupby(
                sorted(self._events, key=attrgetter("data_collection")),
                key=attrgetter("data_collection"),
            )
        }
        return self._can_be_ranked() and all(
            is_renumbered(by_table.get(table.data_collection, []), table.least_expected_count)
            for table in self._tables
        )

    def _can_be_ranked(self) -> bool:
        return bool(self._events) and all(
            one.has_one_content and one.has_place for one in self._events
        )

    def _torn_key(self) -> HoldReason | None:
        """A row that leaves its key arrives under another one in the same transaction (S9)."""
        left = sum(table.key_leave_count for table in self._tables)
        entered = sum(table.key_enter_count for table in self._tables)
        return None if left == entered else "incomplete_key_change"


AnyTransaction: TypeAlias = Counted | Uncounted | Truncate
