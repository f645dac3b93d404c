"""What readers of the lake see, as text that the database writes too."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from live_shop.commit_log import Columns, Rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCE = "shop"


@dataclass(frozen=True, slots=True)
class Seen:
    """All tables as one query shows them, so at one commit."""

    transaction_id: str | None
    """The newest transaction in them; None for the first snapshot."""
    rows: Rows


def read_tables(spark: "SparkSession", columns: Columns) -> Seen:
    """Read all public tables and the published cut in one query.

    Args:
        columns: those of the database, with their types there.
    """
    parts = [
        f"select 'cut', array(transaction_id) from public.published_cut where source = '{SOURCE}'"
    ]
    for table, kinds in columns.items():
        shown = ", ".join(as_text(name, kind) for name, kind in kinds.items())
        parts.append(f"select '{table}', array({shown}) from public.{table}")
    found: Rows = {table: Counter() for table in columns}
    transaction_id = None
    for table, values in spark.sql(" union all ".join(parts)).collect():
        if table == "cut":
            (transaction_id,) = values
        else:
            found[table][tuple(values)] += 1
    return Seen(transaction_id, found)


def as_text(name: str, kind: str) -> str:
    """An expression of Spark that shows a column as `commit_log` does.

    >>> as_text("total", "numeric"), as_text("paid_at", "timestamp without time zone")
    ('cast(total as string)', "date_format(paid_at, 'yyyy-MM-dd HH:mm:ss.SSSSSS')")
    """
    if kind.startswith("timestamp"):
        return f"date_format({name}, 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
    return f"cast({name} as string)"
