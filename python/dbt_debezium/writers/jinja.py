"""Jinja, as dbt renders it."""

import re
from collections.abc import Sequence
from typing import Final

CODE: Final = re.compile(r"\{[{%#]|[#}%]\}")
"""Without one of these dbt renders nothing, and a text stays as it is."""
OPENING: Final = frozenset("{}#<")
"""Even inside a literal the first three would open or close a block. dbt's site shows the text of
a model as HTML in the results of a search."""


def literal(value: str | bool | Sequence[str] | None) -> str:
    r"""A value in an expression.

    >>> print(literal(["it's", None, True]), literal("{{ x }}\n"))
    ['it\'s', none, true] '\x7b\x7b x \x7d\x7d\n'
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return f"[{', '.join(literal(item) for item in value)}]"
    return "'" + "".join(map(_sign, value)) + "'"


def _sign(sign: str) -> str:
    if sign in "\\'":
        return f"\\{sign}"
    if sign == "\n":
        return "\\n"
    if sign.isprintable() and sign not in OPENING:
        return sign
    code = ord(sign)
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\U{code:08x}"
        if code > 0xFFFF
        else f"\\u{code:04x}"
    )


def rendered(text: str) -> str:
    r"""What dbt renders to a text.

    >>> print(rendered("Number of the order."), rendered("{{ x }}"))
    Number of the order. {{ '\x7b\x7b x \x7d\x7d' }}
    """
    return f"{{{{ {literal(text)} }}}}" if CODE.search(text) else text
