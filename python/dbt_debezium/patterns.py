"""Patterns of names, as settings and models have them: * stands for any text."""

import re


def matches(pattern: str, name: str) -> bool:
    """Whether a name fits a pattern, as the macro matches_any has it.

    >>> matches("shop_*", "shop_1"), matches("shop_*", "my_shop_1"), matches("a[1]", "a[1]")
    (True, False, True)
    """
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(".*".join(parts), name, re.DOTALL) is not None
