"""What rounds of one process cost: `run --every` on 20 new messages a round.

    python bench/rounds.py [ROUNDS]

By default 60 rounds. Printed are the CPU-seconds and seconds of a round, how many files the lake
has, and the resident memory of Python and of Java.
"""

import json
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from bench import REPOSITORY, cpu_seconds, transaction

from dbt_debezium.build import environment
from dbt_debezium.connectors.settings import settings_of
from dbt_debezium.home import jars_dir
from dbt_debezium.preview import write_project
from dbt_debezium.scaffold import captured_tables
from dbt_debezium.tables import observe

TABLES = ["t0", "t1"]
TRANSACTIONS = 5
"""Of a round: each has a BEGIN, an END, and a row of each table."""
SHOWN = 10
"""Each so many rounds a mean is printed."""


def bring(number: int, dump: Path) -> list[tuple[str, str, str]]:
    """Let the file of a round appear at once. Returns topic, key and value of each message."""
    first = number * TRANSACTIONS
    messages = [
        message
        for transaction_number in range(first, first + TRANSACTIONS)
        for message in transaction(transaction_number, TABLES, 1)
    ]
    unfinished = dump / ".unfinished"
    unfinished.write_text("".join(f"{json.dumps(one)}\n" for one in messages), encoding="utf-8")
    unfinished.rename(dump / f"{number}.jsonl")
    return [(one["topic"], one["key"], one["value"]) for one in messages]


def resident(pid: int) -> dict[str, int]:
    """MB of a process and of the largest one of each other name below it."""
    status = Path(f"/proc/{pid}/status").read_text()
    name = status.split()[1]
    found = {name: int(status.partition("VmRSS:")[2].split()[0]) // 1000}
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found = resident(int(child)) | found
    return found


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    jars = str(jars_dir().absolute())
    with (
        tempfile.TemporaryDirectory(prefix="dbt-debezium-rounds-") as folder,
        environment(DBT_DEBEZIUM_LAKE=f"{folder}/lake", DBT_DEBEZIUM_JARS=jars),
    ):
        project, dump = Path(folder) / "project", Path(folder) / "dump"
        dump.mkdir()
        seen = list(observe(bring(0, dump), settings_of({})))
        write_project(REPOSITORY, project, captured_tables(seen, []), {})
        command = [Path(sys.executable).with_name("dbt-debezium"), "run", "--every", "1s", "--json"]
        process = subprocess.Popen([*command, dump], cwd=project, stdout=subprocess.PIPE, text=True)
        assert process.stdout
        published = 0
        used = [cpu_seconds()]
        try:
            for line in process.stdout:
                told = json.loads(line)
                if told["error"]:
                    sys.exit(told["error"])
                if told["outcome"] != "published":
                    continue
                published += 1
                used.append(cpu_seconds())
                if published % SHOWN == 0 or published == 1:
                    costs = [after - before for before, after in pairwise(used[-SHOWN - 1 :])]
                    files = sum(one.is_file() for one in Path(folder, "lake").rglob("*"))
                    print(
                        f"round {published:3}: {sum(costs) / len(costs):5.1f} CPU-s a round, "
                        f"{told['seconds']:5.1f} s, {files} files, MB {resident(process.pid)}",
                        flush=True,
                    )
                if published == rounds:
                    break
                bring(published, dump)
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
