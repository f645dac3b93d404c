"""What each connector's messages say of source, table, transaction and position."""

import json

import pytest
from real_messages import MESSAGES, edited, flat, known

from dbt_debezium.connectors import SOURCES
from dbt_debezium.messages.envelope import flatten_message

GTID = "3ff300ed-e55c-11f1-98c4-02fc00000001"
LSN, NEXT_LSN = "00000027:00000758:0005", "00000027:00000ac0:0007"
LONG_LSN = "00000000:00000000:0000000000051234"


BINLOG = {"file": "binlog.000001", "pos": 4, "row": 0, "server_id": 1}
PLACES = {
    "postgresql": {},
    "mysql": BINLOG,
    "mariadb": BINLOG,
    "sqlserver": {"event_serial_no": 1},
    "db2": {"commit_lsn": LSN, "change_lsn": LSN},
    "oracle": {"scn": "99", "commit_scn": "100", "rs_id": "0x31c.a2b.10", "ssn": 0},
}
"""The place of a change in the source block of each connector, unless a test says otherwise."""


def change(connector, operation="c", transaction=None, key='{"id":1}', topic="t", **source):
    """A change of the connector, with a row where the operation leaves one."""
    source = PLACES[connector] | source
    value = {
        "op": operation,
        "before": {"id": 1} if operation == "d" else None,
        "after": {"id": 1} if operation in "cru" else None,
        "source": {"connector": connector, "name": "server1", "ts_ms": 1} | source,
        "transaction": transaction,
    }
    return flatten_message(topic, key, json.dumps(value), [])


def marker(transaction_id, status="END", topic="server1.transaction", **counts):
    collections = [
        {"data_collection": name, "event_count": count} for name, count in counts.items()
    ]
    value = {
        "status": status,
        "id": transaction_id,
        "event_count": sum(counts.values()) if status == "END" else None,
        "data_collections": collections if status == "END" else None,
    }
    return flatten_message(topic, None, json.dumps(value), [])


def block(transaction_id, order=1):
    return {"id": transaction_id, "total_order": order, "data_collection_order": order}


@pytest.mark.fault(29)
@pytest.mark.parametrize("connector", SOURCES)
def test_positions_of_one_connector_have_one_width_and_sort(connector):
    first, second = {
        "postgresql": ({"txId": 7, "lsn": 9}, {"txId": 8, "lsn": 10}),
        "mysql": ({"file": "b.000009", "pos": 9}, {"file": "b.1000010", "pos": 4, "row": 1}),
        "mariadb": ({"file": "b.000009", "pos": 9}, {"file": "b.000009", "pos": 10}),
        "sqlserver": (
            {"commit_lsn": LSN, "change_lsn": LSN, "event_serial_no": "9"},
            {"commit_lsn": LSN, "change_lsn": LSN, "event_serial_no": 10},
        ),
        "db2": (
            {"commit_lsn": LSN, "change_lsn": NEXT_LSN},
            {"commit_lsn": NEXT_LSN.upper(), "change_lsn": LSN},
        ),
        "oracle": (
            {"txId": "5.6.641", "scn": "99", "commit_scn": "100", "ssn": 0},
            {"txId": "5.6.642", "scn": "100", "commit_scn": "101", "rs_id": " 0x31c.a2b.10 "},
        ),
    }[connector]
    place = {"db": "d", "schema": "s", "table": "t"}
    one, two = (change(connector, **place, **source) for source in (first, second))
    assert one.kind == two.kind == "change"
    assert one.event_position < two.event_position
    assert len(one.event_position) == len(two.event_position)


# MySQL.


def test_a_mysql_change_has_its_gtid_and_its_place_in_the_log():
    row = flat("mysql_change")
    assert (row.source, row.schema_name, row.data_collection) == ("msh", "shop", "shop.customers")
    assert row.transaction_id == f"{GTID}:65"
    assert (row.commit_position, row.previous_commit_position) == (None, None)
    assert row.log_position == f"{GTID}#00000000000000000065"
    assert row.event_position == "0000000010:0000000000000004734:0000000000:0000000009"
    assert (row.total_order, row.is_whole_transaction) == (1, False)


