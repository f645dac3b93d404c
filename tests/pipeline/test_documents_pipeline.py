"""What the reference documents ask of tables and cuts: one small source for each case.

All sources arrive in two landings and are built twice, so each also shows that it leaves the others
alone. `@covers` names rows of the documents; `make coverage-documents` lists them.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
import yaml
from arrivals import Arrival, write_arrivals
from compare import check_counts
from lake import REPOSITORY, Lake, open_lake, tables_of
from oracle import Message, Row
from streams import (
    RESTORED,
    Cdl,
    Change,
    Db2,
    Generic,
    LogSequence,
    Mariadb,
    Mysql,
    Oracle,
    Postgresql,
    Sqlserver,
    Stream,
    create,
    delete,
    text,
    truncate,
    update,
)

from dbt_debezium.errors import DebeziumError
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.scaffold.captured import Group
from dbt_debezium.scaffold.model_files import history_sql
from dbt_debezium.scaffold.tables import JSON_TEXT
from dbt_debezium.status.notices import idle_decisions, unpublished_run
from dbt_debezium.status.report import cut_report

pytestmark = pytest.mark.slow

covers = pytest.mark.covers
DOCUMENTS = REPOSITORY / "python" / "tests" / "data" / "documents"

DEFAULT_REFUSED_FLAGS = yaml.safe_load((REPOSITORY / "dbt_project.yml").read_text())["vars"][
    "refused_flags"
]
ORDERED, SPREAD = "cdl_ordered", "cdl_spread"
SETTINGS: dict[str, object] = {
    "cdl_sources": {"cdl_bank.*": "cdl_bank", "cdl_shop.*": "cdl_shop"},
    "cdl_heartbeat_tables": ["cdc_cdl.cdc_heartbeat", "OWN.*"],
    "generic_sources": {"some_informix_*": ["commit_lsn", "change_lsn"]},
    "not_ingested_tables": ["*app.audit"],
    "watermark_sources": [ORDERED, SPREAD],
}
RELEASED = "1100"
"""A transaction without END that an operator releases."""
LET_BY = "502"
"""A transaction behind which something cannot be read, likewise."""
SLIP = "some_db2_window,17"
"""A source, and a transaction that it does not have."""
SIGNALS = "signals"
SNAPSHOTS = """
select source, verdict, held_reason from build.proof
where
    cut_id = (select max(cut_id) from build.proof)
    and unit_kind = 'snapshot'
    and verdict != 'late'
"""
"""What the latest run has said of snapshots."""
"""The table of signals, for which nobody asks models."""
CDL_TABLE = "ct_pg2hudi"
BEHIND = ("db2",)
"""Connectors of which the next transaction must land to prove one: Db2 sends END late."""
KEY_CHANGE = (delete("orders", id=1, v="a"), create("orders", id=2, v="a"))


def document(number: str) -> Row:
    """An example that the documents print, without Kafka Connect's wrapper."""
    (path,) = DOCUMENTS.glob(f"{number}_*.json")
    found: Row = json.loads(path.read_text(encoding="utf-8"))
    return found.get("payload", found)


# --- the cases ---------------------------------------------------------------------------------


def snapshots() -> Iterator[Stream]:
    for kind in (Db2, Sqlserver):
        one: LogSequence = kind(f"some_{kind.connector}_snapshot")
        one.read(create("orders", id=1, v="a"), create("orders", id=2, v="b"))
        one.commit(update("orders", id=1, v="c"), create("items", id=1, v="new"))
        one.commit(create("orders", id=3, v="d"))
        yield one

    for kind in (Db2, Oracle, Mysql, Mariadb, Generic):
        some = kind(f"some_{kind.connector}_two_attempts")
        gone = create("orders", id=1, v="gone"), create("orders", id=2, v="a")
        some.read(*gone, is_complete=False)
        some.read(create("orders", id=2, v="b"), create("orders", id=3, v="c"))
        some.commit(create("orders", id=4, v="d"))
        some.commit(create("orders", id=5, v="last"))
        yield some

    for kind in (Db2, Oracle, Mysql, Mariadb, Generic):
        for name, landing in (("read_again", 1), ("read_again_at_once", 0)):
            some = kind(f"some_{kind.connector}_{name}")
            some.read(create("orders", id=1, v="a"), create("orders", id=2, v="b"))
            some.commit(create("orders", id=3, v="c"))
            some.commit(create("items", id=1, v="a"))
            some.landing = landing
            some.read(create("orders", id=2, v="read"))
            some.commit(create("orders", id=4, v="d"))
            some.commit(create("items", id=2, v="last"))
            yield some

    for kind in (Db2, Sqlserver, Oracle, Mysql, Mariadb, Generic):
        some = kind(f"some_{kind.connector}_table_late")
        some.read(create("orders", id=1, v="a"), create("items", id=1, v="a"))
        some.commit(create("orders", id=2, v="b"), update("items", id=1, v="b"))
        some.commit(create("orders", id=3, v="c"))
        some.commit(create("orders", id=4, v="last"), update("items", id=1, v="last"))
        some.delay("items")
        yield some

        some = kind(f"some_{kind.connector}_snapshot_late")
        some.landing = 2
        some.read(create("orders", id=1, v="a"), create("orders", id=2, v="b"))
        some.landing = 0
        some.commit(update("orders", id=1, v="c"))
        some.commit(update("orders", id=1, v="d"))
        yield some

    one = Db2("some_db2_changes_alone")
    one.commit(update("orders", id=7, v="a"), delete("orders", id=8, v="b"))
    one.commit(create("orders", id=9, v="not proved"))
    yield one

    for kind in (Db2, Sqlserver):
        one = kind(f"some_{kind.connector}_read_without_lsn")
        one.read(create("orders", id=1, v="a"), create("orders", id=2, v="b"), has_lsn=False)
        one.commit(update("orders", id=1, v="c"))
        one.commit(create("orders", id=3, v="d"))
        yield one


def incremental_reads() -> Iterator[Stream]:
    close = create(SIGNALS, id="x-close", type="snapshot-window-close", data="{}")
    for name in ("some_db2_window", "some_db2_window_open"):
        one = Db2(name)
        one.commit(
            create("orders", id=1, v="a"), create("orders", id=2, v="b"),
            create("orders", id=3, v="not read"),
        )  # fmt: skip
        one.log += 1
        closing = one.lsn(0xFF)
        one.log -= 1
        reads = create("orders", id=1, v="read"), create("orders", id=2, v="read")
        one.read_window(closing, *reads, reads[0])
        one.commit(close, update("orders", id=2, v="after the read"))
        if name == "some_db2_window":
            one.commit(create("orders", id=4, v="c"))
        one.commit(create("items", id=1, v="not proved"))
        yield one


