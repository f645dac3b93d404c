"""Does a transaction follow the newest commit, with none missing between? (S14)"""

from dbt_debezium.judge.accounting import has_come_to
from dbt_debezium.judge.evidence import Evidence
from dbt_debezium.judge.markers import BEFORE_ALL
from dbt_debezium.judge.marks import Message, Truncate
from dbt_debezium.judge.traits import Traits
from dbt_debezium.judge.transaction import Transaction, log_number
from dbt_debezium.judge.verdicts import ChainEnd, HoldReason


class Predecessor:
    """The newest commit, with the logical messages that stand behind it."""

    def __init__(self, end: ChainEnd, evidence: Evidence) -> None:
        self._end = end
        self._evidence = evidence
        self._message_positions: set[str] = set()
        """Of messages that follow the commit, or a message that does."""
        self._lone_positions: set[str] = set()
        """Of messages that name themselves, so that they do not show what they follow."""

    def add_message(self, message: Message) -> None:
        """What follows a message outside of transactions names it as the commit before."""
        if message.previous_position == message.position:
            self._lone_positions.add(message.position)
        elif message.previous_position in (self._end.position, *self._message_positions):
            self._message_positions.add(message.position)

    def hold_reason(self, transaction: Transaction, traits: Traits) -> HoldReason | None:
        """Why a whole transaction cannot follow; None where it can."""
        if not self._is_followed_by(transaction, traits):
            return "missing_predecessor"
        number, place = transaction.log_number, transaction.first_place
        if not traits.counts_truncates and self._may_lack_a_truncate(number, place):
            return "unaccounted_gtid"
        # END does not count the reads of a window (S6).
        span = transaction.span(traits)
        if transaction.closes_window and not self._evidence.partitions.show_whole_window(span):
            return "unproven_reads"
        return None

    def truncate_hold_reason(self, truncate: Truncate) -> HoldReason | None:
        """Why a truncate without END cannot follow; None where it can."""
        number = log_number(truncate.log, truncate.log_number)
        if not self._is_followed_by_truncate(truncate, number):
            return "missing_predecessor"
        if self._may_lack_a_truncate(number, truncate.place):
            return "unaccounted_gtid"
        return None

    def _is_followed_by(self, transaction: Transaction, traits: Traits) -> bool:
        if traits.names_predecessor and transaction.has_changes:
            named = transaction.previous_position
            if self._is_named(named):
                return True
            if named not in self._lone_positions:
                return False
        # In several partitions offsets have no common order, but positions that END names do.
        return self._has_every_marker(transaction.end_offsets(traits)) or (
            not traits.is_ordered_by_end
            and self._evidence.markers.surround(transaction.surrounding_partitions)
        )

    def _is_named(self, position: str | None) -> bool:
        # The first transaction of a stream names none, or the snapshot.
        if self._end.position is None and position == self._end.snapshot_position:
            return True
        return position in (self._end.position, *self._message_positions)

    def _is_followed_by_truncate(self, truncate: Truncate, number: tuple[str, int] | None) -> bool:
        """Whether no END is missing in between: all numbers are known, or all markers."""
        if self._evidence.markers.have_one_order and self._evidence.log.runs_on_to(
            number, self._end
        ):
            return True
        end = truncate.following_end_offset
        return end is not None and self._has_every_marker((end,))

    def _has_every_marker(self, end_offsets: tuple[int, ...]) -> bool:
        before = self._end.end_offsets or BEFORE_ALL
        return self._evidence.markers.show_nothing_between(before, end_offsets)

    def _may_lack_a_truncate(self, number: tuple[str, int] | None, place: str | None) -> bool:
        """Whether a truncate may be missing between the commit and what stands behind it (S8)."""
        return not self._evidence.log.runs_to(number, self._end) and not has_come_to(
            self._evidence.partitions, place, self._end
        )
