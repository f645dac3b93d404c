"""The judge holds one transaction in memory, however many come. No Spark."""

from collections.abc import Iterator
from itertools import count

from dbt_debezium.judge import ChainEnd, judge
from dbt_debezium.judge.marks import Counted, Facts, Link, Range, Table, TablePartition
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
        position = f"{number:020}"
        yield Counted(
            position,
            str(number),
            (Table("public.orders", 1, 1, 1, True, True),),
            has_end=True,
            event_count=1,
            end_offsets=(2 * number + 1,),
            previous_position=previous,
        )
        previous = position


def test_verdicts_come_while_links_do() -> None:
    verdicts = judge(FACTS, endless_links(), ChainEnd())
    assert [next(verdicts).transaction_id for _ in range(1000)] == [*map(str, range(1000))]