def flagged() -> Iterator[Stream]:
    one: Stream
    for has_schema_change in (True, False):
        prefix = "some_db2_windows_" + ("around_a_schema_change" if has_schema_change else "done")
        one = Db2(prefix)
        one.read(create("orders", id=1, v="a"))
        for place in (1, 2):
            one.log += 1
            closing = one.lsn(0xFF)
            one.log -= 1
            one.read_window(closing, create("orders", id=place, v="read"))
            one.commit(create(SIGNALS, id=f"{place}-close", type="snapshot-window-close", data=""))
            if place == 1 and has_schema_change:
                one.send("", table_change(one, "ALTER"), text({"databaseName": "TESTDB"}))
                one.log += 1
        one.send("notifications", scan_completed(one, None))
        one.send("notifications", scan_completed(one, prefix, status="SQL_EXCEPTION"))
        if not has_schema_change:
            one.send("notifications", scan_completed(one, prefix))
        one.commit(create("orders", id=9, v="a"))
        one.commit(create("items", id=9, v="not proved"))
        yield one

    one = Postgresql("some_postgresql_appended")
    one.commit(create("bag", a=1, b="x"))
    yield one

    for kind in (Db2, Sqlserver):
        one = kind(f"some_{kind.connector}_read_without_key")
        one.read(create("bag", a=1, b="x"))
        one.commit(create("bag", a=2, b="y"))
        one.commit(create("items", id=9, v="not proved"))
        yield one

    for kind in (Oracle, Mysql):
        one = kind(f"some_{kind.connector}_read_twice")
        orders = create("orders", id=1, v="a"), create("orders", id=2, v="b")
        one.read(*orders, create("bag", a=1, b="x"), is_complete=False)
        one.read(*orders, create("bag", a=1, b="x"), create("bag", a=2, b="y"), is_idle=True)
        one.commit(create("orders", id=3, v="c"), create("bag", a=3, b="z"))
        yield one

    one = Postgresql("some_postgresql_audit_late")
    one.commit(create("orders", id=1, v="a"), create("audit", id=1), late=[1])
    one.commit(create("orders", id=2, v="b"))
    yield one

    for kind in (Oracle, Mysql, Sqlserver):
        one = kind(f"some_{kind.connector}_later_part_first")
        for number, landing in enumerate((1, 1, 2, 2, 0, 0, 0), start=1):
            one.landing = landing
            one.commit(create("orders", id=number, v="a"))
        yield one

    one = Postgresql("some_postgresql_repeated_names")
    one.commit(create("orders", id=1, v="a"), create("items", id=1, v="a"))
    (order,) = (sent for sent in one.landings[0] if sent["topic"].endswith(".orders"))
    order["value"] = str(order["value"]).replace('"v": "a"', '"v": "first", "v": "a"')
    yield one

    one = Postgresql("some_postgresql_truncated")
    one.commit(truncate("orders"))
    yield one


def scan_completed(one: Stream, connector: str | None, status: str = "SUCCEEDED") -> str:
    """A notification that orders is read to its end; other connectors send one without a name."""
    scanned = {"scanned_collection": "testDB.app.orders", "status": status}
    return text({
        "id": "1", "aggregate_type": "Incremental Snapshot", "type": "TABLE_SCAN_COMPLETED",
        "additional_data": scanned | ({"connector_name": connector} if connector else {}),
        "timestamp": one.clock + 1000,
    })  # fmt: skip


def table_change(one: LogSequence, change: str) -> str:
    """A record of the schema-change topic about the table of orders."""
    record = document("001_14")
    (changed,) = record["tableChanges"]
    changed |= {"type": change, "id": '"app"."orders"'}
    if change == "DROP":
        changed["table"] = None
    one.log += 1
    record["source"] |= one.place("orders", one.lsn(1))
    return text(record)


def transactions() -> Iterator[Stream]:
    one: Stream
    for kind in (Postgresql, Db2, Sqlserver, Oracle, Mysql, Mariadb, Generic):
        one = kind(f"some_{kind.connector}_key_change")
        one.commit(create("orders", id=1, v="a"))
        one.commit(*KEY_CHANGE)
        one.commit(create("items", id=1, v="a"))
        yield one
        one = kind(f"some_{kind.connector}_half_a_key_change")
        one.commit(create("orders", id=1, v="a"))
        one.commit(*KEY_CHANGE, lost=[1])
        one.commit(create("items", id=1, v="a"))
        yield one

    for kind in (Postgresql, Db2):
        one = kind(f"some_{kind.connector}_gap")
        one.commit(create("orders", id=1, v="a"))
        one.commit(create("orders", id=2, v="b"), lost=[0])
        one.commit(create("orders", id=3, v="c"))
        one.commit(create("items", id=1, v="a"))
        yield one

    one = Db2("some_db2_signals")
    one.commit(create("orders", id=1, v="a"), create(SIGNALS, id="1", type="log", data="{"))
    one.commit(create("items", id=1, v="not proved"))
    yield one

    one = Db2("some_db2_not_ingested")
    one.commit(create("orders", id=1, v="a"), create("audit", id=1, v="b"), lost=[1])
    one.commit(create("items", id=1, v="not proved"))
    yield one

    for name, counted in (("some_db2_two_parts", None), ("some_db2_three_parts", "testDB")):
        one = Db2(name, counted_database=counted)
        one.commit(create("orders", id=1, v="a"), create("items", id=1, v="a"))
        one.commit(create("orders", id=2, v="b"), create("items", id=2, v="b"), late=[1])
        one.commit(create("orders", id=3, v="not proved"))
        one.landing = 1
        one.end_waiting()
        yield one

    one = Db2("some_db2_sent_again")
    one.commit(create("orders", id=1, v="a"))
    one.commit(update("orders", id=1, v="b"), update("orders", id=1, v="c"))
    one.commit(create("items", id=1, v="not proved"))
    again = [dict(message) for message in one.landings[0] if "orders" in message["topic"]]
    for one.landing in (0, 1):
        for message in again[1:]:
            one.send("app.orders", message["value"], message["key"])
    yield one

    one = Generic("some_informix_sent_again")
    one.commit(create("orders", id=1, v="a"))
    one.commit(update("orders", id=1, v="b"), update("orders", id=1, v="c"))
    one.landing = 1
    one.send_again()
    one.commit(update("orders", id=1, v="d"))
    yield one

    for kind in (Oracle, Mysql, Mariadb, Generic):
        one = kind(f"some_{kind.connector}_sent_again_alone")
        one.commit(create("orders", id=1, v="a"))
        one.commit(update("orders", id=1, v="b"))
        one.landing = 1
        one.send_again()
        yield one

        one = kind(f"some_{kind.connector}_end_alone")
        one.commit(create("orders", id=1, v="a"))
        one.commit(create("audit", id=1), lost=[0])
        one.commit(update("orders", id=1, v="b"))
        one.landing = 1
        one.send_again("transaction")
        one.commit(update("orders", id=1, v="c"))
        yield one

        one = kind(f"some_{kind.connector}_end_lost")
        for value in ("a", "b", "c"):
            one.commit(create("orders", id=ord(value), v=value), update("orders", id=1, v=value))
        one.send_again()
        ends = [sent for sent in one.landings[0] if '"END"' in str(sent["value"])]
        one.landings[0].remove(ends[1])
        yield one

    one = Postgresql("some_postgresql_uncounted", has_metadata=False)
    one.commit(create("orders", id=1, v="a"))
    one.commit(create("orders", id=2, v="b"))
    assert str(one.transaction) == LET_BY
    one.send("app.orders", "{")
    one.commit(create("orders", id=3, v="c"))
    one.commit(create("orders", id=4, v="d"))
    one.landing = 1
    one.commit(create("orders", id=5, v="e"))
    one.send("app.orders", "{")
    one.end = one.lsn = one.lsn + 16  # a transaction of which nothing else has landed
    one.commit(create("orders", id=7, v="g"))
    one.commit(create("orders", id=8, v="h"))
    yield one

    one = Generic("some_informix_number_again")
    one.commit(create("orders", id=1, v="a"))
    one.lsn -= 100
    one.clock += 60_000
    one.landing = 1
    one.commit(update("orders", id=1, v="not proved"), lost=[0])
    one.commit(create("orders", id=2, v="not proved"))
    yield one

    one = Mysql("some_mysql_markers_in_two_partitions")
    one.commit(create("orders", id=1, v="a"))
    one.commit(create("orders", id=2, v="b"))
    for message in one.landings[0][-3:]:
        if message["topic"].endswith(".transaction"):
            message |= {"partition": 1, "offset": message["offset"] - 2}
    yield one

    one = Generic("some_informix_released")
    one.commit(create("orders", id=1, v="a"))
    one.commit(update("orders", id=1, v="b"), has_end=False)
    assert str(one.lsn) == RELEASED
    one.commit(create("orders", id=3, v="c"))
    one.landing = 1
    one.commit(create("orders", id=4, v="d"))
    yield one

    one = Generic("some_informix_refused")
    one.commit(create("orders", id=1, v="a"))
    one.commit(create("orders", id=2, v="b"))
    end = one.landings[0][-1]
    one.landings[0][-1] = end | {
        "value": end["value"].replace('"event_count": 1', '"event_count": "x"')
    }
    one.commit(create("orders", id=3, v="not proved"))
    yield one

    one = Db2("some_db2_topic_made_again")
    one.commit(create("orders", id=1, v="a"))
    one.commit(create("items", id=1, v="a"))
    one.landing = 1
    one.offsets["some_db2_topic_made_again.app.orders", 0] = 0
    one.commit(create("orders", id=2, v="b"))
    one.commit(create("items", id=2, v="not proved"))
    yield one

    one = Db2("some_db2_table_dropped")
    one.commit(create("orders", id=1, v="a"))
    one.send("", table_change(one, "DROP"), text({"databaseName": "TESTDB"}))
    one.commit(create("items", id=1, v="a"))
    one.commit(create("items", id=2, v="not proved"))
    yield one


