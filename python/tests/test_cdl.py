"""Huawei CDL: both versions give one row each, and what is not documented is refused."""

import json

import pytest
from real_messages import DOCUMENTS, known, with_fields

from dbt_debezium.errors import DebeziumError
from dbt_debezium.messages.envelope import flatten_message
from dbt_debezium.settings import DEFAULTS, Settings, settings_of

VERSION_1 = json.loads(DOCUMENTS["003_01"])
VERSION_2 = json.loads(DOCUMENTS["003_02"])


def cdl(message, settings=DEFAULTS, **fields):
    """The message flattened, with fields of its payload set; `...` leaves one out."""
    payload = with_fields(json.loads(json.dumps(message["payload"])), fields)
    text = json.dumps(payload, separators=(",", ":"))
    return flatten_message("cdl_topic", None, text, [], settings)


def properties(**values):
    return [{"name": name, "value": value} for name, value in values.items()]


def test_both_versions_are_rows_of_one_table():
    assert known(cdl(VERSION_1)) == {
        "kind": "change",
        "connector": "cdl",
        "source": "cdl",
        "schema_name": "public",
        "table_name": "ct_pg2hudi",
        "data_collection": "public.ct_pg2hudi",
        "operation": "c",
        "transaction_id": "57227595",
        "is_whole_transaction": False,
        "event_position": "00000000163955221008",
        "committed_at_micros": 1707047996013000,
        "row_key": '{"id":"34"}',
        "after": '{"count1":13,"id":34,"time1":null,"decimalNum":null}',
        "column_types": '{"count1":"","id":"","time1":"","decimalNum":""}',
    }
    assert known(cdl(VERSION_2)) == known(cdl(VERSION_1)) | {
        "database_name": "cdl",
        "transaction_id": "57227663",
        "event_position": "00000000163955586912",
        "committed_at_micros": 1707048891235000,
        "row_key": '{"id":"35"}',
        "after": '{"count1":14,"id":35,"time1":null,"decimalNum":null}',
    }


@pytest.mark.parametrize("message", [VERSION_1, VERSION_2])
def test_the_schema_wrapper_changes_nothing(message):
    wrapped = flatten_message("t", None, json.dumps(message), [])
    assert json.loads(wrapped.after) == json.loads(cdl(message).after)
    assert wrapped._replace(after=None) == cdl(message)._replace(after=None)


@pytest.mark.parametrize(
    ("sent", "read"), [("INSERT", "c"), ("UPDATE", "u"), ("DELETE", "d"), ("TRUNCATE", None)]
)
def test_operations_have_debeziums_codes(sent, read):
    row = cdl(VERSION_1, OPERATION=sent, before={"id": 34})
    if read is None:
        assert (row.kind, row.quarantine_reason) == ("quarantined", "unknown_op")
        assert (row.source, row.table_name) == ("cdl", "ct_pg2hudi")
    else:
        assert (row.kind, row.operation) == ("change", read)


@pytest.mark.parametrize("sent", ["insert", "", None, "DDL"])
def test_another_operation_is_refused(sent):
    assert cdl(VERSION_1, OPERATION=sent).quarantine_reason == "unknown_op"


@pytest.mark.parametrize("sent", ["r", "t", "m", "x", None])
def test_version_2_has_no_operation_but_three(sent):
    assert cdl(VERSION_2, op=sent).quarantine_reason == "unknown_op"


@pytest.mark.parametrize(
    ("sent", "read"), [("true", "true"), ("last", "last"), ("false", None), (None, None)]
)
def test_a_create_with_a_snapshot_mark_is_a_read(sent, read):
    row = cdl(VERSION_2, source__snapshot=sent)
    assert (row.snapshot, row.transaction_id) == (read, None if read else "57227663")


def test_properties_are_found_by_name_wherever_they_stand():
    row = cdl(VERSION_1, transaction__properties=properties(x="?", txId=7, lsn="9"))
    assert (row.transaction_id, row.event_position) == ("7", "9".zfill(20))
    without = cdl(VERSION_1, transaction__properties=properties(lsn=9))
    assert (without.kind, without.transaction_id) == ("change", without.event_position)


@pytest.mark.parametrize(
    "listed",
    [
        properties(scn=1, txId=2),
        [*properties(lsn=1), *properties(lsn=2)],
        properties(lsn=None),
        [],
        None,
    ],
)
@pytest.mark.parametrize("store", ["POSTGRESQL", "ORACLE", "opengauss"])
def test_a_position_that_is_not_known_waits(listed, store):
    row = cdl(VERSION_1, transaction__properties=listed, DATA_STORE=store)
    assert row.quarantine_reason == "no_position"
    assert cdl(VERSION_2, source__lsn=None).quarantine_reason == "no_position"


@pytest.mark.parametrize("connector", ["postgresql", "POSTGRESQL", "openGauss"])
def test_connectors_of_version_2_are_known_in_any_case(connector):
    assert cdl(VERSION_2, source__connector=connector) == cdl(VERSION_2)
    assert cdl(VERSION_2, source__connector="mysql").quarantine_reason == "unknown_connector"


@pytest.mark.parametrize("message", [VERSION_1, VERSION_2])
@pytest.mark.parametrize("message_type", ["1", "", None, ..., "heartbeat"])
def test_a_message_type_that_is_not_documented_is_refused(message, message_type):
    row = cdl(message, message_type=message_type)
    assert row.quarantine_reason == "other_format"
    assert (row.connector, row.source, row.table_name) == ("cdl", "cdl", "ct_pg2hudi")


@pytest.mark.parametrize("version", ["1.1", "3.0", "", None, "debezium"])
def test_another_version_is_another_format(version):
    assert cdl(VERSION_2, message_version=version).quarantine_reason == "other_format"


