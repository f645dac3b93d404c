"""Every shape that Debezium sends, and every broken one."""

import hashlib
import json

import pytest
from real_messages import MESSAGES, edited, flat, known, with_fields, wrapped

from dbt_debezium.connectors import SOURCES
from dbt_debezium.messages.envelope import flatten_message

SECRET = "hunter2"


def reason(row):
    assert row.kind == "quarantined", row
    assert len(row.quarantine_detail) <= 200
    assert SECRET not in row.quarantine_detail
    return row.quarantine_reason


def test_a_create_is_a_change():
    assert known(flat("create")) == {
        "kind": "change",
        "connector": "postgresql",
        "source": "big",
        "database_name": "big",
        "schema_name": "public",
        "table_name": "users",
        "data_collection": "public.users",
        "operation": "c",
        "transaction_id": "70548",
        "is_whole_transaction": False,
        "event_position": "00000000000364346832",
        "total_order": 1,
        "data_collection_order": 1,
        "committed_at_micros": 1795231695553846,
        "row_key": '{"id":"1"}',
        "after": '{"id":1,"name":"user 1","score":"0.00","updated":null,"active":true}',
        "column_types": '{"id":"","name":"","score":"","updated":"","active":""}',
    }


def test_an_update_knows_the_commit_before_its_transaction():
    row = flat("update")
    sequence = json.loads(json.loads(MESSAGES["update"]["value"])["source"]["sequence"])
    assert (row.kind, row.operation) == ("change", "u")
    assert row.previous_commit_position == sequence[0].zfill(20)
    assert row.event_position == sequence[1].zfill(20)


def test_a_key_change_names_the_other_key():
    deleted, created = flat("key_change_delete"), flat("key_change_create")
    assert (deleted.operation, created.operation) == ("d", "c")
    assert (deleted.row_key, deleted.new_row_key) == (created.old_row_key, created.row_key)
    assert deleted.after is None
    assert deleted.before.startswith('{"order_id":5,')


def test_a_truncate_has_no_key_and_no_row():
    row = flat("truncate")
    assert (row.kind, row.operation, row.table_name) == ("change", "t", "c")
    assert (row.row_key, row.before, row.after) == (None, None, None)
    assert row.total_order is not None


def test_a_snapshot_read_belongs_to_no_transaction():
    row = flat("snapshot_first")
    assert (row.kind, row.operation, row.snapshot) == ("change", "r", "first")
    assert (row.transaction_id, row.total_order) == (None, None)
    assert row.event_position == "00000000000415179056"


def test_an_incremental_read_stands_where_its_window_closes():
    row = flat("incremental_read")
    sequence = json.loads(json.loads(MESSAGES["incremental_read"]["value"])["source"]["sequence"])
    assert (row.operation, row.snapshot, row.transaction_id) == ("r", "incremental", None)
    assert row.previous_commit_position == sequence[0].zfill(20) == "00000000000102583608"
    assert row.event_position == sequence[1].zfill(20)


def test_a_change_of_debezium_3_0_is_read_like_one_of_3_6():
    row = flat("old_debezium_change")
    assert (row.kind, row.connector, row.table_name) == ("change", "postgresql", "led")
    assert row.transaction_id.isdigit()


@pytest.mark.fault(2)
def test_begin_is_a_marker_without_counts():
    assert known(flat("begin")) == {
        "kind": "transaction_marker",
        "connector": "postgresql",
        "source": "flt",
        "transaction_id": "95865",
        "marker": "BEGIN",
        "committed_at_micros": 1795232380517000,
        "row_key": '{"id":"95865:415179176"}',
    }


def test_end_has_its_counts_and_the_commit_position():
    row = flat("end")
    assert (row.marker, row.source, row.transaction_id) == ("END", "shop", "1354")
    assert row.commit_position == "00000000000036418216"
    assert row.event_count == 55
    assert row.collection_counts == {"public.customers": 30, "public.products": 25}


def test_an_end_without_changes_counts_none():
    row = flat("empty_end")
    assert (row.event_count, row.collection_counts) == (0, {})


def test_counts_of_a_collection_named_twice_add_up():
    collections = [{"data_collection": "public.a", "event_count": n} for n in (2, "3")]
    row = edited("end", data_collections=collections, event_count="5")
    assert (row.event_count, row.collection_counts) == (5, {"public.a": 5})


