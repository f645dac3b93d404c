"""The judge holds one transaction in memory, however many come. No Spark."""

from collections.abc import Iterator
from itertools import count

from dbt_debezium.judge import ChainEnd, judge
from dbt_debezium.judge.marks import Begin, End, Facts, Link, Range, Table, TablePartition
from dbt_debezium.judge.traits import TRAITS

FACTS = Facts(
    TRAITS["postgresql"],
    first_position=None,
    partitions=(TablePartition("shop.public.orders", 0, has_changes=True, reached_place=None),),
    marker_ranges=(Range("shop.transaction", 0, 0, 10**9),),
)


def endless_links() -> Iterator[Link]:
    """Transactions of PostgreSQL, each of which follows the one before."""
    previous = None
    for number in count():
        position, transaction_id = f"{number:020}", str(number)
        yield Begin(position, transaction_id, 0, 2 * number)
        yield End(position, transaction_id, 0, 2 * number + 1, event_count=1)
        yield Table(position, transaction_id, "public.orders", 1, 1, 1, True, True, previous)
        previous = position


def test_verdicts_come_while_links_do() -> None:
    verdicts = judge(FACTS, endless_links(), ChainEnd())
    assert [next(verdicts).transaction_id for _ in range(1000)] == [*map(str, range(1000))]
