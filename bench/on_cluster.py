"""CPU-seconds on a cluster beside those of one process, and how many tasks its stages have.

    PYTHONPATH=tests/cluster python bench/on_cluster.py [MESSAGES]

The first messages of the capture `big`, by default 40,000, and then the next 12,000 are landed and
run twice, each time in a process of its own: with the target `local`, and with `prod` on the
servers of tests/cluster. Both must show the same rows. The site says nothing but where the driver
listens, so Spark's own 200 tasks for each shuffle stand.

CPU-seconds are those of the driver, and on the cluster those of the worker with its executors and
their Python; master, catalog and store are left out. `make setup-cluster` installs what this needs.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from bench import BIG, REPOSITORY, cpu_seconds
from chain import cluster
from click.testing import CliRunner
from pyspark.sql import SparkSession

from dbt_debezium.cli import main as command
from dbt_debezium.home import jars_dir
from dbt_debezium.landing.land import land
from dbt_debezium.preview import write_project
from dbt_debezium.scaffold.captured import captured_tables
from dbt_debezium.scaffold.landed_tables import landed_tables
from dbt_debezium.spark.session import spark_session

FIRST, NEXT = 40_000, 12_000
SITE = """
spark.driver.host         127.0.0.1
spark.driver.bindAddress  127.0.0.1
spark.ui.enabled          false
spark.ui.retainedJobs     10000
spark.ui.retainedStages   10000
"""
WORKER = "WORKER_OF_THE_BENCHMARK"
"""Names the environment variable with its process."""


class Step(NamedTuple):
    """What one cost, and the stages that it ran on the cluster."""

    name: str
    messages: int
    cpu: float
    seconds: float
    stages: int
    tasks: int
    largest: list[tuple[int, float, str]]
    """Tasks, milliseconds and name of the stages with the most tasks."""


def stages(spark: SparkSession) -> dict[int, tuple[int, float, str]]:
    """All that have ended, by their number, as Spark's own pages know them."""
    context: Any = spark.sparkContext
    jvm, none = context._jvm, context._gateway.new_array(context._jvm.double, 0)
    store, empty = context._jsc.sc().statusStore(), jvm.java.util.ArrayList()
    found = store.stageList(empty, False, False, none, empty)
    ended = {}
    for place in range(found.size()):
        stage = found.apply(place)
        if stage.completionTime().isDefined() and stage.submissionTime().isDefined():
            began, end = stage.submissionTime().get(), stage.completionTime().get()
            milliseconds = end.getTime() - began.getTime()
            ended[stage.stageId()] = (stage.numTasks(), milliseconds, stage.name())
    return ended


def steps(target: str, files: list[Path]) -> tuple[list[Step], dict[str, Any]]:
    """Start Spark, then land and run file after file; and what each public table shows then."""
    found: list[Step] = []
    worker = os.environ.get(WORKER)
    spark: SparkSession | None = None

    def cpu() -> float:
        return cpu_seconds() + (cpu_seconds(int(worker)) if worker else 0)

    @contextmanager
    def step(name: str, messages: int = 0) -> Iterator[None]:
        known = stages(spark) if spark else {}
        before, began = cpu(), time.monotonic()
        yield
        cost, seconds = cpu() - before, time.monotonic() - began
        assert spark
        new = [one for number, one in stages(spark).items() if number not in known]
        largest = sorted(new, reverse=True)[:3]
        tasks = sum(count for count, *_ in new)
        found.append(Step(name, messages, cost, seconds, len(new), tasks, largest))
        print(target, *found[-1], file=sys.stderr, flush=True)

    def run(name: str, *arguments: str, messages: int = 0) -> None:
        with step(name, messages):
            ended = CliRunner().invoke(command, [*arguments, "--target", target])
        if ended.exit_code:
            sys.exit(ended.output)

    with step("start of Spark"):
        spark = spark_session(target)
    for number, file in enumerate(files):
        count = sum(1 for _ in file.open("rb"))
        with step(f"land {count:,} messages", count):
            land(spark, file)
        if not number:
            write_project(REPOSITORY, Path.cwd(), captured_tables(landed_tables(spark), []), {})
        run(f"run on {count:,} messages", "run", messages=count)
    run("run without news", "run")
    run("status", "status")
    shown = {}
    for row in spark.sql("show views in public").collect():
        if row.viewName.endswith("_history"):
            name = row.viewName.removesuffix("_history")
            query = f"select count(*), sum(cast(xxhash64(*) as decimal(38))) from public.`{name}`"
            shown[name] = [str(one) for one in spark.sql(query).head() or ()]
    spark.stop()
    return found, shown