def test_a_transaction_id_before_debezium_2_holds_no_position():
    end = edited("end", id="1354")
    assert (end.transaction_id, end.commit_position) == ("1354", None)
    assert edited("update", transaction__id="1354").transaction_id == "1354"


def test_a_renamed_transaction_topic_is_the_source():
    assert flat("end", topic="markers").source == "markers"


@pytest.mark.fault(3, 8)
@pytest.mark.parametrize("value", [None, "null", wrapped(None), '{"schema":null,"payload":null}'])
@pytest.mark.parametrize("key", [None, '{"id":1}', "not JSON", wrapped('{"id":1}')])
def test_a_null_value_is_a_tombstone_whatever_its_key(key, value):
    row = flatten_message("shop.public.orders", key, value, [])
    readable = key is not None and "id" in key
    assert (row.kind, row.source) == ("tombstone", None)
    assert row.row_key == ('{"id":"1"}' if readable else None)


@pytest.mark.fault(6)
def test_a_logical_message_has_a_place_but_no_table():
    row = flat("logical_message")
    assert (row.kind, row.source, row.operation) == ("logical_message", "trunc", None)
    assert (row.schema_name, row.table_name) == (None, None)
    assert row.transaction_id is not None
    assert row.total_order is not None


def test_a_logical_message_outside_a_transaction_is_read():
    row = edited("logical_message", transaction=None, source__txId=None)
    assert (row.kind, row.transaction_id, row.total_order) == ("logical_message", None, None)
    assert row.event_position == flat("logical_message").event_position
    assert row.previous_commit_position == flat("logical_message").previous_commit_position


@pytest.mark.fault(2)
@pytest.mark.parametrize(
    ("topic", "key", "source"),
    [
        ("__debezium-heartbeat.flt", '{"serverName":"flt"}', "flt"),
        ("__debezium-heartbeat.flt", None, "flt"),
        ("eu-west.__debezium-heartbeat.flt", None, "flt"),
        ("pulse", '{"serverName":"flt"}', "flt"),
        ("pulse", wrapped('{"serverName":"flt"}'), "flt"),
        ("pulse", None, None),
    ],
)
def test_a_heartbeat_is_known_by_topic_or_shape(topic, key, source):
    row = flat("heartbeat", topic=topic, key=key)
    assert (row.kind, row.source) == ("heartbeat", source)


def test_a_notification_names_its_connector():
    row = flat("notification")
    assert (row.kind, row.source) == ("notification", "inc")


@pytest.mark.fault(2)
def test_a_schema_change_is_known_whatever_its_connector():
    row = flat("schema_change", topic="elsewhere")
    assert (row.kind, row.source) == ("schema_change", "msh")
    assert edited("schema_change", source=...).source == "msh"
    row = edited("schema_change", source__connector="mongodb", source__pos="no number")
    assert (row.kind, row.source, row.connector) == ("schema_change", "msh", "mongodb")


@pytest.mark.fault(3)
@pytest.mark.parametrize("name", [name for name in MESSAGES if not name.startswith("wrapped")])
def test_a_schema_wrapper_changes_nothing(name):
    bare, message = flat(name), MESSAGES[name]
    key, value = wrapped(message["key"]), wrapped(message["value"])
    headers = [(header, wrapped(text)) for header, text in message["headers"]]
    assert flat(name, key=key) == bare
    assert flat(name, value=value) == bare
    assert flat(name, key=key, value=value, headers=headers) == bare


def test_the_real_wrapper_is_read():
    change, end = flat("wrapped_change"), flat("wrapped_end")
    assert (change.operation, change.table_name, change.row_key) == ("d", "ev", '{"id":"4"}')
    assert (end.marker, end.source) == ("END", "evo")
    assert end.collection_counts


def test_a_schema_may_hold_a_member_named_payload():
    schema = '{"fields":[{"default":{"a":{},"payload":{"op":"d"}}}]}'
    message = MESSAGES["create"]
    value, key = (f'{{"schema":{schema},"payload":{message[n]}}}' for n in ("value", "key"))
    assert flat("create", value=value, key=key) == flat("create")
    assert reason(flat("create", value=value[:-1])) == "bad_json"


def test_white_space_in_the_wrapper_changes_nothing():
    message = MESSAGES["create"]
    value, key = (f' {{ "payload" : {message[n]}, "schema": null }} ' for n in ("value", "key"))
    assert flat("create", value=value, key=key) == flat("create")


