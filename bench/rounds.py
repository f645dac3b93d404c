"""What rounds cost that follow each other in one process: `run --every` on 200 messages a round.

    python bench/rounds.py [ROUNDS]

By default 60 rounds. A transaction updates every row of two tables, so the tables keep their size,
and all rows of one cut hold one number. Another process queries both tables all the while: a query
that fails or sees two numbers ends the benchmark.

Printed are means of the last ten rounds, and what the lake holds after them. A file `snap-*.avro`
stands for each snapshot that is kept.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from pathlib import Path

from bench import REPOSITORY, cpu_seconds, transaction

from dbt_debezium.build import environment
from dbt_debezium.home import jars_dir
from dbt_debezium.preview import write_project
from dbt_debezium.scaffold.captured import captured_tables
from dbt_debezium.scaffold.tables import observe
from dbt_debezium.settings import settings_of

TABLES = ["t0", "t1"]
ROWS = 19
TRANSACTIONS = 5
"""Of a round: each has a BEGIN, an END, and a change of each row of each table."""
SHOWN = 10
"""Each so many rounds a line is printed."""
SETTINGS = {"longest_query_hours": 0.1}
"""Six minutes. With the default of an hour, snapshots grow in number for an hour."""
READER = "reader"
READER_PAUSE_SECONDS = 5
QUERY = """
select
    (select max(commit_number) from public.published_cut) as commit_number,
    count(*) as row_count, min(cast(c0 as int)) as least, max(cast(c0 as int)) as most
from (select c0 from public.t0 union all select c0 from public.t1)
"""


def bring(number: int, dump: Path) -> list[tuple[str, str, str]]:
    """Let the file of a round appear at once. Returns topic, key and value of each message."""
    first = number * TRANSACTIONS
    messages = [
        message
        for transaction_number in range(first, first + TRANSACTIONS)
        for message in transaction(transaction_number, TABLES, ROWS, updates=True)
    ]
    unfinished = dump / ".unfinished"
    unfinished.write_text("".join(f"{json.dumps(one)}\n" for one in messages), encoding="utf-8")
    unfinished.rename(dump / f"{number}.jsonl")
    return [(one["topic"], one["key"], one["value"]) for one in messages]


def resident(pid: int) -> dict[str, int]:
    """MB of the largest process of each name, among a process and all below it."""
    found: dict[str, int] = {}
    with suppress(OSError, IndexError):  # one that has ended meanwhile
        status = Path(f"/proc/{pid}/status").read_text()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        found[status.split()[1]] = int(status.partition("VmRSS:")[2].split()[0]) // 1000
        for child in children:
            for name, size in resident(int(child)).items():
                found[name] = max(size, found.get(name, 0))
    return found


def held(lake: Path) -> str:
    """Files of a lake, its snapshots, and the bytes of its metadata and of all."""
    sizes: dict[Path, int] = {}
    for one in lake.rglob("*"):
        with suppress(FileNotFoundError):
            if one.is_file():
                sizes[one] = one.stat().st_size
    snapshots = sum(one.name.startswith("snap-") and one.suffix == ".avro" for one in sizes)
    metadata = sum(size for one, size in sizes.items() if one.parent.name == "metadata")
    return (
        f"{len(sizes):6,} files {snapshots:6,} snapshots {metadata / 1e6:6.1f} MB of metadata"
        f" {sum(sizes.values()) / 1e6:6.1f} MB in all"
    )


def read() -> None:
    """Query until the process is ended; print how many queries there were."""
    from dbt_debezium.spark.session import spark_session

    spark = spark_session("local")
    for count in range(1, sys.maxsize):
        number, rows, least, most = spark.sql(QUERY).collect()[0]
        if rows != len(TABLES) * ROWS or not number == least == most:
            sys.exit(f"commit {number}: {rows} rows hold {least} to {most}")
        print(count, flush=True)
        time.sleep(READER_PAUSE_SECONDS)


@contextmanager
def reading(folder: Path) -> Iterator[tuple["subprocess.Popen[bytes]", Path]]:
    """A process that reads, and where it says how many queries there were."""
    said = folder / "reader.log"
    with said.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, __file__, READER], cwd=REPOSITORY, stdout=out, stderr=out
        )
        try:
            yield process, said
        finally:
            process.kill()
            process.wait()


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    jars = str(jars_dir().absolute())
    with (
        tempfile.TemporaryDirectory(prefix="dbt-debezium-rounds-") as name,
        environment(DBT_DEBEZIUM_LAKE=f"{name}/lake", DBT_DEBEZIUM_JARS=jars),
    ):
        folder = Path(name)
        project, dump = folder / "project", folder / "dump"
        dump.mkdir()
        seen = list(observe(bring(0, dump), settings_of({})))
        write_project(REPOSITORY, project, captured_tables(seen, []), SETTINGS)
        command = [Path(sys.executable).with_name("dbt-debezium"), "run", "--every", "1s", "--json"]
        process = subprocess.Popen([*command, dump], cwd=project, stdout=subprocess.PIPE, text=True)
        try:
            follow(process, folder, rounds)
        finally:
            process.terminate()
            process.wait()


def follow(process: "subprocess.Popen[str]", folder: Path, rounds: int) -> None:
    """Bring the messages of a round as soon as the one before has published."""
    assert process.stdout
    published = 0
    used, began = [cpu_seconds(process.pid)], [time.monotonic()]
    with ExitStack() as stack:
        reader, said = None, Path("/dev/null")
        for line in process.stdout:
            told = json.loads(line)
            if told["error"]:
                sys.exit(told["error"])
            if reader and reader.poll() is not None:
                sys.exit(f"the reader ended: {said.read_text()[-2000:]}")
            if told["outcome"] != "published":
                continue
            published += 1
            if published == 1:
                # Until then there are no views.
                reader, said = stack.enter_context(reading(folder))
            used.append(cpu_seconds(process.pid))
            began.append(time.monotonic())
            for done in told["lines"]:
                if "maintain" in done:
                    print(f"round {published:3}: {done}", flush=True)
            if published % SHOWN == 0 or published == 1:
                costs, seconds = (
                    [after - before for before, after in pairwise(some[-SHOWN - 1 :])]
                    for some in (used, began)
                )
                queries = said.read_text().split()[-1:] or ["0"]
                print(
                    f"round {published:3}: {sum(costs) / len(costs):5.1f} CPU-s"
                    f" {sum(seconds) / len(seconds):5.1f} s {held(folder / 'lake')},"
                    f" MB {resident(process.pid)}, {queries[0]} queries",
                    flush=True,
                )
            if published == rounds:
                return
            bring(published, folder / "dump")


if __name__ == "__main__":
    read() if sys.argv[1:] == [READER] else main()
