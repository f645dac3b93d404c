"""Positions and places of a source, which compare as text; None is one that nothing tells."""

import re
from typing import Any, Final, TypeVar

Ordered = TypeVar("Ordered", str, int)

OFFSET_DIGITS = 20
NUMBERLESS = ("scn", "commit")
"""What stands for a log whose numbers come in the order of commits, but leave some out."""


def least(*some: Ordered | None) -> Ordered | None:
    """The least of those that are known."""
    return min((one for one in some if one is not None), default=None)


def most(*some: Ordered | None) -> Ordered | None:
    """The highest of those that are known."""
    known: Any = max((one for one in some if one is not None), default=None)
    return known  # type: ignore[no-any-return]  # one of them


def padded(offset: int) -> str:
    """An offset as a position, of which all have one width.

    >>> padded(7)
    '00000000000000000007'
    """
    return str(offset).zfill(OFFSET_DIGITS)


def log_of(log_position: str | None) -> str:
    """The log that a log position is in.

    >>> log_of("domain-0#0007"), log_of(None)
    ('domain-0', '')
    """
    return (log_position or "").partition("#")[0]


def log_number(log_position: str | None) -> tuple[str, int] | None:
    """The log that numbers each transaction and statement, and the number there.

    >>> log_number("domain-0#0007"), log_number("scn#0007"), log_number(None)
    (('domain-0', 7), None, None)
    """
    log, _, number = (log_position or "").partition("#")
    return (log, int(number)) if number.isdigit() and log not in NUMBERLESS else None


def shown_position(position: str) -> str:
    """A position as people read it, as the macro of that name writes it.

    >>> shown_position("00000042/00000007"), shown_position("since 2026-11-21 09:30:00: 0042")
    ('42/7', 'since 2026-11-21 09:30:00: 42')
    """
    return _PADDING.sub(r"\1", position)


_PADDING: Final = re.compile(r"(^|/|: )0+(?=[0-9]+([+/]|$))")