@pytest.mark.fault(4)
def test_numbers_may_be_text():
    value = json.loads(MESSAGES["update"]["value"])
    source, transaction = value["source"], value["transaction"]
    row = edited(
        "update",
        source=source | {name: str(source[name]) for name in ("ts_ms", "ts_us", "txId", "lsn")},
        transaction=transaction | {name: str(transaction[name]) for name in list(transaction)[1:]},
    )
    assert row == flat("update")
    assert edited("begin", ts_ms="1795232380517") == flat("begin")


def test_milliseconds_serve_where_microseconds_are_not_sent():
    assert edited("create", source__ts_us=...).committed_at_micros == 1795231695553000


@pytest.mark.fault(4)
@pytest.mark.parametrize(
    ("sent", "read"),
    [(marker, marker) for marker in ("first", "last", "true", "last_in_data_collection")]
    + [(True, "true"), (False, None), ("false", None), (None, None), (..., None)],
)
def test_snapshot_markers_have_one_spelling(sent, read):
    assert edited("update", source__snapshot=sent).snapshot == read


@pytest.mark.parametrize("sent", [False, "false", None, ...])
def test_a_read_is_a_snapshot_even_without_a_marker(sent):
    assert edited("snapshot_first", source__snapshot=sent).snapshot == "true"


def test_a_change_without_transaction_block_has_the_transaction_of_its_source_block():
    row = edited("update", transaction=None)
    assert row.transaction_id == flat("update").transaction_id
    assert row.total_order is None


@pytest.mark.fault(5)
def test_a_change_without_position_is_not_refused():
    nowhere = {"source__lsn": None, "source__sequence": None}
    row = edited("update", transaction=None, source__txId=None, **nowhere)
    assert (row.kind, row.transaction_id, row.event_position) == ("change", None, None)
    assert edited("update", source__lsn=...).event_position == flat("update").event_position


def test_a_change_that_names_no_predecessor_has_no_position_but_that_of_its_block():
    row = edited("update", source__sequence=...)
    assert (row.event_position, row.previous_commit_position) == (None, None)
    assert (row.transaction_id, row.total_order) == (flat("update").transaction_id, 3)
    uncounted = edited("update", source__sequence=..., transaction=None)
    assert uncounted.event_position == flat("update").event_position


@pytest.mark.fault(5)
@pytest.mark.parametrize("name", ["snapshot_first", "incremental_read"])
def test_a_read_without_position_is_refused(name):
    assert edited(name, source__lsn=None, source__sequence=...).quarantine_reason == "no_position"
    assert edited("snapshot_first", source__sequence=...).kind == "change"


@pytest.mark.fault(13, 53, 54)
def test_the_row_is_kept_as_it_was_sent():
    after = '{ "id": 1,"price":10.10, "big":123456789012345678901234567890,\n"t":"\\u00e9\\/" }'
    value = f'{{"after":  {after}  ,"op":"c","source":{{"connector":"postgresql","name":"s",'
    value += '"schema":"public","table":"t"}}'
    assert flatten_message("t", None, value, []).after == after


@pytest.mark.fault(13)
@pytest.mark.parametrize("name", ["create", "snapshot_first", "truncate", "mysql_change"])
def test_fields_that_nobody_reads_change_nothing(name):
    source = json.loads(MESSAGES[name]["value"])["source"]
    more = {"commit_time": "x", "origin": "y", "new": {"deep": [1]}, "version": "9"}
    assert edited(name, source=source | more, ts_us="x", ts_ns={}, other=[1]) == flat(name)


@pytest.mark.fault(12)
def test_of_two_fields_of_one_name_the_last_counts():
    value = MESSAGES["update"]["value"].replace('"op":"u"', '"op":"x","op":"u"')
    assert flat("update", value=value) == flat("update")


# Keys.


