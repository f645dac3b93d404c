"""What the reference documents ask of a consumer, against the examples that they print.

`@covers` names rows of data/documents/coverage.tsv; `make coverage-documents` lists them.
"""

import inspect
import json

import pytest
from real_messages import AS_PRINTED, DOCUMENTS, edited, flat, with_fields, wrapped

from dbt_debezium.connectors import SOURCES
from dbt_debezium.messages.envelope import OPERATIONS, flatten_message
from dbt_debezium.messages.internal_topics import INTERNAL_SOURCE
from dbt_debezium.reasons import QUARANTINED
from dbt_debezium.scaffold.captured import captured_tables
from dbt_debezium.scaffold.tables import observe
from dbt_debezium.settings import Settings
from dbt_debezium.signals import name_parts

covers = pytest.mark.covers
DB2 = ["000_03", "000_04", "000_05"]
POSTGRESQL = ["004_03", "004_04", "004_05", "004_06"]
LSN = "00000027:00000758:0005"
BLOCK = {"id": "00000025:00000d08:0025", "total_order": "1", "data_collection_order": "1"}


def payload(number):
    """The example without Kafka Connect's wrapper."""
    document = json.loads(DOCUMENTS[number])
    return document.get("payload", document)


def text(number, **fields):
    """The example as one line, with fields set; `source__db` is one of `source`, `...` drops it."""
    document = with_fields(payload(number), fields)
    return json.dumps(document, separators=(",", ":"))


def doc(number, key=None, topic="prefix.schema.table", headers=(), **fields):
    """The example flattened."""
    return flatten_message(topic, key, text(number, **fields), headers)


def identity(row):
    """What makes a change itself within its source (S1)."""
    return (
        row.source,
        row.transaction_id,
        row.event_position,
        row.operation,
        row.schema_name,
        row.table_name,
        row.row_key,
    )


def seen(*messages):
    """The tables that messages show rows of, by name."""
    shown = observe(("one topic", *message) for message in messages)
    return {facts.table: facts for facts in shown if facts.columns}


# Form: wrapper, JSON, names.


@covers("DB2-01", "PG-01", "CDL-03")
@pytest.mark.parametrize("number", [*DB2, *POSTGRESQL, "002_01", "003_01", "003_02"])
def test_key_and_value_are_unwrapped_each_on_its_own(number):
    key, value = '{"ID":1005}', text(number)
    bare = flatten_message("t", key, value, [])
    assert bare.kind == "change"
    assert flatten_message("t", wrapped(key), value, []) == bare
    assert flatten_message("t", key, wrapped(value), []) == bare
    assert flatten_message("t", wrapped(key), wrapped(value), []) == bare
    assert flatten_message("t", key, f'{{"payload":{value},"schema":null}}', []) == bare


@covers("DB2-01")
def test_a_table_with_a_column_called_payload_is_not_unwrapped():
    assert doc("000_03", key='{"payload":"x","id":1}').row_key == '{"id":"1","payload":"x"}'
    assert json.loads(doc("000_03", after={"payload": 1, "schema": 2}).after)["payload"] == 1


@covers("DB2-02")
def test_a_binary_record_of_a_schema_registry_is_quarantined():
    row = flatten_message("t", None, "\x00\x00\x00\x00\x07Hjohn", [])
    assert row.quarantine_reason == "other_format"


@covers("DB2-03", "PG-38")
@pytest.mark.parametrize("number", ["000_01", "004_01"])
def test_the_skeleton_of_key_and_value_is_no_message(number):
    assert flatten_message("t", None, DOCUMENTS[number], []).kind == "quarantined"
    assert flatten_message("t", None, AS_PRINTED[number], []).kind == "quarantined"


@covers("DB2-03")
def test_of_two_members_of_one_name_the_last_counts():
    twice = DOCUMENTS["000_03"].rstrip().removesuffix("}") + f',"payload":{text("000_05")}}}'
    row = flatten_message("t", None, twice, [])
    assert (row.operation, row.row_key) == ("d", None)


@covers("DB2-23", "MSS-17")
def test_a_schema_larger_than_its_row_costs_no_parsing():
    value = DOCUMENTS["000_03"]
    large = value.replace('"type"', f'"doc": "{"x" * 100_000}", "type"', 1)
    assert flatten_message("t", None, large, []) == flatten_message("t", None, value, [])
    huge = value.replace('"type"', f'"doc": "{"x" * 11_000_000}", "type"', 1)
    assert flatten_message("t", None, huge, []).quarantine_reason == "too_large"


