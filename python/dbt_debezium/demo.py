"""A recorded change log, landed in two parts, and what readers see after each."""

import gzip
import json
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from dbt_debezium.build import BUILD, environment, run_dbt
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import is_carried, project_dir
from dbt_debezium.landing.land import land
from dbt_debezium.lease import JVM_LOCK_NAME, LOCK_NAME, MACHINE_NAME, Lease
from dbt_debezium.package import write_files
from dbt_debezium.package_files import EXAMPLE, FIRST, PACKAGE, package_dir, package_files
from dbt_debezium.progress import Steps, working
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.spark.session import spark_session
from dbt_debezium.status.report import OUTCOMES, cut_report

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

CAPTURE = Path("tests/data/shop_basic/events.jsonl.gz")
LAKE = Path("target/demo_lake")
PAGE = "lake.html"
"""Of the lake: what `report` writes."""
FOLDER = Path("dbt_debezium_demo")
"""Where an installed dbt-debezium, which has no clone, puts the example."""
PROJECT = Path("target/demo_project")
"""Where a clone has the project of the demo, whose decisions are none of the clone."""
ORDERS = "shop.public.orders"
ORDER_ITEMS = "shop.public.order_items"
MART = "public.revenue_by_day"
MART_COLUMNS = ("ordered_on", "order_count", "ordered_amount", "paid_amount")
QUERY = """\
select id, status, total, _change.transaction_id, _change.committed_at
   from public.orders order by _change.commit_number desc limit 5"""

FIRST_PART = 3230
"""How many messages the connector has sent when the first part ends."""
LAGS = {
    (ORDER_ITEMS, 2): 150,
    ("shop.public.products", 1): 110,
    (ORDERS, 0): 60,
    ("shop.public.customers", 2): 25,
}
"""How many of the messages sent last a partition can lack; the others have all of theirs."""
BROKEN = ("shop.public.payments", 1)
"""The partition whose next message arrives with its second half cut off."""

DECISIONS = """\
source,transaction_id,decision,decided_by,decided_on,reason
shop,flag no_baseline of public.*,accept,the demo,2026-11-21,recorded from its first row on
shop,setting skipped.operations,accept,the demo,2026-11-21,the shop truncates nothing
"""
"""What an operator of this shop knows and its messages do not show."""

WRONG_ORDERS = """
with

item_total as (

    select
        order_id,
        sum(qty * unit_price) as total
    from public.order_items
    group by order_id

)

select
    count_if(orders.total is distinct from coalesce(item_total.total, 0)) as wrong_orders,
    count(*) as orders
from public.orders as orders
left join item_total
    on orders.id = item_total.order_id
"""

Message = dict[str, Any]
LOG = Console(stderr=True, highlight=False)
"""Where the demo says what it is doing if its answers go to a file."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a reader finds after a build."""

    report: dict[str, Any]
    """The shop's entry of `status --json`."""
    mart: list["Row"]
    wrong_orders: int
    """Orders whose total is not the sum of their items."""
    orders: int


@dataclass(frozen=True, slots=True)
class Example:
    """Where the demo works."""

    home: Path
    """A clone, else a folder that is made here. The lake is below it."""
    project: Path
    """The dbt project."""


def write_example() -> Example:
    """Write the project of the demo."""
    clone = project_dir()
    is_clone = (clone / CAPTURE).is_file() and not is_carried(clone)
    home = clone if is_clone else FOLDER.absolute()
    source = clone if is_clone else package_dir()
    files = package_files(source, (*PACKAGE, *EXAMPLE, *FIRST))
    contents = {file: (source / file).read_bytes() for file in files}
    contents |= {file: DECISIONS.encode() for file in contents if file.match("seeds/*.csv")}
    project = home / PROJECT if is_clone else home
    if is_clone:
        shutil.rmtree(project, ignore_errors=True)  # a model may have another place now
    write_files(project, contents)
    return Example(home, project)