def test_a_mysql_end_has_its_gtid_and_no_position():
    row = flat("mysql_end")
    assert known(row) == {
        "kind": "transaction_marker",
        "source": "msh",
        "transaction_id": f"{GTID}:65",
        "marker": "END",
        "log_position": f"{GTID}#00000000000000000065",
        "event_count": 40,
        "collection_counts": {"shop.products": 20, "shop.customers": 20},
        "committed_at_micros": row.committed_at_micros,
        "row_key": f'{{"id":"{GTID}:65"}}',
    }


@pytest.mark.fault(25)
def test_a_mysql_truncate_is_a_transaction_by_itself():
    row = flat("mysql_truncate")
    assert (row.operation, row.is_whole_transaction) == ("t", True)
    assert row.transaction_id == f"{GTID}:215"
    assert (row.total_order, row.data_collection_order) == (1, 1)
    assert row.data_collection == "shop.t1"
    without_gtid = edited("mysql_truncate", source__gtid=None)
    assert without_gtid.transaction_id == "file=binlog.000010,pos=260241"
    assert without_gtid.is_whole_transaction
    nowhere = edited("mysql_truncate", source__gtid=None, source__file=None)
    assert (nowhere.transaction_id, nowhere.is_whole_transaction) == (None, False)
    assert edited("mysql_truncate", source__file=None).quarantine_reason == "no_position"


# MariaDB.


@pytest.mark.fault(25)
@pytest.mark.parametrize("transaction", [block("0-7-666"), None], ids=["block", "no block"])
def test_a_mariadb_truncate_is_a_transaction_by_itself(transaction):
    place = {"db": "shop", "table": "t", "file": "bin.000002", "pos": 531330, "gtid": "0-7-666"}
    row = change("mariadb", "t", transaction=transaction, **place)
    assert (row.operation, row.is_whole_transaction) == ("t", True)
    assert (row.transaction_id, row.log_position) == (
        "0-7-666",
        "domain-0#00000000000000000666",
    )
    assert (row.total_order, row.data_collection_order) == (1, 1)


def test_a_mariadb_change_waits_for_its_end():
    place = {"db": "shop", "table": "t", "file": "bin.000002", "pos": 531330, "gtid": "0-7-666"}
    row = change("mariadb", transaction=block("0-7-666"), **place)
    assert (row.operation, row.is_whole_transaction) == ("c", False)


def test_a_mariadb_begin_has_its_number():
    row = marker("0-7-666", "BEGIN")
    assert (row.transaction_id, row.log_position) == (
        "0-7-666",
        "domain-0#00000000000000000666",
    )


# MySQL and MariaDB.


def test_the_two_parts_of_a_mysql_key_change_share_a_position_and_differ_in_operation():
    left, entered = flat("mysql_key_change_delete"), flat("mysql_key_change_create")
    assert left.event_position == entered.event_position
    assert (left.operation, entered.operation) == ("d", "c")
    assert (left.new_row_key, left.row_key) == (entered.row_key, entered.old_row_key)


def test_a_mysql_read_belongs_to_no_transaction():
    row = flat("mysql_read")
    assert (row.snapshot, row.transaction_id, row.is_whole_transaction) == ("last", None, False)
    assert row.event_position == "0000000010:0000000000000004362:0000000000:0000000000"


def test_a_mysql_incremental_read_stands_where_its_window_closes():
    read, closing = flat("mysql_incremental_read"), flat("mysql_window_close")
    assert (read.snapshot, read.transaction_id) == ("incremental", None)
    assert read.event_position == closing.event_position
    assert closing.transaction_id == f"{GTID}:244"


