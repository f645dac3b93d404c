"""What a run costs with more messages, tables, sources or partitions.

    python bench/scale.py [messages | tables | sources | partitions]...

By default all four. Of each size, three parts land and are built in one process, in a lake of their
own. The cost is that of the third: its landing and its run. The two before it have few transactions
and warm up Java. A transaction writes all rows of its source. Several sources share the models of
their tables.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench import transaction
from peers import in_own_process

PARTS = 3
WARM_TRANSACTIONS = 2
"""Of a source, in each part but the last."""


class Size(NamedTuple):
    """Of one part."""

    transactions: int = 10
    tables: int = 2
    rows: int = 10
    """Of each table."""
    sources: int = 1
    partitions: int = 1

    def message_count(self) -> int:
        return self.sources * self.transactions * (self.tables * self.rows + 2)


POINTS = {
    "messages": [Size(transactions=one) for one in (10, 1_000, 10_000)],
    "tables": [Size(tables=one) for one in (2, 30)],
    "sources": [Size(sources=one, transactions=2) for one in (1, 100)],
    "partitions": [Size(transactions=2, rows=200, partitions=one) for one in (1, 100)],
}


def messages(size: Size, part: int) -> Iterator[str]:
    """Lines of a part. A row is always in the same partition of its topic."""
    tables = [f"t{one}" for one in range(size.tables)]
    begin = part * WARM_TRANSACTIONS
    count = size.transactions if part == PARTS - 1 else WARM_TRANSACTIONS
    for number in range(begin, begin + count):
        for one in transaction(number, tables, size.rows, updates=True):
            if not one["topic"].endswith(".transaction"):
                one["partition"] = json.loads(one["key"])["id"] % size.partitions
            line = f"{json.dumps(one)}\n"
            for source in range(size.sources):
                yield line.replace('"wide.', f'"wide{source}.').replace(
                    '\\"name\\": \\"wide\\"', f'\\"name\\": \\"wide{source}\\"'
                )


def cost(size: Size) -> tuple[float, float]:
    """CPU-seconds of the last part's landing and run."""
    with tempfile.TemporaryDirectory(prefix="dbt-debezium-scale-") as name:
        files = [Path(name) / f"{part}.jsonl" for part in range(PARTS)]
        for part, file in enumerate(files):
            with file.open("w", encoding="utf-8") as lines:
                lines.writelines(messages(size, part))
        lake, parts = Path(name) / "lake", [[file] for file in files]
        *_, landing, run = in_own_process(lake, parts, "wide*" if size.sources > 1 else None)
    return landing.cpu, run.cpu


def main() -> None:
    wanted = sys.argv[1:] or list(POINTS)
    if unknown := set(wanted) - POINTS.keys():
        sys.exit(f"scale.py: {unknown.pop()!r} is not measured; known: {', '.join(POINTS)}")
    for what in wanted:
        print(f"| {what} | messages | landing, CPU-s | run, CPU-s |")
        print("|---|---|---|---|")
        for size in POINTS[what]:
            landing, run = cost(size)
            count = size.message_count()
            shown = count if what == "messages" else getattr(size, what)
            print(f"| {shown:,} | {count:,} | {landing:.1f} | {run:.1f} |", flush=True)
        print()


if __name__ == "__main__":
    main()
