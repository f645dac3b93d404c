"""Records `tests/data/mariadb_shop`: a MariaDB change log, and what the server held at moments.

Three sessions whose transactions overlap, TRUNCATE in every place, DDL, key changes, rollbacks,
types and an incremental snapshot. At each moment no transaction is open. Run from the project's
folder:

    PYTHONPATH=demo .venv/bin/python tests/live/record_mariadb_shop.py
"""

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from local_chain import local_chain
from local_chain.dump import Message
from local_chain.mariadb import Mariadb

FOLDER = Path(__file__).parents[1] / "data" / "mariadb_shop"
PREFIX = "mar"
SESSIONS = 3
STEPS = 8
STEP = 30
"""Transactions between two moments."""

TABLES = """
create table customers(id bigint primary key, email varchar(120) not null unique, name varchar(80),
    tier varchar(10) not null default 'std', balance decimal(14,2) not null default 0,
    created_at datetime(3), updated_at timestamp(6) null);
create table products(sku varchar(20) primary key, name varchar(60) not null,
    price decimal(10,2) not null, stock int not null, attrs json);
create table orders(id bigint primary key, customer_id bigint not null,
    status enum('new','paid','void') not null, total decimal(12,2) not null default 0,
    placed_at datetime, note text);
create table order_items(order_id bigint, line_no smallint, sku varchar(20) not null,
    qty int unsigned not null, primary key(order_id, line_no));
create table payments(id binary(16) primary key, order_id bigint not null,
    amount decimal(12,2) not null, method varchar(10));
create table t1(id int primary key, v varchar(50));
create table t2(id int primary key, v varchar(50));
create table nopk(a int, b varchar(20));
create table excluded(id int primary key);
create table debezium_signal(id varchar(64) primary key, type varchar(32), data text);
create table ty(id int primary key, ti tinyint, tu tinyint unsigned, bo boolean,
    si smallint unsigned, mi mediumint, iu int unsigned, bu bigint unsigned, de decimal(20,5),
    f float, d double, bt1 bit(1), bt10 bit(10), da date, dt datetime, dt3 datetime(3),
    dt6 datetime(6), ts timestamp null, ts6 timestamp(6) null, tm time, tm6 time(6), y year,
    c char(5), vc varchar(30), tx text,
    en enum('a','b'), st set('x','y','z'), bi binary(4), vb varbinary(10), bl blob, js json)
"""

SETTINGS = {
    **{
        f"{part}.converter{setting}": value
        for part in ("key", "value")
        for setting, value in (
            ("", "org.apache.kafka.connect.json.JsonConverter"),
            (".schemas.enable", "false"),
        )
    },
    "provide.transaction.metadata": "true",
    "skipped.operations": "none",
    "decimal.handling.mode": "string",
    "database.include.list": "shop",
    "table.exclude.list": "shop.excluded",
    "signal.data.collection": "shop.debezium_signal",
    "signal.enabled.channels": "source",
    "topic.creation.default.partitions": "3",
    "topic.creation.default.replication.factor": "1",
    "topic.creation.groups": "single",
    "topic.creation.single.include": f"{PREFIX}|{PREFIX}\\.transaction",
    "topic.creation.single.partitions": "1",
}

TYPES = (
    "1, -128, 255, true, 65535, -8388608, 4294967295, 18446744073709551615, 123456789012345.12345,"
    " 1.5, -0.25, b'1', b'1010101010', '2026-02-28', '2026-01-01 00:00:00',"
    " '2026-01-01 00:00:00.123', '2026-01-01 00:00:00.123456', '2026-01-01 00:00:00',"
    " '2026-01-01 00:00:00.654321', '838:59:59', '-01:02:03.000004', 2155, 'ab', '李雷 🙂',"
    " 'a \\'quoted\\' text', 'b', 'x,z', x'00ff0001', x'', x'deadbeef',"
    ' \'{"k": [1, 2.5, "é"]}\'',
    "2" + ", null" * 30,
    "3, 0, 0, false, 0, 0, 0, 9223372036854775808, -0.00001, 0, 0, b'0', b'0', '1000-01-01',"
    " '9999-12-31 23:59:59', '1970-01-01 00:00:00.001', '1969-12-31 23:59:59.999999',"
    " '1970-01-01 00:00:01', '2038-01-19 03:14:07.999999', '00:00:00', '00:00:00.000001', 1901,"
    " '', '', '', 'a', '', x'00000000', x'00', x'', '[]'",
)