def keys() -> Iterator[Stream]:
    for kind in (Postgresql, Db2):
        one: Postgresql | LogSequence = kind(f"some_{kind.connector}_keyless")
        one.commit(*[create("bag", a=1, b="x")] * 2, create("bag", a=2, b="y"))
        one.commit(delete("bag", a=1, b="x"))
        one.commit(create("items", id=1, v="a"))
        yield one

        one = kind(f"some_{kind.connector}_identity")
        sent = [
            Change("c", "people", {"name": "Ann"}, None, {"name": "Ann", "mail": "1"}),
            Change("c", "people", {"name": "Ann"}, None, {"name": "Ann", "mail": "2"}),
            Change("u", "people", {"name": "Bob"}, None, {"name": "Bob", "mail": "2"}),
            Change("u", "people", {"name": "Cid", "no": 1}, None, {"name": "Cid", "mail": "2"}),
        ]
        one.commit(*sent)
        one.commit(Change("d", "people", {"name": ""}, {"name": "", "mail": "1"}, None))
        one.commit(create("items", id=1, v="a"))
        yield one

    one = Postgresql("some_postgresql_text_key")
    key = {"id": "1"}
    one.commit(create("orders", id=1, v="a")._replace(key=key))
    one.commit(Change("u", "orders", key, None, {"v": "without its key column"}))
    one.commit(create("orders", id=2, v="b")._replace(key={"id": "2"}))
    one.commit(delete("orders", id=2, v="b")._replace(key={"id": "2"}))
    yield one

    one = Postgresql("some_postgresql_key_lost")
    one.commit(create("orders", id=1, v="a"))
    one.landing = 2
    one.commit(update("orders", id=1, v="whose?")._replace(key=None))
    yield one

    one = Postgresql("some_postgresql_headers")
    base64 = {"eyJpZCI6Mn0=": "__debezium.newkey", "eyJpZCI6MX0=": "__debezium.oldkey"}
    headers = [[(name, value)] for value, name in base64.items()]
    one.commit(create("orders", id=1, v="large"))
    unavailable = create("orders", id=2, v="__debezium_unavailable_value")
    one.commit(KEY_CHANGE[0]._replace(headers=headers[0]), unavailable._replace(headers=headers[1]))
    yield one


def truncates() -> Iterator[Stream]:
    one = Postgresql("some_postgresql_truncates")
    one.commit(create("orders", id=1, v="a"), create("items", id=1, v="a"), create("bag", a=1))
    one.commit(truncate("orders"), truncate("items"), truncate("bag"), late=[1], one_lsn=True)
    yield one

    one = Postgresql("some_postgresql_late_row")
    one.commit(create("orders", id=1, v="a"), create("bag", a=1, b="x"))
    one.commit(update("orders", id=1, v="late"), create("bag", a=2, b="late"), late=[0, 1])
    one.commit(truncate("orders"), truncate("bag"), create("orders", id=2, v="b"), one_lsn=True)
    yield one


def without_counts() -> Iterator[Stream]:
    one: Stream = Postgresql("some_postgresql_without_metadata", has_metadata=False)
    one.commit(create("orders", id=1, v="a"))
    one.commit(*KEY_CHANGE, one_lsn=True)
    one.commit(create("orders", id=3, v="b"))
    one.commit(create("orders", id=4, v="not proved"))
    yield one

    one = Stream("some_postgresql_as_printed")
    for number in ("004_03", "004_04", "004_05", "004_06"):
        printed = document(number)
        printed["source"] |= {"name": one.prefix, "schema": "app", "table": "orders"}
        for image in ("before", "after"):
            if printed.get(image):
                printed[image] = {"id": 1}
        if number == "004_03":
            printed["source"]["snapshot"] = False
        one.send("app.orders", text(printed), None if number == "004_06" else '{"id":1}')
    yield one

    one = Sqlserver("some_sqlserver_without_lsn", has_metadata=False)
    one.commit(create("orders", id=1, v="a"))
    one.log += 1
    place = one.place("orders", None, event_serial_no=None) | {"commit_lsn": None}
    one.send_change(create("orders", id=2, v="somewhere"), place)
    one.commit(create("orders", id=3, v="b"))
    one.commit(create("orders", id=4, v="c"))
    yield one

    one = Cdl("cdl")
    for version, number in (("1.0", "003_01"), ("2.0", "003_02")):
        fields = document(number)
        row = fields.get("data") or fields["after"]
        one.row(version, CDL_TABLE, row | {"decimalNum": "12.3", "time1": None})
    times = {"time1": 1707047996013, "decimalNum": "12.345"}
    one.row("1.0", CDL_TABLE, {"id": 36, **times})
    one.row("2.0", CDL_TABLE, {"id": 37, "time1": "2024-02-04 11:59:56.013"})
    one.row("1.0", CDL_TABLE, {"id": 38, "count1": 1})
    yield one

    # Transactions that overlap: the second to commit has the lowest LSN, and lands again.
    one = Cdl(ORDERED)
    low, high = one.lsn + 1, one.lsn + 100
    for key, lsn, transaction in ((1, high, 7), (2, low, 8), (1, high, 7), (3, high - 1, 9)):
        place = one.source(CDL_TABLE) | {"lsn": lsn, "txId": transaction}
        one.row("2.0", CDL_TABLE, {"id": key}, source=place)
    yield one

    one = Cdl(SPREAD)
    for key, topic in ((1, "one"), (2, "other"), (3, "one"), (4, "other")):
        one.row("2.0", CDL_TABLE, {"id": key}, topic=topic)
    yield one

    one = Cdl("cdl_heartbeat")
    one.row("2.0", CDL_TABLE, {"id": 1})
    beat = one.source("cdc_heartbeat") | {"schema": "cdc_cdl", "lsn": one.lsn + 1, "txId": 1}
    one.row("2.0", CDL_TABLE, {"id": 0, "cdl_job_id": 1}, source=beat)
    yield one

    one = Cdl("cdl_own_heartbeat")
    one.row("2.0", CDL_TABLE, {"id": 1})
    beat = one.source("beats") | {"schema": "own", "lsn": one.lsn + 1, "txId": 1}
    one.row("2.0", CDL_TABLE, {"id": 0, "cdl_job_id": 1}, source=beat)
    yield one

    # Two jobs with the same positions and transactions, of which no message says which job it is.
    for job in ("cdl_bank", "cdl_shop"):
        one = Cdl(job)
        one.row("1.0", CDL_TABLE, {"id": 1, "job": job})
        one.row("1.0", CDL_TABLE, {"id": 2, "job": job})
        yield one

    one = Cdl("cdl_unreadable")
    one.row("2.0", CDL_TABLE, {"id": 1})
    one.row("2.0", CDL_TABLE, {"id": 2})
    one.row("2.0", CDL_TABLE, {"id": 3}, op="TRUNCATE")
    one.row("2.0", CDL_TABLE, {"id": 4})
    one.row("2.0", CDL_TABLE, {"id": 5})
    yield one


def equals() -> Iterator[Stream]:
    """Sources with the same positions and transaction ids; the END of one has not landed."""
    for kind in (Postgresql, Db2):
        for has_end in (True, False):
            one: Postgresql | LogSequence = kind(
                f"some_{kind.connector}_equal_{str(has_end).lower()}"
            )
            one.commit(create("orders", id=1, v=one.prefix))
            one.commit(create("orders", id=2, v=one.prefix), has_end=has_end)
            if has_end:
                one.commit(create("items", id=1, v="not proved"), has_end=False)
            yield one

    both = Sqlserver("some_sqlserver_databases")
    for log in (0, 1):
        for both.database in ("one", "Two"):
            both.log, both.counted_database = log, both.database
            half = [0] if both.database == "Two" and log == 1 else []
            row = create("orders", id=log, v=both.database)
            both.commit(row, late=half)
    yield both


