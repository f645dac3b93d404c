"""How many transactions of one source the judge takes in a CPU-second: `python bench/judge.py`.

No Spark. Each transaction has its BEGIN and END and changes one table. Marks are decoded from JSON,
as a run hands them over.
"""

import sys
import time
from collections.abc import Iterator

import msgspec

from dbt_debezium.judge.marks import KINDS, Begin, End, Mark, Partition, Range, Source, Table
from dbt_debezium.judged_marks import judged

COUNT = 100_000
TABLE = "public.orders"


def marks(count: int) -> Iterator[Mark]:
    """Of transactions that follow each other."""
    yield Source("postgresql", first_position=None)
    yield Partition(f"shop.{TABLE}", 0, has_changes=True, reached_place=None)
    yield Range("shop.transaction", 0, 0, 2 * count, is_of_markers=True)
    previous = None
    for number in range(count):
        position, transaction_id = f"{number:020}", str(number)
        yield Begin(position, transaction_id, 0, 2 * number)
        yield End(position, transaction_id, 0, 2 * number + 1, event_count=1)
        yield Table(position, transaction_id, TABLE, 1, 1, 1, True, True, previous)
        previous = position


def main() -> None:
    names = {mark: kind for kind, mark in KINDS.items()}
    rows = [(names[type(one)], msgspec.json.encode(one).decode()) for one in marks(COUNT)]
    begun = time.process_time()
    verdicts = [one["verdict"] for one in judged("shop", rows)]
    cost = time.process_time() - begun
    if verdicts != ["commit"] * COUNT:
        sys.exit(f"judge.py: {len(verdicts):,} verdicts, not {COUNT:,} commits")
    print(f"{COUNT:,} transactions in {cost:.1f} CPU-s: {COUNT / cost:,.0f} per CPU-s")


if __name__ == "__main__":
    main()
