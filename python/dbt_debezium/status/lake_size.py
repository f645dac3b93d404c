"""How much a lake stores, and when it was maintained."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dbt_debezium.readers import Reader

MAINTAINED_AT: Final = "dbt_debezium.maintained_at"
"""A property of the pointer: when all tables had been maintained, as ISO text of UTC."""


@dataclass(frozen=True, slots=True)
class LakeSize:
    """Of files that tables have now; what maintenance will remove is not counted."""

    stored: Mapping[str, int]
    """Bytes by what is stored."""
    maintained_at: str | None = None
    """None if it never was, or by an earlier version."""


def lake_size(lake: Reader, histories: Mapping[str, int] | None, schema: str) -> LakeSize:
    """Look at the largest tables.

    Args:
        lake: what reads it.
        histories: the bytes of each history; None if not all are known.
        schema: the schema that models are built in.
    """
    stored = {}
    for name, place, table in (
        ("landed messages", "landing", "message"),
        ("changes", schema, "int_change"),
    ):
        if lake.has(f"{place}.{table}"):
            stored[name] = lake.sizes(place, [table])[table]
    if histories:
        stored["histories"] = sum(histories.values())
    has_pointer = lake.has(f"{schema}.cut")
    pointer = lake.properties(schema, "cut") if has_pointer else {}
    return LakeSize(stored, pointer.get(MAINTAINED_AT))