def in_own_process(
    folder: Path, target: str, files: list[Path], settings: Mapping[str, str]
) -> tuple[list[Step], dict[str, Any]]:
    project = folder / target
    project.mkdir()
    lake = {"DBT_DEBEZIUM_LAKE": f"{project}/lake", "DBT_DEBEZIUM_JARS": str(jars_dir().absolute())}
    # To land, it needs a profile; `write_project` writes the rest.
    for name in ("profiles.yml", "dbt_project.yml"):
        (project / name).write_text((REPOSITORY / name).read_text())
    said = subprocess.run(
        [sys.executable, __file__, "steps", target, *files],
        cwd=project,
        env={**settings, **lake, "PYTHONPATH": f"{REPOSITORY}/tests/cluster"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found, shown = json.loads(said.stdout.splitlines()[-1])
    return [Step(*one) for one in found], shown


def worker_of(folder: Path) -> int:
    """The process of the worker with its files in a folder."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            said = (entry / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if "org.apache.spark.deploy.worker.Worker" in said and f"{folder}/work" in said:
            return int(entry.name)
    sys.exit(f"{folder}: no worker runs there")


def main() -> None:
    if not BIG.exists():
        sys.exit(f"{BIG}: not there; the benchmark needs this capture")
    counts = [int(sys.argv[1]) if len(sys.argv) > 1 else FIRST, NEXT]
    with tempfile.TemporaryDirectory(prefix="dbt-debezium-on-cluster-") as name, cluster() as both:
        folder, files = Path(name), []
        with gzip.open(BIG, "rt", encoding="utf-8") as lines:
            for count in counts:
                files.append(folder / f"part{len(files)}.jsonl")
                files[-1].write_text("".join(islice(lines, count)), encoding="utf-8")
        (both.folder / "conf" / "spark-defaults.conf").write_text(SITE)
        worker = {WORKER: str(worker_of(both.folder.parent))}
        prod, rows_there = in_own_process(folder, "prod", files, {**both.environment, **worker})
        local, rows = in_own_process(folder, "local", files, os.environ)
    assert rows == rows_there, f"{rows} is not {rows_there}"
    show(local, prod)


def show(local: list[Step], prod: list[Step]) -> None:
    print("| step | local | prod | ratio | stages | tasks | most tasks of a stage |")
    print("|---|---|---|---|---|---|---|")
    for here, there in zip(local, prod, strict=True):
        (most, milliseconds, what), *_ = [*there.largest, (0, 0.0, "")]
        print(
            f"| {there.name} | {here.cpu:.1f} | {there.cpu:.1f} | {there.cpu / here.cpu:.2f} "
            f"| {there.stages} | {there.tasks} | {most} in {milliseconds:.0f} ms: {what} |"
        )
    for here, there in zip(local, prod, strict=True):
        if here.messages:
            each = [one.cpu / one.messages * 1000 for one in (here, there)]
            print(f"{there.name}: {each[0]:.2f} and {each[1]:.2f} CPU-s for 1,000")
    sums = [sum(one.cpu for one in some if one.messages) for some in (local, prod)]
    print(f"all messages: {sums[0]:.1f} and {sums[1]:.1f} CPU-s, {sums[1] / sums[0]:.2f}")
    walls = [sum(one.seconds for one in some if one.messages) for some in (local, prod)]
    print(f"seconds: {walls[0]:.0f} and {walls[1]:.0f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["steps"]:
        print(json.dumps(steps(sys.argv[2], [Path(one) for one in sys.argv[3:]])))
    else:
        main()
