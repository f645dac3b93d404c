"""Values of rows, and counts, as text."""

import json
import re
from typing import Any, Final

CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Signs that move the cursor or change colours, but for tabs and ends of lines."""


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "file"), counted(1_200, "file")
    ('1 file', '1,200 files')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def harmless(text: str) -> str:
    r"""A text without what a terminal would obey, in its lines.

    >>> harmless("a\nb\t\x1b[31mred")
    'a\nb\t\\x1b[31mred'
    """
    return CONTROL.sub(lambda sign: repr(sign.group())[1:-1], text)


def one_line(cell: object) -> str:
    r"""A value's text without line breaks, and without what a terminal would obey.

    >>> one_line("a\nb\x07")
    'a\\nb\\x07'
    """
    return harmless(str(cell)).replace("\n", "\\n")


def cell_text(cell: Any) -> str:
    """A value of a row on one line, as JSON where it has parts.

    >>> [cell_text(cell) for cell in (None, "a\\nb", b"a", [1, None])]
    ['null', 'a\\\\nb', 'YQ==', '[1, null]']
    """
    return "null" if cell is None else one_line(value_text(cell))


def value_text(cell: Any) -> str:
    """The text of a value that is not null, as JSON where it has parts.

    >>> [value_text(cell) for cell in ("a", True, b"a", {"a": [1, None]})]
    ['a', 'true', 'YQ==', '{"a": [1, null]}']
    """
    from dbt_debezium.export import plain

    # A row of Spark is a tuple that knows its columns.
    value = plain(cell.asDict(recursive=True) if hasattr(cell, "asDict") else cell)
    if isinstance(value, list | dict | bool):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
