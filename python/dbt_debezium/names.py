"""Names in sentences: some of many, and the one that was meant."""

import difflib
from collections.abc import Collection
from typing import Final

SHOWN_NAMES: Final = 5
LIKENESS: Final = 0.6
"""From 0 to 1, of two names of which one may be meant by the other."""


def listed(names: list[str], what: str) -> str:
    """The first of some names, and how many more there are.

    >>> listed(list("abcdefg"), "tables")
    'a, b, c, d, e and 2 tables more'
    """
    shown = ", ".join(names[:SHOWN_NAMES])
    more = len(names) - SHOWN_NAMES
    return f"{shown} and {more} {what} more" if more > 0 else shown


def meant(name: str, names: Collection[str], others: str) -> str:
    """What may have been meant by a name that is not there; else a sentence on those that are.

    >>> meant("oders", ["orders", "items"], "there are 2"), meant("x", ["orders"], "there is 1")
    ('did you mean orders?', 'there is 1')
    """
    near = difflib.get_close_matches(name, names, 1, LIKENESS)
    return f"did you mean {near[0]}?" if near else others
