"""Values of rows, and counts, as text."""

from typing import Any

from dbt_debezium.plain_values import value_text
from dbt_debezium.writers.terminal import one_line


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "file"), counted(1_200, "file")
    ('1 file', '1,200 files')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def cell_text(cell: Any) -> str:
    """A value of a row on one line, as JSON where it has parts.

    >>> [cell_text(cell) for cell in (None, "a\\nb", b"a", [1, None])]
    ['null', 'a\\\\nb', 'YQ==', '[1, null]']
    """
    return "null" if cell is None else one_line(value_text(cell))
