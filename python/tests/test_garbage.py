"""No message stops the job: each becomes one row, and a refusal has a reason of the closed list."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_messages import DOCUMENTS, MESSAGES

from dbt_debezium.functions.flatten import ARROW_FIELDS, column_array, row_of
from dbt_debezium.json_text import canonical_key
from dbt_debezium.messages.envelope import flatten_message
from dbt_debezium.messages.repeated_names import has_repeated_names
from dbt_debezium.reasons import QUARANTINED
from dbt_debezium.scaffold.tables import observe

SCALE = int(os.environ.get("DBT_DEBEZIUM_FUZZ", "1"))
"""By how much more `make proof` draws."""

ORACLE = (
    '{"before":null,"after":{"ID":1},"source":{"connector":"oracle","name":"ora","ts_ms":1,'
    '"snapshot":"false","db":"ORCLPDB1","schema":"S","table":"T","txId":"5.6.641","scn":"7",'
    '"commit_scn":"8","rs_id":" 0x31c.a2b.10 ","ssn":0},"transaction":{"id":"5.6.641",'
    '"total_order":1,"data_collection_order":1},"op":"c"}'
)
ALL_MESSAGES = MESSAGES | {
    name: {"topic": "prefix.transaction", "key": '{"id":1}', "value": value, "headers": []}
    for name, value in (DOCUMENTS | {"oracle": ORACLE}).items()
}
"""What connectors sent, and what documents print of those that never ran here."""

POSSIBLE_REASONS = QUARANTINED.keys() - {"internal_error"}

anything = st.text(st.characters(), max_size=60)  # lone surrogates too
nullable_text = st.none() | anything
header_lists = st.lists(
    st.tuples(st.sampled_from(["__debezium.newkey", "__debezium.oldkey", "x"]), nullable_text),
    max_size=3,
)
numbers = st.integers() | st.sampled_from([2**63, -(2**63) - 1, 2**64, 10**30]) | st.floats()
scalars = st.none() | st.booleans() | numbers | anything
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(sorted(ALL_MESSAGES))


def check(topic, key, value, headers):
    row = flatten_message(topic, key, value, headers)
    assert (row.kind == "quarantined") == (row.quarantine_reason is not None)
    if row.kind == "quarantined":
        assert row.quarantine_reason in POSSIBLE_REASONS
        assert row.quarantine_detail
        assert len(row.quarantine_detail) <= 200
    assert flatten_message(topic, key, value, headers) == row
    # What it shows of tables is asked by scaffold and preview, for all messages at once.
    assert len(list(observe([(topic, key, value)]))) <= 1
    parts = row_of(row, has_repeated_names(key, value, row))
    for part, field in zip(parts, ARROW_FIELDS, strict=True):
        assert len(column_array([part], field)) == 1


@pytest.mark.fault(1)
@settings(max_examples=2000 * SCALE, deadline=None)
@given(anything, nullable_text, nullable_text, header_lists)
def test_random_text_is_one_row(topic, key, value, headers):
    check(topic, key, value, headers)


@settings(max_examples=1500 * SCALE, deadline=None)
@given(st.binary(max_size=200), st.none() | st.binary(max_size=40))
def test_random_bytes_are_one_row(value, key):
    text = None if key is None else key.decode("utf-8", "surrogateescape")
    check("t", text, value.decode("utf-8", "surrogateescape"), [])
    check("t", text, value.decode("latin-1"), [])


@pytest.mark.fault(1)
@settings(max_examples=1000 * SCALE, deadline=None)
@given(names, st.floats(0, 1), nullable_text)
def test_a_truncated_message_is_one_row(name, share, key):
    message = ALL_MESSAGES[name]
    value = message["value"] or ""
    check(message["topic"], message["key"], value[: int(share * len(value))], message["headers"])
    check(message["topic"], key, value, message["headers"])


@settings(max_examples=2000 * SCALE, deadline=None)
@given(names, st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_message_with_flipped_bytes_is_one_row(name, flips):
    message = ALL_MESSAGES[name]
    value = bytearray((message["value"] or "null").encode())
    for share, byte in flips:
        value[int(share * (len(value) - 1))] = byte
    text = bytes(value).decode("utf-8", "surrogateescape")
    check(message["topic"], message["key"], text, message["headers"])


def paths(document, prefix=()):
    """Where each field of the document stands."""
    inner = document.items() if isinstance(document, dict) else ()
    for name, field in inner:
        yield (*prefix, name)
        yield from paths(field, (*prefix, name))


@settings(max_examples=2000 * SCALE, deadline=None)
@given(st.data(), names, documents)
def test_a_message_with_a_field_swapped_or_dropped_is_one_row(data, name, replacement):
    message = ALL_MESSAGES[name]
    value = json.loads(message["value"] or '{"op":"c"}')
    *parents, leaf = data.draw(st.sampled_from(sorted(paths(value))))
    inner = value
    for parent in parents:
        inner = inner[parent]
    if data.draw(st.booleans()):
        inner[leaf] = replacement
    else:
        del inner[leaf]
    check(message["topic"], message["key"], json.dumps(value), message["headers"])


@pytest.mark.fault(65)
@settings(max_examples=500 * SCALE, deadline=None)
@given(names, st.integers(1, 3000), st.sampled_from(["[", '{"a":', '{"payload":', "[[[[{},"]))
def test_a_message_that_nests_is_one_row(name, levels, opening):
    message = ALL_MESSAGES[name]
    value = (message["value"] or "{}").replace("null", opening * levels, 1)
    check(message["topic"], message["key"], value, message["headers"])
    check(message["topic"], opening * levels, message["value"], [])


@settings(max_examples=500 * SCALE, deadline=None)
@given(names, st.integers(15, 6000), st.sampled_from(["", "-", "0.", "1e"]))
def test_a_message_with_a_huge_number_is_one_row(name, digits, sign):
    message, number = ALL_MESSAGES[name], sign + "9" * digits
    value = (message["value"] or "null").replace(":1,", f":{number},").replace("null", number)
    check(message["topic"], f'{{"id":{number}}}', value, message["headers"])


@settings(max_examples=500 * SCALE, deadline=None)
@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text()), st.data())
def test_a_key_has_one_text_however_it_is_printed(key, data):
    fields = data.draw(st.permutations(list(key.items())))
    printed = json.dumps(
        dict(fields),
        ensure_ascii=data.draw(st.booleans()),
        indent=data.draw(st.none() | st.integers(0, 2)),
        separators=data.draw(st.sampled_from([None, (",", ":")])),
    )
    text = canonical_key("key", printed)
    assert text == canonical_key("key", json.dumps(key, separators=(",", ":"), ensure_ascii=False))
    texts = {
        name: json.dumps(value) if isinstance(value, int) else value for name, value in key.items()
    }
    assert (text and json.loads(text)) == (texts or None)
    assert text is None or canonical_key("key", text) == text
