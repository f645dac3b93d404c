"""Patterns of names, as settings and models have them: * stands for any text."""

import re


def matches(pattern: str, name: str) -> bool:
    """Whether a name fits a pattern, as the macro matches_any has it.

    >>> matches("shop_*", "shop_1"), matches("shop_*", "my_shop_1"), matches("a[1]", "a[1]")
    (True, False, True)
    """
    return re.fullmatch(regular_expression(pattern), name) is not None


def regular_expression(pattern: str) -> str:
    """The regular expression of Python and Java that fits whole names.

    >>> regular_expression("shop_*.t")
    '(?s)^shop_.*\\\\.t$'
    """
    return f"(?s)^{'.*'.join(re.escape(part) for part in pattern.split('*'))}$"
