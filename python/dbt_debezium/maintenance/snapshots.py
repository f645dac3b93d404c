"""What later commits have replaced, and how long it is kept.

A snapshot goes once it was replaced longer ago than any query can run: nobody reads what it alone
holds. Its own age would not do. That of a lake with a run a day is a day old when it is replaced,
and queries that have just begun still read it.
"""

from collections.abc import Iterable
from itertools import takewhile

from dbt_debezium.maintenance.tables import BRANCH, LakeTable, Snapshot

MINUTE = 60_000
RUN_MILLISECONDS = 10 * MINUTE
"""How long what only runs read is kept: `status` may be looking at it."""


def replaced_before(snapshots: Iterable[Snapshot], at: int) -> list[Snapshot]:
    """The snapshots committed by some time. The last of them was the newest one then.

    Args:
        snapshots: those of a table, in the order of their commits. Younger ones are not looked at.
        at: when the oldest query that may still run has begun.

    >>> some = [Snapshot(10, 1), Snapshot(20, 2), Snapshot(30, 3)]
    >>> [one.committed_at for one in replaced_before(some, 25)]
    [10, 20]
    >>> replaced_before(some, 5)
    []
    """
    return list(takewhile(lambda one: one.committed_at <= at, snapshots))


def remove_branch(table: LakeTable) -> None:
    """Remove what a killed run has written and not moved, so that it holds no snapshot."""
    if table.iceberg.refs().containsKey(BRANCH):
        table.iceberg.manageSnapshots().removeBranch(BRANCH).commit()


def removable_snapshots(table: LakeTable, now: int, query_milliseconds: int) -> int:
    """How many snapshots of a table can go."""
    return max(len(_replaced(table, now, query_milliseconds)) - 1, 0)


def remove_snapshots(table: LakeTable, now: int, query_milliseconds: int) -> int:
    """Remove them, with the files that no other snapshot has; how many there were."""
    replaced = _replaced(table, now, query_milliseconds)
    if len(replaced) < 2:
        return 0
    *removable, kept = replaced
    removal = table.iceberg.expireSnapshots().expireOlderThan(kept.committed_at).retainLast(1)
    # Named one by one: else Iceberg (1.12.0) leaves files that were joined behind.
    for one in removable:
        removal = removal.expireSnapshotId(one.snapshot_id)
    removal.commit()
    return len(removable)


def _replaced(table: LakeTable, now: int, query_milliseconds: int) -> list[Snapshot]:
    kept = query_milliseconds if table.read_by == "queries" else RUN_MILLISECONDS
    return replaced_before(table.snapshots(), now - kept)