RESTORED_SOURCES = (
    "some_postgresql_restored",
    "some_postgresql_restored_uncounted",
    "some_oracle_restored",
    "some_mysql_restored",
    "some_mariadb_restored",
    "some_informix_restored",
    "some_db2_restored",
    "some_sqlserver_restored.testDB",
)


def restored() -> Iterator[Stream]:
    """Positions and ids of transactions are given out again, for other changes."""
    for name in RESTORED_SOURCES:
        _, connector, *_ = name.split("_")
        prefix, _, _ = name.partition(".")
        one: Stream
        if name.endswith("uncounted"):
            one = Postgresql(prefix, has_metadata=False)
        else:
            kinds = (Postgresql, Oracle, Mysql, Mariadb, Generic, Db2, Sqlserver)
            (kind,) = (kind for kind in kinds if kind.connector == connector)
            one = kind(prefix)
        one.commit(create("orders", id=1, v="a"), create("orders", id=2, v="gone"))
        one.commit(update("orders", id=1, v="lost"))
        one.commit(create("items", id=1, v="lost"))
        one.landing = 1
        one.restore()
        if isinstance(one, LogSequence):
            one.read(create("orders", id=1, v="read"), create("items", id=2, v="read"))
        one.commit(update("orders", id=1, v="b"), create("items", id=3, v="b"))
        one.commit(update("orders", id=1, v="c"))
        one.commit(update("items", id=3, v="c"), update("orders", id=1, v="d"))
        one.commit(update("orders", id=1, v="e"), update("items", id=3, v="e"))
        yield one


def remade() -> Iterator[Stream]:
    """The transaction topic is made again, and comes as far as the old one and further."""
    for kind in (Oracle, Mysql, Mariadb, Generic):
        one: Stream = kind(f"some_{kind.connector}_remade")
        one.commit(create("orders", id=1, v="a"))
        one.commit(update("orders", id=1, v="b"))
        one.landing = 1
        one.remake("transaction")
        for value in ("c", "d", "e", "f"):
            one.commit(update("orders", id=1, v=value))
        yield one


STRANGE = "o'r \"d\\e;r"
STRANGE_TABLES = (
    "order",
    "Order",
    "select * from x; drop table build.commit; --",
    "my.🐘",
    "{{ 1 / 0 }}' or '1'='1",
)
STRANGE_COLUMNS = (
    "select", "a.b", "it's", '"q"', "🐘", "; drop table build.commit; --", "back\\slash", "struct<",
)  # fmt: skip


def strange_row(table: str) -> Row:
    return {"id": 1, **{name: f"{name} of {table}" for name in STRANGE_COLUMNS}}


STRANGE_SOURCES = (("'; drop table build.commit; --🐘", STRANGE), ("plain", STRANGE))


def strange_names() -> Iterator[Stream]:
    for prefix, schema in STRANGE_SOURCES:
        one = Postgresql(prefix, schema)
        one.commit(*[create(table, **strange_row(table)) for table in STRANGE_TABLES])
        one.commit(*[delete(table, **strange_row(table)) for table in STRANGE_TABLES[1:3]])
        yield one


def all_streams() -> list[Stream]:
    groups = (
        snapshots, incremental_reads, flagged, transactions, keys, truncates, without_counts,
        equals, restored, remade, strange_names,
    )  # fmt: skip
    return [one for group in groups for one in group()]


# --- what became of them -----------------------------------------------------------------------


@dataclass(slots=True)
class Shown:
    """What readers see after one build."""

    cuts: dict[str, Row]
    tables: dict[tuple[str, str | None, str], list[Row]] = field(default_factory=dict)
    """Rows by source, schema and table; nulls are left out."""

    def rows(self, source: str, table: str = "orders", schema: str = "app") -> list[Row]:
        return self.tables.get((source, schema, table), [])

    def values(self, source: str, table: str = "orders") -> dict[int, str]:
        """The column v by id."""
        return {row["id"]: row["v"] for row in self.rows(source, table)}

    def cut(self, source: str) -> tuple[int, str]:
        entry = self.cuts.get(source, {})
        return entry.get("commit_number", 0), entry.get("proof", "none")

    def flags(self, source: str, table: str = "app.orders") -> set[str]:
        raised = self.cuts[source]["flags"]
        return {entry["flag"] for entry in raised if entry["table"] == table}

    def held(self, source: str) -> list[str]:
        return [held["reason"] for held in self.cuts[source]["held"]]


@dataclass(slots=True)
class Run:
    streams: list[Stream]
    shown: tuple[Shown, Shown]
    """After the first landing, and after the second."""
    refusal: str
    """What the run after the third landing said, which cannot go well."""
    after_refusal: Shown
    snapshots_after_refusal: list[tuple[str, ...]]
    """Sources of which that run took reads for a snapshot."""
    notices: list[str]
    """What status says then of runs and decisions."""
    repeated_names: dict[tuple[object, ...], object]
    """Messages with repeated names, by source and table, after the second build."""
    lines: list[str]
    """What the second build said."""
    published: dict[object, tuple[object, ...]]
    """What is held, quarantined and flagged by public.published_cut, by source, after it."""

    @property
    def first(self) -> Shown:
        return self.shown[0]

    @property
    def last(self) -> Shown:
        return self.shown[1]


def look(lake: Lake) -> Shown:
    shown = Shown(lake.cuts())
    query = " union all ".join(
        f"select {at}, _change.source, to_json(struct(*)) from public.{table.model_name}"
        for at, table in enumerate(lake.tables)
    )
    for at, source, row_text in lake.rows(query):
        assert isinstance(at, int)
        table = lake.tables[at]
        row = json.loads(str(row_text))
        unrepresentable = row.pop("_change")["unrepresentable"]
        if unrepresentable:
            row["unrepresentable"] = unrepresentable
        shown.tables.setdefault((str(source), table.schema, table.table), []).append(row)
    for rows in shown.tables.values():
        rows.sort(key=text)
    return shown


def land(lake: Lake, streams: list[Stream], part: int) -> None:
    folder = lake.folder / f"landing_{part}"
    arrivals = [Arrival(one.prefix, one.landings[part], []) for one in streams]
    write_arrivals(folder, arrivals, combined="all")
    lake.land(folder)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    streams = all_streams()
    messages: list[Message] = [one for part in (0, 1) for s in streams for one in s.landings[part]]
    groups = [Group("some_*", "some"), Group("cdl*", "cdl")]
    tables = [table for table in tables_of(messages, groups, SETTINGS) if table.table != SIGNALS]
    shown = []
    with open_lake(tmp_path_factory.mktemp("documents"), tables, SETTINGS) as lake:
        for table in tables:
            path = lake.project / "models" / "history" / f"{table.model_name}_history.sql"
            types = table.facts.types()
            if table.table == "people":
                captured = {**table.captured(), "identity": ["mail"]}
                path.write_text(history_sql(captured, table.model_name, types))
            if types.get("id") == JSON_TEXT:
                types["id"] = "bigint"
                path.write_text(history_sql(table.captured(), table.model_name, types))
            if table.table == CDL_TABLE:
                types["decimalNum"] = "decimal(10,2)"
                path.write_text(history_sql(table.captured(), table.model_name, types))
        with (lake.project / "seeds" / "operator_decision.csv").open("a") as lines:
            lines.write(f"some_informix_released,{RELEASED},release,Ann,2026-11-22,checked\n")
            lines.write(f"{SLIP},release,Ann,2026-11-22,of another source\n")
            lines.write(f"some_postgresql_uncounted,{LET_BY},release,Ann,2026-11-22,checked\n")
            for name in RESTORED_SOURCES:
                lines.write(f"{name},messages since {RESTORED},new_epoch,Ann,2026-11-22,restored\n")
        for part in (0, 1):
            land(lake, streams, part)
            assert lake.build(), lake.lines
            shown.append(look(lake))
        counted = lake.rows(
            "select source, table_name, repeated_names_count from build.int_table_fact"
            " where repeated_names_count > 0 "
            "and cut_id = (select max(cut_id) from build.int_table_fact)"
        )
        repeated_names = {(source, table): count for source, table, count in counted}
        lines = list(lake.lines)
        published = {
            source: counts
            for source, *counts in map(
                tuple,
                lake.rows(
                    "select source, held_count, quarantined_count, flagged_count"
                    " from public.published_cut"
                ),
            )
        }
        land(lake, streams, 2)
        assert not lake.build(
            "--vars", json.dumps({"refused_flags": DEFAULT_REFUSED_FLAGS}), command="run"
        )
        refusal = " ".join(lake.lines)
        notices = [
            *idle_decisions(SparkReader(lake.spark), cut_report(SparkReader(lake.spark))),
            unpublished_run(SparkReader(lake.spark)) or "",
        ]
        snapshots = [tuple(one) for one in lake.rows(SNAPSHOTS)]
        yield Run(
            streams,
            (shown[0], shown[1]),
            refusal,
            look(lake),
            snapshots,
            notices,
            repeated_names,
            lines,
            published,
        )