@pytest.mark.parametrize(
    ("sent", "canonical"),
    [
        ('{"id":1}', '{"id":"1"}'),
        ('{"id":"1"}', '{"id":"1"}'),
        (' { "id" : 1 } ', '{"id":"1"}'),
        ('{"b":1,"a":2}', '{"a":"2","b":"1"}'),
        (
            '{"b":{"z":1,"y":[2, {"d":1,"c":2}]},"a":2}',
            '{"a":"2","b":{"y":[2,{"c":2,"d":1}],"z":1}}',
        ),
        ('{"id":"caf\\u00e9"}', '{"id":"café"}'),
        ('{"id":"a\\/b"}', '{"id":"a/b"}'),
        ('{"\\u0069d":"\\ud83d\\ude00"}', '{"id":"😀"}'),
        ('{"id":"a\\"b"}', '{"id":"a\\"b"}'),
        ('{"id":12345678901234567890123456789}', '{"id":"12345678901234567890123456789"}'),
        ('{"id": 1.10}', '{"id":"1.10"}'),
        (
            '{"id": 0.1000000000000000055511151231257827}',
            '{"id":"0.1000000000000000055511151231257827"}',
        ),
        ('{"id":-7}', '{"id":"-7"}'),
        ('{"id":-0}', '{"id":"0"}'),
        ('{"id":0}', '{"id":"0"}'),
        ('{"id":true,"b":false,"n":null}', '{"b":"false","id":"true","n":null}'),
        ('{"schema":"public","payload":"x"}', '{"payload":"x","schema":"public"}'),
        ('{"schema":null,"payload":{"id":1}}', '{"id":"1"}'),
        (wrapped('{"id":1}'), '{"id":"1"}'),
    ],
)
def test_equal_keys_have_equal_text(sent, canonical):
    assert flat("create", key=sent).row_key == canonical


@pytest.mark.parametrize(
    "value", ["1", '"1"', "1.10", "true", "null", "12345678901234567890123", '{"b":[1],"c":"1"}']
)
@pytest.mark.parametrize("around", ["%s", " %s", '{"schema":null,"payload":%s}', wrapped("%s")])
def test_a_row_that_lacks_a_key_column_has_it_as_it_was_sent(value, around):
    change = with_fields(json.loads(MESSAGES["create"]["value"]), {"after": {"v": 1}})
    key = around % f'{{"n":{value}}}'
    assert flat("create", key=key, value=json.dumps(change)).after == f'{{"n":{value},"v": 1}}'


@pytest.mark.parametrize("key", [None, "null", "{}", wrapped(None)])
def test_a_key_without_fields_is_no_key(key):
    assert flat("create", key=key).row_key is None


def test_headers_of_a_key_change_are_canonical_too():
    row = flat("create", headers=[("__debezium.oldkey", '{ "b": 1, "a": 2 }'), ("x", None)])
    assert row.old_row_key == '{"a":"2","b":"1"}'
    assert flat("create", headers=[("__debezium.newkey", None)]).new_row_key is None


# Quarantine.


@pytest.mark.fault(1)
@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "{}", "[]", '"text"', "5", "true", "{]", "{", '{"op":', "nope", '{"op":"c"} x'),
        *('{"op":"c","after":{"a":nope}}', '{"op":"c","after":{"a":NaN}}', '{"op":"c\ud800"}'),
        *(wrapped("{}"), wrapped("5")),
        *(MESSAGES["update"]["value"][:-1], MESSAGES["update"]["value"][:100]),
    ],
)
def test_what_is_no_json_object_is_bad_json(value):
    assert reason(flat("update", value=value)) == "bad_json"


@pytest.mark.fault(1)
@pytest.mark.parametrize("key", ["", '{"id":', '{"id":NaN}', '{"id":"\ud800"}'])
def test_a_change_with_a_malformed_key_is_bad_json(key):
    assert reason(flat("update", key=key)) == "bad_json"


@pytest.mark.fault(2)
@pytest.mark.parametrize(
    "value",
    ['{"id":5,"name":"x"}', '{"id":5,"status":"paid"}', '{"ts_ms":1,"n":2}', '{"status":"END"}'],
)
def test_a_json_object_of_no_known_shape_is_not_an_envelope(value):
    assert reason(flat("update", value=value)) == "not_envelope"


