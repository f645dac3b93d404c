"""Where messages have lost a field, what they would show is not taken for granted. No Spark."""

from collections.abc import Sequence
from dataclasses import replace

from dbt_debezium.judge import ChainEnd, Verdict, judge
from dbt_debezium.judge.marks import (
    Counted,
    Facts,
    Link,
    Range,
    Snapshot,
    SnapshotPartition,
    SnapshotTable,
    Table,
    TablePartition,
)
from dbt_debezium.judge.traits import TRAITS

ORDERS = "informix.public.orders"


PARTITION = TablePartition(ORDERS, 0, has_changes=True, reached_place="9", has_window_reads=True)
FACTS = Facts(
    TRAITS["generic"],
    first_position=None,
    partitions=(PARTITION,),
    ranges=(Range(ORDERS, 0, 0, 9),),
    marker_ranges=(Range("informix.transaction", 0, 0, 9),),
)
"""Of a source that has landed without a gap."""


def judged(links: Sequence[Link], facts: Facts = FACTS) -> Verdict:
    """What the judge says of a source with one link."""
    (verdict,) = judge(facts, links, ChainEnd())
    return verdict


def window(*, lacks_window_place: bool) -> list[Link]:
    """A transaction that closes a window."""
    return [
        Counted(
            "1",
            "701",
            (Table("public.signals", 1, 1, 1, True, True),),
            has_end=True,
            event_count=1,
            end_offsets=(1,),
            first_change="5",
            last_place="5",
            closes_window=True,
            lacks_window_place=lacks_window_place,
        )
    ]


def test_a_window_is_not_closed_by_a_transaction_that_does_not_tell_its_commit() -> None:
    assert judged(window(lacks_window_place=False)).outcome == "commit"
    held = judged(window(lacks_window_place=True))
    assert (held.transaction_id, held.reason) == ("701", "no_commit_position")


def of_snapshot(*, is_torn: bool) -> Verdict:
    table = SnapshotTable("0+3", "public.orders", 1, ("last",), is_torn=is_torn)
    partition = SnapshotPartition("0+3", ORDERS, 0, 0, 0, None, 1, 0)
    facts = replace(FACTS, snapshot_tables=(table,), snapshot_partitions=(partition,))
    return judged([Snapshot("0+3", "3")], facts)


def test_a_snapshot_is_not_whole_where_reads_have_lost_their_place() -> None:
    assert of_snapshot(is_torn=False).outcome == "commit"
    held = of_snapshot(is_torn=True)
    assert (held.read_position, held.reason) == ("3", "snapshot_incomplete")