@pytest.mark.parametrize(
    "transaction_id",
    [
        f"{GTID}:65",
        f"{GTID}:my_tag:65",
        "0-1-23",
        "file=binlog.000013,pos=4441",
        "file=a,b=c.000013,pos=4441",
        "file=binlog-000013.ibb,pos=4441",
    ],
)
@pytest.mark.parametrize("connector", ["mysql", "mariadb"])
def test_a_mysql_transaction_has_one_id_in_all_its_records(connector, transaction_id):
    row = change(connector, transaction=block(transaction_id), db="shop", table="t")
    begin, end = marker(transaction_id, "BEGIN"), marker(transaction_id, **{"shop.t": 1})
    assert row.transaction_id == begin.transaction_id == end.transaction_id == transaction_id
    assert (end.connector, end.commit_position) == (None, None)
    assert list(end.collection_counts) == [row.data_collection]


def test_a_mysql_change_without_block_and_gtid_has_its_own_place_as_transaction():
    row = change("mysql", db="shop", table="t", gtid=None, file="binlog.000001", pos=4)
    assert (row.transaction_id, row.is_whole_transaction) == ("file=binlog.000001,pos=4", False)
    assert row.log_position == "file#0000000001:0000000000000000004"
    assert change("mysql", db="shop", table="t", gtid=f"{GTID}:7").transaction_id == f"{GTID}:7"
    assert change("mysql", db="shop", table="t", gtid="", file=None).event_position is None


def test_a_gtid_is_of_one_log_in_small_letters_and_capitals():
    small, capital = (
        change("mysql", db="shop", table="t", gtid=f"{server}:7") for server in (GTID, GTID.upper())
    )
    assert small.log_position == capital.log_position is not None


def test_two_mysql_databases_with_one_table_name_stay_apart():
    one, two = (change("mysql", db=db, table="t") for db in ("shop", "archive"))
    assert (one.schema_name, two.schema_name) == ("shop", "archive")
    assert one.data_collection != two.data_collection
    assert change("mysql", table="t").quarantine_reason == "no_source"


@pytest.mark.parametrize("file", ["binlog", "binlog.x", "binlog.12345678901", "binlog-7"])
def test_a_mysql_file_without_a_number_is_bad_type_where_nothing_else_orders_the_change(file):
    place = {"db": "shop", "table": "t", "file": file, "pos": 4}
    row = change("mysql", **place)
    assert row.quarantine_reason == "bad_type"
    assert row.quarantine_detail.startswith("source.file")
    row = change("mysql", transaction=block(f"{GTID}:7"), **place)
    assert (row.kind, row.total_order, row.event_position) == ("change", 1, None)


def test_a_log_of_mariadb_in_innodb_has_its_number_inside_of_its_name():
    old, new = (
        change("mariadb", db="shop", table="t", file=file, pos=4, row=0, server_id=7)
        for file in ("binlog.000042", "binlog-000042.ibb")
    )
    assert old.event_position == new.event_position is not None
    assert new.transaction_id == "file=binlog-000042.ibb,pos=4"
    assert old.log_position == new.log_position is not None


@pytest.mark.parametrize("transaction_id", ["", "739:26521408", "x", LSN, "file=,pos=1"])
def test_a_mysql_transaction_id_in_no_known_form_is_bad_type(transaction_id):
    row = change("mysql", transaction=block(transaction_id), db="shop", table="t")
    assert (row.quarantine_reason, row.schema_name) == ("bad_type", "shop")


# SQL Server and Db2.

SQLSERVER = {"schema": "dbo", "table": "customers", "commit_lsn": LSN, "change_lsn": LSN}


@pytest.mark.fault(31)
def test_sql_server_databases_are_sources_of_their_own():
    one, two = (change("sqlserver", db=db, **SQLSERVER) for db in ("testDB", "testDB2"))
    assert (one.source, two.source) == ("server1.testDB", "server1.testDB2")
    assert one.transaction_id == two.transaction_id == LSN
    ends = [marker(LSN, **{f"{db}.dbo.customers": 1}) for db in ("testDB", "testDB2")]
    assert [end.source for end in ends] == [one.source, two.source]
    assert [end.database_name for end in ends] == ["testDB", "testDB2"]
    assert ends[0].collection_counts == {one.data_collection: 1}