# --- snapshots ---------------------------------------------------------------------------------


@covers("DB2-27", "DB2-29")
@pytest.mark.parametrize(("source", "commits"), [("db2", 2), ("sqlserver.testDB", 3)])
def test_streamed_changes_follow_the_snapshot_and_a_table_needs_no_read(
    run: Run, source: str, commits: int
) -> None:
    prefix, _, database = source.partition(".")
    name = f"some_{prefix}_snapshot" + (f".{database}" if database else "")
    assert run.first.cut(name) == (commits, "counted")
    rows = {1: "c", 2: "b", 3: "d"} if commits == 3 else {1: "c", 2: "b"}
    assert run.first.values(name) == rows
    assert run.first.values(name, "items") == {1: "new"}


@covers("DB2-31")
@pytest.mark.parametrize("connector", ["db2", "oracle", "mysql", "mariadb", "informix"])
def test_an_interrupted_snapshot_leaves_no_row_behind(run: Run, connector: str) -> None:
    source = f"some_{connector}_two_attempts"
    rows = {2: "b", 3: "c", 4: "d"} | ({} if connector == "db2" else {5: "last"})
    assert run.first.cut(source) == (len(rows) - 1, "counted")
    assert run.first.values(source) == rows
    assert not any("snapshot" in one["transaction_id"] for one in run.first.cuts[source]["held"])


@pytest.mark.parametrize(
    "source", ["db2", "sqlserver.testDB", "oracle", "mysql", "mariadb", "informix"]
)
def test_a_snapshot_waits_for_a_table_that_a_transaction_counts(run: Run, source: str) -> None:
    connector, _, database = source.partition(".")
    name = f"some_{connector}_table_late" + (f".{database}" if database else "")
    assert run.first.values(name) == {}
    assert run.first.held(name)[0] == "snapshot_incomplete"
    is_behind = connector == "db2"
    rows = {1: "a", 2: "b", 3: "c"} | ({} if is_behind else {4: "last"})
    assert run.last.cut(name) == (len(rows), "counted")
    assert run.last.values(name) == rows
    assert run.last.values(name, "items") == {1: "b" if is_behind else "last"}


def test_a_snapshot_that_lands_behind_the_published_cut_replaces_nothing(run: Run) -> None:
    late = [one for one in run.snapshots_after_refusal if "snapshot_late" in str(one[0])]
    assert len(late) == 6
    assert {one[1:] for one in late} == {("hold", "late_snapshot")}


@covers("DB2-35", "DB2-38")
@pytest.mark.parametrize("connector", ["db2", "oracle", "mysql", "mariadb", "informix"])
def test_a_later_snapshot_replaces_its_tables_and_keeps_those_it_has_no_read_of(
    run: Run, connector: str
) -> None:
    again, at_once = f"some_{connector}_read_again", f"some_{connector}_read_again_at_once"
    is_behind = connector in BEHIND
    assert run.first.values(again) == {1: "a", 2: "b", 3: "c"}
    for source in (again, at_once):
        assert run.last.cut(source) == (5 if is_behind else 6, "counted")
        assert run.last.values(source) == {2: "read", 4: "d"}
        items = run.last.values(source, "items")
        assert items == ({1: "a"} if is_behind else {1: "a", 2: "last"})


@covers("MSS-05", "DB2-19", "DB2-26")
@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ("some_db2_read_without_lsn", {1: "c", 2: "b"}),
        ("some_sqlserver_read_without_lsn.testDB", {1: "c", 2: "b", 3: "d"}),
    ],
)
def test_reads_without_an_lsn_stand_before_the_stream(
    run: Run, source: str, rows: dict[int, str]
) -> None:
    assert run.first.cut(source) == (len(rows), "counted")
    assert run.last.values(source) == rows


@covers("DB2-38", "DB2-41", "DB2-46", "DB2-47")
def test_incremental_reads_are_upserts_at_their_place_and_delete_nothing(run: Run) -> None:
    assert run.first.cut("some_db2_window") == (3, "counted")
    rows = {1: "read", 2: "after the read", 3: "not read", 4: "c"}
    assert run.first.values("some_db2_window") == rows


@covers("DB2-45")
def test_a_window_whose_reads_may_be_missing_is_held(run: Run) -> None:
    assert run.last.cut("some_db2_window_open") == (1, "counted")
    assert run.last.values("some_db2_window_open") == {1: "a", 2: "b", 3: "not read"}
    assert run.last.held("some_db2_window_open")[0] == "snapshot_unconfirmed"


# --- flags -------------------------------------------------------------------------------------


def test_the_published_cut_counts_what_is_held_quarantined_and_flagged(run: Run) -> None:
    assert {source for source, counts in run.published.items() if any(counts)}
    for source, counts in run.published.items():
        cut = run.last.cuts[str(source)]
        held = {(held["transaction_id"], held["reason"]) for held in cut["held"]}
        flagged = {flag["table"] for flag in cut["flags"]}
        assert list(counts) == [len(held), len(cut["quarantined"]), len(flagged)], source


def test_a_run_ends_by_saying_what_is_flagged(run: Run) -> None:
    flagged_sources = 0
    for source, entry in run.last.cuts.items():
        said = [line for line in run.lines if line.startswith(f"{source}: commit ")]
        flags = sorted(f"{flag['table']}: {flag['flag']}" for flag in entry["flags"])
        count = len({flag["table"] for flag in entry["flags"]})
        flagged_sources += bool(said and flags)
        for line in said:
            told = line.partition(" quarantined")[2]
            assert told == (f", {count} flagged ({flags[0]})" if flags else ""), line
    assert flagged_sources


@pytest.mark.fault(47)
@covers("DB2-28", "DB2-30")
@pytest.mark.parametrize("source", ["some_db2_snapshot", "some_sqlserver_snapshot.testDB"])
def test_a_table_of_a_snapshot_without_locks_or_without_a_row_is_flagged(
    run: Run, source: str
) -> None:
    assert run.last.flags(source) == {"snapshot_may_be_torn"}
    assert run.last.flags(source, "app.bag") == {"nothing_seen"}


@pytest.mark.parametrize("connector", ["oracle", "mysql"])
def test_a_table_without_key_of_a_snapshot_begun_again_on_an_idle_server_is_flagged(
    run: Run, connector: str
) -> None:
    source = f"some_{connector}_read_twice"
    assert run.first.cut(source) == (2, "counted")
    assert run.last.flags(source, "app.bag") == {"snapshot_may_double_rows"}
    assert run.last.flags(source) == set()


@pytest.mark.fault(47)
@pytest.mark.parametrize(
    "source", ["some_db2_read_without_key", "some_sqlserver_read_without_key.testDB"]
)
def test_a_table_without_key_of_a_snapshot_without_locks_is_refused_by_default(
    run: Run, source: str
) -> None:
    assert "snapshot_may_double_rows" in run.last.flags(source, "app.bag")
    assert DEFAULT_REFUSED_FLAGS == ["snapshot_may_double_rows"]
    assert re.search(
        r"app\.bag of some_[a-z0-9]+_read_(without_key|twice)(\.testDB)?: "
        "is flagged snapshot_may_double_rows, which refused_flags names",
        run.refusal,
    )


