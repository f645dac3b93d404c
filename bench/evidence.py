"""What one run of the evidence takes: `python bench/evidence.py postgresql 200000 open`.

No Spark. Each transaction has BEGIN, END, and three changes in each of two tables, which have two
partitions. With `open` all of them wait for a change of the first, else all are published. Rows
come in batches, as Spark hands them over.
"""

import resource
import sys
import time
from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from dbt_debezium.evidence import COLUMNS, Known, State, judge_source
from dbt_debezium.evidence.groups import coded

EVENTS: Final = 8
BATCH: Final = 1_250
"""Transactions in a batch: 10,000 rows, as Spark's default."""
CHANGES: Final = 3
IN_PARTITION: Final = ((), (2, 0), (1, 0), (2, 1), (2, 0), (1, 0), (2, 1))
"""Of each change how many its transaction has in its partition, and which of them it is."""
TABLES: Final = ("public.a", "public.b")
SERVER: Final = "3ff300ed-e55c-11f1-98c4-02fc00000001"


def _padded(number: int) -> str:
    return str(number).zfill(20)


def _row(connector: str, number: int, event: int) -> dict[str, object]:
    """One message of a transaction: BEGIN, six changes, END."""
    is_marker = event in (0, EVENTS - 1)
    names = connector == "postgresql"
    name = f"{number}:{992 + number * 10}" if names else f"{SERVER}:{number + 1}"
    place = _padded(992 + number * 10 + event)
    found: dict[str, object] = {
        "source": "s",
        "unit_kind": "transaction",
        "unit_id": name,
        "transaction_id": name,
        "committed_at_micros": number * 1_000,
        "event_hash": hash((number, event, 1)) >> 1,
        "content_hash": hash((number, event, 2)) >> 1,
        "order_hash": event,
    }
    if not names:
        found["log_position"] = f"{SERVER}#{_padded(number + 1)}"
        place = f"0000000001:{_padded(500 + number * 10 + event)[1:]}:0000000000:0000000009"
    if is_marker:
        found |= {
            "topic": "s.transaction",
            "partition": 0,
            "offset": number * 2 + (event != 0),
            "kind": "transaction_marker",
            "marker": "END" if event else "BEGIN",
        }
        if event:
            found |= {
                "event_count": CHANGES * len(TABLES),
                "collection_counts": [(one, CHANGES) for one in TABLES],
                "commit_position": _padded(1000 + number * 10 if names else number * 2 + 1),
            }
        return found
    table = TABLES[(event - 1) // CHANGES]
    previous = _padded(990 + number * 10) if names and number else None
    return found | {
        "topic": f"s.{table}",
        "partition": event % 2,
        "offset": number * IN_PARTITION[event][0] + IN_PARTITION[event][1],
        "kind": "change",
        "connector": connector,
        "database_name": None if names else "public",
        "data_collection": table,
        "operation": "u",
        "is_whole_transaction": False,
        "previous_commit_position": previous,
        "event_position": place,
        "total_order": event,
        "data_collection_order": (event - 1) % CHANGES + 1,
    }


def batches(connector: str, count: int, *, are_open: bool) -> Iterator[pa.Table]:
    """The rows of some transactions; if they are open, the first lacks a change."""
    for first in range(0, count, BATCH):
        rows = [
            _row(connector, number, event)
            for number in range(first, min(count, first + BATCH))
            for event in range(EVENTS)
            if not (are_open and number == 0 and event == 1)
        ]
        columns = [[one.get(field.name) for one in rows] for field in COLUMNS]
        arrays = [pa.array(one, field.type) for one, field in zip(columns, COLUMNS, strict=True)]
        yield coded(pa.Table.from_arrays(arrays, COLUMNS.names))


def main() -> None:
    connector, count, are_open = sys.argv[1], int(sys.argv[2]), "open" in sys.argv[3:]
    pa.set_cpu_count(1)
    rows = pa.concat_tables(batches(connector, count, are_open=are_open))
    before, begun = _peak(), time.process_time()
    judged = judge_source(rows, State(), Known("s"))
    cost = time.process_time() - begun
    verdicts: dict[str, int] = {}
    for one in judged.verdicts:
        verdicts[one.verdict] = verdicts.get(one.verdict, 0) + 1
    print(
        f"{connector}: {rows.num_rows:,} rows, {verdicts}: {cost:.1f} CPU-s, "
        f"{_peak():,} MB, of which {before:,} MB before"
    )


def _peak() -> int:
    """The highest use of memory, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
