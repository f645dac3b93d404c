"""CPU-seconds of the pipeline on a large capture: flattening, a full build, an incremental build.

Then what types cost: its histories built anew with columns of text, and of the example's types. And
what tables without changes cost: a run in which two of a hundred tables changed, and of two tables;
and what it takes to write the models of 300 tables and have dbt read them.

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
from typing import Any

from dbt_debezium.build import environment, run_dbt
from dbt_debezium.home import jars_dir
from dbt_debezium.landing.land import land
from dbt_debezium.preview import write_project
from dbt_debezium.scaffold.captured import captured_tables
from dbt_debezium.scaffold.landed_tables import landed_tables
from dbt_debezium.scaffold.model_files import history_sql
from dbt_debezium.scaffold.project_models import ProjectModels, plan_scaffold
from dbt_debezium.spark.session import spark_session

REPOSITORY = Path(__file__).parents[1]
BIG = REPOSITORY.parent / "shared" / "captures" / "big" / "events.jsonl.gz"
SHOP = REPOSITORY / "tests" / "data" / "shop_basic" / "events.jsonl.gz"
TICKS = os.sysconf("SC_CLK_TCK")
LAST_PART = 0.05
"""Share of the messages that the incremental build brings."""
TYPES = {
    "users": {
        "id": "int",
        "score": "decimal(12,2)",
        "updated": "timestamp_ntz from io.debezium.time.Timestamp",
        "active": "boolean",
    },
    "accounts": {"id": "int", "user_id": "int", "balance": "bigint", "rev": "int"},
    "activity": {"id": "bigint", "user_id": "int", "at": "timestamp"},
    "inventory": {"wh": "smallint", "sku": "int", "qty": "int", "price": "decimal(10,2)"},
    "sessions": {"user_id": "int", "started": "timestamp"},
}
"""What the database says of the columns of the capture `big`; the others are texts."""


def cpu_seconds(root: int | None = None) -> float:
    """Of a process, by default this one, and all its descendants, living and waited for."""
    processes: dict[int, tuple[int, float]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            processes[int(entry.name)] = (int(fields[1]), sum(map(int, fields[11:15])) / TICKS)
    family, total = {root or os.getpid()}, 0.0
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


def build(project: Path, what: str, events: int, select: str | None = None) -> None:
    """Build, and print the share of each stage in the time of its nodes."""
    with measured(what, events):
        lines: list[str] = []
        options = ["--select", select] if select else []
        if not run_dbt(["run", "--target", "local", *options], project, on_line=lines.append):
            sys.exit("\n".join(lines))
    if select:
        return
    shares: Counter[str] = Counter()
    results = json.loads((project / "target" / "run_results.json").read_text())["results"]
    for result in results:
        name = result["unique_id"].split(".")[-1]
        stage = name if name in {"stg_message", "int_change", "proof"} else "transactions"
        shares["histories" if name.endswith("_history") else stage] += result["execution_time"]
    total = sum(shares.values())
    print(
        "   "
        + ", ".join(f"{stage} {share * 100 / total:.0f} %" for stage, share in shares.most_common())
    )


def build_histories(project: Path, typed: bool) -> None:
    """Build the histories anew, with the database's types or with text alone."""
    for path, model in ProjectModels.read(project).histories.items():
        types = TYPES.get(model.captured["table"], model.columns) if typed else {}
        columns = {name: types.get(name, "string") for name in model.columns}
        (project / path).write_text(history_sql(model.captured, model.public_name, columns))
    build(project, f"histories of {'typed columns' if typed else 'text'}", 0, "path:models/history")


def bench_tables(count: int, changed: int = 2, rows: int = 500) -> None:
    """A run that brings changes of a few tables of a source, all of which hold rows already."""
    with (
        tempfile.TemporaryDirectory(prefix="dbt-debezium-bench-") as folder,
        environment(DBT_DEBEZIUM_LAKE=f"{folder}/lake"),
    ):
        spark = spark_session("local")
        project = Path(folder) / "project"
        for part, tables in enumerate([range(count), range(changed)]):
            path = Path(folder) / f"{part}.jsonl"
            lines = transaction(part, [f"t{table}" for table in tables], rows if part else 1)
            path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
            land(spark, path)
            if not part:
                write_project(REPOSITORY, project, captured_tables(landed_tables(spark), []), {})
            told = f"{changed} of {count} tables changed" if part else f"first build of {count}"
            build(project, told, 0)
        spark.stop()


