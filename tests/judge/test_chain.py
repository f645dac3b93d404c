"""Promises about links that messages rarely make, on marks written by hand."""

import pytest

from dbt_debezium.connectors import SOURCES, cdl
from dbt_debezium.connectors.generic import GenericSource
from dbt_debezium.judge import ChainEnd, Verdict, judge
from dbt_debezium.judge.marks import (
    Counted,
    Decision,
    Facts,
    Link,
    Range,
    Table,
    TablePartition,
    Uncounted,
)
from dbt_debezium.judge.traits import TRAITS

ORDERS = "shop.public.orders"


def judged(
    connector: str, *links: Link, end: ChainEnd | None = None, decision: Decision | None = None
) -> list[Verdict]:
    facts = Facts(
        TRAITS[connector],
        first_position=None,
        partitions=(TablePartition(ORDERS, 0, has_changes=True, reached_place="9"),),
        ranges=(Range(ORDERS, 0, 0, 9),),
        marker_ranges=(Range("shop.transaction", 0, 0, 9),),
        decisions=(decision,) if decision else (),
    )
    return [*judge(facts, links, end or ChainEnd())]


def whole(position: str, transaction_id: str, *end_offsets: int) -> Link:
    """A transaction of one change."""
    return Counted(
        position,
        transaction_id,
        (Table("public.orders", 1, 1, 1, True, True),),
        has_end=True,
        event_count=1,
        end_offsets=end_offsets,
        first_change="5",
    )


def test_two_transactions_at_one_position_are_two_commits() -> None:
    verdicts = judged("oracle", whole("1", "a", 1), whole("1", "b", 3))
    assert [(one.outcome, one.transaction_id) for one in verdicts] == [
        ("commit", "a"),
        ("commit", "b"),
    ]


@pytest.mark.parametrize("decision", ["release", "discard"])
def test_what_has_no_place_waits_whatever_operators_decide(decision: str) -> None:
    waiting = Uncounted(None, "701", "", "watermark", has_known_end=False)
    (verdict,) = judged("postgresql", waiting, decision=Decision(decision, "701"))
    assert verdict.transaction_id == "701"
    assert verdict.outcome != "commit"


def test_offsets_of_a_copy_of_the_transaction_topic_link_nothing() -> None:
    end = ChainEnd(1, "1", None, (1,))
    copied = whole("2", "b")
    assert judged("sqlserver", copied, end=end)[0].outcome == "hold"
    assert judged("sqlserver", whole("2", "b", 3), end=end)[0].outcome == "commit"


def test_no_marker_that_has_landed_links_nothing() -> None:
    facts = Facts(TRAITS["sqlserver"], first_position=None)
    (verdict,) = judge(facts, [whole("2", "b", 3)], ChainEnd(1, "1", None, (1,)))
    assert verdict.outcome != "commit"


def test_each_connector_has_traits() -> None:
    assert TRAITS.keys() == {*SOURCES, GenericSource.connector, cdl.CONNECTOR}
