"""How many rows public tables show, of which source, and how new they are."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from dbt_debezium.ages import time_text
from dbt_debezium.readers import Reader
from dbt_debezium.writers import sql

TABLES_A_QUERY: Final = 50

ROWS = """
select
    {literal} as name,
    _change.source,
    count(*) as row_count,
    sum(case when size(_change.unrepresentable) > 0 then size(_change.unrepresentable) else 0 end)
        as unrepresentable_count,
    unix_micros(max(_change.committed_at)) as newest_at_micros
from {place}
group by _change.source
"""


@dataclass(frozen=True, slots=True)
class PublishedRows:
    """The rows of one source in one public table."""

    name: str
    """Of the table."""
    source: str
    row_count: int
    unrepresentable_count: int = 0
    """How many values are null because their column cannot show them (S11, S19)."""
    newest_at: str | None = None
    """When the newest of the rows was committed, by the source's clock, as in reports."""


def published_rows(lake: Reader, names: Iterable[str], schema: str) -> list[PublishedRows]:
    """The rows of public tables, by table and source; nothing of a table without rows.

    Reads three small columns of every row that is published.

    Args:
        lake: what reads it.
        names: public tables; those that are not published yet are skipped.
        schema: the schema that readers use.
    """
    found: list[PublishedRows] = []
    there = sorted(lake.views(schema).intersection(names))
    for start in range(0, len(there), TABLES_A_QUERY):
        query = "union all".join(
            ROWS.format(
                literal=sql.literal(name),
                place=f"{sql.identifier(schema)}.{sql.identifier(name)}",
            )
            for name in there[start : start + TABLES_A_QUERY]
        )
        found += [
            PublishedRows(
                row["name"],
                row["source"],
                row["row_count"],
                row["unrepresentable_count"],
                time_text(row["newest_at_micros"]),
            )
            for row in lake.rows(query)
        ]
    return sorted(found, key=lambda one: (one.name, one.source))