@covers("DB2-25", "DB2-52", "PG-38")
@pytest.mark.parametrize("number", AS_PRINTED)
def test_an_example_as_printed_never_stops_the_run(number):
    row = flatten_message("t", None, AS_PRINTED[number], [])
    try:
        json.loads(AS_PRINTED[number])
    except ValueError:
        assert (row.kind, row.quarantine_reason) == ("quarantined", "bad_json")
        assert row.quarantine_detail
    else:
        assert row.quarantine_reason in QUARANTINED.keys() - {"internal_error"} | {None}


@covers("DB2-04", "DB2-62", "DB2-63", "MSS-17")
def test_each_event_brings_its_own_columns():
    old = text("000_03", after={"ID": 1, "EMAIL": "a"})
    new = text("000_03", after={"ID": 2, "PHONE": "b"})
    assert json.loads(flatten_message("t", None, old, []).after) == {"ID": 1, "EMAIL": "a"}
    assert list(seen((None, new), (None, old))["CUSTOMERS"].columns) == ["ID", "PHONE", "EMAIL"]


@covers("DB2-05", "DB2-60", "PG-02", "PG-05", "DB2-59", "DB2-48")
def test_tables_of_one_topic_stay_apart_and_one_table_of_two_topics_stays_together():
    names = ["CUST-OMERS", "CUST_OMERS", "PRODUCTS", "PRODUCTS_ON_HAND"]
    rows = [doc("000_03", topic="all", source__table=name) for name in names]
    assert [row.table_name for row in rows] == names
    assert len({row.data_collection for row in rows}) == len(names)
    assert doc("000_03", topic="x") == doc("000_03", topic="y.z")


@covers("DB2-06")
def test_names_that_differ_in_case_are_two_tables_with_two_targets():
    upper, lower = text("000_03"), text("000_03", source__table="customers")
    facts = seen((None, upper), (None, lower))
    assert sorted(facts) == ["CUSTOMERS", "customers"]
    models = [table.model_name.lower() for table in captured_tables(list(facts.values()), [])]
    assert len(set(models)) == 2


@covers("DB2-10", "PG-04", "PG-10", "CDL-26", "MSS-12")
@pytest.mark.parametrize(
    ("number", "place"),
    [
        ("000_03", ("myconnector", "MYSCHEMA", "CUSTOMERS")),
        ("002_01", ("server1.testDB", "dbo", "customers")),
        ("004_03", ("PostgreSQL_server", "public", "customers")),
        ("003_02", ("cdl", "public", "ct_pg2hudi")),
    ],
)
def test_only_the_source_block_says_where_a_change_comes_from(number, place):
    row = flatten_message("inventory.other.name", None, DOCUMENTS[number], [])
    assert (row.source, row.schema_name, row.table_name) == place


@covers("DB2-44", "DB2-79")
def test_a_table_with_a_dot_is_matched_without_taking_its_name_apart():
    row = doc("000_03", source__table="My.Table")
    assert row.table_name == "My.Table"
    counts = [{"data_collection": "mydatabase.MYSCHEMA.My.Table", "event_count": 2}]
    assert list(doc("001_17", data_collections=counts).collection_counts) == [row.data_collection]
    assert name_parts('"public"."My.Table"') == ["public", "My.Table"]


# Keys.


@covers("DB2-07")
def test_key_columns_come_from_the_key():
    assert doc("000_03", key=DOCUMENTS["000_02"]).row_key == '{"ID":"1004"}'


@covers("DB2-07", "PG-06", "PG-07")
def test_a_key_is_read_whatever_the_style_of_its_schema():
    row = doc("004_03", key=DOCUMENTS["004_02"])
    assert row.row_key == '{"id":"1"}'
    assert json.loads(row.after)["id"] == 1


@covers("DB2-08")
def test_the_key_of_the_message_need_not_be_the_primary_key():
    assert doc("000_03", key='{"EMAIL":"a"}').row_key == '{"EMAIL":"a"}'


@covers("DB2-09", "PG-09")
def test_a_table_without_key_is_known_as_keyless():
    assert doc("000_03").row_key is doc("004_03").row_key is None
    assert seen((None, text("004_03")))["customers"].is_keyless
    assert not seen(('{"id":1}', text("004_03")))["customers"].is_keyless


@covers("PG-08")
def test_a_key_column_missing_in_the_row_is_taken_from_the_key():
    row = doc("004_03", key=DOCUMENTS["004_02"], after={"first_name": "Anne"})
    assert row.after == '{"id":"1","first_name":"Anne"}'