@pytest.mark.fault(4)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(
            (f"source__{name}", bad)
            for name in ("lsn", "txId")
            for bad in (-1, "-1", "x", 1.5, True)
        ),
        ("source__lsn", 2**63),
        ("source__table", 5),
        ("source__snapshot", "sometimes"),
        ("source__snapshot", 1),
        ("source__sequence", "x"),
        ("source__sequence", "[]"),
        ("source__sequence", '["x"]'),
        ("source__sequence", [None, "1"]),
        ("source", "x"),
        ("transaction", []),
        ("transaction__id", 5),
        ("transaction__id", "x:y:z"),
        ("transaction__total_order", "first"),
        ("transaction__total_order", ""),
        ("transaction__total_order", "null"),
        ("op", 5),
        *((name, bad) for name in ("before", "after") for bad in (5, SECRET, [], True)),
    ],
)
def test_a_field_of_the_wrong_type_is_bad_type(field, value):
    row = edited("update", **{field: value})
    assert reason(row) == "bad_type"
    assert row.quarantine_detail.startswith(field.replace("__", ".").split(".")[0])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", 5),
        ("event_count", None),
        ("event_count", -1),
        ("event_count", 2**64),
        ("data_collections", None),
        ("data_collections", [{"data_collection": "a"}]),
        ("data_collections", [{"event_count": 1}]),
        ("data_collections", [{"data_collection": "a", "event_count": 2**63 - 1}] * 2),
    ],
)
def test_an_end_that_does_not_count_is_bad_type(field, value):
    row = edited("end", **{field: value})
    assert reason(row) == "bad_type"
    assert (row.source, row.connector) == ("shop", None if field == "id" else "postgresql")


TIMES = ("2026-09-21 14:13:20.005", "noon", "", True, 1.5, [], {"a": 1}, 2**63, 10**400, "9" * 40)


@pytest.mark.parametrize("time", TIMES)
def test_a_time_orders_nothing_and_is_left_out_if_it_is_no_number(time):
    row = edited("update", ts_ms=time, source__ts_us=time)
    assert row == edited("update", source__ts_us=None)
    assert (
        row.committed_at_micros == 1000 * json.loads(MESSAGES["update"]["value"])["source"]["ts_ms"]
    )
    both = edited("update", source__ts_us=time, source__ts_ms=time)
    assert both == edited("update", source__ts_us=None, source__ts_ms=None)
    assert (both.kind, both.committed_at_micros) == ("change", None)
    for marker in ("begin", "end"):
        row = edited(marker, ts_ms=time)
        assert row == edited(marker, ts_ms=None)
        assert (row.kind, row.committed_at_micros) == ("transaction_marker", None)


def test_a_time_of_more_than_64_bits_in_microseconds_is_none():
    assert edited("end", ts_ms=2**62) == edited("end", ts_ms=None)


def test_a_begin_counts_nothing():
    counts = {"event_count": "none", "data_collections": "none"}
    assert edited("begin", **counts) == edited("begin")


def test_a_time_that_is_left_out_leaves_schema_and_place():
    assert edited("schema_change", source__ts_ms="noon").event_position == (
        edited("schema_change").event_position
    )


def test_a_number_of_thousands_of_digits_in_a_key_is_bad_type():
    assert reason(flat("update", key='{"id":' + "1" * 5000 + "}")) == "bad_type"


@pytest.mark.fault(5)
@pytest.mark.parametrize(
    "fields",
    [
        {"source": None},
        {"source": ...},
        {"source__table": None},
        {"source__table": ""},
        {"source__schema": ...},
        {"source__name": None},
        {"source__connector": ...},
        {"source__connector": None},
        {"source__connector": ""},
    ],
)
def test_a_change_that_names_no_table_is_no_source(fields):
    assert reason(edited("update", **fields)) == "no_source"


@pytest.mark.fault(6)
@pytest.mark.parametrize("op", ["x", "C", "", None, "create or replace everything"])
def test_an_operation_that_is_not_known_is_refused_with_those_that_are(op):
    row = edited("update", op=op)
    assert reason(row) == "unknown_op"
    assert row.quarantine_detail.endswith("known: c, r, u, d, t, m")


@pytest.mark.parametrize("op", ["hunter2", "c", None])
def test_of_a_row_without_its_envelope_that_has_a_column_op_nothing_is_said(op):
    row = flat("create", value=json.dumps({"id": 1, "op": op, "note": "hunter2"}))
    assert row.kind == "quarantined"
    assert "hunter2" not in str(row)


@pytest.mark.fault(7)
def test_a_connector_that_is_not_known_is_refused_with_those_that_are():
    known_connectors = "known: postgresql, mysql, mariadb, sqlserver, db2, oracle"
    row = edited("mysql_change", source__connector="informix")
    assert (reason(row), row.source) == ("unknown_connector", "msh")
    assert known_connectors in row.quarantine_detail
    row = edited("mysql_end", id="no transaction of ours")
    assert (reason(row), row.source) == ("unknown_connector", "msh")
    assert known_connectors.removeprefix("known: ") in row.quarantine_detail


