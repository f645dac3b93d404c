"""Records `tests/data/defaults_*`: what a newcomer dumps, from connectors with default settings.

No transaction metadata, schema blocks, Debezium's own forms of decimals and times, truncates
skipped. Run from the project's folder, with any of the databases:

    PYTHONPATH=demo .venv/bin/python tests/live/record_defaults.py postgresql mariadb mysql
"""

import gzip
import json
import random
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from local_chain import Chain, local_chain
from local_chain.dump import Message
from local_chain.mariadb import Mariadb

DATA = Path(__file__).parents[1] / "data"
PARTITIONS = {"postgresql": 3, "mariadb": 3, "mysql": 1, "mysql_without_gtids": 1}
"""Of each topic, as brokers differ in what they give a new one."""
PREFIXES = {"mariadb": "dma", "mysql": "dmy", "mysql_without_gtids": "dmn"}
SESSIONS = 3
TRANSACTIONS = 20
"""Of each session."""
LAST = "the last change"

TABLES = {
    "customers": "id int primary key, name varchar(40) not null, balance decimal(12,2) not null,"
    " since date, seen timestamp(6) null",
    "orders": "id int primary key, customer_id int not null, state varchar(10) not null,"
    " total decimal(12,2) not null, note varchar(200)",
    "order_items": "order_id int, line smallint, sku varchar(20) not null, qty int not null,"
    " primary key (order_id, line)",
}


def rows_before() -> list[str]:
    """What the snapshot reads."""
    return [
        *(
            f"insert into customers values ({at}, 'customer {at}', {at}.50, '2026-01-{at:02}',"
            f" '2026-11-26 06:00:00.{at:06}')"
            for at in range(1, 13)
        ),
        *(f"insert into orders values ({at}, {at}, 'new', 0, null)" for at in range(1, 7)),
    ]


def transactions(session: int) -> Iterator[list[str]]:
    """Transactions on rows that no other session writes to; some are rolled back."""
    dice = random.Random(session)
    customers = [at for at in range(1, 13) if at % SESSIONS == session]
    placed: list[int] = []
    for number in range(TRANSACTIONS):
        customer = dice.choice(customers)
        statements = []
        if placed and dice.random() < 0.2:
            gone = placed.pop(dice.randrange(len(placed)))
            statements += [f"delete from order_items where order_id = {gone}"]
            statements += [f"delete from orders where id = {gone}"]
        elif placed and dice.random() < 0.2:
            moved = placed.pop()
            placed.append(moved + 10_000)
            statements.append(f"update orders set id = {moved + 10_000} where id = {moved}")
        else:
            order = 100 * (session + 1) + number
            placed.append(order)
            statements.append(
                f"insert into orders values ({order}, {customer}, 'new', 0, 'by {session}')"
            )
            statements += [
                f"insert into order_items values ({order}, {line}, 'sku-{line}', {line + 1})"
                for line in range(dice.randint(1, 3))
            ]
            statements.append(f"update orders set total = {number}.25 where id = {order}")
        statements.append(
            f"update customers set balance = balance - {number}.25, seen = null"
            f" where id = {customer}"
        )
        rolled_back = number % 6 == 5
        if rolled_back and placed:
            statements = [f"update customers set name = 'never' where id = {customer}"]
        yield [*statements, "rollback" if rolled_back else "commit"]


def run_sessions(run: Any) -> None:
    """All sessions at once, so that their transactions overlap."""
    threads = [threading.Thread(target=run, args=(session,)) for session in range(SESSIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def postgresql(chain: Chain) -> Mapping[str, list[Any]]:
    """Change a PostgreSQL database; the value is what it holds afterwards."""
    server = chain.postgresql
    server.sql(
        ";\n".join(f"create table {name} ({columns})" for name, columns in TABLES.items()) + ";"
    )
    server.sql(";\n".join(rows_before()) + ";")
    chain.connect.create("defaults", server.connector("dpg"))
    chain.wait_for(lambda found: sum(is_read(message) for message in found) >= 18)

    def run(session: int) -> None:
        for statements in transactions(session):
            # A pause inside, so that others commit between.
            server.sql("begin;" + ";select pg_sleep(0.02);".join(statements) + ";")

    run_sessions(run)
    server.sql(f"update customers set name = '{LAST}' where id = 1")
    return {
        name: [
            json.loads(line, parse_float=str)
            for line in server.sql(
                f"select to_jsonb(row) from {name} as row order by 1"
            ).splitlines()
        ]
        for name in TABLES
    }


def binlog(chain: Chain, server: Mariadb, prefix: str) -> Mapping[str, list[Any]]:
    """The same of MariaDB and MySQL."""
    server.sql(["create database shop"])
    tables = [f"create table {name} ({columns})" for name, columns in TABLES.items()]
    server.sql(["use shop", *tables, *rows_before()])
    chain.connect.create("defaults", server.connector(prefix, chain.bootstrap))
    chain.wait_for(lambda found: sum(is_read(message) for message in found) >= 18)

    def run(session: int) -> None:
        with server.session("shop") as connection, connection.cursor() as cursor:
            for statements in transactions(session):
                for statement in statements:
                    cursor.execute(statement)

    run_sessions(run)
    server.sql(["use shop", f"update customers set name = '{LAST}' where id = 1"])
    with server.session("shop") as connection, connection.cursor() as cursor:
        held = {}
        for name in TABLES:
            cursor.execute(f"select * from {name}")
            columns = [column[0] for column in cursor.description]
            held[name] = [
                {column: as_text(value) for column, value in zip(columns, row, strict=True)}
                for row in cursor.fetchall()
            ]
    return held


def as_text(value: Any) -> Any:
    """Numbers that JSON has as they are, all else as text."""
    return value if value is None or isinstance(value, int) else str(value)


def is_read(message: Message) -> bool:
    """Whether it is a row of the snapshot."""
    return '"op":"r"' in (message["value"] or "")


def main(kinds: list[str]) -> None:
    """Record the defaults of some databases."""
    for kind in kinds:
        with local_chain(kind, default_partitions=PARTITIONS[kind]) as chain:
            if kind == "postgresql":
                tables = postgresql(chain)
            else:
                tables = binlog(chain, chain.binlog_server(kind), PREFIXES[kind])
            found = chain.wait_for(
                lambda found: any(LAST in (message["value"] or "") for message in found)
            )
        folder = DATA / f"defaults_{kind}"
        (folder / "expected").mkdir(parents=True, exist_ok=True)
        with gzip.open(folder / "events.jsonl.gz", "wt", encoding="utf-8") as lines:
            lines.writelines(
                json.dumps(message, separators=(",", ":"), ensure_ascii=False) + "\n"
                for message in found
            )
        for name, rows in tables.items():
            (folder / "expected" / f"{name}.jsonl").write_text(
                "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            )
        print(f"{folder.name}: {len(found)} messages")


if __name__ == "__main__":
    main(sys.argv[1:])