# Operations and images.


@covers("DB2-11", "MSS-01", "PG-37")
@pytest.mark.parametrize("number", ["000_03", "002_01", "004_03"])
def test_the_operations_are_a_closed_set(number):
    row = {"after": {"id": 1}, "before": {"id": 1}}
    for operation in OPERATIONS:
        assert doc(number, op=operation, **row).kind in ("change", "logical_message")
    for operation in ("x", "C", "", None, ...):
        assert doc(number, op=operation, **row).kind == "quarantined"


@covers("DB2-12", "MSS-14", "PG-17", "MSS-02")
@pytest.mark.parametrize(
    ("number", "name"), [("000_03", "john"), ("002_01", "john"), ("004_03", "Anne")]
)
def test_a_create_has_the_whole_row_after_it_and_none_before(number, name):
    row = doc(number)
    assert (row.operation, row.before) == ("c", None)
    assert name in json.loads(row.after).values()
    assert doc(number, before=...) == row


@covers("DB2-13", "PG-23")
@pytest.mark.parametrize("number", ["000_04", "004_04"])
def test_an_update_needs_no_image_before_it(number):
    row = doc(number, key='{"id":1}')
    assert row.operation == "u"
    without = doc(number, key='{"id":1}', before=None)
    assert without == row._replace(before=None)


@covers("DB2-14", "PG-24")
@pytest.mark.parametrize("number", ["000_05", "004_05"])
def test_a_delete_names_its_row_by_key_or_by_image(number):
    row = doc(number)
    assert (row.operation, row.after) == ("d", None)
    assert json.loads(row.before)
    assert doc(number, key='{"id":1}', before=None).row_key == '{"id":"1"}'


@covers("PG-14", "PG-25", "DB2-14")
@pytest.mark.parametrize("before", [None, ...])
def test_a_delete_without_any_identity_is_quarantined(before):
    assert doc("004_05", before=before).quarantine_reason == "delete_without_identity"
    assert doc("004_05", key='{"id":1}', before=before).kind == "change"


@covers("PG-14")
def test_an_update_without_old_values_goes_by_its_key():
    row = doc("004_04", key='{"id":1}', before=...)
    assert (row.kind, row.row_key, row.before) == ("change", '{"id":"1"}', None)


@covers("MSS-03")
@pytest.mark.parametrize("after", [None, ...])
@pytest.mark.parametrize("operation", ["c", "u", "r"])
def test_a_row_without_its_image_is_quarantined(operation, after):
    assert doc("002_01", op=operation, after=after).quarantine_reason == "no_after"


@covers("PG-11", "PG-12")
def test_an_image_before_an_update_that_holds_the_key_is_no_key_change():
    row = doc("004_04", key='{"id":1}')
    assert (row.before, row.old_row_key, row.new_row_key) == ('{"id":1}', None, None)
    assert doc("004_04", key='{"id":1}', before=None).operation == "u"


@covers("DB2-15", "PG-28", "DB2-85", "CDL-30")
@pytest.mark.parametrize("value", [None, wrapped(None), '{"schema":null,"payload":null}'])
def test_a_tombstone_is_no_second_delete(value):
    row = flatten_message("any", DOCUMENTS["000_02"], value, [])
    assert (row.kind, row.operation, row.source) == ("tombstone", None, None)
    assert row.row_key == '{"ID":"1004"}'
    assert flatten_message("any", None, value, []).kind == "tombstone"


@covers("DB2-16", "PG-26")
def test_a_key_change_without_headers_is_a_delete_and_a_create_in_order():
    place = {"source__commit_lsn": LSN, "source__change_lsn": LSN}
    left = doc("000_05", key='{"ID":1}', transaction=BLOCK, **place)
    entered = doc("000_03", key='{"ID":2}', transaction=BLOCK | {"total_order": "2"}, **place)
    assert left.event_position == entered.event_position
    assert (left.total_order, entered.total_order) == (1, 2)
    assert identity(left) != identity(entered)


@covers("PG-27")
def test_headers_of_a_key_change_link_both_rows_and_may_be_missing():
    headers = [("__debezium.newkey", wrapped('{"id": 2}')), ("other", None)]
    assert doc("004_05", key='{"id":1}', headers=headers).new_row_key == '{"id":"2"}'
    headers = [("__debezium.newkey", "eyJpZCI6IDJ9")]
    assert doc("004_05", key='{"id":1}', headers=headers).new_row_key == '{"id":"2"}'
    headers = [("__debezium.oldkey", '{"id":1}')]
    assert doc("004_03", key='{"id":2}', headers=headers).old_row_key == '{"id":"1"}'
    assert doc("004_05", key='{"id":1}').new_row_key is None