@pytest.mark.fault(31)
def test_a_begin_in_lsns_names_no_database():
    begin = marker(LSN, "BEGIN")
    assert (begin.source, begin.database_name, begin.connector) == ("server1", None, None)


@pytest.mark.fault(31)
def test_an_end_that_names_two_databases_belongs_to_neither():
    end = marker(LSN, **{"a.dbo.t": 1, "b.dbo.u": 1})
    assert (end.source, end.database_name) == ("server1", None)


def test_an_end_in_lsns_tells_the_commit_position():
    assert marker(LSN.upper(), **{"a.dbo.t": 1}).commit_position == LSN
    row = change("sqlserver", db="testDB", transaction=block(LSN), **SQLSERVER)
    assert (row.transaction_id, row.commit_position) == (LSN, LSN)


def test_the_serial_number_orders_the_two_parts_of_a_sql_server_key_change():
    left = change("sqlserver", "d", db="testDB", event_serial_no=1, **SQLSERVER)
    entered = change("sqlserver", "c", db="testDB", event_serial_no=2, **SQLSERVER)
    assert left.event_position < entered.event_position
    lone = change("sqlserver", "u", db="testDB", **SQLSERVER | {"event_serial_no": 0})
    assert lone.event_position < left.event_position


def test_only_an_incremental_read_of_sql_server_tells_a_commit_position():
    window = change("sqlserver", "r", db="d", snapshot="incremental", **SQLSERVER)
    assert (window.transaction_id, window.commit_position) == (None, LSN)
    first = change("sqlserver", "r", db="d", snapshot="first", **SQLSERVER)
    assert first.commit_position is None


def test_a_sql_server_read_needs_no_lsn():
    row = change("sqlserver", "r", db="d", schema="dbo", table="t", snapshot="true")
    assert (row.kind, row.transaction_id, row.commit_position) == ("change", None, None)
    placed = change("sqlserver", "r", db="d", schema="dbo", table="t", commit_lsn=LSN)
    streamed = change("sqlserver", db="d", event_serial_no=1, **SQLSERVER)
    assert placed.transaction_id is placed.commit_position is None
    assert row.event_position < placed.event_position
    assert len(placed.event_position) == len(streamed.event_position)


def test_a_change_without_its_lsn_has_no_place():
    row = change("sqlserver", db="d", schema="dbo", table="t")
    assert (row.kind, row.transaction_id, row.event_position) == ("change", None, None)


@pytest.mark.parametrize("end_name", ["testDB.DB2INST1.CUSTOMERS", "DB2INST1.CUSTOMERS"])
def test_a_db2_table_has_one_name_with_and_without_its_database(end_name):
    row = change("db2", db="testdb", schema="DB2INST1", table="CUSTOMERS", commit_lsn=LSN)
    assert marker(LSN, **{end_name: 1}).collection_counts == {row.data_collection: 1}


@pytest.mark.parametrize("table", ["a", "a.b"])
def test_a_table_with_a_dot_has_one_name_in_end_and_change(table):
    row = change("db2", db="d", schema="S", table=table, commit_lsn=LSN)
    assert marker(LSN, **{f"d.S.{table}": 1}).collection_counts == {row.data_collection: 1}
    assert marker(LSN, **{f"S.{table}": 1}).collection_counts == {row.data_collection: 1}
    assert (row.schema_name, row.table_name) == ("S", table)


def test_db2_lsns_of_sixteen_bytes_are_read():
    row = change("db2", db="d", schema="S", table="T", commit_lsn=LONG_LSN, change_lsn=LONG_LSN)
    assert row.event_position == f"{LONG_LSN}/{LONG_LSN}"
    assert marker(LONG_LSN, **{"S.T": 1}).commit_position == LONG_LSN
    assert row.source == marker(LONG_LSN, **{"S.T": 1}).source == "server1"


