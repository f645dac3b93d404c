"""How many published values are null because their column cannot show them (S11, S19)."""

from collections.abc import Iterable

from dbt_debezium.status.published_rows import PublishedRows


def unrepresentable_counts(rows: Iterable[PublishedRows]) -> dict[str, dict[str, int]]:
    """Values that `_change.unrepresentable` names, by source and public table, where there are any.

    >>> rows = [PublishedRows("orders", "shop", 7, 2), PublishedRows("items", "shop", 9)]
    >>> unrepresentable_counts(rows)
    {'shop': {'orders': 2}}
    """
    counts: dict[str, dict[str, int]] = {}
    for one in rows:
        if one.unrepresentable_count:
            counts.setdefault(one.source, {})[one.name] = one.unrepresentable_count
    return counts


def unrepresentable_sentence(source: str, counts: dict[str, int]) -> str:
    """The tables and their counts.

    >>> unrepresentable_sentence("shop", {"orders": 2, "items": 1})
    'shop: null, but not at the source: 1 of items, 2 of orders; _change.unrepresentable has each'
    """
    tables = ", ".join(f"{count:,} of {name}" for name, count in sorted(counts.items()))
    return f"{source}: null, but not at the source: {tables}; _change.unrepresentable has each"
