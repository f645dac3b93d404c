"""What may a message have been that cannot be read? Anything that was sent where it stands."""

from dbt_debezium.judge.marks import Facts
from dbt_debezium.judge.places import NOWHERE, Span, place_in
from dbt_debezium.judge.traits import Traits
from dbt_debezium.judge.verdicts import ChainEnd


class UnreadMessages:
    """The messages in topics of tables that cannot be read."""

    def __init__(self, traits: Traits, facts: Facts) -> None:
        self._names_predecessor = traits.names_predecessor
        self._unreadable = facts.unreadable
        self.may_be_a_snapshot = any(one.may_be_a_first_read for one in self._unreadable)
        """Whether one may be of an initial snapshot (S4)."""
        topics = {one.topic for one in facts.partitions if one.has_changes}
        self.may_be_a_snapshot_of_a_table = any(
            one.may_be_a_first_read and one.topic in topics for one in self._unreadable
        )
        """The same, if a change has been read of the topic that it is in."""

    def may_stand_between(self, before: str, place: str) -> bool:
        """Whether one may stand between two places, both exclusive."""
        return any(
            one.after_place < place and before < one.before_place for one in self._unreadable
        )

    def may_be_of(self, span: Span) -> bool:
        """Whether one may be a change of a transaction.

        It stands between its neighbours in its partition, so it is no change of a transaction that
        stands before or after both.
        """
        return any(
            span.reaches_to(one.after_place, names_predecessor=self._names_predecessor)
            and span.first <= one.before_place
            for one in self._unreadable
        )

    def may_be_before(self, place: str, end: ChainEnd) -> bool:
        """Whether one may be a change of a transaction that nothing counts, or of one before it.

        It may be any after what stands before it in its partition. The chain is past that place
        only if an operator has decided on what was held there, or a snapshot has read it again.

        Args:
            place: of the transaction's last change.
            end: of the chain before this run.
        """
        if end.position is None:
            # Where END is the order, a position is that of an END, `+` and the snapshot's place.
            base = place_in(end.snapshot_position or NOWHERE)
            return any(
                one.after_place <= place and base < one.before_position for one in self._unreadable
            )
        published = end.position if self._names_predecessor else end.reached_place or NOWHERE
        return any(
            one.after_place <= place and published <= max(one.after_place, one.known_place)
            for one in self._unreadable
        )
