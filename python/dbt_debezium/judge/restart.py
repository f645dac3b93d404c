"""Did a restart of the connector explain numbers that do not fit END? (S13 ii and iii)

Debezium before 3.6.1 forgets how far it has counted when it restarts inside a transaction, and
numbers the rest from 1 again. Every copy of a change then carries its place in the log, or that
place less what was counted before the restart.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

Numbers: TypeAlias = Iterable[int]
"""What the copies of one change carry; one number where it was sent once."""


def is_renumbered(changes: Sequence[Numbers], expected_count: int) -> bool:
    """Whether each change carries its place in the log, or that less the lost places.

    Args:
        changes: in the order of the log, all that have landed.
        expected_count: by END. What has landed beyond that was counted before the restart.

    >>> is_renumbered([[1], [2], [1], [2]], expected_count=2)
    True
    >>> is_renumbered([[1], [2], [4], [2]], expected_count=2)
    False
    """
    lost = max(len(changes) - expected_count, 0)
    return all(
        {*numbers} <= {place, place - lost}
        and (place if place <= lost else place - lost) in {*numbers}
        for place, numbers in enumerate(changes, start=1)
    )


def is_whole_by_overlap(changes: Sequence[Numbers], expected_count: int) -> bool:
    """Whether one change was sent before and after the restart, so that none is missing between.

    >>> is_whole_by_overlap([[1], [2], [3, 1], [2]], expected_count=2)
    True
    >>> is_whole_by_overlap([[1], [2], [1], [2]], expected_count=2)
    False
    """
    has_both = any(len({*numbers}) > 1 for numbers in changes)
    return has_both and is_renumbered(changes, expected_count)
