"""Rows are printed for eyes: no word is broken, and nothing is wrapped."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from dbt_debezium.cli.cells import cell_text
from dbt_debezium.cli.console import out
from dbt_debezium.cli.tables import show_rows
from dbt_debezium.plain_values import SHORT

CHANGE = {"source": "shop", "commit_number": 150, "transaction_id": "1537", "raw": []}
VALUES = st.none() | st.text() | st.integers() | st.booleans() | st.decimals(allow_nan=False)


def lines_of(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int | None = None
) -> list[str]:
    """The lines that are printed."""
    with out.capture() as captured:
        show_rows(columns, rows, width=width)
    return captured.get().splitlines()


def test_a_row_that_fits_is_a_line_of_a_table_with_numbers_on_the_right() -> None:
    rows = [(85, "new", Decimal("4996.46"), None), (9, "日本", Decimal("1.5"), None)]
    assert lines_of(["id", "status", "total", "note"], rows, 80) == [
        "id  status    total  note",
        "85  new     4996.46  null",
        " 9  日本        1.5  null",
    ]


def test_a_row_that_does_not_fit_is_shown_with_one_field_a_line() -> None:
    rows = [(85, "x" * 30, CHANGE), (9, "a", None)]
    assert lines_of(["id", "note", "_change"], rows, 60) == [
        "-- row 1 of 2",
        "id       85",
        f"note     {'x' * 30}",
        '_change  {"source": "shop", "commit_number": 150, "transact…',
        "-- row 2 of 2",
        "id       9",
        "note     a",
        "_change  null",
    ]


def test_a_pipe_has_one_line_a_row_however_long_it_is() -> None:
    columns = [f"a_column_with_a_long_name_{number}" for number in range(30)]
    lines = lines_of(columns, [["word " * 20] * 30] * 3)
    assert len(lines) == 4
    assert lines[0].split() == columns


def test_only_values_with_parts_are_shortened() -> None:
    (_, line) = lines_of(["a", "b"], [("w" * 200, [*range(100)])])
    text, _, shown = line.partition("  ")
    assert text == "w" * 200
    assert shown == cell_text([*range(100)])[: SHORT - 1] + "…"


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=4), st.integers(20, 200))
def test_no_value_is_broken_at_any_width(rows: list[tuple[Any, ...]], width: int) -> None:
    lines = lines_of(["a", "b", "c"], rows, width)
    is_table = bool(lines) and not lines[0].startswith("-- row")
    assert len(lines) == 1 + len(rows) if is_table else len(lines) == 4 * len(rows)
    assert not is_table or all(cell_len(line) <= width for line in lines)
    for number, row in enumerate(rows):
        of_row = [lines[number + 1]] if is_table else lines[4 * number + 1 : 4 * number + 4]
        for at, cell in enumerate(row):
            assert cell_text(cell).rstrip() in of_row[0 if is_table else at]


@pytest.mark.parametrize("rows", [[], [()]])
def test_no_columns_and_no_rows_are_no_error(rows: list[tuple[()]]) -> None:
    assert lines_of([], rows, 80) == [""] * (1 + len(rows))
