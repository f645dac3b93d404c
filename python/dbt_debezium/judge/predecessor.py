"""Does a transaction follow the newest commit, with none missing between? (S14)"""

from copy import copy
from dataclasses import replace

from dbt_debezium.judge.decisions import Decided
from dbt_debezium.judge.evidence import Evidence
from dbt_debezium.judge.marks import AnyTransaction, Counted, Message, Truncate, Uncounted
from dbt_debezium.judge.places import NOWHERE, UNKNOWN_END, Span, base_of, epoch_of, place_in
from dbt_debezium.judge.traits import Traits
from dbt_debezium.judge.transaction import has_changes, linking_offsets, span_of
from dbt_debezium.judge.verdicts import ChainEnd
from dbt_debezium.reasons.hold_reason import HoldReason


class Predecessor:
    """The link before the one that is judged, published or held, with the logical messages
    after it."""

    def __init__(self, end: ChainEnd, evidence: Evidence) -> None:
        self.end = end
        self._evidence = evidence
        self._message_positions: set[str] = set()
        """Of messages that follow the commit, or a message that does."""
        self._lone_positions: set[str] = set()
        """Of messages that name themselves, so that they do not show what they follow."""

    def in_stream_of(self, position: str) -> "Predecessor":
        """What a link at a position sees of it: an epoch opens a new stream."""
        if self.end.position is None or epoch_of(self.end.position) == epoch_of(position):
            return self
        seen = copy(self)
        seen.end = replace(self.end, position=None, snapshot_position=None)
        return seen

    def add_message(self, message: Message) -> bool:
        """What follows a message outside of transactions names it as the commit before.

        Returns:
            whether the message follows the newest commit, or one that does.
        """
        if message.previous_position == message.position:
            self._lone_positions.add(message.position)
            return False
        follows = self.in_stream_of(message.position)._is_named(message.previous_position)
        if follows:
            self._message_positions.add(message.position)
        return follows

    def hold_reason(
        self, transaction: AnyTransaction, traits: Traits, decided: Decided
    ) -> HoldReason | None:
        """Why a transaction that is complete cannot follow; None where it can."""
        reason = None if decided is not None else self._lacks(transaction, traits)
        if reason is not None:
            return reason
        if not isinstance(transaction, Uncounted) and self._may_lack_a_truncate(
            transaction, traits
        ):
            return "unaccounted_gtid"
        if isinstance(transaction, Truncate):
            return None
        if self._closes_window(transaction) and self._may_lack_reads(span_of(transaction, traits)):
            return "snapshot_unconfirmed"
        if transaction.lacks_window_place:
            return "no_commit_position"
        return "snapshot_incomplete" if transaction.is_unanswered else None

    def _lacks(self, transaction: AnyTransaction, traits: Traits) -> HoldReason | None:
        """Why something may be missing before a transaction."""
        match transaction:
            case Truncate():
                follows = self._is_followed_by_truncate(transaction)
            case Uncounted():
                follows = self._is_followed_by_uncounted(transaction, traits)
            case Counted():
                follows = self._is_followed_by(transaction, traits)
        if follows:
            return None
        is_behind = (
            isinstance(transaction, Counted)
            and not (traits.names_predecessor and transaction.first_change)
            and not self._evidence.markers.have_one_order
        )
        return "partition_behind" if is_behind else "missing_predecessor"

    def _closes_window(self, transaction: Counted | Uncounted) -> bool:
        """Whether reads name the same commit as it, or as it would if a change of it landed."""
        if transaction.closes_window:
            return True
        if has_changes(transaction):
            return transaction.previous_position in self._evidence.facts.windows
        return any(self._is_named(one) for one in self._evidence.facts.windows)

    def _is_followed_by(self, transaction: Counted, traits: Traits) -> bool:
        if traits.names_predecessor and transaction.first_change:
            named = transaction.previous_position
            if self._is_named(named):
                return True
            if named not in self._lone_positions:
                return False
        # In several partitions offsets have no common order, but positions that END names do, and
        # so do the numbers of a log. At the end of what was sent, an offset that lacks is one that
        # compaction has taken: then each number of the log is still there.
        markers = self._evidence.markers
        counts_numbers = not markers.have_one_order or self._evidence.facts.reaches_the_end
        return (
            self._has_every_marker(linking_offsets(transaction, traits))
            or markers.surround(transaction.surrounding_partitions)
            or (
                counts_numbers
                and self.end.position is not None
                and self._evidence.log.runs_on_to(transaction.log_number, self.end)
            )
        )

    def _is_followed_by_uncounted(self, transaction: Uncounted, traits: Traits) -> bool:
        """Whether a transaction names the commit, or is the first of a stream. Where changes name
        none, nothing else shows what it follows: what all partitions have left is complete."""
        if not traits.names_predecessor:
            return True
        is_first = self.end.position is None and (
            transaction.previous_position not in self._message_positions | self._lone_positions
        )
        begins = is_first and self._begins_with(transaction)
        return begins or self._precedes(transaction, is_first=is_first)

    def _begins_with(self, transaction: Uncounted) -> bool:
        """Whether it is the first of a stream. Between it and the snapshot before it nothing stands
        that has landed; what it names may have changed no table."""
        base = self.end.snapshot_position or NOWHERE
        named = transaction.previous_position
        return (transaction.older_position or NOWHERE) <= base and (
            named is None
            or (base <= named and base != NOWHERE and epoch_of(base) == epoch_of(named))
        )

    def _precedes(self, transaction: Uncounted, *, is_first: bool) -> bool:
        named = transaction.previous_position
        if is_first:
            return named is not None and named == self.end.position_before
        # What names a message that names itself may follow anything: nothing before it waits.
        newest = self.end.newest_position or NOWHERE
        is_next = (transaction.older_position or NOWHERE) <= newest
        return self._is_named(named) or (named in self._lone_positions and is_next)

    def _is_named(self, position: str | None) -> bool:
        end = self.end.position
        # The first transaction of a stream names none, or the snapshot. After a snapshot of
        # another connector it names the one before that, so nothing stands in between.
        if end is None and position == self.end.snapshot_position:
            return True
        if end is None and position is not None and position == self.end.position_before:
            return True
        if end is not None and end.endswith(UNKNOWN_END) and position is not None:
            return position > end
        # What landed too late stands behind a commit, which the next one names.
        if end is not None and not place_in(end):
            end = base_of(end)
        return position in (end, *self._message_positions)

    def _is_followed_by_truncate(self, truncate: Truncate) -> bool:
        """Whether no END is missing in between: all numbers are known, or all markers."""
        if self._evidence.facts.reaches_the_end:
            return True
        # After a BEGIN alone its END may be missing.
        is_alone = not truncate.has_landed and not truncate.has_next_marker
        if not is_alone and self._evidence.log.runs_on_to(truncate.log_number, self.end):
            return True
        end = truncate.following_end_offset
        return end is not None and self._has_every_marker((end,))

    def _has_every_marker(self, end_offsets: tuple[int, ...]) -> bool:
        return self._evidence.markers.show_nothing_between(self.end.end_offsets, end_offsets)

    def _may_lack_a_truncate(self, transaction: Counted | Truncate, traits: Traits) -> bool:
        """Whether a truncate may be missing between the commit and what stands after it (S8)."""
        evidence = self._evidence
        is_counted = traits.counts_truncates and isinstance(transaction, Counted)
        if is_counted or evidence.facts.sends_no_truncates:
            return False
        if evidence.log.runs_to(transaction.log_number, self.end):
            return False
        if isinstance(transaction, Truncate):
            place = transaction.first_place
        else:
            place = transaction.first_change or transaction.following_place
        came_from = self.end.reached_place or NOWHERE
        has_come = evidence.partitions.have_reached(place)
        return not has_come or evidence.unread.may_stand_between(came_from, place)

    def _may_lack_reads(self, span: Span) -> bool:
        """Whether a read of the window that closes in the span may be missing: END counts none."""
        has_left = self._evidence.partitions.have_left_window(span)
        return not has_left or self._evidence.unread.may_be_of(span)
