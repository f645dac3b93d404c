"""The public tables of a source."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from dbt_debezium.ages import moment_of, shown_age
from dbt_debezium.amounts import size
from dbt_debezium.status.published_rows import PublishedRows


@dataclass(frozen=True, slots=True)
class TableRow:
    """One table."""

    name: str
    row_count: int
    """Of this source."""
    newest: str
    """How long ago the newest of them was committed; empty if no time is known."""
    size: str
    """Of its history, of all sources; empty if it is not known."""


def table_rows(
    rows: Iterable[PublishedRows], sizes: Mapping[str, int], source: str, now: datetime
) -> list[TableRow]:
    """The tables of a source, the largest first.

    Args:
        rows: of all sources.
        sizes: bytes by public table.
        source: whose tables to show.
        now: when the page is made, UTC.
    """
    found = sorted(
        (one for one in rows if one.source == source), key=lambda one: (-one.row_count, one.name)
    )
    return [
        TableRow(
            one.name,
            one.row_count,
            _age(one.newest_at, now),
            size(sizes[one.name]) if one.name in sizes else "",
        )
        for one in found
    ]


def _age(text: str | None, now: datetime) -> str:
    moment = moment_of(text)
    return (text or "") if moment is None else shown_age((now - moment).total_seconds())