@covers("PG-30")
def test_a_truncate_needs_neither_key_nor_images():
    assert "before" not in payload("004_06")
    row = doc("004_06")
    assert (row.operation, row.row_key, row.before, row.after) == ("t", None, None, None)
    assert (row.table_name, row.transaction_id) == ("customers", "556")


@covers("PG-31")
def test_a_truncate_of_two_tables_is_two_events_of_one_transaction():
    one, two = doc("004_06"), doc("004_06", source__table="orders")
    assert one.transaction_id == two.transaction_id
    assert one.event_position == two.event_position
    assert identity(one) != identity(two)


# Position, time, snapshot.


@covers("DB2-17", "DB2-56", "DB2-18", "MSS-04")
def test_lsns_order_commits_and_changes_as_text():
    rows = [doc(number) for number in DB2]
    assert [row.commit_position for row in rows] == sorted(row.commit_position for row in rows)
    assert [row.event_position for row in rows] == sorted(row.event_position for row in rows)
    one = doc("002_01", source__event_serial_no=9)
    two = doc("002_01", source__event_serial_no="10")
    assert one.event_position < two.event_position
    earlier = doc("000_03", source__change_lsn="00000026:0000ffff:0001")
    assert earlier.commit_position == rows[0].commit_position
    assert earlier.event_position < rows[0].event_position


@covers("DB2-18")
def test_lsns_are_checked_and_have_one_case():
    assert doc("000_04", source__commit_lsn="00000027:00000AC0:0007") == doc("000_04")
    for broken in ("27:758:5", "0000002g:00000758:0003", "1559729468470"):
        assert doc("000_03", source__commit_lsn=broken).quarantine_reason == "bad_type"


@covers("DB2-19", "MSS-05", "DB2-26")
@pytest.mark.parametrize("number", ["000_03", "002_01"])
def test_a_read_has_a_position_of_its_snapshot_or_none_and_no_transaction(number):
    row = doc(number, op="r", source__snapshot="true", transaction=None)
    assert (row.kind, row.operation, row.snapshot) == ("change", "r", "true")
    assert row.transaction_id is row.commit_position is None
    assert row.event_position is not None
    nowhere = {"source__commit_lsn": None, "source__change_lsn": None}
    row = doc(number, op="r", source__snapshot="last", **nowhere)
    assert row.kind == "change"
    assert row.event_position < doc(number).event_position


@covers("DB2-20", "PG-34", "MSS-13")
@pytest.mark.parametrize("number", ["000_04", "002_01", "004_04"])
@pytest.mark.parametrize(
    ("sent", "read"),
    [(False, None), ("false", None), (None, None), (..., None), (True, "true"), ("true", "true")]
    + [(mark, mark) for mark in ("first", "last", "last_in_data_collection", "incremental")],
)
def test_snapshot_marks_have_one_spelling(number, sent, read):
    assert doc(number, source__snapshot=sent).snapshot == read


@covers("DB2-21", "PG-22", "PG-33", "MSS-06", "MSS-11", "CDL-20", "CDL-09")
@pytest.mark.parametrize("number", [*DB2, *POSTGRESQL, "002_01", "003_02"])
@pytest.mark.parametrize("ts_ms", [0, None, ..., "1465581902461", 4102444800000])
def test_no_time_is_a_position(number, ts_ms):
    row = doc(number)
    assert row.committed_at_micros == payload(number)["source"]["ts_ms"] * 1000
    assert doc(number, ts_ms=ts_ms) == row
    moved = doc(number, source__ts_ms=1)
    assert moved == row._replace(committed_at_micros=1000)


@covers("PG-03")
def test_the_time_of_a_kafka_record_is_not_even_asked_for():
    assert list(inspect.signature(flatten_message).parameters) == [
        *("topic", "key", "value", "headers", "settings"),
    ]


@covers("DB2-49", "DB2-83", "DB2-75")
def test_an_incremental_read_with_numbers_as_text_is_outside_every_transaction():
    source = payload("000_04")["source"] | {"snapshot": "incremental"}
    row = doc("001_07", source=source)
    assert (row.operation, row.snapshot, row.before) == ("r", "incremental", None)
    assert (row.transaction_id, row.total_order) == (None, None)
    assert row.after == '{"pk":"1","value":"New data"}'
    assert doc("001_07", source=source, transaction=...) == row
    assert doc("001_07").quarantine_reason == "no_source"