def test_a_source_tells_whether_it_has_sent_a_truncate_where_its_connector_can(run: Run) -> None:
    cuts = run.last.cuts
    assert cuts["some_postgresql_truncates"]["has_truncate"] is True
    assert cuts["some_postgresql_keyless"]["has_truncate"] is False
    assert cuts["some_db2_keyless"]["has_truncate"] is None


@covers("DB2-34", "DB2-37")
def test_a_table_that_no_snapshot_has_read_is_flagged(run: Run) -> None:
    assert run.last.flags("some_db2_changes_alone") == {"no_baseline"}
    # A truncate left nothing that could be missing.
    assert run.first.flags("some_postgresql_truncates") == {"no_baseline"}
    assert run.last.flags("some_postgresql_truncates") == set()


@pytest.mark.fault(45)
def test_a_table_that_the_latest_snapshot_has_no_read_of_is_flagged(run: Run) -> None:
    # Its only change is held, so it has been seen and will be published.
    assert run.first.flags("some_db2_read_again", "app.items") == set()
    assert run.last.flags("some_db2_read_again", "app.items") == {"not_in_latest_snapshot"}


@covers("DB2-36", "DB2-45", "DB2-54")
def test_a_table_whose_incremental_snapshot_did_not_provably_end_is_flagged(run: Run) -> None:
    flags = {"deletes_may_be_missing", "snapshot_not_finished"}
    assert run.last.flags("some_db2_window") == flags
    assert run.last.flags("some_db2_windows_done") == {
        "deletes_may_be_missing",
        "snapshot_may_be_torn",
    }


@covers("DB2-50")
def test_a_table_whose_columns_changed_inside_an_incremental_snapshot_is_flagged(run: Run) -> None:
    flags = run.last.flags("some_db2_windows_around_a_schema_change")
    assert flags >= {"schema_changed_in_snapshot", "snapshot_not_finished"}
    assert "schema_changed_in_snapshot" not in run.last.flags("some_db2_windows_done")


@covers("PG-13")
def test_a_keyless_table_that_has_shown_no_old_row_is_flagged(run: Run) -> None:
    assert "append_only" in run.last.flags("some_postgresql_appended", "app.bag")
    assert "append_only" not in run.last.flags("some_postgresql_keyless", "app.bag")
    assert "append_only" not in run.last.flags("some_db2_keyless", "app.bag")
    assert "append_only" not in run.last.flags("some_postgresql_truncated", "app.orders")


@covers("DB2-03", "PG-38")
@pytest.mark.fault(12)
def test_a_table_of_which_a_message_names_a_member_twice_is_flagged_and_counted(run: Run) -> None:
    source = "some_postgresql_repeated_names"
    for shown in (run.first, run.last):
        assert shown.values(source) == {1: "a"}
        assert "repeated_names" in shown.flags(source)
        assert "repeated_names" not in shown.flags(source, "app.items")
    assert run.repeated_names == {(source, "orders"): 1}


# --- transactions ------------------------------------------------------------------------------

SUFFIX = {"sqlserver": ".testDB"}
"""What a connector of several databases adds to its prefix."""


@covers("DB2-16", "MSS-09", "PG-26")
@pytest.mark.parametrize(
    "connector", ["postgresql", "db2", "sqlserver", "oracle", "mysql", "mariadb", "informix"]
)
def test_both_halves_of_a_key_change_are_in_one_cut(run: Run, connector: str) -> None:
    suffix = SUFFIX.get(connector, "")
    whole = f"some_{connector}_key_change{suffix}"
    assert run.first.cut(whole) == (2 if connector in BEHIND else 3, "counted")
    assert run.first.values(whole) == {2: "a"}
    half = f"some_{connector}_half_a_key_change{suffix}"
    assert run.last.cut(half) == (1, "counted")
    assert run.last.values(half) == {1: "a"}
    assert run.last.held(half)[0] == "missing_events"


@covers("DB2-22", "PG-29")
@pytest.mark.parametrize("connector", ["postgresql", "db2"])
def test_a_hole_of_offsets_with_short_counts_holds_the_cut(run: Run, connector: str) -> None:
    source = f"some_{connector}_gap"
    assert run.last.cut(source) == (1, "counted")
    assert run.last.values(source) == {1: "a"}
    assert run.last.held(source)[:2] == ["missing_events", "follows_held_transaction"]


@covers("DB2-51")
def test_a_signal_table_is_counted_and_not_published(run: Run) -> None:
    assert run.first.cut("some_db2_signals") == (1, "counted")
    assert run.first.values("some_db2_signals") == {1: "a"}
    assert SIGNALS not in {table for _, _, table in run.last.tables}


@covers("DB2-32")
def test_a_table_that_is_not_ingested_is_passed_over(run: Run) -> None:
    assert run.first.cut("some_db2_not_ingested") == (1, "counted")
    assert run.first.values("some_db2_not_ingested") == {1: "a"}
    # Nor does it matter when a message of such a table lands.
    assert run.last.values("some_postgresql_audit_late") == {1: "a", 2: "b"}


@pytest.mark.parametrize(
    "source",
    [
        "some_oracle_later_part_first",
        "some_mysql_later_part_first",
        "some_sqlserver_later_part_first.testDB",
    ],
)
def test_what_lands_before_an_earlier_part_waits_for_it(run: Run, source: str) -> None:
    assert run.first.values(source) == {}
    assert run.last.cut(source) == (2, "counted")
    assert run.last.values(source) == {1: "a", 2: "a"}


@covers("DB2-78", "DB2-79")
@pytest.mark.parametrize("source", ["some_db2_two_parts", "some_db2_three_parts"])
def test_a_transaction_of_which_one_of_two_changes_has_landed_is_held(
    run: Run, source: str
) -> None:
    assert run.first.cut(source) == (1, "counted")
    assert run.first.held(source) == ["missing_events", "no_end"]
    (held, _) = run.first.cuts[source]["held"]
    assert (held["table"], held["expected"], held["received"]) == ("app.items", 1, 0)
    assert run.first.values(source) == {1: "a"}
    assert run.last.cut(source) == (3, "counted")
    assert run.last.values(source, "items") == {1: "a", 2: "b"}


@covers("DB2-57")
def test_events_sent_again_are_duplicates_before_and_after_they_are_published(run: Run) -> None:
    for shown, count in ((run.first, 2), (run.last, 4)):
        assert shown.cuts["some_db2_sent_again"]["counts"]["duplicate"] == count
        assert shown.values("some_db2_sent_again") == {1: "c"}


def test_a_connector_of_generic_sources_may_send_all_again(run: Run) -> None:
    source = "some_informix_sent_again"
    assert run.first.cut(source) == (2, "counted")
    assert run.first.values(source) == {1: "c"}
    assert run.last.cut(source) == (3, "counted")
    assert run.last.values(source) == {1: "d"}


@pytest.mark.parametrize("connector", ["oracle", "mysql", "mariadb", "informix"])
def test_a_published_transaction_that_is_sent_again_leaves_nothing_held(
    run: Run, connector: str
) -> None:
    source = f"some_{connector}_sent_again_alone"
    assert run.last.cut(source) == (2, "counted")
    assert run.last.values(source) == {1: "b"}
    assert run.last.cuts[source]["counts"]["held"] == 0


@pytest.mark.parametrize("connector", ["oracle", "mysql", "mariadb", "informix"])
def test_an_end_of_a_published_transaction_that_comes_again_alone_is_none_of_another(
    run: Run, connector: str
) -> None:
    source = f"some_{connector}_end_alone"
    assert run.last.cut(source) == (4, "counted")
    assert run.last.values(source) == {1: "c"}
    assert run.last.held(source) == []


