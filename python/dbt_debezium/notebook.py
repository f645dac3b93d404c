"""Tables of notebooks. Names and values come from the data, so all of them are escaped."""

from collections.abc import Iterable, Sequence
from typing import Any

from dbt_debezium.plain_values import shortened, value_text
from dbt_debezium.writers.html import notebook


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """A table of HTML, in which values with parts are short.

    >>> table(["<a>"], [[None]], "b & c")
    '<table><caption>b &amp; c</caption><tr><th>&lt;a&gt;</th></tr><tr><td>null</td></tr></table>'
    """
    head = "".join(f"<th>{notebook(name)}</th>" for name in columns)
    lines = [f"<tr>{head}</tr>"]
    for row in rows:
        cells = "".join(f"<td>{notebook(cell_text(cell))}</td>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    titled = f"<caption>{notebook(caption)}</caption>" if caption else ""
    return f"<table>{titled}{''.join(lines)}</table>"


def cell_text(cell: Any) -> str:
    """A value's text, which is short if the value has parts."""
    return "null" if cell is None else shortened(cell, value_text(cell))


def paragraphs(sentences: Iterable[str]) -> str:
    """Sentences of HTML.

    >>> paragraphs(["a < b"])
    '<p>a &lt; b</p>'
    """
    return "".join(f"<p>{notebook(one)}</p>" for one in sentences)