@covers("DB2-47", "DB2-48", "DB2-45")
def test_a_read_is_told_by_its_mark_and_has_its_own_place():
    source = payload("000_04")["source"]
    read = doc("001_07", topic="one", source=source | {"snapshot": "incremental"})
    streamed = doc("000_04", topic="one")
    assert (read.snapshot, streamed.snapshot) == ("incremental", None)
    assert doc("000_03").event_position < read.event_position <= doc("000_05").event_position


@covers("MSS-07", "MSS-08", "MSS-10")
def test_serial_numbers_need_be_neither_numbers_nor_contiguous_nor_there():
    lone = doc("002_01", op="u", source__event_serial_no=2)
    assert (lone.kind, lone.operation) == ("change", "u")
    assert doc("002_01", op="u", source__event_serial_no="2") == lone
    read = doc("002_01", op="r", source__event_serial_no=...)
    assert len(read.event_position) == len(lone.event_position)
    # Of a change it orders the two halves of an update; else a transaction block does.
    assert doc("002_01", source__event_serial_no=...).quarantine_reason == "no_position"
    block = {"id": lone.transaction_id, "total_order": 1, "data_collection_order": 1}
    counted = doc("002_01", source__event_serial_no=..., transaction=block)
    assert (counted.kind, counted.event_position) == ("change", None)
    assert identity(doc("002_01", op="u")) != identity(lone)


@covers("MSS-09")
def test_the_serial_number_puts_the_delete_of_a_key_change_first():
    row = {"before": {"id": 1005}, "after": None}
    left = doc("002_01", op="d", **row, source__event_serial_no=1)
    entered = doc("002_01", source__event_serial_no=2)
    assert left.event_position < entered.event_position
    assert left.transaction_id == entered.transaction_id


@covers("MSS-12", "MSS-15")
def test_positions_of_two_databases_or_connectors_never_meet():
    assert doc("002_01").source != doc("002_01", source__db="testDB2").source
    one, two = doc("000_03"), doc("002_01")
    assert one.commit_position == two.commit_position
    assert (one.connector, one.source) != (two.connector, two.source)


@covers("MSS-16")
def test_a_streamed_change_without_lsn_claims_no_place():
    row = doc("002_01", source__commit_lsn=None, source__change_lsn=None)
    assert (row.transaction_id, row.commit_position, row.event_position) == (None, None, None)


@covers("MSS-18")
def test_messages_of_sql_server_that_are_not_printed_are_read():
    image = payload("002_01")["after"]
    assert doc("002_01", key='{"id":1005}').row_key == '{"id":"1005"}'
    assert doc("002_01", op="u", before=image).before
    assert doc("002_01", op="d", before=image, after=None).operation == "d"
    assert doc("002_01", op="r", source__snapshot="last").snapshot == "last"


@covers("PG-18")
def test_a_create_with_a_snapshot_mark_is_a_read_of_the_same_row():
    read, streamed = doc("004_03"), doc("004_03", source__snapshot=False)
    assert (read.snapshot, read.transaction_id) == ("true", None)
    assert (streamed.snapshot, streamed.transaction_id) == (None, "555")
    assert read.after == streamed.after


@covers("PG-19")
def test_the_sequence_of_a_change_is_optional():
    row = doc("004_03")
    assert row.previous_commit_position == "24023119".zfill(20)
    assert row.event_position == "24023128".zfill(20)
    assert doc("004_04").previous_commit_position is None


@covers("PG-20", "PG-35")
def test_the_transaction_without_a_block_is_that_of_the_source():
    rows = [doc(number, source__snapshot=False) for number in POSTGRESQL]
    assert [row.transaction_id for row in rows] == ["555", "556", "556", "556"]
    assert {row.total_order for row in rows} == {None}
    bare = doc("004_04", source__lsn=None, source__txId=None)
    assert (bare.kind, bare.transaction_id, bare.event_position) == ("change", None, None)


@covers("PG-21")
def test_changes_of_one_lsn_keep_their_identities():
    rows = [doc(number, key='{"id":1}', source__snapshot=False) for number in POSTGRESQL[:3]]
    rows.append(doc("004_06"))
    assert rows[0].event_position == rows[1].event_position
    assert rows[2].event_position == rows[3].event_position
    assert len({identity(row) for row in rows}) == 4


@covers("PG-36")
def test_one_schema_serves_all_messages_of_a_table():
    facts = seen((None, DOCUMENTS["004_03"]), (None, text("004_04")))["customers"]
    assert facts.types()["id"] == "int"
    assert facts.types()["first_name"] == "string"