@pytest.mark.parametrize("connector", ["oracle", "mysql", "mariadb", "informix"])
def test_a_later_end_of_a_transaction_does_not_put_it_behind_the_next_one(
    run: Run, connector: str
) -> None:
    """By its first END that landed the second transaction would follow the third."""
    source = f"some_{connector}_end_lost"
    assert run.first.cut(source) == (1, "counted")
    assert run.first.values(source) == {1: "a", ord("a"): "a"}
    assert run.first.held(source)[0] == "missing_predecessor"


def test_a_transaction_with_the_id_of_a_published_one_is_another(run: Run) -> None:
    source = "some_informix_number_again"
    assert run.last.cut(source) == (1, "counted")
    assert run.last.values(source) == {1: "a"}
    assert run.last.held(source)[0] == "missing_events"


def test_markers_in_two_partitions_are_ordered_by_their_gtids(run: Run) -> None:
    source = "some_mysql_markers_in_two_partitions"
    assert run.last.values(source) == {1: "a", 2: "b"}
    assert run.last.held(source) == []


def test_what_follows_a_released_transaction_without_an_end_is_shown(run: Run) -> None:
    source = "some_informix_released"
    assert run.first.cut(source) == (3, "counted")
    assert run.first.values(source) == {1: "b", 3: "c"}
    assert run.last.cut(source) == (4, "counted")
    assert run.last.values(source) == {1: "b", 3: "c", 4: "d"}


@pytest.mark.fault(1, 26)
def test_each_message_that_cannot_be_read_holds_what_nothing_counts(run: Run) -> None:
    source = "some_postgresql_uncounted"
    assert run.first.values(source) == {1: "a", 2: "b"}
    assert run.first.cut(source) == (2, "watermark")
    assert run.last.values(source) == {1: "a", 2: "b", 3: "c", 4: "d"}
    assert run.last.held(source)[0] == "awaiting_watermark"


@covers("DB2-78")
def test_an_end_that_names_its_database_is_settled_with_its_transaction(run: Run) -> None:
    assert [source for source in run.last.cuts if source.startswith("some_db2_three_parts")] == [
        "some_db2_three_parts"
    ]
    assert run.last.cuts["some_db2_three_parts"]["counts"]["held"] == 0


def test_an_end_of_generic_sources_that_cannot_be_read_holds_its_transaction(run: Run) -> None:
    source = "some_informix_refused"
    assert run.last.cut(source) == (1, "counted")
    assert run.last.values(source) == {1: "a"}


@covers("DB2-39")
def test_a_topic_that_is_made_again_lands_again(run: Run) -> None:
    assert run.first.values("some_db2_topic_made_again") == {1: "a"}
    assert run.last.values("some_db2_topic_made_again") == {1: "a", 2: "b"}
    assert run.last.cuts["some_db2_topic_made_again"]["counts"]["duplicate"] == 0


@covers("DB2-34")
def test_changes_of_unknown_keys_are_upserts_and_no_error(run: Run) -> None:
    assert run.first.cut("some_db2_changes_alone") == (1, "counted")
    assert run.first.values("some_db2_changes_alone") == {7: "a"}


@covers("DB2-58", "DB2-66")
def test_rows_of_a_table_that_is_dropped_or_no_longer_captured_stay(run: Run) -> None:
    assert run.first.cut("some_db2_table_dropped") == (2, "counted")
    assert run.first.values("some_db2_table_dropped") == {1: "a"}
    assert "dropped_or_not_captured" in run.first.flags("some_db2_table_dropped")


# --- keys --------------------------------------------------------------------------------------


@covers("DB2-09", "PG-09", "PG-15")
@pytest.mark.parametrize("connector", ["postgresql", "db2"])
def test_a_keyless_delete_takes_away_one_of_two_equal_rows(run: Run, connector: str) -> None:
    rows = run.first.rows(f"some_{connector}_keyless", "bag")
    assert sorted(map(text, rows)) == ['{"a": 1, "b": "x"}', '{"a": 2, "b": "y"}']


@covers("DB2-08", "PG-06", "PG-16")
@pytest.mark.parametrize("connector", ["postgresql", "db2"])
def test_configured_columns_tell_rows_apart_whatever_the_keys_of_messages_say(
    run: Run, connector: str
) -> None:
    assert run.first.cut(f"some_{connector}_identity")[0] >= 2
    rows = run.first.rows(f"some_{connector}_identity", "people")
    assert [(row["name"], row["mail"]) for row in rows] == [("Cid", "2")]
    assert "identity_not_in_key" not in run.first.flags(f"some_{connector}_identity", "people")


@covers("PG-07")
def test_a_key_in_text_and_a_row_in_numbers_are_one_row(run: Run) -> None:
    assert run.first.cut("some_postgresql_text_key") == (4, "counted")
    assert run.first.values("some_postgresql_text_key") == {1: "without its key column"}


@covers("PG-08")
def test_a_change_without_its_key_is_published_for_nobody(run: Run) -> None:
    assert "orders_history: " in run.refusal
    assert "say in its history model which columns tell rows apart" in run.refusal
    assert run.last.values("some_postgresql_key_lost") == {1: "a"}
    assert run.after_refusal.tables == run.last.tables
    assert run.after_refusal.cuts == run.last.cuts


@covers("PG-27")
def test_headers_that_landed_in_base64_are_read(run: Run) -> None:
    assert run.first.cut("some_postgresql_headers") == (2, "counted")
    assert run.first.values("some_postgresql_headers") == {2: "large"}


# --- truncates ---------------------------------------------------------------------------------


@covers("PG-31")
def test_truncates_of_several_tables_are_in_one_cut(run: Run) -> None:
    source, tables = "some_postgresql_truncates", ("orders", "items", "bag")
    assert run.first.cut(source) == (1, "counted")
    assert all(run.first.rows(source, table) for table in tables)
    assert run.last.cut(source) == (2, "counted")
    assert not any(run.last.rows(source, table) for table in tables)


@covers("PG-32")
def test_a_row_before_a_truncate_does_not_survive_it_however_late(run: Run) -> None:
    source = "some_postgresql_late_row"
    assert run.first.cut(source) == (1, "counted")
    assert run.last.cut(source) == (3, "counted")
    assert run.last.values(source) == {2: "b"}
    assert run.last.rows(source, "bag") == []


# --- without counts ----------------------------------------------------------------------------


@covers("PG-35", "PG-21")
def test_without_counts_a_cut_is_a_watermark_and_a_tie_has_one_order(run: Run) -> None:
    source = "some_postgresql_without_metadata"
    assert run.last.cut(source) == (3, "watermark")
    assert run.last.values(source) == {2: "a", 3: "b"}
    assert run.last.held(source) == ["awaiting_watermark"]


@covers("PG-21", "PG-22")
def test_transactions_that_nothing_orders_are_held_and_reported(run: Run) -> None:
    source = "some_postgresql_as_printed"
    assert run.last.cut(source) == (0, "none")
    assert run.last.rows(source) == []
    assert run.last.held(source) == ["awaiting_watermark", "awaiting_watermark"]


@covers("MSS-16")
def test_a_change_without_any_position_holds_what_follows_it(run: Run) -> None:
    source = "some_sqlserver_without_lsn.testDB"
    assert run.last.values(source) == {}
    assert set(run.last.held(source)) == {"awaiting_watermark"}
    assert run.last.cuts[source]["counts"]["held"] == 4


# --- CDL ---------------------------------------------------------------------------------------


@covers("CDL-32", "CDL-11", "CDL-01")
def test_rows_of_both_versions_are_in_one_table_with_or_without_a_database(run: Run) -> None:
    rows = run.first.rows("cdl", CDL_TABLE, "public")
    assert [row["id"] for row in sorted(rows, key=lambda row: row["id"])] == [34, 35, 36, 37]


@covers("CDL-08", "CDL-17")
def test_a_cut_of_cdl_is_never_counted(run: Run) -> None:
    assert run.first.cut("cdl") == (4, "none")
    assert run.first.cut(ORDERED) == (2, "watermark")


@covers("CDL-16", "CDL-30")
def test_transactions_of_one_partition_are_in_its_order_whatever_their_lsns(run: Run) -> None:
    rows = run.first.rows(ORDERED, CDL_TABLE, "public")
    assert sorted(row["id"] for row in rows) == [1, 2]
    assert run.first.held(ORDERED) == ["awaiting_watermark"]


