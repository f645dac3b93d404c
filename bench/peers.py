"""What the pipeline costs beside others that make less: `make bench-peers`.

    python bench/peers.py [COPIES]

The capture `big` of ../shared/captures, by default four copies of it, each as a source of its own.
Its last twentieth comes in a second part. One run measures three things:

- this project: from files to published tables, in one process and by its command;
- `recipe.py`, what people write by hand, and which of its rows are wrong in the end;
- `one_process.py`, one Python process without Spark.

All figures are CPU-seconds of a process and all below it, read from /proc. A statement is one that
Spark was given as SQL.
"""

import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench import BIG, REPOSITORY, cpu_seconds
from pyspark.sql import SparkSession
from recipe import KEYS

from dbt_debezium.build import environment, run_dbt
from dbt_debezium.home import jars_dir
from dbt_debezium.landing.land import land
from dbt_debezium.preview import write_project
from dbt_debezium.scaffold.captured import Group, captured_tables
from dbt_debezium.scaffold.landed_tables import landed_tables
from dbt_debezium.spark.session import spark_session

HERE = Path(__file__).parent
COMMAND = Path(sys.executable).with_name("dbt-debezium")
SMALL = 1_000
"""Messages of a small run."""
FIRST = 2_000
"""Messages of the small lake's first run, which hold changes of all tables."""
WARM_RUNS = 6
LOOK_SECONDS = 0.1


class Parts(NamedTuple):
    """Files of a copy."""

    first: Path
    next: Path


class Cost(NamedTuple):
    """Of one step of this project."""

    cpu: float
    statements: int


def copies(folder: Path, count: int) -> list[Parts]:
    """Write the capture as so many sources."""
    with gzip.open(BIG, "rt", encoding="utf-8") as lines:
        text = lines.readlines()
    cut = len(text) * 19 // 20
    found = []
    for number in range(count):
        named = [
            line.replace('"topic":"big.', f'"topic":"big{number}.').replace(
                '\\"name\\":\\"big\\"', f'\\"name\\":\\"big{number}\\"'
            )
            for line in text
        ]
        parts = Parts(folder / f"first{number}.jsonl", folder / f"next{number}.jsonl")
        parts.first.write_text("".join(named[:cut]), encoding="utf-8")
        parts.next.write_text("".join(named[cut:]), encoding="utf-8")
        found.append(parts)
    return found


def small_parts(folder: Path, whole: Path) -> list[Path]:
    """Write the first messages as parts of a small size."""
    with whole.open(encoding="utf-8") as lines:
        text = [next(lines) for _ in range(FIRST + SMALL * (2 + WARM_RUNS))]
    found = []
    for number, begin in enumerate([0, *range(FIRST, len(text), SMALL)]):
        end = begin + (SMALL if number else FIRST)
        found.append(folder / f"small{number}.jsonl")
        found[-1].write_text("".join(text[begin:end]), encoding="utf-8")
    return found


@contextmanager
def lake(folder: Path) -> Iterator[Path]:
    """An empty lake and the project that is to be written for it."""
    jars = str(jars_dir().absolute())
    with environment(DBT_DEBEZIUM_LAKE=f"{folder}/lake", DBT_DEBEZIUM_JARS=jars):
        yield folder / "project"


def steps(folder: Path, parts: list[list[Path]], sources: str | None) -> list[Cost]:
    """Start Spark, then land and build part after part. A landing and a build are steps.

    Args:
        sources: a pattern of sources that share their tables' models.
    """
    groups = [Group(sources, "shared")] if sources else []
    found: list[Cost] = []
    count = 0
    plain: Callable[..., Any] = SparkSession.sql

    def counting(*arguments: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        return plain(*arguments, **named)

    SparkSession.sql = counting  # type: ignore[method-assign]

    @contextmanager
    def step() -> Iterator[None]:
        nonlocal count
        count, before = 0, cpu_seconds()
        yield
        found.append(Cost(cpu_seconds() - before, count))

    with lake(folder) as project:
        with step():
            spark = spark_session("local")
        for number, files in enumerate(parts):
            with step():
                for file in files:
                    land(spark, file)
            if not number:
                write_project(
                    REPOSITORY, project, captured_tables(landed_tables(spark), groups), {}
                )
            lines: list[str] = []
            with step():
                is_built = run_dbt(["run", "--target", "local"], project, on_line=lines.append)
            if not is_built:
                sys.exit("\n".join(lines))
        spark.stop()
    return found


def cost_of(command: list[str | Path], folder: Path) -> float:
    """CPU-seconds of a command. Looks every tenth of a second."""
    cost = 0.0
    with (folder / "said").open("w+") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=subprocess.STDOUT)
        while process.poll() is None:
            cost = max(cost, cpu_seconds(process.pid))
            time.sleep(LOOK_SECONDS)
        if process.returncode:
            said.seek(0)
            sys.exit(f"{command}: {said.read()[-3000:]}")
    return cost


