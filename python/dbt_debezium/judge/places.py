"""Places in a source's log, which compare as text. What a place is, `Traits.change_place` says."""

from typing import Final, NamedTuple

NOWHERE: Final = ""
"""Before every place, also that of the first END, which may have offset 0."""
EVERYWHERE: Final = "~"
"""After every place."""
PAST_ALL: Final = "~~"
"""Infinity. Partitions reach it only if the landing reaches the end of what was sent, so it is also
the place of what no message shows."""
UNKNOWN_END: Final = "+end"
"""How a position ends of which nothing shows where the commit ended: it is after all changes."""


def behind(base: str, place: str | None = None) -> str:
    """The position of what stands behind another one and is not located itself: after all that
    is there, before all that comes next.

    Args:
        base: the other position.
        place: of its changes or reads, which orders several; None of what landed too late.

    >>> behind("0042", "17"), behind("0042")
    ('0042+17', '0042+')
    """
    return f"{base}+{place or ''}"


def is_behind(position: str) -> bool:
    """Whether a position is that of `behind`."""
    return "+" in position


def base_of(position: str) -> str:
    """What a position stands behind; itself if it is no position of `behind`.

    >>> base_of("0042+17"), base_of("0042")
    ('0042', '0042')
    """
    return position.partition("+")[0]


def place_in(position: str) -> str:
    """The place with which a position of `behind` ends; itself if it is none.

    >>> place_in("0042+17"), place_in("0042")
    ('17', '0042')
    """
    return position.rpartition("+")[2]


def epoch_of(position: str) -> str:
    """The epoch that a position begins with; empty until an operator has declared one (S16).

    >>> epoch_of("since 2026-11-21 09:30:00: 0042"), epoch_of("0042")
    ('since 2026-11-21 09:30:00: ', '')
    """
    return "".join(position.rpartition(": ")[:2])


class Span(NamedTuple):
    """Between which places in the log the changes of a transaction stand, both inclusive."""

    first: str
    """PAST_ALL where no change of it has landed that would show it."""
    last: str
    """If changes are placed by the commit before their own (PostgreSQL), the transaction's own
    commit: only changes of later transactions name it."""
    following: str = PAST_ALL
    """Where the next transaction's changes begin, as far as that is known."""

    def reaches_to(self, place: str, *, names_predecessor: bool) -> bool:
        """Whether what stands at a place may be of the transaction or older.

        Args:
            place: of a change.
            names_predecessor: whether places are commits that changes name as the one before, so
                that what names `last` is of a later transaction.
        """
        return place < self.last if names_predecessor else place <= self.last
