"""Values of rows, and counts, as text."""

import json
from typing import Any


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "file"), counted(1_200, "file")
    ('1 file', '1,200 files')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def one_line(cell: object) -> str:
    """A value's text without its line breaks."""
    return str(cell).replace("\n", "\\n")


def cell_text(cell: Any) -> str:
    """A value of a row on one line, as JSON where it has parts.

    >>> [cell_text(cell) for cell in (None, "a\\nb", b"a", [1, None])]
    ['null', 'a\\\\nb', 'YQ==', '[1, null]']
    """
    from pyspark.sql import Row

    from dbt_debezium.export import plain

    if cell is None:
        return "null"
    value = plain(cell.asDict(recursive=True) if isinstance(cell, Row) else cell)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return one_line(value)
