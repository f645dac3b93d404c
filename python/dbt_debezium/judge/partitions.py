"""How far the partitions of a source have come."""

from collections.abc import Iterable, Sequence

from dbt_debezium.judge.marks import Facts, TablePartition
from dbt_debezium.judge.places import NOWHERE, PAST_ALL, Span
from dbt_debezium.judge.traits import Traits


class Partitions:
    """The partitions of all topics of tables."""

    def __init__(self, traits: Traits, facts: Facts) -> None:
        self._names_predecessor = traits.names_predecessor
        self._low_water = self._window_low_water = PAST_ALL
        if not facts.reaches_the_end:
            self._low_water = _lowest(one for one in facts.partitions if one.has_changes)
            self._window_low_water = _lowest_of_windows(facts.partitions)

    def are_past(self, span: Span) -> bool:
        """Whether every partition with changes holds one of a later transaction."""
        return self._is_past(self._low_water, span)

    def have_reached(self, place: str) -> bool:
        """Whether every partition with changes has come to a place."""
        return self._low_water >= place

    def have_left(self, place: str) -> bool:
        """Whether every partition with changes holds one after a place."""
        return self._low_water > place

    def have_left_window(self, span: Span) -> bool:
        """Whether no read of the window that a transaction closes is still to come (S6).

        Reads may be in each partition of a topic in which a read of any window has landed. Until
        one has, nothing shows where to look. Into a partition that is silent none comes any more.
        """
        return self._is_past(self._window_low_water, span)

    def _is_past(self, reached: str, span: Span) -> bool:
        is_behind = not span.reaches_to(reached, names_predecessor=self._names_predecessor)
        return is_behind or reached >= span.following


def _lowest_of_windows(partitions: Sequence[TablePartition]) -> str:
    if partitions and all(one.is_silent for one in partitions):
        return PAST_ALL
    topics = {one.topic for one in partitions if one.has_window_reads}
    some = [one for one in partitions if one.topic in topics]
    numbers = [[one.partition for one in some if one.topic == topic] for topic in topics]
    if not all(map(has_every_partition, numbers)):
        return NOWHERE
    is_over = bool(some) and all(one.is_silent for one in some)
    return PAST_ALL if is_over else _lowest(one for one in some if not one.is_silent)


def _lowest(partitions: Iterable[TablePartition]) -> str:
    return min((one.reached_place or NOWHERE for one in partitions), default=NOWHERE)


def has_every_partition(partitions: Sequence[int]) -> bool:
    """Whether no number below the highest is missing: a partition of which nothing has landed.

    >>> has_every_partition([1, 0]), has_every_partition([0, 2])
    (True, False)
    """
    return {*partitions} == {*range(1 + max(partitions))}
