"""Is a transaction missing between two ENDs? (S14)"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from dbt_debezium.judge.marks import Range, Unfinished, Unreadable


class Markers:
    """What has landed of the transaction topic, and can be read."""

    def __init__(
        self,
        ranges: Iterable[Range],
        unreadable: Iterable[Unreadable],
        unfinished: Iterable[Unfinished] = (),
        partition_count: int = 1,
    ) -> None:
        """Marks of other topics are left out.

        Args:
            ranges: of all partitions.
            unreadable: likewise; each may be an END, so a run of markers ends in front of it.
            unfinished: what follows a BEGIN without END is of another stream.
            partition_count: of the topic, with those of which nothing has landed.
        """
        landed = [one for one in ranges if one.is_of_markers]
        self._partitions = {*range(partition_count)}
        self.have_one_order = self._partitions == {0}
        """Whether offsets are the order of markers; those of two partitions have none."""
        starts = [one.first_offset for one in landed]
        starts += [one.offset + 1 for one in unreadable if one.is_of_markers]
        starts += [one.offset + 1 for one in unfinished]
        self._run_starts = sorted(starts)

    def show_nothing_between(self, before: Sequence[int], end: Sequence[int]) -> bool:
        """Whether every marker from an END of one transaction to an END of the next is known.

        A restart sends an END again, and then the next one may follow either.

        Args:
            before: offsets of the END of the transaction before.
            end: offsets of this one's.

        >>> markers = Markers([Range("t", 0, 0, 5, True), Range("t", 0, 7, 9, True)], [])
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
        """The first offset from which on all up to this one is known; none: the one behind it."""
        place = bisect_right(self._run_starts, offset)
        return self._run_starts[place - 1] if place else offset + 1
