"""What has landed of snapshots that are held, by table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from dbt_debezium.readers import Reader
from dbt_debezium.status.holds import is_snapshot

READS: Final = """
select message.source, coalesce(message.data_collection, message.topic) as name,
    count(*) as read_count
from {schema}.cut as published
inner join {schema}.held_message as message
    on published.cut_id = message.cut_id
where published.channel = 'published' and message.operation = 'r'
group by message.source, coalesce(message.data_collection, message.topic)
"""


@dataclass(frozen=True, slots=True)
class SnapshotReads:
    """One table."""

    table: str
    """As the source calls it, or its topic."""
    read_count: int
    """How many of its rows have landed. Nothing says how many there are."""


def snapshot_reads(
    lake: Reader, report: Sequence[dict[str, Any]], schema: str
) -> dict[str, list[SnapshotReads]]:
    """The tables of held snapshots, by source.

    Args:
        lake: what reads it.
        report: entries of the sources.
        schema: the schema that models are built in.
    """
    concerned = {
        entry["source"]
        for entry in report
        if any(is_snapshot(one["transaction_id"]) for one in entry["held"])
    }
    # Most lakes hold none, and need no further query.
    if not concerned or not lake.has(f"{schema}.held_message"):
        return {}
    found: dict[str, list[SnapshotReads]] = {}
    for row in lake.rows(READS.format(schema=schema)):
        if row["source"] in concerned:
            reads = SnapshotReads(row["name"], row["read_count"])
            found.setdefault(row["source"], []).append(reads)
    return {source: sorted(some, key=lambda one: one.table) for source, some in found.items()}
