"""Keys of other converters identify the row where the row shows what they are, or are refused."""

import json
import string

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from real_messages import MESSAGES, edited, flat, wrapped

from dbt_debezium.errors import EnvelopeError
from dbt_debezium.messages.keys import key_by_row
from dbt_debezium.scaffold.tables import observe


def with_row(name, key, row, headers=()):
    """A real change with another key and another row."""
    value = json.loads(MESSAGES[name]["value"])
    image = "before" if name == "delete" else "after"
    return flat(name, key=key, value=json.dumps(value | {image: row}), headers=headers)


@pytest.mark.parametrize(
    ("key", "row", "row_key"),
    [
        ("1", {"id": 1, "item": "lamp"}, '{"":"1"}'),
        ('"a b"', {"id": 1, "code": "a b"}, '{"":"a b"}'),
        ("a b", {"id": 1, "code": "a b"}, '{"":"a b"}'),
        ("true", {"id": True}, '{"":"true"}'),
        (wrapped("7"), {"id": 7}, '{"":"7"}'),
        (wrapped('"x"'), {"id": "x"}, '{"":"x"}'),
        ('"quoted"', {"code": '"quoted"'}, '{"":"\\"quoted\\""}'),
        ("0007", {"code": "0007"}, '{"":"0007"}'),
        ("Struct{id=1}", {"id": 1, "item": "lamp"}, '{"id":"1"}'),
        ("Struct{b=x,a=1}", {"a": 1, "b": "x", "c": None}, '{"a":"1","b":"x"}'),
        ("Struct{a=1,b=x=y,c=2}", {"a": 1, "b": "x=y,c=2"}, '{"a":"1","b":"x=y,c=2"}'),
        ("Struct{id=}", {"id": ""}, '{"id":""}'),
        ("Struct{n=1.10}", {"n": "1.10"}, '{"n":"1.10"}'),
    ],
)
@pytest.mark.parametrize("name", ["create", "update", "delete"])
def test_a_key_is_read_where_the_row_has_its_values(name, key, row, row_key):
    read = with_row(name, key, row)
    assert (read.kind, read.row_key) == ("change", row_key)


@pytest.mark.parametrize(
    ("key", "row"),
    [
        ("2", {"id": 1}),
        ("text", {"id": 1}),
        ("[1]", {"id": 1}),
        ("1", {"id": {"scale": 0, "value": "AQ=="}}),
        ("Struct{id=1}", {"id": 2}),
        ("Struct{id=1}", {"key": 1}),
        ("Struct{id=1.10}", {"id": "AG4="}),
        ("Struct{id=java.nio.HeapByteBuffer[pos=0 lim=1 cap=1]}", {"id": "AQ=="}),
        ("Struct{id=1", {"id": 1}),
        ("Struct{}", {"id": 1}),
        ("Struct{a=1,a=1}", {"a": 1}),
        ("Struct{a=1,b=2}", {"a": 1, "b": "2,c=3"}),
    ],
)
def test_a_key_that_the_row_does_not_explain_is_refused(key, row):
    read = with_row("create", key, row)
    assert (read.kind, read.quarantine_reason) == ("quarantined", "key_format")
    assert read.table_name == flat("create").table_name


def test_a_delete_without_a_row_does_not_explain_its_bare_key():
    value = json.dumps(json.loads(MESSAGES["delete"]["value"]) | {"before": None})
    assert flat("delete", key="4", value=value).quarantine_reason == "key_format"


def test_a_message_without_a_row_needs_no_key():
    assert edited("truncate").row_key is None
    assert flat("logical_message", key="Struct{prefix=x}").kind == "logical_message"
    assert flat("heartbeat", key="Struct{serverName=flt}").kind == "heartbeat"
    assert flat("end", key="Struct{id=1}").kind == "transaction_marker"
    assert flat("create", value=None, key="Struct{id=1}").kind == "tombstone"


def test_the_halves_of_a_key_change_name_each_other_under_bare_keys():
    old, new = [("__debezium.oldkey", '{"id":1}')], [("__debezium.newkey", '{"id":2}')]
    left = with_row("delete", "1", {"id": 1, "v": None}, headers=new)
    entered = with_row("create", "2", {"id": 2, "v": "x"}, headers=old)
    assert (left.row_key, left.new_row_key) == ('{"":"1"}', '{"":"2"}')
    assert (entered.row_key, entered.old_row_key) == ('{"":"2"}', '{"":"1"}')


def test_a_bare_key_is_refused_where_a_header_shows_that_the_key_has_two_columns():
    headers = [("__debezium.newkey", '{"a":2,"b":1}')]
    read = with_row("delete", "1", {"a": 1, "b": 1}, headers=headers)
    assert read.quarantine_reason == "key_format"


@pytest.mark.parametrize("text", ["Struct{id=1,n=2}", "Struct{id=a=b}", "Struct{}", "Struct{id=1"])
def test_a_header_whose_values_no_row_shows_is_refused_unless_it_is_plain(text):
    row = with_row("delete", '{"id":1}', {"id": 1}, headers=[("__debezium.newkey", text)])
    assert row.quarantine_reason == "key_format"


def test_the_columns_of_a_bare_key_are_not_known():
    value = json.dumps(json.loads(MESSAGES["create"]["value"]) | {"after": {"id": 1}})
    (facts,) = observe([("t", "1", value)])
    assert not facts.is_keyless
    assert (facts.has_bare_keys, facts.key_columns) == (True, [])


names = st.text(string.ascii_lowercase, min_size=1, max_size=2)
hard = st.text("a1,=}{", max_size=8)


@settings(max_examples=1000, deadline=None)
@given(st.dictionaries(names, hard, min_size=1, max_size=4), st.data())
def test_what_string_converter_prints_is_read_as_it_was_or_refused(row, data):
    columns = data.draw(st.lists(st.sampled_from(sorted(row)), min_size=1, unique=True))
    fields = {name: row[name] for name in columns}
    printed = "Struct{" + ",".join(f"{name}={text}" for name, text in fields.items()) + "}"
    try:
        read = json.loads(key_by_row(printed, json.dumps(row)))
    except EnvelopeError:
        event("refused")
    else:
        assert read == fields


@settings(max_examples=1000, deadline=None)
@given(st.dictionaries(names, st.text(max_size=8) | st.integers() | st.booleans(), min_size=1))
def test_a_bare_key_is_the_text_of_its_column(row):
    for value in row.values():
        read = json.loads(key_by_row(json.dumps(value), json.dumps(row)))
        assert read == {"": value if isinstance(value, str) else json.dumps(value)}