@covers("DB2-57", "DB2-46")
def test_an_event_sent_again_is_the_same_event():
    again = doc("000_04", key='{"ID":1005}', ts_ms=1)
    assert identity(again) == identity(doc("000_04", key='{"ID":1005}'))
    assert identity(doc("000_04", key='{"ID":1005}', op="c")) != identity(again)


# Transactions.


@covers("DB2-76", "DB2-77", "DB2-82", "DB2-83")
def test_begin_change_and_end_share_an_id_that_is_never_cut():
    begin, end = doc("001_16"), doc("001_17")
    row = doc("001_18", source=payload("000_03")["source"])
    assert begin.transaction_id == row.transaction_id == end.transaction_id == BLOCK["id"]
    assert (begin.marker, begin.event_count, begin.collection_counts) == ("BEGIN", None, None)
    assert (row.total_order, row.data_collection_order) == (1, 1)
    tenth = doc(
        "001_18", source=payload("000_03")["source"], transaction=BLOCK | {"total_order": "10"}
    )
    assert tenth.total_order == 10


@covers("DB2-76")
@pytest.mark.parametrize("status", ["ABORT", "begin", "", None])
def test_a_status_that_is_not_known_is_quarantined(status):
    assert doc("001_16", status=status).kind == "quarantined"


@covers("DB2-78", "DB2-32", "DB2-79")
def test_end_counts_each_table():
    end = doc("001_17")
    assert end.event_count == sum(end.collection_counts.values()) == 2
    source = {"schema": "dbo", "table": "tablea", "db": "testDB"}
    row = doc("001_18", source=payload("000_03")["source"] | source)
    assert end.collection_counts == {row.data_collection: 1, "dbo.tableb": 1}
    assert end.database_name == "testDB"


@covers("DB2-80")
def test_times_of_begin_and_end_are_no_positions():
    for number in ("001_16", "001_17"):
        assert doc(number, ts_ms=1) == doc(number)._replace(committed_at_micros=1000)
        assert doc(number, ts_ms=None).kind == "transaction_marker"


@covers("DB2-81", "DB2-61")
def test_records_are_known_by_shape_under_any_topic():
    assert doc("001_16", topic="tx").kind == "transaction_marker"
    assert doc("001_14", topic="tx").kind == "schema_change"
    assert doc("000_03", topic="tx").kind == "change"


@covers("DB2-84")
def test_equal_ids_of_two_prefixes_are_two_transactions():
    ends = [doc("001_17", topic=f"{prefix}.transaction") for prefix in ("one", "two")]
    assert ends[0].transaction_id == ends[1].transaction_id
    assert ends[0].source != ends[1].source


def test_a_setting_names_the_source_of_a_transaction_topic():
    named = Settings(transaction_topics={"eu-west.*": "one", "*": "other"})
    sources = [
        flatten_message(topic, None, text("001_17"), [], named).source
        for topic in ("eu-west.one.transaction", "two.transaction")
    ]
    assert [source.partition(".")[0] for source in sources] == ["one", "other"]


@covers("DB2-75", "DB2-83")
@pytest.mark.parametrize("fields", [{}, {"transaction": None}], ids=["as printed", "null"])
def test_a_change_before_transaction_metadata_is_no_error(fields):
    row = doc("000_03", **fields)
    assert (row.kind, row.transaction_id) == ("change", LSN)
    assert row.total_order is None


# Signals and schema changes.


@covers("DB2-40", "DB2-42", "DB2-43", "DB2-53", "DB2-54", "DB2-55")
@pytest.mark.parametrize(
    ("number", "signal_type"),
    [
        ("001_08", "execute-snapshot"),
        ("001_09", "execute-snapshot"),
        ("001_10", "execute-snapshot"),
        ("001_13", "stop-snapshot"),
    ],
)
def test_a_signal_record_is_kept_and_is_no_row(number, signal_type):
    row = doc(number, key="test_connector", topic="signals")
    assert (row.kind, row.source) == ("signal", "test_connector")
    assert (row.signal_type, row.operation, row.table_name) == (signal_type, None, None)
    assert json.loads(row.signal_data) == payload(number)["data"]
    for argument in ({"data-collections": []}, {"type": "blocking"}, {"surrogate-key": "x"}, {}):
        assert doc(number, data=argument).kind == "signal"


