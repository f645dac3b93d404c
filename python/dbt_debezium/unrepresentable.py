"""How many published values are null because their column cannot show them (S11, S19)."""

from collections.abc import Iterable
from typing import Final

from dbt_debezium.readers import Reader
from dbt_debezium.writers import sql

TABLES_A_QUERY: Final = 50

COUNT = """
select {literal} as name, _change.source, sum(size(_change.unrepresentable)) as value_count
from {place}
where size(_change.unrepresentable) > 0
group by _change.source
"""


def unrepresentable_counts(
    lake: Reader, names: Iterable[str], schema: str
) -> dict[str, dict[str, int]]:
    """Values that `_change.unrepresentable` names, by source and public table, where there are any.

    Reads that column of every row that is published.

    Args:
        lake: what reads it.
        names: public tables; those that are not published yet are skipped.
        schema: the schema that readers use.
    """
    counts: dict[str, dict[str, int]] = {}
    found = sorted(lake.views(schema).intersection(names))
    for start in range(0, len(found), TABLES_A_QUERY):
        some = found[start : start + TABLES_A_QUERY]
        query = "union all".join(
            COUNT.format(
                literal=sql.literal(name),
                place=f"{sql.identifier(schema)}.{sql.identifier(name)}",
            )
            for name in some
        )
        for row in lake.rows(query):
            counts.setdefault(row["source"], {})[row["name"]] = row["value_count"]
    return {source: dict(sorted(of_source.items())) for source, of_source in counts.items()}


def unrepresentable_sentence(source: str, counts: dict[str, int]) -> str:
    """The tables and their counts.

    >>> unrepresentable_sentence("shop", {"orders": 2, "items": 1})
    'shop: null, but not at the source: 1 of items, 2 of orders; _change.unrepresentable has each'
    """
    tables = ", ".join(f"{count:,} of {name}" for name, count in sorted(counts.items()))
    return f"{source}: null, but not at the source: {tables}; _change.unrepresentable has each"
