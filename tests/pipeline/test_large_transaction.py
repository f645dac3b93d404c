"""A transaction of a million changes, in ten landings, is shown when it is whole, and not before.

Nothing holds it in memory: the driver has the heap of any run, and the peak is measured.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from arrivals import Arrival, write_arrivals
from figures import record
from lake import Lake, open_lake, tables_of
from oracle import Message
from pyspark.sql import SparkSession
from streams import SCHEMA, Postgresql, create

SOURCE = "large"
TABLES = ("debit", "credit", "fee")
PARTS = 10
MEGABYTE = 2**20


def rows_of_tables(event_count: int) -> list[range]:
    """The ids of each table's rows that the large transaction creates."""
    return [range(n, event_count, len(TABLES)) for n in range(len(TABLES))]


def parts_of(event_count: int) -> Iterator[list[Message]]:
    """A commit of one row in each table, then the parts of the large one, END in the last."""
    stream = Postgresql(SOURCE)
    sent = stream.landings[0]
    stream.commit(*(create(table, id=-1, amount=1) for table in TABLES))
    yield [*sent]
    sent.clear()
    stream.transaction += 1
    transaction = stream.transaction
    stream.send_marker("BEGIN", f"{transaction}:{stream.lsn}")
    for at in range(event_count):
        table = TABLES[at % len(TABLES)]
        stream.lsn += 8
        block = {
            "id": f"{transaction}:{stream.lsn}",
            "total_order": at + 1,
            "data_collection_order": at // len(TABLES) + 1,
        }
        change = create(table, id=at, amount=at % 997)
        stream.send_change(change, stream.place(table, stream.lsn), block)
        if (at + 1) % (event_count // PARTS) == 0 and at + 1 < event_count:
            yield [*sent]
            sent.clear()
    counts = {
        f"{SCHEMA}.{table}": len(rows)
        for table, rows in zip(TABLES, rows_of_tables(event_count), strict=True)
    }
    stream.send_marker("END", f"{transaction}:{stream.lsn + 8}", counts)
    yield [*sent]


def shown_rows(lake: Lake) -> list[tuple[object, ...]]:
    """Of each table how many rows it has, and the sum of their amounts."""
    return [
        row
        for table in TABLES
        for row in lake.rows(f"select count(*), sum(amount) from public.{table}")
    ]


def old_generation_megabytes(spark: SparkSession) -> float:
    """The most that lay in the driver's old generation, where what is held for long goes."""
    management = spark._jvm.java.lang.management  # type: ignore[union-attr]
    pools = management.ManagementFactory.getMemoryPoolMXBeans()
    return max(
        float(one.getPeakUsage().getUsed()) / MEGABYTE for one in pools if "Old" in one.getName()
    )


def check_large_transaction(folder: Path, event_count: int) -> float:
    """Land and build each part, and look. Returns the peak of the old generation in MB."""
    parts = parts_of(event_count)
    first = next(parts)
    with open_lake(folder, tables_of(first)) as lake:
        for number, part in enumerate(chain([first], parts)):
            directory = folder / f"part_{number}"
            write_arrivals(directory, [Arrival(SOURCE, part, [])])
            lake.land(directory)
            assert lake.build(command="run"), lake.lines
            print(f"part {number}: {lake.lines[-1]}", flush=True)
            if number < PARTS:
                assert shown_rows(lake) == [(1, 1)] * len(TABLES)
        assert shown_rows(lake) == [
            (len(rows) + 1, sum(number % 997 for number in rows) + 1)
            for rows in rows_of_tables(event_count)
        ]
        return old_generation_megabytes(lake.spark)


@pytest.mark.proof
@pytest.mark.fault(37)
def test_a_transaction_of_a_million_changes_is_shown_when_it_is_whole(tmp_path: Path) -> None:
    event_count = 1_000_000
    peak = check_large_transaction(tmp_path, event_count)
    record(
        "A large transaction is shown when it is whole, and not before",
        f"{event_count:,} changes of {len(TABLES)} tables in {PARTS} landings, with 2 GB of heap; "
        f"the driver's old generation held at most {peak:,.0f} MB",
    )
