"""Where messages have lost a field, what they would show is not taken for granted. No Spark."""

from collections.abc import Iterable

from dbt_debezium.judge import ChainEnd, Commit, Hold, Verdict, judge
from dbt_debezium.judge.marks import (
    Begin,
    End,
    Mark,
    Partition,
    Range,
    Snapshot,
    SnapshotPartition,
    SnapshotTable,
    Source,
    Table,
)

ORDERS = "informix.public.orders"


def judged(source: Source, marks: Iterable[Mark]) -> Verdict:
    """What the judge says of the one link in marks of a source that has landed without a gap."""
    facts = [
        Partition(ORDERS, 0, has_changes=True, reached_place="9", has_window_reads=True),
        Range(ORDERS, 0, 0, 9),
        Range("informix.transaction", 0, 0, 9, is_of_markers=True),
    ]
    (verdict,) = judge([source, *facts, *marks], ChainEnd())
    return verdict


def window(*, lacks_window_place: bool) -> list[Mark]:
    """A transaction that closes a window."""
    place = {"first_place": "5", "last_place": "5", "lacks_window_place": lacks_window_place}
    return [
        Begin("1", "701", 0, 0),
        End("1", "701", 0, 1, event_count=1),
        Table("1", "701", "public.signals", 1, 1, 1, True, True, closes_window=True, **place),
    ]


def test_a_window_is_not_closed_by_a_transaction_that_does_not_tell_its_commit() -> None:
    source = Source("generic", None)
    assert isinstance(judged(source, window(lacks_window_place=False)), Commit)
    held = Hold("transaction", "1", "701", "no_commit_position")
    assert judged(source, window(lacks_window_place=True)) == held


def snapshot(*, is_torn: bool) -> list[Mark]:
    return [
        SnapshotTable("0+3", "public.orders", 1, ("last",), is_torn=is_torn),
        SnapshotPartition("0+3", ORDERS, 0, 0, 0, None, 1, 0),
        Snapshot("0+3", "3"),
    ]


def test_a_snapshot_is_not_whole_where_reads_have_lost_their_place() -> None:
    source = Source("generic", None)
    assert isinstance(judged(source, snapshot(is_torn=False)), Commit)
    held = Hold("initial_snapshot", "0+3", None, "snapshot_incomplete", read_position="3")
    assert judged(source, snapshot(is_torn=True)) == held