def bench_scaffold(count: int) -> None:
    """Write the models of many tables of 20 columns, and have dbt read them."""
    with (
        tempfile.TemporaryDirectory(prefix="dbt-debezium-bench-") as folder,
        environment(DBT_DEBEZIUM_LAKE=f"{folder}/lake"),
    ):
        spark = spark_session("local")
        path, project = Path(folder) / "wide.jsonl", Path(folder) / "project"
        lines = transaction(0, [f"t{table}" for table in range(count)], 1)
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        land(spark, path)
        write_project(REPOSITORY, project, [], {})
        with measured(f"scaffold {count} tables"):
            plan_scaffold(project, landed_tables(spark), []).write(project)
        with measured(f"scaffold {count} tables again"):
            assert not plan_scaffold(project, landed_tables(spark), []).changes
        with measured(f"dbt parse of {count} tables"):
            assert run_dbt(["parse", "--no-partial-parse"], project)
        spark.stop()


def transaction(
    number: int, tables: list[str], rows: int, updates: bool = False
) -> Iterator[dict[str, Any]]:
    """Messages of a transaction that inserts rows of 20 columns into each table.

    Args:
        updates: whether transaction 0 inserts them, and each later one writes its commit number,
            which is one more, into all columns of all rows.
    """
    start, end = number * 1_000_000 + 1, (number + 1) * 1_000_000
    sequence = json.dumps([str(number * 1_000_000) if number else None, str(start)])

    def message(topic: str, offset: int, key: Any, value: Any) -> dict[str, Any]:
        named = {"topic": f"wide{topic}", "partition": 0, "offset": offset, "headers": []}
        return named | {"timestamp": 1, "key": json.dumps(key), "value": json.dumps(value)}

    def marker(status: str, lsn: int, counts: Any) -> dict[str, Any]:
        named = {"status": status, "id": f"{number + 1}:{lsn}", "ts_ms": 1_700_000_000_000}
        counted = {"event_count": counts and rows * len(tables), "data_collections": counts}
        key = {"id": named["id"]}
        return message(".transaction", 2 * number + (status == "END"), key, named | counted)

    yield marker("BEGIN", start, None)
    for place, (table, row) in enumerate((table, row) for table in tables for row in range(rows)):
        source = {
            "version": "3.6.3.Final", "connector": "postgresql", "name": "wide", "db": "wide",
            "schema": "public", "table": table, "txId": number + 1, "lsn": start + place,
            "sequence": sequence, "snapshot": "false", "ts_ms": 1_700_000_000_000,
        }  # fmt: skip
        block = {
            "id": f"{number + 1}:{start + place}",
            "total_order": place + 1,
            "data_collection_order": row + 1,
        }
        key, text = (row, f"{number + 1}") if updates else (number * rows + row, f"{row}")
        after = {"id": key} | {f"c{column}": text for column in range(19)}
        value = {
            "op": "u" if updates and number else "c", "before": None, "after": after,
            "source": source, "transaction": block,
        }  # fmt: skip
        offset = number * rows + row if updates else number + row
        yield message(f".public.{table}", offset, {"id": key}, value)
    counts = [{"data_collection": f"public.{one}", "event_count": rows} for one in tables]
    yield marker("END", end, counts)


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
        from dbt_debezium.functions.flatten import register

        register(spark)
        with measured("flatten alone", first_count):
            spark.sql(
                "select flatten_message(topic, key, value, headers, '{}') as flat"
                " from landing.message"
            ).write.format("noop").mode("overwrite").save()
        build(project, "first build", first_count)
        with measured("land the rest", rest_count):
            land(spark, rest)
        build(project, "incremental build", rest_count)
        build(project, "build without news", 0)
        build_histories(project, typed=False)
        build_histories(project, typed=True)
        spark.stop()
        for count in (2, 100):
            bench_tables(count)
        bench_scaffold(300)


if __name__ == "__main__":
    main()
