"""Values of rows as text."""

from typing import Any

from dbt_debezium.plain_values import value_text
from dbt_debezium.writers.terminal import one_line


def cell_text(cell: Any) -> str:
    """A value of a row on one line, as JSON where it has parts.

    >>> [cell_text(cell) for cell in (None, "a\\nb", b"a", [1, None])]
    ['null', 'a\\\\nb', 'YQ==', '[1, null]']
    """
    return "null" if cell is None else one_line(value_text(cell))
