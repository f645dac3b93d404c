"""What others show of a bank while its messages arrive, beside what we show: docs/compare.md.

    PYTHONPATH=demo python bench/bank.py FOLDER

FOLDER has the unpacked plugin of Debezium's JDBC sink (`debezium-connector-jdbc-*-plugin.tar.gz` of
Maven Central). PostgreSQL and Debezium make the messages, once. Each tool then gets the same ones
in the same order:

- *latest change of each row*, what a view over a sink that only appends has;
- Debezium's JDBC sink, with its defaults (upsert, deletes on), and with `truncate.enabled`;
- this project.

A partition that is late is a message that is not produced yet.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic

from dbt_debezium.build import environment
from dbt_debezium.home import jars_dir
from local_chain.broker import broker
from local_chain.connect import Connect, connect
from local_chain.dump import Message, messages
from local_chain.java import class_path_dir
from local_chain.postgresql import Postgresql, postgresql
from local_chain.server import wait_until

PARTITIONS: Final = 4
TABLES: Final = ("accounts", "transfers")
COMMAND: Final = Path(sys.executable).with_name("dbt-debezium")
COMPLETE: Final = ("--vars", "{landing_reaches_the_end: true}")
BANK: Final = """
create table accounts (id int primary key, owner text, balance int);
create table transfers (id int primary key, amount int);
insert into accounts values (1, 'Ann', 100), (2, 'Bob', 50);
insert into transfers values (0, 5);
"""
SOURCE_SETTINGS: Final = {
    "table.include.list": "public.accounts,public.transfers",
    "publication.autocreate.mode": "filtered",
    "provide.transaction.metadata": "true",
    "skipped.operations": "none",
    "topic.creation.default.partitions": str(PARTITIONS),
    "topic.creation.default.replication.factor": "1",
    "topic.creation.groups": "single",
    "topic.creation.single.include": r"bank\.transaction",
    "topic.creation.single.partitions": "1",
}
SINKS: Final = {"sink": {}, "sink_truncating": {"truncate.enabled": "true"}}
Shown = dict[str, dict[int, int]]
"""Of each table, the balance or amount by id."""


def envelope(message: Message) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(message["value"])["payload"] if message["value"] else {}
    return value


def is_of(message: Message, table: str, **row: Any) -> bool:
    """Whether a message is a change of a table to, or of, such a row."""
    after = envelope(message).get("after") or {}
    return message["topic"] == f"bank.public.{table}" and row.items() <= after.items()


def recorded(worker: Connect, server: Postgresql, bootstrap: str) -> list[list[Message]]:
    """Let the bank work; the messages of each of its steps."""
    steps: list[list[Message]] = []
    seen: set[tuple[str, int, int]] = set()

    def step(count: int, statements: str = "") -> None:
        """Run a transaction, if there is one, and take the messages of so many changes or reads."""
        server.sql(statements, "bank")
        new: list[Message] = []

        def came() -> bool:
            new[:] = [
                one
                for one in messages(bootstrap)
                if one["topic"].startswith("bank.")
                and (one["topic"], one["partition"], one["offset"]) not in seen
            ]
            return sum(bool(envelope(one).get("source")) for one in new) >= count and (
                not statements or any(envelope(one).get("status") == "END" for one in new)
            )

        wait_until(came, lambda: None)
        seen.update((one["topic"], one["partition"], one["offset"]) for one in new)
        steps.append(list(new))

    source = server.connector("bank", "bank") | SOURCE_SETTINGS
    worker.create("bank", source)
    step(3)
    step(
        3,
        "begin; update accounts set balance = 70 where id = 1; "
        "update accounts set balance = 80 where id = 2; insert into transfers values (1, 30); "
        "commit;",
    )
    step(
        4,
        "begin; truncate transfers; "
        "insert into transfers values (2, 20), (3, 30), (4, 40); commit;",
    )
    # The connector is away; Bob goes, and its slot is lost.
    worker.delete("bank")
    time.sleep(5)
    server.sql("select pg_drop_replication_slot(slot_name) from pg_replication_slots", "bank")
    server.sql("delete from accounts where id = 2", "bank")
    worker.create("bank2", source | {"snapshot.mode": "always"})
    step(4)
    worker.delete("bank2")
    return steps


def deliveries(steps: list[list[Message]]) -> dict[str, list[Message]]:
    """What is delivered, in order, by what it shows. A partition is late twice."""
    snapshot, transfer, truncate, again = steps
    bob = [one for one in transfer if is_of(one, "accounts", id=2)]
    assert len(bob) == 1
    assert {one["partition"] for one in bob} != {
        one["partition"] for one in transfer if is_of(one, "accounts", id=1)
    }, "both accounts are in one partition; choose other ids"
    (where,) = {one["partition"] for one in truncate if envelope(one).get("op") == "t"}
    late = [
        one
        for one in truncate
        if one["partition"] == where and one["topic"] == "bank.public.transfers"
    ]
    assert len(late) < 4
    return {
        "opened": snapshot,
        "half of a transfer": [one for one in transfer if one not in bob],
        "the other half": bob,
        "rows behind a TRUNCATE": [one for one in truncate if one not in late],
        "the TRUNCATE, and what follows it there": late,
        "a snapshot after a lost slot": again,
    }


def latest(delivered: Iterable[Message]) -> Shown:
    """The change with the greatest LSN of each row."""
    rows: dict[tuple[str, int], tuple[int, dict[str, Any] | None]] = {}
    for one in delivered:
        read = envelope(one)
        if read.get("op") not in ("c", "u", "r", "d"):
            continue
        image = read["after"] or read["before"]
        key, lsn = (read["source"]["table"], image["id"]), read["source"]["lsn"]
        if key not in rows or lsn >= rows[key][0]:
            rows[key] = lsn, read["after"]
    shown: Shown = {table: {} for table in TABLES}
    for (table, number), (_, row) in sorted(rows.items()):
        if row:
            shown[table][number] = row.get("balance", row.get("amount"))
    return shown


def of_sink(server: Postgresql, name: str) -> Shown:
    """What the tables of a sink hold."""
    shown: Shown = {}
    for table in TABLES:
        column = "balance" if table == "accounts" else "amount"
        there = server.sql(f"select to_regclass('{name}_{table}')", "sink").strip()
        query = f'select id, {column} from "{name}_{table}" order by id'
        lines = server.sql(query, "sink").split() if there else []
        shown[table] = {int(line.split("|")[0]): int(line.split("|")[1]) for line in lines}
    return shown


def of_ours(project: Path) -> Shown:
    """What our public tables hold."""
    shown: Shown = {}
    for table in TABLES:
        column = "balance" if table == "accounts" else "amount"
        query = f"select id, {column} as value from {table} order by id"
        done = subprocess.run(
            [COMMAND, "query", "--json", query],
            cwd=project, capture_output=True, text=True, check=False,
        )  # fmt: skip
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        shown[table] = {row["id"]: row["value"] for row in rows}
    return shown


def settled(look: Callable[[], Shown]) -> Shown:
    """What is shown once it has stayed the same for some seconds."""
    before, since = look(), time.monotonic()
    while time.monotonic() - since < 6:
        time.sleep(0.5)
        if (now := look()) != before:
            before, since = now, time.monotonic()
    return before


def ours(project: Path, name: str, delivered: list[Message], number: int) -> str:
    """Land what is delivered and build; what the run says."""
    file = project / f"{number}.jsonl"
    kept = ("topic", "partition", "offset")
    lines = [
        json.dumps({**{part: one[part] for part in kept}, "ts": one["timestamp"],
                    "key": one["key"], "payload": one["value"]})
        for one in delivered
    ]  # fmt: skip
    file.write_text("".join(f"{line}\n" for line in lines))
    complete = COMPLETE if "snapshot" in name or name == "opened" else ()
    if not number:
        subprocess.run([COMMAND, "land", file], cwd=project, check=True, capture_output=True)
        subprocess.run([COMMAND, "scaffold"], cwd=project, check=True, capture_output=True)
    done = subprocess.run(
        [COMMAND, "run", file, *complete], cwd=project, check=False, capture_output=True, text=True
    )
    return done.stdout + (done.stderr if done.returncode else "")


def main() -> None:
    plugin = class_path_dir("jdbc")
    shutil.rmtree(plugin, ignore_errors=True)
    shutil.copytree(sys.argv[1], plugin)
    jars = str(jars_dir().absolute())
    with tempfile.TemporaryDirectory(prefix="bank-") as name, ExitStack() as parts:
        folder = Path(name)
        folder.chmod(0o711)
        server = parts.enter_context(postgresql(folder / "postgresql"))
        bootstrap = parts.enter_context(broker(folder / "broker", default_partitions=PARTITIONS))
        worker = parts.enter_context(connect(folder / "connect", bootstrap, ["postgresql", "jdbc"]))
        server.sql("create database bank")
        server.sql("create database sink")
        server.sql(BANK, "bank")
        delivered = deliveries(recorded(worker, server, bootstrap))
        admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        admin.create_topics(
            [NewTopic(f"{sink}_{table}", PARTITIONS, 1) for sink in SINKS for table in TABLES]
        )
        for sink, more in SINKS.items():
            worker.create(
                sink,
                {
                    "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
                    "topics": ",".join(f"{sink}_{table}" for table in TABLES),
                    "connection.url": f"jdbc:postgresql://127.0.0.1:{server.port}/sink",
                    "connection.username": "postgres",
                    "connection.password": "postgres",
                    "insert.mode": "upsert",
                    "primary.key.mode": "record_key",
                    "delete.enabled": "true",
                    "schema.evolution": "basic",
                    "collection.name.format": "${topic}",
                    **more,
                },
            )
        producer = KafkaProducer(bootstrap_servers=bootstrap)
        subprocess.run([COMMAND, "init", "project"], cwd=folder, check=True, capture_output=True)
        project = folder / "project"
        so_far: list[Message] = []
        with environment(DBT_DEBEZIUM_LAKE=f"{folder}/lake", DBT_DEBEZIUM_JARS=jars):
            for number, (what, batch) in enumerate(delivered.items()):
                so_far += batch
                for one in batch:
                    table = one["topic"].rpartition(".")[2]
                    for sink in SINKS if table in TABLES else ():
                        producer.send(
                            f"{sink}_{table}", partition=one["partition"],
                            key=one["key"] and one["key"].encode(),
                            value=one["value"] and one["value"].encode(),
                        )  # fmt: skip
                producer.flush()
                said = ours(project, what, batch, number)
                print(f"\n{what}\n  latest change of each row  {latest(so_far)}")
                for sink in SINKS:
                    worker.check(sink)
                    print(f"  {sink:26} {settled(lambda sink=sink: of_sink(server, sink))}")
                print(f"  dbt-debezium               {of_ours(project)}\n{said}", flush=True)


if __name__ == "__main__":
    main()