def printed_by(script: Path, *arguments: str | Path) -> str:
    """The last line that a script prints in a process of its own."""
    command = [sys.executable, script, *arguments]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return said.stdout.splitlines()[-1]


def in_own_process(folder: Path, parts: list[list[Path]], sources: str | None = None) -> list[Cost]:
    """`steps` with a Java of its own."""
    folder.mkdir()
    wanted = json.dumps([[[str(file) for file in files] for files in parts], sources])
    return [Cost(*one) for one in json.loads(printed_by(Path(__file__), "steps", folder, wanted))]


def size(*paths: Path) -> int:
    return sum(
        file.stat().st_size
        for path in paths
        for file in (path.rglob("*") if path.is_dir() else [path])
        if file.is_file()
    )


def wrong_rows(keys: dict[str, list[list[str]]]) -> str:
    """How many rows of each table the database does not have, or has and the recipe lacks."""
    told = []
    for table, rows in keys.items():
        path = next((BIG.parent / "expected").glob(f"{table}.jsonl*"))
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as lines:
            right = {
                tuple(row[key] for key in KEYS.get(table, ["id"])) for row in map(json.loads, lines)
            }
        wrong = len(right ^ {tuple(row) for row in rows})
        if wrong:
            told.append(f"{wrong:,} of {len(rows):,} in {table}")
    return ", ".join(told) or "none"


def show(what: str, ours: float, theirs: float | None, bar: str) -> None:
    compared = f"{theirs:.1f} | {ours / theirs:.2f}" if theirs else "- | -"
    print(f"| {what} | {ours:.1f} | {compared} | {bar} |", flush=True)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    if not BIG.exists():
        sys.exit(f"{BIG}: not there; the benchmark needs this capture")
    with tempfile.TemporaryDirectory(prefix="dbt-debezium-peers-") as name:
        measure(Path(name), count)


def measure(folder: Path, count: int) -> None:
    parts = copies(folder, count)
    firsts, nexts = [part.first for part in parts], [part.next for part in parts]
    small = small_parts(folder, firsts[0])
    batches = [",".join(map(str, files)) for files in (firsts, nexts)]
    recipe = json.loads(printed_by(HERE / "recipe.py", folder / "recipe", *batches))
    limit = {
        what: float(printed_by(HERE / "one_process.py", what, folder / what, *firsts))
        for what in ("land", "histories")
    }
    start, landing, build, _, incremental = in_own_process(folder / "many", [firsts, nexts[:1]])
    bytes_share = size(folder / "many" / "lake"), size(*firsts, nexts[0])
    *_, incremental_of_one = in_own_process(folder / "one", [firsts[:1], nexts[:1]])
    few = in_own_process(folder / "few", [[part] for part in small[: 2 + WARM_RUNS]])
    with lake(folder / "few"):
        project = folder / "few" / "project"
        cold = cost_of([COMMAND, "run", small[2 + WARM_RUNS]], project)
        no_news = cost_of([COMMAND, "run"], project)
    print(f"{count} copies of big; the recipe's wrong rows: {wrong_rows(recipe['keys'])}\n")
    print("| measure / compared with | CPU-s or number | compared with | ratio | bar |")
    print("|---|---|---|---|---|")
    first_of_recipe = recipe["costs"]["batch 0"]
    show("land and first build / recipe", landing.cpu + build.cpu, first_of_recipe, "3.0")
    show("land and first build / one process", landing.cpu + build.cpu, limit["histories"], "")
    show("land / one process", landing.cpu, limit["land"], "2.0")
    show(f"first build of {FIRST:,} messages / start of Spark", few[2].cpu, few[0].cpu, "4")
    show(f"{SMALL:,} messages, cold / start of Spark", cold, few[0].cpu, "4")
    show(f"{SMALL:,} messages, warm", few[-1].cpu + few[-2].cpu, None, "10 CPU-s")
    show("no news, cold", no_news, None, "1 CPU-s")
    show("statements of a first build", few[2].statements, None, "90")
    show(f"statements of {SMALL:,} messages", few[-1].statements, None, "55")
    show(
        f"12,000 messages: lake of {count} / lake of 1",
        incremental.cpu,
        incremental_of_one.cpu,
        "1.15",
    )
    show("lake / input (MB)", bytes_share[0] / 1e6, bytes_share[1] / 1e6, "0.15")
    starts = start.cpu, few[0].cpu, recipe["costs"]["start"]
    print(
        f"\nstart of Spark: {', '.join(f'{one:.1f}' for one in starts)} (the last is the recipe's)"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["steps"]:
        parts, sources = json.loads(sys.argv[3])
        wanted = [[Path(file) for file in files] for files in parts]
        print(json.dumps(steps(Path(sys.argv[2]), wanted, sources)))
    else:
        main()
