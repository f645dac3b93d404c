"""Rows for eyes: a table of whole words, or one field a line where a row does not fit."""

from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from rich.cells import cell_len
from rich.text import Text

from dbt_debezium.amounts import counted
from dbt_debezium.cli.cells import cell_text
from dbt_debezium.cli.console import out
from dbt_debezium.plain_values import SHORT, shortened
from dbt_debezium.writers.terminal import one_line

GAP: Final = "  "
LINES: Final = 1_000
"""Lines that are printed at once."""


def show_rows(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    right: Collection[str] = (),
    width: int | None = None,
) -> bool:
    """Print rows as a table, or one field a line where one of them is wider than the terminal.

    Lines of a pipe or a file have no limit. Nothing is wrapped: a terminal wraps what is longer.

    Args:
        columns: their names.
        rows: their values, of any type.
        right: columns that are aligned to the right; columns of numbers always are.
        width: of the terminal; by default that of the one that is answered, if it is one.

    Returns:
        Whether values with parts are shortened.
    """
    if width is None and out.is_terminal:
        width = out.width
    names = [one_line(name) for name in columns]
    texts = [[cell_text(cell) for cell in row] for row in rows]
    cells = [[*map(shortened, row, line)] for row, line in zip(rows, texts, strict=True)]
    sizes = [max(map(cell_len, column)) for column in zip(names, *cells, strict=True)]
    if width is None or sum(sizes) + len(GAP) * (len(sizes) - 1) <= width:
        is_right = [
            name in right or is_number([row[at] for row in rows]) for at, name in enumerate(columns)
        ]
        show_lines([aligned(names, sizes, is_right)], "bold")
        show_lines([aligned(row, sizes, is_right) for row in cells])
    else:
        size = max(map(cell_len, names))
        room = max(SHORT, width - size - len(GAP))
        cells = [
            [shortened(cell, text, room) for cell, text in zip(row, line, strict=True)]
            for row, line in zip(rows, texts, strict=True)
        ]
        for number, row in enumerate(cells, start=1):
            show_lines([f"-- row {number} of {len(rows)}"], "bold")
            fields = zip(names, row, strict=True)
            show_lines([aligned(field, (size, 0), (False, False)) for field in fields])
    return cells != texts


def row_count(count: int) -> str:
    """How many rows there are.

    >>> row_count(1), row_count(1_200)
    ('(1 row)', '(1,200 rows)')
    """
    return f"({counted(count, 'row')})"


def aligned(cells: Sequence[str], sizes: Sequence[int], numbers: Sequence[bool]) -> str:
    """One line of a table, whose signs may be two columns wide.

    >>> aligned(["a", "日", "3"], [3, 4, 2], [False, False, True])
    'a    日     3'
    """
    parts = []
    for cell, size, is_right in zip(cells, sizes, numbers, strict=True):
        fill = " " * (size - cell_len(cell))
        parts.append(fill + cell if is_right else cell + fill)
    return GAP.join(parts).rstrip()


def is_number(cells: Sequence[Any]) -> bool:
    """Whether a column holds nothing but numbers, which stand on the right.

    >>> is_number([1, None]), is_number([True]), is_number([None])
    (True, False, False)
    """
    known = [cell for cell in cells if cell is not None]
    return bool(known) and all(
        isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) for cell in known
    )


def show_lines(lines: Sequence[str], style: str = "") -> None:
    """Print lines as they are."""
    # One text of many lines is ten times as fast as each by itself.
    for some in batched(lines, LINES):
        out.print(Text("\n".join(some), style=style), soft_wrap=True)


def batched(lines: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Lines, so many at a time."""
    for start in range(0, len(lines), size):
        yield lines[start : start + size]
