"""Does a transaction follow the newest commit, with none missing between? (S14)"""

from dbt_debezium.judge.markers import BEFORE_ALL, Markers
from dbt_debezium.judge.marks import Message, Truncate
from dbt_debezium.judge.traits import Traits
from dbt_debezium.judge.transaction import Transaction
from dbt_debezium.judge.verdicts import ChainEnd


class Predecessor:
    """The newest commit, with the logical messages that stand behind it."""

    def __init__(self, end: ChainEnd) -> None:
        self._end = end
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

    def is_followed_by(self, transaction: Transaction, traits: Traits, markers: Markers) -> bool:
        """Whether a transaction is the next one."""
        if traits.names_predecessor and transaction.has_changes:
            named = transaction.previous_position
            if self._is_named(named):
                return True
            if named not in self._lone_positions:
                return False
        return markers.show_nothing_between(self._end_offsets, transaction.end_offsets(traits))

    def is_followed_by_truncate(
        self, truncate: Truncate, has_every_number: bool, markers: Markers
    ) -> bool:
        """Whether no END is missing before a truncate, which has none itself.

        Args:
            truncate: the one that is to follow.
            has_every_number: whether each number from the newest commit's to its own is known.
            markers: of the source.
        """
        end = truncate.following_end_offset
        return (has_every_number and markers.have_one_order) or (
            end is not None and markers.show_nothing_between(self._end_offsets, (end,))
        )

    @property
    def _end_offsets(self) -> tuple[int, ...]:
        return self._end.end_offsets or BEFORE_ALL

    def _is_named(self, position: str | None) -> bool:
        # The first transaction of a stream names none, or the snapshot.
        if self._end.position is None and position == self._end.snapshot_position:
            return True
        return position in (self._end.position, *self._message_positions)