AFTERWARDS = """
truncated t1: truncate table t1
insert after truncate: insert into t1 values (1, 'after truncate')
truncated twice: truncate table t1; truncate table t1
two tables with one between: insert into t2 values (50, 'before'); truncate table t2; truncate t1;
    insert into t1 values (2, 'after')
truncated the table without a key: truncate table nopk;
    insert into nopk values (9, 'new'), (9, 'new')
truncated between transactions: insert into t1 values (3, 'x'); update t1 set v = 'y' where id = 3;
    truncate table t1; insert into t1 values (3, 'z'); update t1 set v = 'zz' where id = 3
truncate commits what is open: begin; insert into t2 values (1, 'open'); truncate table t1;
    insert into t2 values (2, 'in a new one'); commit
truncated a table that is not captured: insert into excluded values (1); truncate table excluded;
    insert into t1 values (4, 'a'), (5, 'b'), (6, 'c')
statements that say nothing: create user 'reader'@'localhost'; create view v as select id from t1;
    analyze table t1; drop view v
truncate is the newest: truncate table t2
added columns: alter table t1 add column n int null; insert into t1 values (7, 'with n', 7)
renamed a column: alter table t1 change v w varchar(60); update t1 set w = 'u' where id = 7
dropped a column: alter table t1 drop column n; insert into t1 values (8, 'without n')
renamed the table: rename table t1 to t1_new; insert into t1_new values (9, 'renamed');
    rename table t1_new to t1; delete from t1 where id = 8
dropped and created: drop table nopk; create table nopk(a int, b varchar(20), z int);
    insert into nopk (b, z) values ('new', 1)
created from a select: create table made (id int primary key) select id from t1; truncate table made
several truncates: insert into made values (1), (2); truncate table made; truncate table t1;
    truncate table nopk; insert into made values (3)
"""


def step_statements(session: int, dice: random.Random, number: int) -> list[str]:
    """One transaction on rows that no other session writes to."""
    customer = 1 + session + SESSIONS * dice.randrange(6)
    sku = f"S{session}{dice.randrange(4)}"
    order = 1000 * (session + 1) + number
    older = order - dice.randint(1, 9)
    kinds = {
        "order": [
            f"insert into orders values ({order}, {customer}, 'new', 0, '2026-03-01 10:00', null)",
            *(
                f"insert into order_items values ({order}, {line}, '{sku}', {line + 1})"
                for line in range(dice.randint(1, 3))
            ),
            f"update products set stock = stock - 1 where sku = '{sku}'",
            f"update orders set total = {number}.50 where id = {order}",
        ],
        "payment": [
            f"insert into payments values (unhex(md5({order})), {older}, {number}.25, 'card')",
            f"update orders set status = 'paid' where id = {older}",
            f"update customers set balance = balance - {number}.25, updated_at ="
            f" '2026-04-04 04:04:04.444444' where id = {customer}",
        ],
        "key change": [
            f"update customers set id = id + 90000 where id = {customer}",
            f"update customers set id = id - 90000 where id = {customer + 90000}",
        ],
        "moved": [f"update orders set id = id + 100000 where id = {older}"],
        "void": [
            f"delete from order_items where order_id = {older}",
            f"delete from orders where id = {older}",
        ],
        "many": [f"update products set price = price + 1 where sku like 'S{session}%'"],
        "bag": [
            f"insert into nopk (a, b) values ({session}, 'a'), ({session}, 'a')",
            f"update nopk set b = 'b' where a = {session} limit 1",
            f"delete from nopk where a = {session} and b = 'a' limit 1",
        ],
        "again": [
            f"insert into t2 values ({order}, 'one')",
            f"delete from t2 where id = {order}",
            f"insert into t2 values ({order}, 'two')",
        ],
        "savepoint": [
            f"insert into t1 values ({order}, 'kept')",
            "savepoint s",
            f"insert into t1 values ({order + 500}, 'taken back')",
            "rollback to savepoint s",
        ],
        "replace": [f"replace into products values ('{sku}', 'again', 2.00, 5, '{{}}')"],
    }
    kind = dice.choice(["order"] * 4 + list(kinds))
    end = "rollback" if dice.random() < 0.08 else "commit"
    return ["begin", *kinds[kind], end]


