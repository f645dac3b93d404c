"""The terminal: nothing of the data moves the cursor, changes colours or titles, or hides text."""

import json
import re
from typing import Any, Final

OBEYED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters but for tabs and ends of lines, what turns the direction of writing, and what
UTF-8 cannot hold."""


def harmless(text: str) -> str:
    r"""A text without what a terminal would obey, in its lines.

    >>> harmless("a\nb\t\x1b[31mred")
    'a\nb\t\\x1b[31mred'
    """
    return OBEYED.sub(lambda sign: repr(sign.group())[1:-1], text)


def one_line(cell: object) -> str:
    r"""A value's text without line breaks, tabs, and what a terminal would obey.

    >>> one_line("a\nb\tc\x07")
    'a\\nb\\tc\\x07'
    """
    return harmless(str(cell)).replace("\n", "\\n").replace("\t", "\\t")


def json_text(value: Any, indent: int | None = None) -> str:
    r"""A value as JSON: in Unicode, but for what a terminal would obey.

    >>> print(json_text({"a": "é\x1b\x9b"}))
    {"a": "é\u001b\u009b"}
    """
    return harmless_json(json.dumps(value, ensure_ascii=False, indent=indent))


def harmless_json(text: str) -> str:
    """The same JSON without what a terminal would obey; such characters are in its texts alone."""
    return OBEYED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)
