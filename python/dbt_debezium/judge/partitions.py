"""How far the partitions of a source have come, and what in them cannot be read."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dbt_debezium.judge.marks import Partition, Unreadable
from dbt_debezium.judge.traits import Traits
from dbt_debezium.judge.verdicts import ChainEnd

NOWHERE = ""
"""Before every place."""
END = "~"
"""Behind every place."""


class Span(NamedTuple):
    """Between which places in the log the changes of a transaction stand, both inclusive."""

    first: str | None
    """None where no change of it has landed that would show it."""
    last: str | None
    """Where a change stands at the commit before its own, this is the transaction's commit, which
    only changes of later transactions name."""
    following: str | None = None
    """Where the next transaction's changes begin, as far as that is known."""


class Partitions:
    """The partitions of all topics of tables."""

    def __init__(
        self,
        traits: Traits | None,
        partitions: Iterable[Partition],
        unreadable: Iterable[Unreadable],
        *,
        reaches_the_end: bool = False,
    ) -> None:
        """Marks of the transaction topic are left out.

        Args:
            traits: of the connector; None where nothing shows it yet.
            partitions: all of them.
            unreadable: likewise.
            reaches_the_end: whether nothing behind what has landed was sent.
        """
        self._ends_open = traits is not None and traits.names_predecessor
        self._partitions = list(partitions)
        self._unreadable = [one for one in unreadable if not one.is_of_markers]
        self._low_water = END
        self._window_low_water = END
        if not reaches_the_end:
            self._low_water = _lowest(one for one in self._partitions if one.has_changes)
            self._window_low_water = self._lowest_of_windows()

    def are_past(self, span: Span) -> bool:
        """Whether every partition with changes holds one of a later transaction."""
        return self._is_past(self._low_water, span)

    def have_reached(self, place: str | None) -> bool:
        """Whether every partition with changes has come to a place, None being unknown."""
        return self._low_water >= (END if place is None else place)

    def have_left(self, place: str) -> bool:
        """Whether every partition with changes holds one behind a place."""
        return self._low_water > place

    def can_be_read_to(self, place: str, end: ChainEnd) -> bool:
        """Whether no message that cannot be read may be a change of an uncounted transaction.

        It may be any behind what stands before it in its partition. The chain is past that place
        only if an operator has decided on what was held there, or a snapshot has read it again.

        Args:
            place: of the transaction's last change.
            end: of the chain before this run.
        """
        come = end.position if self._ends_open else end.reached_place or end.position
        return not any(
            place >= (one.after_place or NOWHERE)
            and _is_as_old(one, end)
            and (
                end.position is None
                or (come or NOWHERE) <= max(one.after_place or NOWHERE, one.known_place or NOWHERE)
            )
            for one in self._unreadable
        )

    def may_hide_a_snapshot(self) -> bool:
        """Whether a message that cannot be read may be one of an initial snapshot (S4)."""
        return any(one.may_be_a_first_read for one in self._unreadable)

    def may_hide_between(self, before: str, place: str | None) -> bool:
        """Whether a message that cannot be read may stand between two places, both exclusive."""
        return any(
            (place is None or (one.after_place or NOWHERE) < place)
            and (one.before_place is None or before < one.before_place)
            for one in self._unreadable
        )

    def show_whole_window(self, span: Span) -> bool:
        """Whether all reads have landed of the window that a transaction closes (S6).

        They may be in each partition of a topic in which a read of any window has landed. Until one
        has, nothing shows where to look.
        """
        return self._is_past(self._window_low_water, span) and not self.may_hide_a_change(span)

    def may_hide_a_change(self, span: Span) -> bool:
        """Whether a message that cannot be read may be a change of the transaction.

        It stands between its neighbours in its partition, so it is no change of a transaction that
        stands before or behind both.
        """
        first, last = span.first, span.last
        if first is None or last is None:
            return False
        return any(
            self._is_up_to(one.after_place or NOWHERE, last)
            and (one.before_place is None or first <= one.before_place)
            for one in self._unreadable
        )

    def _is_past(self, reached: str, span: Span) -> bool:
        if reached == END:
            return True
        if span.following is not None and reached >= span.following:
            return True
        return span.last is not None and not self._is_up_to(reached, span.last)

    def _is_up_to(self, place: str, last: str) -> bool:
        """Whether what stands at a place may be of a transaction or older."""
        return place < last if self._ends_open else place <= last

    def _lowest_of_windows(self) -> str:
        topics = {one.topic for one in self._partitions if one.has_window_reads}
        if not all(has_every_partition(self._numbers_of(topic)) for topic in topics):
            return NOWHERE
        return _lowest(one for one in self._partitions if one.topic in topics)

    def _numbers_of(self, topic: str) -> list[int]:
        return [one.partition for one in self._partitions if one.topic == topic]


def _is_as_old(one: Unreadable, end: ChainEnd) -> bool:
    """Whether no snapshot at which the chain stands has read what a message may have been."""
    if end.position is not None or one.before_position is None:
        return True
    return one.before_position > (end.snapshot_position or NOWHERE)


def _lowest(partitions: Iterable[Partition]) -> str:
    return min((one.reached_place or NOWHERE for one in partitions), default=NOWHERE)


def has_every_partition(partitions: Sequence[int]) -> bool:
    """Whether no number below the highest is missing: a partition of which nothing has landed.

    >>> has_every_partition([1, 0]), has_every_partition([0, 2])
    (True, False)
    """
    return len({*partitions}) == max(partitions, default=-1) + 1