def run_demo(console: Console, example: Example) -> None:
    """Land the example capture in two parts, build after each, and print what readers see.

    It runs on a lake of its own, which it empties first.

    Args:
        console: where it prints.
        example: where it works.

    Raises:
        DebeziumError: Java or a jar is missing, another demo is running, or a build failed.
    """
    messages = read_capture(example.project / CAPTURE)
    first, second = split(messages)
    started_at = time.monotonic()
    lake = example.home / LAKE
    with environment(DBT_DEBEZIUM_LAKE=str(lake)), Lease(lake, "dbt-debezium demo"):
        empty_lake(lake)
        console.print(
            "A shop on PostgreSQL, recorded by Debezium:"
            f" {transaction_count(messages)} transactions over five tables,\n"
            f"{len(messages):,} messages on {len(set(map(place, messages)))} partitions of Kafka,"
            " which keeps no order between partitions.\n"
        )
        with (
            working(console if console.is_terminal else LOG, "starting Spark") as status,
            tempfile.TemporaryDirectory() as folder,
        ):
            spark = spark_session("local")
            try:
                console.print(
                    Text("1. The first part lands.", style="bold"),
                    f"{len(LAGS)} partitions lag behind, and one message is cut off.\n"
                    "   That message lands whole with the second part.\n",
                )
                land_part = partial(land_and_build, console, status, spark, example.project)
                before = land_part(first, Path(folder) / "1.jsonl")
                show_cut(console, before.report)
                show_sum(console, before.report)
                show_wholeness(console, first, before)
                show_mart(console, before.mart)

                console.print(
                    Text("\n2. The rest lands.", style="bold"),
                    "Nothing is held any more,\n"
                    "   and the message that was cut off is among it, whole.\n",
                )
                after = land_part(second, Path(folder) / "2.jsonl")
                show_cut(console, after.report)
                show_sum(console, after.report)
                show_wholeness(console, [*first, *second], after)
                show_changes(console, before.mart, after.mart)
                show_end(console, after)
            finally:
                spark.stop()
    console.print(f"That took {time.monotonic() - started_at:.0f} s.")


def show_end(console: Console, seen: Seen) -> None:
    """Whether everything that landed is published, in one line."""
    report = seen.report
    is_whole = not (report["held"] or report["quarantined"] or seen.wrong_orders)
    console.print(
        Text(
            "\nEvery transaction is published, and every order's total is the sum of its items."
            if is_whole
            else "\nNOT WHOLE: the lines above say what is held, quarantined or wrong.",
            style="bold green" if is_whole else "bold red",
        )
    )


def empty_lake(lake: Path) -> None:
    """Remove what an earlier demo left, but not its locks: another process may wait for them."""
    for path in lake.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in {LOCK_NAME, JVM_LOCK_NAME, MACHINE_NAME}:
            path.unlink()