@pytest.mark.fault(10)
def test_a_delete_that_names_no_row_is_refused():
    assert flat("delete", key=None).kind == "change"
    assert edited("delete", before=None).kind == "change"
    value = json.dumps(json.loads(MESSAGES["delete"]["value"]) | {"before": None})
    assert reason(flat("delete", key=None, value=value)) == "delete_without_identity"


@pytest.mark.fault(11)
@pytest.mark.parametrize("name", ["create", "update", "snapshot_first"])
def test_a_change_that_leaves_no_row_is_refused(name):
    assert reason(edited(name, after=None)) == "no_after"
    assert reason(edited(name, after=...)) == "no_after"


@pytest.mark.fault(66, 79)
def test_a_message_over_ten_megabytes_is_told_by_its_hash():
    value = f'{{"op":"c","after":{{"a":"{SECRET * 1_500_000}"}}}}'
    row = flat("update", value=value)
    assert reason(row) == "too_large"
    assert hashlib.sha256(value.encode()).hexdigest() in row.quarantine_detail
    assert str(len(value)) in row.quarantine_detail
    assert reason(flat("update", key=value)) == "too_large"


@pytest.mark.fault(65)
def test_a_message_of_more_than_200_levels_is_too_deep():
    def nested(levels):
        return f'{{"op":"c","after":{{"a":{"[" * levels}{"]" * levels}}}}}'

    assert reason(flat("update", value=nested(199))) == "too_deep"
    assert reason(flat("update", value=nested(198))) == "no_source"
    assert reason(flat("update", value="[" * 1_000_000)) == "too_deep"
    assert reason(flat("update", key='{"a":' * 100_000)) == "too_deep"


def test_brackets_in_text_and_side_by_side_are_not_levels():
    after = {"a": "[{" * 500 + '\\"[', "b": [{}] * 500}
    assert edited("create", after=after).kind == "change"


@pytest.mark.fault(14)
@pytest.mark.parametrize(
    "value",
    [
        "\x00\x00\x00\x00\x07Hhunter2",
        '{"message_version":"3.0","op":"c","after":{},"source":{"connector":"postgresql"}}',
        '{"message_version":null,"op":"c","after":{},"source":{"connector":"postgresql"}}',
        wrapped('{"message_version":"1.1","DATA_STORE":"x","OPERATION":"INSERT"}'),
        '{"DATA_STORE":"x","transaction":{"properties":[]}}',
    ],
)
def test_another_format_is_named(value):
    assert reason(flat("update", value=value)) == "other_format"


def test_a_quarantined_message_keeps_the_coordinates_that_can_be_read():
    row = edited("update", source__lsn="x")
    whole = flat("update")
    for name in ("connector", "source", "schema_name", "table_name", "operation", "transaction_id"):
        assert getattr(row, name) == getattr(whole, name) is not None
    assert edited("end", event_count=None).transaction_id == flat("end").transaction_id
    assert flat("update", key="{").table_name == whole.table_name


@pytest.mark.fault(62)
def test_a_lone_surrogate_in_a_row_is_kept_as_its_escape():
    after = '{"id":1,"t":"\\ud800 \\ud83d\\ude00 \\\\ud800 \\udfff"}'
    source = json.dumps(json.loads(MESSAGES["create"]["value"])["source"])
    value = f'{{"op":"c","after":{after},"source":{source}}}'
    row = flat("create", value=value, key='{"id":"\\uDC00"}')
    assert (row.kind, row.after, row.row_key) == ("change", after, '{"id":"\\udc00"}')
    assert flat("create", value=value[:-1]).quarantine_reason == "bad_json"


@pytest.mark.parametrize("name", ["begin", "heartbeat", "schema_change", "mysql_end"])
def test_a_topic_that_is_not_text_becomes_text(name):
    row = edited(name, source=None) if name == "schema_change" else flat(name)
    row = flatten_message(f"\ud800{MESSAGES[name]['topic']}", None, MESSAGES[name]["value"], [])
    assert all(part.isascii() for part in row if isinstance(part, str))


@pytest.mark.parametrize(("name", "source"), SOURCES.items())
def test_a_connector_is_registered_under_its_own_name(name, source):
    assert source.connector == source.__struct_config__.tag == name