@covers("DB2-40", "DB2-41", "DB2-51", "DB2-52")
@pytest.mark.parametrize("number", ["001_03", "001_05", "001_06", "001_11", "001_12"])
@pytest.mark.parametrize("examples", [DOCUMENTS, AS_PRINTED])
def test_a_row_of_a_signal_table_is_a_change_whatever_its_text(examples, number):
    after = {"id": "ad-hoc-1", "type": "execute-snapshot", "data": examples[number]}
    row = doc("000_03", source__table="debezium_signal", after=after, transaction=BLOCK)
    assert (row.kind, row.table_name, row.total_order) == ("change", "debezium_signal", 1)
    assert json.loads(row.after) == after


@covers("DB2-64", "DB2-65", "DB2-68", "DB2-69", "DB2-70", "DB2-71", "DB2-33")
def test_a_schema_change_is_a_log_of_tables_and_no_row():
    row = doc("001_14", topic="db2", key=DOCUMENTS["001_15"])
    assert (row.kind, row.connector, row.source) == ("schema_change", "db2", "db2")
    assert (row.database_name, row.schema_name, row.snapshot) == ("testdb", "DB2INST1", "true")
    assert row.event_position.startswith("00000025:00000d98:00a2/")
    (change,) = json.loads(row.table_changes)
    assert change["table"]["primaryKeyColumnNames"] == ["ID"]
    assert [column["jdbcType"] for column in change["table"]["columns"]] == [4, 12, 12, 12]
    assert change["table"]["attributes"]
    assert seen((None, text("001_14"))) == {}


@covers("DB2-66", "DB2-58")
@pytest.mark.parametrize("change_type", ["CREATE", "ALTER", "DROP"])
def test_a_schema_change_says_what_happened_and_deletes_nothing(change_type):
    changes = [payload("001_14")["tableChanges"][0] | {"type": change_type}]
    row = doc("001_14", tableChanges=changes)
    assert (row.kind, row.operation) == ("schema_change", None)
    assert json.loads(row.table_changes)[0]["type"] == change_type


@covers("DB2-67")
def test_the_id_of_a_table_is_a_quoted_path():
    (change,) = json.loads(doc("001_14").table_changes)
    assert name_parts(change["id"]) == ["DB2INST1", "CUSTOMERS"]
    assert name_parts('"a""b"."c.d"') == ['a"b', "c.d"]


@covers("DB2-72", "DB2-65")
@pytest.mark.parametrize(
    "fields",
    [
        {"new_field": {"deep": [1]}},
        {"source": None},
        {"source": "text"},
        {"source__commit_lsn": "broken"},
        {"source__snapshot": "new mark"},
        {"databaseName": 5},
        {"tableChanges": None},
        {"tableChanges": {"id": 1}},
        {"ddl": ...},
    ],
)
def test_a_schema_change_that_cannot_be_read_holds_nothing_back(fields):
    assert doc("001_14", **fields).kind == "schema_change"


@covers("DB2-73", "DB2-61")
def test_a_record_of_the_internal_history_is_no_data():
    history = '{"source":{"server":"db2"},"position":{},"ddl":"","tableChanges":[]}'
    row = flatten_message("schema-history", None, history, [])
    assert (row.kind, row.source, row.table_name) == ("internal", INTERNAL_SOURCE, None)


@covers("DB2-74")
def test_the_key_of_a_schema_change_identifies_no_row():
    row = doc("001_14", key=DOCUMENTS["001_15"])
    assert (row.kind, row.row_key) == ("schema_change", '{"databaseName":"TESTDB"}')
    assert row.table_name is None


# Huawei CDL; more of it in test_cdl.py.


@covers("CDL-02", "CDL-31", "CDL-36", "CDL-37")
@pytest.mark.parametrize("store", ["MYSQL", "ORACLE", "drs-opengauss-json", "SQLSERVER"])
def test_a_database_whose_positions_are_not_known_waits(store):
    scn = {"properties": [{"name": "scn", "value": 5}]}
    row = doc("003_01", DATA_STORE=store, transaction=scn)
    assert row.quarantine_reason == "no_position"
    assert doc("003_01", DATA_STORE=store).kind == "change"


@covers("CDL-02")
def test_the_debezium_format_of_another_database_is_refused():
    assert doc("003_02", source__connector="mysql").quarantine_reason == "unknown_connector"


@covers("CDL-01", "CDL-05", "CDL-11", "CDL-12", "CDL-13", "CDL-32", "CDL-08")
def test_both_versions_of_a_table_are_one_table():
    one, two = doc("003_01"), doc("003_02")
    assert [json.loads(row.after)["id"] for row in (one, two)] == [34, 35]
    assert (one.source, one.schema_name, one.table_name) == (
        two.source,
        two.schema_name,
        two.table_name,
    )
    assert doc("003_01", message_version="3.0").quarantine_reason == "other_format"