@pytest.mark.parametrize("lsn", ["", "27:758:5", LSN[:-1], LSN + "0", "NULL", "x" * 22])
@pytest.mark.parametrize("field", ["commit_lsn", "change_lsn", "transaction"])
def test_an_lsn_in_another_form_is_bad_type(field, lsn):
    wrong = {field: block(lsn) if field == "transaction" else lsn}
    row = change("db2", **{"db": "d", "schema": "S", "table": "T", "commit_lsn": LSN} | wrong)
    assert row.quarantine_reason == "bad_type"
    assert row.quarantine_detail.startswith(("source.", "transaction.id"))


# Oracle.


@pytest.mark.parametrize(
    "transaction_id",
    ["5.6.641", "07000d005a030000", "0700020059030000", "0x0007.00d.0000035a"],
)
def test_an_oracle_change_tells_the_commit_that_its_end_does_not(transaction_id):
    row = change(
        "oracle",
        transaction=block(transaction_id),
        db="ORCLPDB1",
        schema="DEBEZIUM",
        table="CUSTOMERS",
        txId=transaction_id,
        scn="1273960",
        commit_scn="1273961",
    )
    end = marker(transaction_id, **{"ORCLPDB1.DEBEZIUM.CUSTOMERS": 1})
    assert row.transaction_id == end.transaction_id == transaction_id
    assert (row.commit_position, end.commit_position) == (None, None)
    assert (row.log_position, end.log_position) == ("scn#0000000000001273961", None)
    assert list(end.collection_counts) == [row.data_collection]
    assert (row.source, end.source, end.connector) == ("server1", "server1", "oracle")


def test_an_oracle_read_belongs_to_no_transaction():
    place = {"db": "D", "schema": "S", "table": "T", "txId": "5.6.641"}
    row = change("oracle", "r", scn="7", snapshot="first", **place)
    assert (row.transaction_id, row.commit_position) == (None, None)
    assert row.event_position is not None
    assert change("oracle", **place).transaction_id == "5.6.641"
    assert change("oracle", **place | {"txId": "x"}).quarantine_reason == "bad_type"


def test_an_oracle_read_stands_in_the_log_only_when_its_window_does():
    place = {"db": "D", "schema": "S", "table": "T", "scn": "7", "commit_scn": "8"}
    window = change("oracle", "r", snapshot="incremental", **place)
    assert window.log_position == "scn#0000000000000000008"
    assert change("oracle", "r", snapshot="first", **place).log_position is None


# Keys that the row lacks (S19).


@pytest.mark.parametrize(
    ("key", "after", "whole"),
    [
        ('{"id":1}', '{"v":2}', '{"id":1,"v":2}'),
        ('{"id":1}', "{}", '{"id":1}'),
        ('{"id":1}', '{ "v" : 2 }', '{"id":1,"v" : 2 }'),
        ('{"id":1}', '{ "id" : 7 }', '{ "id" : 7 }'),
        ('{"id":1}', '{"\\u0069d":7}', '{"\\u0069d":7}'),
        ('{"a":1,"b":"x"}', '{"b":"x","v":2}', '{"a":1,"b":"x","v":2}'),
        ('{"a":1,"b":"x"}', '{"v":2}', '{"a":1,"b":"x","v":2}'),
        ('{"a\\"b":1}', '{"v":2}', '{"a\\"b":1,"v":2}'),
        ('{"é":1.10}', '{"v":2}', '{"é":1.10,"v":2}'),
        ('{"id":1,"__dbz__physicalTableIdentifier":"t"}', '{"id":1}', '{"id":1}'),
        ('{"__dbz__physicalTableIdentifier":"t"}', '{"id":1}', '{"id":1}'),
        (None, '{"v":2}', '{"v":2}'),
    ],
)
def test_columns_of_the_key_that_the_row_lacks_are_taken_from_it(key, after, whole):
    source = json.loads(MESSAGES["create"]["value"])["source"]
    for operation in "cru":
        value = f'{{"op":"{operation}","after":{after},"source":{json.dumps(source)}}}'
        row = flat("create", key=key, value=value)
        assert row.after == whole
        json.loads(row.after)


