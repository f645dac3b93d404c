"""What reading a lake of many messages costs: each command in a process of its own, without Java.

    python bench/readers.py [MESSAGES]

By default a million. Transactions insert ten rows into each of two tables, so nearly every message
is a row that is in its table now. The figures are the least of three runs.
"""

import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from bench import transaction
from peers import COMMAND, cost_of, in_own_process, lake

ROWS = 10
TABLES = ["t0", "t1"]
MESSAGES = len(TABLES) * ROWS + 2
"""Of a transaction."""
RUNS = 3
COMMANDS = {
    "status": ["status"],
    "report": ["report", "lake.html"],
    "query, a count": ["query", "select count(*) from t0"],
    "query, one row": ["query", "select * from t0 where id = 77"],
    "query, a count of an earlier commit": ["query", "select count(*) from t0", "--at", "7"],
    "diff of one commit": ["diff", "wide", "8"],
}


def write_dump(file: Path, transactions: int) -> None:
    """Write the messages, each partition from offset 0 on."""
    offsets: Counter[str] = Counter()
    with file.open("w", encoding="utf-8") as lines:
        for number in range(transactions):
            for one in transaction(number, TABLES, ROWS):
                one["offset"] = offsets[one["topic"]]
                offsets[one["topic"]] += 1
                lines.write(f"{json.dumps(one)}\n")


def main() -> None:
    transactions = int(sys.argv[1] if len(sys.argv) > 1 else 1_000_000) // MESSAGES
    with tempfile.TemporaryDirectory(prefix="dbt-debezium-readers-") as name:
        folder = Path(name)
        write_dump(folder / "dump.jsonl", transactions)
        in_own_process(folder / "one", [[folder / "dump.jsonl"]])
        os.environ["JAVA_HOME"] = "/nowhere"  # so that a command that starts Java fails
        print(
            f"{transactions * MESSAGES:,} messages\n\n| command | CPU-s | seconds |\n|---|---|---|"
        )
        with lake(folder / "one") as project:
            for what, command in COMMANDS.items():
                costs = []
                for _ in range(RUNS):
                    began = time.monotonic()
                    cpu = cost_of([COMMAND, *command], project)
                    costs.append((cpu, time.monotonic() - began))
                cpu, seconds = map(min, zip(*costs, strict=True))
                print(f"| {what} | {cpu:.1f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