class Recorder:
    """Changes a server and notes what it holds."""

    def __init__(self, server: Mariadb) -> None:
        self.server = server
        self.sessions = [self._session() for _ in range(SESSIONS)]
        self.plain = self._session()
        """Gives each value as the server writes it."""
        self.plain.decoders = {}
        self.moments: list[dict[str, Any]] = []
        self.dice = random.Random(38)
        self.number = 0

    def _session(self) -> Any:
        session = self.server.session("shop")
        session.autocommit(True)
        with session.cursor() as cursor:
            cursor.execute("set session transaction isolation level read committed")
        return session

    def run(self, *statements: str) -> None:
        with self.sessions[0].cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def step(self) -> None:
        """Run transactions of all sessions, statement by statement in random order."""
        waiting: list[list[str]] = [[] for _ in range(SESSIONS)]
        left = STEP
        while left or any(waiting):
            session = self.dice.randrange(SESSIONS)
            if not waiting[session] and left:
                left -= 1
                self.number += 1
                waiting[session] = step_statements(session, self.dice, self.number)
            if waiting[session]:
                with self.sessions[session].cursor() as cursor:
                    cursor.execute(waiting[session].pop(0))

    def moment(self, label: str) -> None:
        """Note the columns and rows of all tables, and the GTID of the last commit."""
        tables: dict[str, list[dict[str, str | None]]] = {}
        columns: dict[str, dict[str, str]] = {}
        with self.plain.cursor() as cursor:
            cursor.execute("select @@gtid_binlog_pos")
            gtid = cursor.fetchone()[0]
            cursor.execute(
                "select table_name, column_name, column_type from information_schema.columns"
                " where table_schema = 'shop' and table_name != 'excluded'"
                " order by table_name, ordinal_position"
            )
            for table, column, kind in cursor.fetchall():
                columns.setdefault(table, {})[column] = kind
            for table, types in columns.items():
                cursor.execute(f"select * from `{table}`")
                tables[table] = [
                    {
                        name: text_of(kind, value)
                        for (name, kind), value in zip(types.items(), row, strict=True)
                    }
                    for row in cursor.fetchall()
                ]
        cut = {"cut": f"{len(self.moments) + 1:03} {label}", "gtid": gtid}
        self.moments.append({"cut": cut, "columns": columns, "tables": tables})


def text_of(kind: str, value: str | bytes | None) -> str | None:
    """A value as MySQL's client shows it, binary ones as hexadecimal numbers."""
    if value is None:
        return None
    if kind.startswith(("binary", "varbinary", "blob", "bit")):
        return "0x" + (value.encode() if isinstance(value, str) else value).hex()
    if isinstance(value, bytes):
        value = value.decode()
    return f"{float(value):g}" if kind.startswith(("float", "double")) else value


def afterwards() -> Iterator[tuple[str, list[str]]]:
    """What follows the transactions: a label, and statements."""
    for part in AFTERWARDS.strip().replace("\n    ", " ").split("\n"):
        label, _, statements = part.partition(": ")
        yield label, [statement.strip() for statement in statements.split(";")]


def change(recorder: Recorder, chain: Any) -> None:
    """The whole workload."""
    for number in range(STEPS):
        recorder.step()
        recorder.moment(f"after step {number}")
    for row in TYPES:
        recorder.run(f"insert into ty values ({row})")
    recorder.run("update ty set tx = 'changed', bu = 1 where id = 1", "delete from ty where id = 2")
    recorder.moment("types")
    for label, statements in afterwards():
        recorder.run(*statements)
        recorder.moment(label)
    recorder.run(
        "insert into debezium_signal values ('snapshot', 'execute-snapshot',"
        ' \'{"data-collections": ["shop.products"], "type": "incremental"}\')'
    )
    chain.wait_for(lambda found: sum(is_incremental(message) for message in found) >= 12)
    recorder.moment("incremental snapshot")
    recorder.step()
    recorder.run("update products set name = 'last' where sku = 'S00'")
    recorder.moment("the end")