# Control messages.


def test_a_schema_change_keeps_its_tables_and_not_its_ddl():
    row = flat("mysql_alter")
    assert (row.kind, row.connector, row.source) == ("schema_change", "mysql", "msh")
    assert (row.database_name, row.schema_name) == ("shop", "shop")
    assert row.transaction_id == f"{GTID}:222"
    assert row.event_position.startswith("0000000010:0000000000000262517:")
    (table,) = json.loads(row.table_changes)
    assert (table["type"], table["id"]) == ("ALTER", '"shop"."t1"')
    assert "alter table" not in "".join(part for part in row if isinstance(part, str))
    assert json.loads(flat("mysql_drop").table_changes)[0]["table"] is None
    assert flat("schema_change").snapshot == "true"
    assert edited("mysql_alter", tableChanges="x").table_changes is None


def test_a_schema_change_of_sql_server_has_the_source_of_its_database():
    source = {"connector": "sqlserver", "name": "server1", "db": "testDB", "schema": "dbo"}
    value = {"source": source | {"commit_lsn": LSN}, "databaseName": "testDB", "tableChanges": []}
    row = flatten_message("server1", None, json.dumps(value), [])
    assert (row.source, row.schema_name, row.commit_position) == ("server1.testDB", "dbo", LSN)


def test_a_notification_is_kept_whole():
    row = flat("notification")
    assert json.loads(row.notification) == json.loads(MESSAGES["notification"]["value"])


@pytest.mark.parametrize("key", ["shop", '"shop"', '{"schema":{"type":"string"},"payload":"shop"}'])
def test_a_signal_record_is_for_the_connector_that_its_key_names(key):
    value = '{"type":"execute-snapshot","data":{"data-collections":["a.b"],"type":"INCREMENTAL"}}'
    row = flatten_message("signals", key, value, [])
    assert (row.kind, row.source, row.signal_type) == ("signal", "shop", "execute-snapshot")
    assert row.signal_data == '{"data-collections":["a.b"],"type":"INCREMENTAL"}'


@pytest.mark.parametrize(
    ("value", "signal_type", "data"),
    [
        ('{"type":"pause-snapshot","data":{}}', "pause-snapshot", "{}"),
        ('{"id":"1","type":"Resume-Snapshot"}', "resume-snapshot", None),
        ('{"type":"stop-snapshot","data":null}', "stop-snapshot", None),
        ('{"type":"execute-snapshot","data":"{\\"a\\":1}"}', "execute-snapshot", '{"a":1}'),
        ('{"type":"execute-snapshot","data":"{ broken"}', "execute-snapshot", "{ broken"),
    ],
)
def test_a_signal_record_need_not_be_complete(value, signal_type, data):
    row = flatten_message("signals", None, value, [])
    assert known(row) == {
        name: text
        for name, text in (
            ("kind", "signal"),
            ("signal_type", signal_type),
            ("signal_data", data),
        )
        if text is not None
    }


@pytest.mark.parametrize("value", ['{"type":"order","data":{}}', '{"type":"log","data":1,"x":2}'])
def test_what_has_a_type_and_data_need_be_no_signal(value):
    assert flatten_message("t", None, value, []).quarantine_reason == "not_envelope"


def test_a_server_id_of_ten_digits_is_read_as_a_number_and_as_text():
    place = {"db": "shop", "table": "orders", "file": "mysql-bin.000013", "pos": 4, "row": 0}
    as_number = change("mysql", server_id=3232235777, **place)
    assert as_number.event_position.endswith("3232235777")
    assert change("mysql", server_id="3232235777", **place) == as_number
