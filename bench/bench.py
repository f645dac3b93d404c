"""CPU-seconds of the pipeline on a large capture: flattening, a full build, an incremental build.

    python bench/bench.py [MESSAGES.jsonl.gz]

By default it takes the capture `big` from ../shared/captures, or the shop of the tests where that
is not there. CPU-seconds are those of this process, its Java and their workers, read from /proc, so
that other work on the machine does not count; wall seconds beside them are for orientation.
"""

import gzip
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dbt_debezium.build import environment, run_dbt
from dbt_debezium.home import jars_dir
from dbt_debezium.landing import land
from dbt_debezium.preview import write_project
from dbt_debezium.scaffold import captured_tables
from dbt_debezium.session import spark_session
from dbt_debezium.tables import landed_tables

REPOSITORY = Path(__file__).parents[1]
BIG = REPOSITORY.parent / "shared" / "captures" / "big" / "events.jsonl.gz"
SHOP = REPOSITORY / "tests" / "data" / "shop_basic" / "events.jsonl.gz"
TICKS = os.sysconf("SC_CLK_TCK")
LAST_PART = 0.05
"""Share of the messages that the incremental build brings."""


def cpu_seconds() -> float:
    """Of this process and all its descendants, living and waited for."""
    processes: dict[int, tuple[int, float]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            processes[int(entry.name)] = (int(fields[1]), sum(map(int, fields[11:15])) / TICKS)
    family, total = {os.getpid()}, 0.0
    growing = True
    while growing:
        growing = False
        for process, (parent, _) in processes.items():
            if parent in family and process not in family:
                family.add(process)
                growing = True
    for process in family:
        total += processes[process][1]
    return total


@contextmanager
def measured(what: str, events: int | None = None) -> Iterator[None]:
    cpu, wall = cpu_seconds(), time.monotonic()
    yield
    cpu, wall = cpu_seconds() - cpu, time.monotonic() - wall
    rate = f"{events / cpu:10,.0f} events per CPU-s" if events else ""
    print(f"{what:34} {cpu:7.1f} CPU-s {wall:7.1f} s {rate}", flush=True)


def split(path: Path, folder: Path) -> tuple[Path, Path, int, int]:
    """Write the first part and the rest of the messages."""
    with gzip.open(path, "rt", encoding="utf-8") as messages:
        lines = messages.readlines()
    middle = int(len(lines) * (1 - LAST_PART))
    first, rest = folder / "first.jsonl", folder / "rest.jsonl"
    first.write_text("".join(lines[:middle]), encoding="utf-8")
    rest.write_text("".join(lines[middle:]), encoding="utf-8")
    return first, rest, middle, len(lines) - middle


def build(project: Path, what: str, events: int) -> None:
    """Build, and print the share of each stage in the time of its nodes."""
    with measured(what, events):
        lines: list[str] = []
        if not run_dbt(["run", "--target", "local"], project, on_line=lines.append):
            sys.exit("\n".join(lines))
    shares: Counter[str] = Counter()
    results = json.loads((project / "target" / "run_results.json").read_text())["results"]
    for result in results:
        name = result["unique_id"].split(".")[-1]
        stage = name if name in {"stg_message", "int_change", "int_outcome"} else "transactions"
        shares["histories" if name.endswith("_history") else stage] += result["execution_time"]
    total = sum(shares.values())
    print(
        "   "
        + ", ".join(f"{stage} {share * 100 / total:.0f} %" for stage, share in shares.most_common())
    )


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else BIG if BIG.exists() else SHOP
    jars = str(jars_dir().absolute())
    with (
        tempfile.TemporaryDirectory(prefix="dbt-debezium-bench-") as folder,
        environment(DBT_DEBEZIUM_LAKE=f"{folder}/lake", DBT_DEBEZIUM_JARS=jars),
    ):
        first, rest, first_count, rest_count = split(path, Path(folder))
        print(f"{path.parent.name}: {first_count + rest_count:,} messages")
        with measured("start Spark"):
            spark = spark_session("local")
        with measured("land the first part", first_count):
            land(spark, first)
        project = Path(folder) / "project"
        with measured("find the tables", first_count):
            write_project(REPOSITORY, project, captured_tables(landed_tables(spark), []), {})
        from dbt_debezium.flatten import register

        register(spark)
        with measured("flatten alone", first_count):
            spark.sql(
                "select flatten_message(topic, key, value, headers) as flat from landing.message"
            ).write.format("noop").mode("overwrite").save()
        build(project, "first build", first_count)
        with measured("land the rest", rest_count):
            land(spark, rest)
        build(project, "incremental build", rest_count)
        build(project, "build without news", 0)
        spark.stop()


if __name__ == "__main__":
    main()
