"""Is a transaction missing between two ENDs? (S14)"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from dbt_debezium.judge.marks import Facts


class Markers:
    """What has landed of the transaction topic, and can be read."""

    def __init__(self, facts: Facts) -> None:
        self._partitions = {*range(facts.marker_partition_count)}
        self.have_one_order = self._partitions == {0}
        """Whether offsets are the order of markers; those of two partitions have none."""
        # What cannot be read may be an END, and what follows a BEGIN without END is of another
        # stream: a run of markers ends with either.
        breaks = (*facts.unreadable_markers, *facts.unfinished)
        starts = [one.first for one in facts.marker_ranges]
        self._run_starts = sorted(starts + [at + 1 for at in breaks])

    def show_nothing_between(self, before: Sequence[int], end: Sequence[int]) -> bool:
        """Whether every marker from an END of one transaction to an END of the next is known.

        A restart sends an END again, and then the next one may follow either.

        Args:
            before: offsets of the END of the transaction before.
            end: offsets of this one's.

        >>> from dbt_debezium.judge.marks import Range
        >>> ranges = (Range("t", 0, 0, 5), Range("t", 0, 7, 9))
        >>> markers = Markers(Facts(None, None, marker_ranges=ranges))
        >>> markers.show_nothing_between([3], [5]), markers.show_nothing_between([5], [9])
        (True, False)
        """
        return self.have_one_order and any(
            self._run_start(last) <= first + 1 <= last for first in before for last in end
        )

    def surround(self, partitions: Iterable[int]) -> bool:
        """Whether these are all of several partitions, so that no END is missing around a place."""
        return self._partitions == {*partitions}

    def _run_start(self, offset: int) -> int:
        """The first offset from which on all up to this one is known; none: the one after it."""
        place = bisect_right(self._run_starts, offset)
        return self._run_starts[place - 1] if place else offset + 1
