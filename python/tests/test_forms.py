"""The same change in another converter's form is the same row; what is not read is named."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_messages import MESSAGES, edited, flat, wrapped

from dbt_debezium.connectors.unsupported import UNSUPPORTED
from dbt_debezium.functions.flatten import ARROW_FIELDS, column_array, row_of
from dbt_debezium.messages.envelope import flatten_message
from dbt_debezium.messages.repeated_names import has_repeated_names
from dbt_debezium.scaffold.tables import observe

CHANGES = [
    name for name, message in MESSAGES.items() if '"op":' in (message["value"] or "")[:9_000]
]
TEXT_SCHEMA = '{"type":"string","optional":true}'


def encoded(text):
    return None if text is None else json.dumps(text)


def as_payload(text):
    return f'{{"schema":{TEXT_SCHEMA},"payload":{json.dumps(text)}}}'


def payload_of(text):
    document = json.loads(text)
    return document.get("payload", document)


def cloud_event(name, schema=None):
    """What CloudEventsConverter makes of a change: attributes, and the row as data."""
    envelope = payload_of(MESSAGES[name]["value"])
    source = envelope["source"]
    attributes = {"op": envelope["op"], **source}
    for field, value in (envelope.get("transaction") or {}).items():
        attributes[f"tx{field}"] = value
    data = {"before": envelope.get("before"), "after": envelope.get("after")}
    event = {
        "id": f"name:{source['name']}",
        "source": f"/debezium/{source['connector']}/{source['name']}",
        "specversion": "1.0",
        "type": f"io.debezium.connector.{source['connector']}.DataChangeEvent",
        "time": "2026-09-01T00:00:00.000Z",
        "datacontenttype": "application/json",
    }
    for field, value in attributes.items():
        is_long = isinstance(value, int) and not isinstance(value, bool)
        attribute = "iodebezium" + re.sub("[^a-zA-Z0-9]", "", field)
        event[attribute] = str(value) if is_long else value
    event["data"] = data if schema is None else {"schema": schema, "payload": data}
    return json.dumps(event, separators=(",", ":"))


def quarantined(name, **changed):
    row = flat(name, **changed)
    assert row.kind == "quarantined"
    return row.quarantine_reason, row.quarantine_detail


def registered(text):
    """As a converter with a schema registry writes JSON; number 123 looks like a brace."""
    return None if text is None else f"\0\0\0\0{{{text}"


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("encode", [encoded, as_payload, registered])
def test_a_double_encoded_message_is_the_message(name, encode):
    message = MESSAGES[name]
    headers = [(header, encoded(text)) for header, text in message["headers"]]
    value = None if message["value"] is None else encode(message["value"])
    if name != "signal":
        assert flat(name, value=value) == flat(name)
        key = registered(message["key"]) if encode is registered else encoded(message["key"])
        assert flat(name, key=key) == flat(name)
        assert flat(name, key=key, value=value, headers=headers) == flat(name)


@pytest.mark.parametrize("value", ["\0\0\0\0\7Hhunter2", "\0\0\0\0\7{avro", "\0", "\0\0\0\0\7"])
def test_what_is_no_json_behind_the_bytes_of_a_registry_is_another_format(value):
    assert quarantined("create", value=value)[0] == "other_format"


def test_a_message_that_was_encoded_three_times_is_the_message():
    assert flat("update", value=encoded(encoded(MESSAGES["update"]["value"]))) == flat("update")


def test_the_types_of_a_double_encoded_message_are_known():
    message = MESSAGES["wrapped_change"]
    plain = list(observe([(message["topic"], message["key"], message["value"])]))
    assert list(observe([(message["topic"], message["key"], encoded(message["value"]))])) == plain
    assert plain[0].connect_types


def test_a_name_that_a_double_encoded_row_repeats_is_found():
    value = MESSAGES["create"]["value"].replace('"name":', '"name":"a","name":', 1)
    for encode in (encoded, registered):
        row = flat("create", value=encode(value))
        assert has_repeated_names(None, encode(value), row)
        assert not has_repeated_names(None, encode(MESSAGES["create"]["value"]), row)


@pytest.mark.parametrize("name", CHANGES)
def test_a_cloud_event_is_the_change_without_its_transaction_block(name):
    message = MESSAGES[name]
    envelope = payload_of(message["value"])
    if envelope["op"] == "m" or "connector" not in envelope.get("source", {}):
        pytest.skip("the converter sends changes of tables only")
    if envelope["source"]["connector"] not in ("postgresql", "mysql"):
        pytest.skip("no connector of ours")
    images = {image: envelope.get(image) for image in ("before", "after")}
    plain = envelope | {"transaction": None} | images
    expected = flat(name, value=json.dumps(plain, separators=(",", ":")))
    assert expected.kind == "change"
    for value in (cloud_event(name), encoded(cloud_event(name))):
        assert flat(name, value=value) == expected


def test_the_schema_of_a_cloud_events_row_gives_its_types():
    document = json.loads(MESSAGES["wrapped_change"]["value"])
    message = MESSAGES["wrapped_change"]
    value = cloud_event("wrapped_change", document["schema"])
    row = flat("wrapped_change", value=value)
    assert row.column_types == flat("wrapped_change").column_types
    (facts,) = observe([(message["topic"], message["key"], value)])
    (plain,) = observe([(message["topic"], message["key"], message["value"])])
    assert facts == plain


@pytest.mark.parametrize(
    ("changed", "reason", "said"),
    [
        ({"datacontenttype": "application/avro", "data": "AAAA"}, "other_format", "avro"),
        ({"iodebeziumop": ...}, "no_source", "extension.attributes.enable=true"),
        ({"type": "com.shop.order.created"}, "not_envelope", "another producer"),
        ({"iodebeziumconnector": "mongodb"}, "unsupported_connector", "MongoDB"),
        ({"data": "text"}, "no_after", "after"),
    ],
)
def test_a_cloud_event_that_cannot_be_read_is_named(changed, reason, said):
    event = json.loads(cloud_event("create")) | changed
    value = json.dumps({name: field for name, field in event.items() if field is not ...})
    found, detail = quarantined("create", value=value)
    assert (found, said in detail) == (reason, True)


@pytest.mark.parametrize(
    ("row", "key"),
    [
        ({"id": 1, "v": "a", "__deleted": "false"}, None),
        ({"id": 1, "v": "a", "__op": "u", "__source_ts_ms": 1}, '"x"'),
        ({"id": 1, "op": "c", "__table": "t"}, None),
        ({"id": 1, "source": {"a": 1}, "op": "c", "__lsn": 5}, '{"id":2}'),
        ({"id": 1, "v": "a"}, '{"id":1}'),
        ({"id": "1", "n": 2, "v": "a"}, '{"id":"1","n":2}'),
        ({"id": 1, "v": "a"}, wrapped('{"id":1}')),
    ],
)
def test_a_flattened_event_is_refused_with_the_transform_to_take_off(row, key):
    reason, detail = quarantined("create", key=key, value=json.dumps(row))
    assert reason == "flattened"
    assert "ExtractNewRecordState" in detail
    assert quarantined("create", key=key, value=wrapped(json.dumps(row)))[0] == "flattened"


def test_a_row_is_known_by_the_name_of_its_schema():
    value = '{"schema":{"type":"struct","name":"s.public.t.Value"},"payload":{"id":1}}'
    assert quarantined("create", key=None, value=value)[0] == "flattened"


@pytest.mark.parametrize(
    ("value", "topic", "said"),
    [
        ('{"database":"d","table":"t","type":"insert","ts":1,"xid":2,"data":{}}', "t", "Maxwell"),
        (
            '{"data":[],"database":"d","es":1,"isDdl":false,"table":"t","type":"INSERT"}',
            "t",
            "Canal",
        ),
        (
            '{"table":"S.T","op_type":"I","op_ts":"1","pos":"2","after":{}}',
            "t",
            "Oracle GoldenGate",
        ),
        ('{"data":{},"metadata":{"record-type":"data"}}', "t", "AWS DMS"),
        ('{"after":{"id":1},"updated":"1.0"}', "t", "CockroachDB"),
        ('{"resolved":"1.0"}', "t", "CockroachDB"),
        ('{"orderId":7}', "outbox.event.order", "outbox event router"),
        ('{"before":null,"after":{"id":1},"op":"c"}', "t", "Flink"),
        ('{"before":null,"after":{"id":1}}', "t", "Materialize"),
        ('{"data":{"id":1},"type":"insert"}', "t", "Flink"),
        ('{"data":[{"id":1}],"type":"DELETE"}', "t", "Canal"),
        ('{"before":null,"after":{"id":1},"op_type":"I"}', "t", "GoldenGate"),
        (
            '{"payload":{"before":null,"after":{},"op":"c","source":{"db":"d","table":"t"}}}',
            "t",
            "RisingWave",
        ),
        ('{"BEFORE":null,"AFTER":{"ID":1},"SOURCE":{"NAME":"s"},"OP":"c"}', "t", "ksqlDB"),
    ],
)
def test_another_producer_is_named(value, topic, said):
    reason, detail = quarantined("create", value=value, topic=topic)
    assert (reason, said in detail) == ("other_producer", True)


@pytest.mark.parametrize("connector", UNSUPPORTED)
def test_a_connector_without_rows_or_order_is_named(connector):
    row = edited("create", source__connector=connector)
    assert row.quarantine_reason == "unsupported_connector"
    assert row.quarantine_detail.startswith("source.connector: ")


def test_an_enriched_changefeed_of_cockroachdb_is_named():
    row = edited("create", source={"origin": "cockroachdb", "table_name": "t"})
    assert row.quarantine_reason == "unsupported_connector"


@pytest.mark.parametrize(
    "fields",
    [
        {"after": {"id": {"value": 1, "set": True}, "name": None}},
        {"after": None, "op": "d", "before": {"id": {"value": 1, "set": True}}},
    ],
)
def test_columns_as_value_and_set_are_refused_with_the_product(fields):
    row = edited("create", **fields)
    assert row.quarantine_reason == "changed_columns_only"
    assert "YugabyteDB" in row.quarantine_detail


def test_a_text_of_such_an_object_is_a_text():
    assert edited("create", after={"id": 1, "t": '{"value":1,"set":true}'}).kind == "change"
    assert edited("create", after={"id": 1, "t": {"value": 1, "other": 2}}).kind == "change"


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("update", {"source__snapshot": {"string": "false"}, "source__txId": {"long": 5}}),
        ("end", {"event_count": {"long": 2}, "data_collections": {"array": []}}),
    ],
)
def test_avro_as_json_is_named(name, fields):
    row = edited(name, **fields)
    assert row.quarantine_reason == "other_format"
    assert "kcat -s value=avro" in row.quarantine_detail


deep = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["specversion", "type", "data", "payload", "schema", "iodebeziumop"])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=600, deadline=None)
@given(
    st.data(),
    st.sampled_from(CHANGES),
    deep,
    st.lists(st.sampled_from([encoded, as_payload, wrapped, registered]), max_size=5),
)
def test_what_is_wrapped_any_way_is_one_row(data, name, swapped, wrappers):
    event = json.loads(cloud_event(name) if data.draw(st.booleans()) else MESSAGES[name]["value"])
    event[data.draw(st.sampled_from(sorted(event)))] = swapped
    value, key = json.dumps(event), MESSAGES[name]["key"]
    for wrap in wrappers:
        value, key = wrap(value), wrap(key) if data.draw(st.booleans()) else key
    row = flatten_message("t", key, value, [])
    assert row.quarantine_reason != "internal_error"
    for part, field in zip(
        row_of(row, has_repeated_names(key, value, row)), ARROW_FIELDS, strict=True
    ):
        assert len(column_array([part], field)) == 1