def test_a_set_heartbeat_identifier_is_no_heartbeat():
    assert VERSION_1["payload"]["HEARTBEAT_IDENTIFIER"]
    assert cdl(VERSION_1).kind == "change"


@pytest.mark.parametrize(
    ("schema", "table"), [("cdc_cdl", "cdc_heartbeat"), ("CDC_CDL", "CDC_HEARTBEAT")]
)
def test_a_row_of_the_heartbeat_table_is_a_heartbeat_with_a_place(schema, table):
    for row in (
        cdl(VERSION_1, SEG_OWNER=schema, TABLE_NAME=table),
        cdl(VERSION_2, source__schema=schema, source__table=table),
    ):
        assert (row.kind, row.source, row.after) == ("heartbeat", "cdl", None)
        assert row.event_position is not None


@pytest.mark.parametrize(
    ("sources", "named"),
    [
        ({"cdl_*": "bank"}, "bank"),
        ({"other": "other", "*topic": "bank", "*": "late"}, "bank"),
        ({"cdl": "bank", "CDL_TOPIC": "bank", "cdl?topic": "bank"}, "cdl"),
    ],
)
def test_a_setting_names_the_source_of_version_1_by_its_topic(sources, named):
    settings = Settings(cdl_sources=sources)
    assert cdl(VERSION_1, settings).source == named
    assert cdl(VERSION_1, settings) == cdl(VERSION_1)._replace(source=named)
    refused = cdl(VERSION_1, settings, message_type="1")
    assert (refused.kind, refused.source) == ("quarantined", named)
    assert cdl(VERSION_2, settings) == cdl(VERSION_2)


@pytest.mark.parametrize("pattern", ["own.BEATS", "*.beats", "OWN.*"])
def test_a_setting_names_the_heartbeat_tables(pattern):
    settings = Settings(cdl_heartbeat_tables=["cdc_cdl.cdc_heartbeat", pattern])
    assert cdl(VERSION_1, settings, SEG_OWNER="Own", TABLE_NAME="Beats").kind == "heartbeat"
    assert cdl(VERSION_2, settings, source__schema="own", source__table="beats").after is None
    assert cdl(VERSION_1, settings).kind == "change"
    default = {"SEG_OWNER": "cdc_cdl", "TABLE_NAME": "cdc_heartbeat"}
    assert cdl(VERSION_1, Settings(cdl_heartbeat_tables=[]), **default).kind == "change"


def test_a_setting_of_the_wrong_type_is_named():
    assert settings_of({"public_schema": "public"}) == DEFAULTS
    with pytest.raises(DebeziumError, match="cdl_heartbeat_tables must be a list of patterns"):
        settings_of({"cdl_heartbeat_tables": "cdc_cdl.cdc_heartbeat"})
    with pytest.raises(DebeziumError, match="cdl_sources must be a mapping of patterns"):
        settings_of({"cdl_sources": {"bank_*": 1}})


@pytest.mark.parametrize("listed", ["time1", "id,time1", '["time1"]', "gone", "id; gone"])
def test_a_large_value_that_may_be_unchanged_waits(listed):
    assert cdl(VERSION_1, LOB_COLUMNS=listed).quarantine_reason == "lob_not_sent"
    assert cdl(VERSION_2, LOB_COLUMNS=listed).quarantine_reason == "lob_not_sent"


@pytest.mark.parametrize("listed", ["id", "id,count1", '["id"]', "", None])
def test_a_large_value_that_is_there_is_read(listed):
    assert cdl(VERSION_1, LOB_COLUMNS=listed).kind == "change"


def test_a_table_without_key_is_keyless():
    assert cdl(VERSION_1, unique=None).row_key is None
    gone = {"OPERATION": "DELETE", "data": None, "unique": None}
    assert cdl(VERSION_1, **gone, before={"id": 34}).kind == "change"
    assert cdl(VERSION_1, **gone).quarantine_reason == "delete_without_identity"
    assert cdl(VERSION_1, data=None).quarantine_reason == "no_after"


def test_an_update_of_the_key_names_the_key_before_it():
    row = cdl(VERSION_1, OPERATION="UPDATE", before={"id": 33, "count1": 13})
    assert (row.row_key, row.old_row_key) == ('{"id":"34"}', '{"id":"33"}')
    assert cdl(VERSION_1, OPERATION="UPDATE", before={"id": 34}).old_row_key is None
    assert cdl(VERSION_1, OPERATION="UPDATE", before={"count1": 13}).old_row_key is None
    assert cdl(VERSION_2, op="u", before={"id": 33}).old_row_key == '{"id":"33"}'


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("message_version", 1.0),
        ("OPERATION", 5),
        ("TABLE_NAME", []),
        ("transaction", []),
        ("transaction__properties", {}),
        ("transaction__properties", properties(lsn=-1)),
        ("transaction__properties", properties(lsn=1.5)),
        ("data", 5),
        ("before", "x"),
        ("unique", 5),
    ],
)
def test_a_field_of_the_wrong_type_is_bad_type(field, value):
    assert cdl(VERSION_1, **{field: value}).quarantine_reason == "bad_type"


def test_a_time_orders_nothing_and_is_left_out_if_it_is_no_number():
    assert cdl(VERSION_1, TIMESTAMP="soon") == cdl(VERSION_1, TIMESTAMP=None)
    assert cdl(VERSION_2, source__ts_ms="soon") == cdl(VERSION_2, source__ts_ms=None)


@pytest.mark.parametrize("field", ["DATA_STORE", "SEG_OWNER", "TABLE_NAME"])
def test_a_message_that_names_no_table_is_no_source(field):
    assert cdl(VERSION_1, **{field: None}).quarantine_reason == "no_source"
    assert cdl(VERSION_2, source=None).quarantine_reason == "no_source"
