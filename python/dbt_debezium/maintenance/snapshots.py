"""What later commits have replaced, and how long it is kept.

A snapshot goes once it was replaced longer ago than any query can run: nobody reads what it alone
holds. Its own age would not do. That of a lake with a run a day is a day old when it is replaced,
and queries that have just begun still read it.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from dbt_debezium.maintenance.tables import BRANCH, LakeTable, Snapshot

if TYPE_CHECKING:
    from dbt_debezium.maintenance.removed_files import RemovedFiles

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


def removable(snapshots: Iterable[Snapshot], shown: Sequence[Snapshot], at: int) -> list[Snapshot]:
    """The snapshots that no query can be reading any more.

    Those that were never shown, as what a killed run has written, go with the older ones.

    Args:
        snapshots: those of a table.
        shown: those that readers have seen, with the time from which on, in that order. A plain
            public table shows a snapshot some time after it was written.
        at: when the oldest query that may still run has begun.

    >>> written, shown = [Snapshot(10, 1), Snapshot(20, 2)], [Snapshot(10, 1), Snapshot(30, 2)]
    >>> removable(written, shown, 25)
    []
    >>> removable(written, shown, 30)
    [Snapshot(committed_at=10, snapshot_id=1)]
    >>> removable(written, shown[:1], 30)
    []
    """
    earlier = replaced_before(shown, at)
    if not earlier:
        return []
    read = {one.snapshot_id for one in shown[len(earlier) - 1 :]}
    since = earlier[-1].committed_at
    return [one for one in snapshots if one.committed_at <= since and one.snapshot_id not in read]


def removable_snapshots(table: LakeTable, now: int, query_milliseconds: int) -> int:
    """How many snapshots of a table can go."""
    return len(_removable(table, now, query_milliseconds))


def remove_snapshots(
    table: LakeTable, now: int, query_milliseconds: int, removed: "RemovedFiles"
) -> int:
    """Remove them, with the files that no other snapshot has; how many there were.

    Args:
        table: the table.
        now: milliseconds since 1970.
        query_milliseconds: how long a query may run.
        removed: removes the files.
    """
    found = _removable(table, now, query_milliseconds)
    if not found:
        return 0
    # Named one by one: else Iceberg (1.12.0) leaves files that were joined behind. By itself it
    # would remove what is old, however long readers were shown it.
    removal = table.iceberg.expireSnapshots().expireOlderThan(0).deleteWith(removed.consumer)
    for one in found:
        removal = removal.expireSnapshotId(one.snapshot_id)
    removal.commit()
    removed.remove()
    return len(found)


def _removable(table: LakeTable, now: int, query_milliseconds: int) -> list[Snapshot]:
    kept = query_milliseconds if table.read_by == "queries" else RUN_MILLISECONDS
    return removable(table.snapshots(), list(table.shown()), now - kept)