@covers("CDL-08")
def test_two_jobs_of_version_1_are_told_apart_by_topic():
    jobs = Settings(cdl_sources={"bank_*": "bank", "shop_*": "shop"})
    messages = [(topic, None, text("003_01")) for topic in ("bank_a", "shop_a", "bank_b", "a")]
    read = [flatten_message(*message, [], jobs) for message in messages]
    assert [row.source for row in read] == ["bank", "shop", "bank", "cdl"]
    assert [facts.source for facts in observe(messages, jobs)] == ["bank", "shop", "cdl"]


@covers("CDL-04", "CDL-27", "CDL-28", "CDL-25")
def test_rows_of_cdl_are_kept_as_sent():
    assert doc("003_01").before is doc("003_02").before is None
    assert doc("003_01").after == '{"count1":13,"id":34,"time1":null,"decimalNum":null}'
    row = {"decimalNum": "12345678901234567890.10", "id": 34}
    assert json.loads(doc("003_01", data=row).after) == row
    assert doc("003_02", op="u", before={"id": 35}).before == '{"id":35}'


@covers("CDL-06", "CDL-07", "CDL-34", "CDL-35")
@pytest.mark.parametrize("store", ["POSTGRESQL", "postgresql", "OPENGAUSS", "opengauss"])
def test_the_kind_of_database_is_known_in_any_case(store):
    assert doc("003_01", DATA_STORE=store) == doc("003_01")
    assert doc("003_02", source__connector=store, source__version=...) == doc("003_02")


@covers("CDL-14", "CDL-15", "CDL-16", "CDL-34")
def test_position_and_transaction_of_cdl_are_properties_by_name():
    one, two = doc("003_01"), doc("003_02")
    assert (one.event_position, one.transaction_id) == ("163955221008".zfill(20), "57227595")
    assert (two.event_position, two.transaction_id) == ("163955586912".zfill(20), "57227663")
    listed = payload("003_01")["transaction"]["properties"]
    assert doc("003_01", transaction={"properties": listed[::-1]}) == one
    assert one.total_order is one.data_collection_order is None


@covers("CDL-10")
def test_rows_of_a_cdl_snapshot_are_reads_where_they_are_marked():
    assert doc("003_02", source__snapshot="last").snapshot == "last"
    assert doc("003_01").snapshot is None


@covers("CDL-18", "CDL-29")
def test_operations_of_cdl_are_three():
    image = {"id": 34}
    assert doc("003_01", OPERATION="UPDATE", before=image).operation == "u"
    assert doc("003_01", OPERATION="DELETE", before=image, data=None).operation == "d"
    for other in ("TRUNCATE", "insert", "DDL", None):
        assert doc("003_01", OPERATION=other).quarantine_reason == "unknown_op"


@covers("CDL-19")
def test_the_key_of_cdl_is_unique():
    assert doc("003_01", key='{"other":1}').row_key == '{"id":"34"}'
    assert doc("003_01", unique=None).row_key is None
    moved = doc("003_01", OPERATION="UPDATE", before={"id": 33})
    assert (moved.old_row_key, moved.row_key) == ('{"id":"33"}', '{"id":"34"}')


@covers("CDL-21")
def test_a_large_column_without_a_value_waits():
    assert doc("003_01", LOB_COLUMNS="time1").quarantine_reason == "lob_not_sent"
    assert doc("003_01", LOB_COLUMNS="id").kind == "change"


@covers("CDL-22", "CDL-33")
def test_heartbeats_of_cdl_are_rows_of_their_table():
    assert doc("003_01").kind == "change"
    assert doc("003_01", SEG_OWNER="CDC_CDL", TABLE_NAME="CDC_HEARTBEAT").kind == "heartbeat"
    renamed = Settings(cdl_heartbeat_tables=["public.CT_pg2hudi"])
    assert flatten_message("t", None, text("003_01"), [], renamed).kind == "heartbeat"


@covers("CDL-23")
@pytest.mark.parametrize("number", ["003_01", "003_02"])
def test_only_the_message_type_that_is_printed_is_read(number):
    assert doc(number).kind == "change"
    assert doc(number, message_type="1").quarantine_reason == "other_format"


def test_every_connector_of_the_documents_is_known():
    assert {"db2", "sqlserver", "postgresql"} <= SOURCES.keys()
    assert flat("create").connector == edited("create").connector == "postgresql"