def is_incremental(message: Message) -> bool:
    return '"snapshot":"incremental"' in (message["value"] or "")


def emitted(found: list[Message]) -> list[Message]:
    """The messages in the order in which the connector sent them, as far as they say it.

    Each partition keeps its own order. Between partitions the number of the GTID says it, and in
    a transaction BEGIN, reads of a window, changes by `total_order`, END. A tombstone follows its
    delete.
    """
    keys: dict[int, tuple[int, int, int]] = {}
    last: dict[tuple[str, int], tuple[int, int, int]] = {}
    for place, message in enumerate(found):
        partition = (message["topic"], message["partition"])
        # A partition is in order; what says nothing of its own place follows what is before it.
        key = key_of(message) or last.get(partition, FIRST)
        keys[place] = last[partition] = max(key, last.get(partition, key))
    return [found[place] for place in sorted(keys, key=lambda place: (keys[place], place))]


FIRST = (0, 2, 0)
"""Right behind the snapshot."""


def key_of(message: Message) -> tuple[int, int, int] | None:
    """Number, part and order; None for a tombstone."""
    value = json.loads(message["value"] or "null")
    if value is None:
        return None
    if "status" in value:
        return number_of(value["id"]), 0 if value["status"] == "BEGIN" else 3, 0
    source = value["source"]
    if source["snapshot"] == "incremental":
        return number_of(source["gtid"]), 1, 0
    if source["snapshot"] != "false":
        return 0, 0 if "ddl" in value else 1, value.get("ts_ns", 0)
    order = (value.get("transaction") or {}).get("total_order", 0)
    return number_of(source["gtid"]), 2, order


def number_of(gtid: str) -> int:
    return int(gtid.rpartition("-")[2])


def write(name: str, lines: list[Any]) -> None:
    with gzip.open(FOLDER / name, "wt", encoding="utf-8") as file:
        file.writelines(
            json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines
        )


def main() -> None:
    """Record it."""
    with local_chain("mariadb") as chain:
        server = chain.binlog_server("mariadb")
        server.sql(["create database shop character set utf8mb4"])
        server.sql(["use shop", *TABLES.split(";")])
        recorder = Recorder(server)
        for session in range(SESSIONS):
            recorder.run(
                *(
                    f"insert into customers values ({at}, 'c{at}@x', 'customer {at}', 'std',"
                    f" 100, '2026-01-01 00:00:00.{at:03}', null)"
                    for at in range(1 + session, 19, SESSIONS)
                ),
                *(
                    f"insert into products values ('S{session}{at}', 'P{at}', {at}.99, 1000,"
                    " '{\"a\": 1}')"
                    for at in range(4)
                ),
            )
        for table in ("t1", "t2", "nopk"):
            recorder.run(*(f"insert into {table} values ({at}, 'first')" for at in range(1, 13)))
        config = server.connector(PREFIX, chain.bootstrap) | SETTINGS
        chain.connect.create("shop", config)
        chain.wait_for(lambda found: any('"snapshot":"last"' in (m["value"] or "") for m in found))
        change(recorder, chain)
        found = chain.wait_for(
            lambda found: (
                f'"END","id":"{recorder.moments[-1]["cut"]["gtid"]}"'
                in "".join(m["value"] or "" for m in found if m["topic"] == f"{PREFIX}.transaction")
            )
        )
        chain.connect.check("shop")
    FOLDER.mkdir(exist_ok=True)
    write("events.jsonl.gz", emitted(found))
    write("cuts.jsonl.gz", recorder.moments)
    (FOLDER / "config.json").write_text(json.dumps(SETTINGS, indent=1) + "\n")
    print(f"{len(found)} messages, {len(recorder.moments)} moments")


if __name__ == "__main__":
    main()