def read_capture(path: Path) -> list[Message]:
    """The messages in the order the connector sent them.

    Raises:
        DebeziumError: the capture is not there.
    """
    if not path.is_file():
        raise DebeziumError(f"demo: {path} is not there; install dbt-debezium again")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def split(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """What has arrived when the first part ends, with one broken message, and the rest."""
    first: list[Message] = []
    second: list[Message] = []
    for number, message in enumerate(messages):
        end = FIRST_PART - LAGS.get((message["topic"], message["partition"]), 0)
        (first if number < end else second).append(message)
    whole = next(message for message in second if place(message) == BROKEN)
    return [*first, {**whole, "value": whole["value"][: len(whole["value"]) // 2]}], second


def place(message: Message) -> tuple[str, int]:
    return message["topic"], message["partition"]


def transaction_count(messages: Iterable[Message]) -> int:
    return sum(
        json.loads(m["value"])["status"] == "END"
        for m in messages
        if m["topic"] == "shop.transaction"
    )


def land_and_build(
    console: Console,
    status: Steps,
    spark: "SparkSession",
    project: Path,
    messages: Sequence[Message],
    file: Path,
) -> Seen:
    """Land the messages as a file, build everything, and read what is public.

    Raises:
        DebeziumError: the build failed; the sentence has its first lines.
    """
    file.write_text("".join(f"{json.dumps(message)}\n" for message in messages), encoding="utf-8")
    status.update("landing")
    with step(console, f"landed {len(messages):,} messages"):
        land(spark, file)
    lines: list[str] = []
    count = 0

    def on_node(name: str, number: int, total: int) -> None:
        nonlocal count
        count = total
        status.update(f"{number} of {total}: {name}")

    with step(console, lambda: f"built {count} models and tests"):
        options = [*BUILD, "--target", "local", "--target-path", "target/demo"]
        if not run_dbt(options, project, on_node=on_node, on_line=lines.append):
            raise DebeziumError(f"demo: {'; '.join(lines) or 'dbt build failed'}")
    (report,) = cut_report(SparkReader(spark))
    wrong_orders, orders = spark.sql(WRONG_ORDERS).collect()[0]
    mart = spark.sql(f"select {', '.join(MART_COLUMNS)} from {MART} order by ordered_on").collect()
    return Seen(report, mart, wrong_orders, orders)


@contextmanager
def step(console: Console, done: str | Callable[[], str]) -> Iterator[None]:
    """Say what was done, and how long it took."""
    started_at = time.monotonic()
    yield
    sentence = done if isinstance(done, str) else done()
    console.print(f"   {sentence} in {time.monotonic() - started_at:.0f} s")


def show_cut(console: Console, report: dict[str, Any]) -> None:
    """What is published, held and quarantined, in words."""
    committed_at = (report["committed_at"] or "").replace("T", " ")[:19]
    console.print(
        f"\n   published    commit {report['commit_number']}:"
        f" transaction {report['transaction_id']}, committed at {committed_at} UTC"
    )
    held = report["held"]
    if held:
        first = next(entry for entry in held if not entry["reason"].startswith("follows_"))
        why = first["transaction_id"]
        if first["expected"] is not None:
            why += f" has {first['received']} of {first['expected']} changes of {first['table']}"
        console.print(
            f"   held         {len({entry['transaction_id'] for entry in held})} transactions:"
            f" {why} ({first['reason']})"
        )
    else:
        console.print("   held         nothing")
    for message in report["quarantined"]:
        console.print(
            f"   quarantined  1 message: {message['topic']}, partition {message['partition']},"
            f" offset {message['offset']} ({message['reason']})"
        )


def show_sum(console: Console, report: dict[str, Any]) -> None:
    """Each landed message has one outcome; only outcomes that occur are named."""
    counts = report["counts"]
    outcomes = " + ".join(f"{counts[name]:,} {name}" for name in OUTCOMES if counts[name])
    console.print(f"\n   {counts['landed']:,} landed = {outcomes}")


def show_wholeness(console: Console, arrived: Sequence[Message], seen: Seen) -> None:
    """Every transaction keeps totals right; count wrong ones in two ways of reading the log."""
    naive_wrong, naive_orders = wrong_orders(arrived)
    console.print(
        "\n   orders whose total is not the sum of their items\n"
        f"     if each row shows its latest change {naive_wrong:3} of {naive_orders}\n"
        f"     in the published tables             {seen.wrong_orders:3} of {seen.orders}"
    )


def wrong_orders(arrived: Iterable[Message]) -> tuple[int, int]:
    """The same count for tables that hold the latest image of each key, and how many orders."""
    rows: dict[str, dict[str, Message]] = defaultdict(dict)
    for message in arrived:
        if not message["value"] or message["topic"] not in {ORDERS, ORDER_ITEMS}:
            continue
        envelope = json.loads(message["value"])
        rows[message["topic"]][message["key"]] = envelope.get("after")
    totals: dict[int, Decimal] = defaultdict(Decimal)
    for item in filter(None, rows[ORDER_ITEMS].values()):
        totals[item["order_id"]] += item["qty"] * Decimal(item["unit_price"])
    orders = [order for order in rows[ORDERS].values() if order]
    return sum(Decimal(order["total"]) != totals[order["id"]] for order in orders), len(orders)


def show_mart(console: Console, mart: Sequence["Row"]) -> None:
    """The mart's rows."""
    console.print(f"\n   {MART}")
    show_rows(console, [[str(value) for value in row] for row in mart])


def show_changes(console: Console, before: Sequence["Row"], after: Sequence["Row"]) -> None:
    """The mart's rows that are not what they were, old -> new."""
    old_rows = {day: values for day, *values in before}
    changed = [
        [str(day), *map(changed_value, old_rows.get(day, [None] * len(values)), values)]
        for day, *values in after
        if old_rows.get(day) != values
    ]
    new_count = sum(day not in old_rows for day, *_ in after)
    console.print(
        f"\n   {MART}: {len(changed) - new_count} days changed and {new_count} are new,"
        " all in the same instant"
    )
    show_rows(console, changed)


def changed_value(old: object, new: object) -> str:
    """A value, and what it was before when that was another.

    >>> changed_value(1, 2), changed_value(None, 2), changed_value(2, 2)
    ('1 -> 2', '2', '2')
    """
    return str(new) if old in (None, new) else f"{old} -> {new}"


def show_rows(console: Console, rows: Sequence[Sequence[str]]) -> None:
    """Aligned and indented, the first column on the left; never cut off, as rich's tables are."""
    table = [MART_COLUMNS, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for number, row in enumerate(table):
        first, *others = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        line = "   ".join(["  ", first, *others])
        console.print(Text(line, style="" if number else "dim"))
