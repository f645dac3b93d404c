"""Promises about links that messages rarely make, on marks written by hand."""

import pytest

from dbt_debezium.judge import ChainEnd, Commit, Verdict, judge
from dbt_debezium.judge.facts import Decision, Partition, Range, Source
from dbt_debezium.judge.links import Begin, End, Table, Uncounted
from dbt_debezium.judge.marks import Mark

ORDERS = "shop.public.orders"


def judged(source: Source, *marks: Mark, end: ChainEnd | None = None) -> list[Verdict]:
    partition = Partition(ORDERS, 0, has_changes=True, reached_place="9")
    landed = [Range(ORDERS, 0, 0, 9), Range("shop.transaction", 0, 0, 9, is_of_markers=True)]
    return [*judge([source, partition, *landed, *marks], end or ChainEnd())]


def whole(position: str, transaction_id: str, offset: int, **end: bool) -> list[Mark]:
    """A transaction of one change."""
    return [
        Begin(position, transaction_id, 0, offset),
        End(position, transaction_id, 0, offset + 1, event_count=1, **end),
        Table(position, transaction_id, "public.orders", 1, 1, 1, True, True, first_place="5"),
    ]


def test_two_transactions_at_one_position_are_two_commits() -> None:
    verdicts = judged(Source("oracle", None), *whole("1", "a", 0), *whole("1", "b", 2))
    assert [(type(one), one.transaction_id) for one in verdicts] == [(Commit, "a"), (Commit, "b")]


@pytest.mark.parametrize("decision", ["release", "discard"])
def test_what_has_no_place_waits_whatever_operators_decide(decision: str) -> None:
    waiting = Uncounted(None, "701", "", "watermark", has_known_end=False)
    (verdict,) = judged(Source("postgresql", None), Decision(decision, "701"), waiting)
    assert verdict.transaction_id == "701"
    assert not isinstance(verdict, Commit)


def test_offsets_of_a_copy_of_the_transaction_topic_link_nothing() -> None:
    end = ChainEnd(1, "1", None, (1,))
    copied = whole("2", "b", 2, is_leading=False)
    assert not isinstance(judged(Source("sqlserver", None), *copied, end=end)[0], Commit)
    assert isinstance(judged(Source("sqlserver", None), *whole("2", "b", 2), end=end)[0], Commit)


def test_no_marker_that_has_landed_links_nothing() -> None:
    marks = [Source("sqlserver", None), *whole("2", "b", 2)]
    (verdict,) = judge(marks, ChainEnd(1, "1", None, (1,)))
    assert not isinstance(verdict, Commit)
