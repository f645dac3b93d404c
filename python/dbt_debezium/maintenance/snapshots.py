"""What later commits have replaced, and how long it is kept.

A snapshot goes once it was replaced longer ago than any query can run: nobody reads what it alone
holds. Its own age would not do. That of a lake with a run a day is a day old when it is replaced,
and queries that have just begun still read it.
"""

from collections.abc import Sequence

from dbt_debezium.maintenance.tables import LakeTable

MINUTE = 60_000
RUN_MILLISECONDS = 10 * MINUTE
"""How long what only runs read is kept: `status` may be looking at it."""


def first_kept(times: Sequence[int], at: int) -> int:
    """Which snapshot is the oldest that may still be read, as a place in the sequence.

    Args:
        times: when snapshots were committed, in their order.
        at: when the oldest query that may still run has begun.

    >>> first_kept([10, 20, 30], 25)
    1
    >>> first_kept([10, 20, 30], 5)
    0
    """
    return max(sum(one <= at for one in times) - 1, 0)


def removable_snapshots(table: LakeTable, now: int, query_milliseconds: int) -> int:
    """How many snapshots of a table can go."""
    times = [time for time, _ in table.snapshots()]
    return first_kept(times, _oldest_query(table, now, query_milliseconds))


def remove_snapshots(table: LakeTable, now: int, query_milliseconds: int) -> int:
    """Remove them, with the files that no other snapshot has; how many there were."""
    snapshots = table.snapshots()
    times = [time for time, _ in snapshots]
    kept = first_kept(times, _oldest_query(table, now, query_milliseconds))
    if kept > 0:
        removal = table.iceberg.expireSnapshots().expireOlderThan(times[kept]).retainLast(1)
        # Named one by one: else Iceberg (1.12.0) leaves files that were joined behind.
        for _, snapshot_id in snapshots[:kept]:
            removal = removal.expireSnapshotId(snapshot_id)
        removal.commit()
    return kept


def _oldest_query(table: LakeTable, now: int, query_milliseconds: int) -> int:
    kept = query_milliseconds if table.read_by == "queries" else RUN_MILLISECONDS
    return now - kept