@covers("CDL-17")
def test_a_source_of_several_partitions_has_no_order_of_one(run: Run) -> None:
    assert run.first.rows(SPREAD, CDL_TABLE, "public") == []
    assert set(run.first.held(SPREAD)) == {"several_partitions"}


@covers("CDL-24")
def test_a_time_that_two_versions_send_in_two_forms_is_kept_as_sent(run: Run) -> None:
    times = {row["id"]: row.get("time1") for row in run.first.rows("cdl", CDL_TABLE, "public")}
    assert times == {34: None, 35: None, 36: "1707047996013", 37: '"2024-02-04 11:59:56.013"'}


@covers("CDL-25")
def test_a_decimal_has_the_scale_of_the_model_and_is_never_rounded(run: Run) -> None:
    rows = {row["id"]: row for row in run.first.rows("cdl", CDL_TABLE, "public")}
    assert rows[34]["decimalNum"] == rows[35]["decimalNum"] == 12.3
    assert "decimalNum" not in rows[36]
    assert rows[36]["unrepresentable"] == [{"column": "decimalNum", "raw_text": "12.345"}]


@covers("CDL-22", "CDL-33")
def test_a_heartbeat_row_is_not_published_and_moves_the_watermark(run: Run) -> None:
    assert run.first.cut("cdl_heartbeat") == (1, "none")
    assert [row["id"] for row in run.first.rows("cdl_heartbeat", CDL_TABLE, "public")] == [1]
    assert run.first.cut("cdl_own_heartbeat") == (1, "none")
    assert [row["id"] for row in run.first.rows("cdl_own_heartbeat", CDL_TABLE, "public")] == [1]


@covers("CDL-08")
@pytest.mark.parametrize("job", ["cdl_bank", "cdl_shop"])
def test_two_jobs_of_cdl_that_name_no_source_are_told_apart_by_topic(run: Run, job: str) -> None:
    assert run.first.cut(job) == (1, "none")
    assert run.first.rows(job, CDL_TABLE, "public") == [{"id": 1, "job": job}]


@covers("CDL-18")
def test_a_message_that_cannot_be_read_holds_what_follows_it(run: Run) -> None:
    assert run.last.cut("cdl_unreadable") == (1, "none")
    assert [row["id"] for row in run.last.rows("cdl_unreadable", CDL_TABLE, "public")] == [1]
    assert set(run.last.held("cdl_unreadable")) == {"awaiting_watermark"}


# --- many sources in one run -------------------------------------------------------------------


@covers("DB2-84", "MSS-15")
@pytest.mark.parametrize("connector", ["postgresql", "db2"])
def test_the_end_of_one_source_completes_no_transaction_of_another(
    run: Run, connector: str
) -> None:
    ended, open_source = f"some_{connector}_equal_true", f"some_{connector}_equal_false"
    assert run.last.cut(ended) == (2, "counted")
    assert run.last.values(ended) == {1: ended, 2: ended}
    assert run.last.cut(open_source) == (1, "counted")
    assert run.last.values(open_source) == {1: open_source}
    assert run.last.held(open_source) == ["no_end"]


@covers("MSS-12", "MSS-15")
def test_equal_lsns_of_two_databases_of_one_connector_do_not_touch_each_other(run: Run) -> None:
    one, two = "some_sqlserver_databases.one", "some_sqlserver_databases.Two"
    assert (run.first.cut(one), run.first.cut(two)) == ((2, "counted"), (1, "counted"))
    assert run.first.values(one) == {0: "one", 1: "one"}
    assert run.first.values(two) == {0: "Two"}
    assert run.last.values(two) == {0: "Two", 1: "Two"}
    # BEGIN names no database, and waits for none.
    assert run.first.held("some_sqlserver_databases") == []
    assert run.first.cuts["some_sqlserver_databases"]["counts"]["held"] == 0


def test_strange_names_of_tables_and_columns_are_names_and_nothing_else(run: Run) -> None:
    left = [STRANGE_TABLES[0], *STRANGE_TABLES[3:]]
    for source, schema in STRANGE_SOURCES:
        assert run.last.cut(source) == (2, "counted")
        for table in STRANGE_TABLES:
            rows = [strange_row(table)] if table in left else []
            assert run.last.rows(source, table, schema) == rows


def test_every_message_of_every_source_has_one_outcome(run: Run) -> None:
    for shown, parts in ((run.first, 1), (run.last, 2)):
        for stream in run.streams:
            landed = sum(len(part) for part in stream.landings[:parts])
            entries = [
                entry
                for source, entry in shown.cuts.items()
                if source == stream.prefix or source.startswith(f"{stream.prefix}.")
            ]
            assert sum(entry["counts"]["landed"] for entry in entries) == landed
            for entry in entries:
                assert check_counts(entry, entry["counts"]["landed"]) == []


# --- refused before anything is built ----------------------------------------------------------


def refusal(*rows: tuple[str, Row]) -> str:
    """Why tables with these rows get no models; each row is of the database named with it."""
    streams = []
    for database, row in rows:
        streams.append(Db2("db2", database=database))
        streams[-1].commit(create("orders", **row))
    with pytest.raises(DebeziumError) as refused:
        tables_of([one for stream in streams for one in stream.landings[0]])
    return str(refused.value)


@covers("DB2-24")
def test_a_table_of_two_databases_of_one_db2_source_is_refused() -> None:
    assert refusal(("one", {"id": 1}), ("two", {"id": 1})) == (
        "table app.orders of db2: comes from the databases 'one' and 'two'; "
        "give each database a connector with a topic.prefix of its own"
    )


@covers("DB2-06")
def test_columns_that_differ_in_case_only_are_refused() -> None:
    assert "differ in case only" in refusal(("one", {"id": 1, "Name": "a", "name": "b"}))


@pytest.mark.parametrize("name", ["a`; drop table x", "{{ 1 / 0 }}", "a\nb", "_change"])
def test_columns_that_could_become_code_or_hide_ours_are_refused(name: str) -> None:
    assert "rename it at the source" in refusal(("one", {"id": 1, name: "a"}))


# --- what status says --------------------------------------------------------------------------


def test_a_decision_without_effect_is_named_and_no_other(run: Run) -> None:
    assert run.notices[:-1] == [
        "some_db2_window: the decision on 17 has had no effect: nothing is held under that id"
    ]


def test_a_run_that_published_nothing_is_named(run: Run) -> None:
    assert run.notices[-1].startswith("the latest run has not published its cut 3, so readers see")


# --- sources that are restored -----------------------------------------------------------------


@pytest.mark.fault(28, 29)
@pytest.mark.parametrize("source", RESTORED_SOURCES)
def test_what_a_restored_source_sends_follows_all_that_it_sent_before(
    run: Run, source: str
) -> None:
    assert run.first.values(source)[1] in ("a", "lost")
    assert run.first.cuts[source].get("decisions", []) == []
    assert run.last.cuts[source]["decisions"] == [
        f"messages since {RESTORED}: new_epoch by Ann on 2026-11-22 (restored)"
    ]
    is_read = "db2" in source or "sqlserver" in source
    is_behind = "db2" in source or "uncounted" in source
    assert run.last.values(source) == {
        1: "d" if is_behind else "e",
        **({} if is_read else {2: "gone"}),
    }
    items = run.last.values(source, "items")
    assert items == {3: "c" if is_behind else "e", **({2: "read"} if is_read else {1: "lost"})}


@pytest.mark.parametrize("connector", ["oracle", "mysql", "mariadb", "informix"])
def test_a_transaction_topic_that_was_made_again_loses_no_transaction(
    run: Run, connector: str
) -> None:
    source = f"some_{connector}_remade"
    assert run.first.values(source) == run.last.values(source) == {1: "b"}
    held = run.last.cuts[source]["held"]
    assert [one["reason"] for one in held] == [
        *["transaction_topic_recreated"] * 2,
        *["follows_held_transaction"] * 2,
    ]
    assert run.last.cuts[source]["counts"]["superseded"] == 0
    assert run.last.cut(source) == (2, "counted")
