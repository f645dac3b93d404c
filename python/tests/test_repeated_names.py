r"""Two members of one name are found wherever they stand, and nothing else is taken for them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_messages import MESSAGES

from dbt_debezium.messages.envelope import flatten_message
from dbt_debezium.messages.flat import Flat
from dbt_debezium.messages.repeated_names import has_repeated_names, looked_at

ENVELOPE = (
    '{"before":%s,"after":%s,"source":{"version":"3.6.3.Final","connector":"postgresql",'
    '"name":"shop","schema":"public","table":"orders","txId":1,"lsn":10%s},'
    '"transaction":{"id":"1:10","total_order":1,"data_collection_order":1},"op":"u"%s}'
)
OLD, NEW = '{"id":1,"v":"a"}', r'{"id":1,"v":"a \"b\": c"}'


def repeats(value, key='{"id":1}'):
    return has_repeated_names(key, value, flatten_message("t", key, value, []))


def wrapped(text):
    return '{"schema":{"type":"struct","type":"struct"},"payload":' + text + "}"


@pytest.mark.parametrize("wrap", [str, wrapped])
@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ((OLD, NEW, "", ""), False),
        (("null", NEW, ',"lsn2":1', ""), False),
        ((OLD, '{"id":1,"v":{"id":1,"v":2},"w":[{"v":1},{"v":1}]}', "", ""), False),
        ((OLD, NEW, ',"lsn":11', ""), True),
        ((OLD, NEW, r',"ls\u006e":11', ""), True),
        ((OLD, NEW, r',"k\u0067":1,"k\u0068":1', ""), False),
        ((OLD, NEW, r',"k\u0067":1,"k\u0067":1', ""), True),
        ((OLD, NEW, r',"x\b":"\b","y":1', ""), False),
        ((OLD, NEW, "", ',"op":"c"'), True),
        ((OLD, NEW, "", f',"after":{OLD}'), True),
        ((OLD, NEW, "", f',"before":{OLD}'), True),
        ((OLD, NEW, ',"a1":1,"a2":2', ""), False),
        ((OLD, NEW, ',"a1":1,"a1":2', ""), True),
        (('{"id":1,"id":2}', NEW, "", ""), True),
        ((OLD, '{"id" : 1, "id":2, "v":":"}', "", ""), True),
        ((OLD, '{"id" : 1, "id" : 2, "v":":"}', "", ""), True),
        ((OLD, r'{"v":1,"\u0076":2}', "", ""), True),
        ((OLD, r'{"a\\":1,"a\\":2,"b":"\":"}', "", ""), True),
        ((OLD, '{"id":1,"v":[{"x":1},{"x":1,"x":2}]}', "", ""), True),
    ],
)
def test_of_a_change_every_object_is_looked_at(parts, found, wrap):
    value = ENVELOPE % parts
    assert flatten_message("t", '{"id":1}', wrap(value), []).kind == "change"
    assert repeats(wrap(value)) is found
    assert repeats(wrap(value)) is found


@pytest.mark.parametrize(
    ("key", "found"),
    [
        (None, False),
        ("plain: text: of: a: signal", False),
        ('{"id":1,"id":2}', True),
        ('{"a":{"id":1},"b":{"id":2}}', False),
        (wrapped('{"a":1,"b":2}'), False),
        (wrapped('{"a":1,"a":2}'), True),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, False),
    ],
    ids=range(7),
)
def test_keys_are_looked_at_too(key, found):
    assert repeats(None, key) is found


def test_real_messages_repeat_nothing():
    for message in MESSAGES.values():
        key, value = message["key"], message["value"]
        read = flatten_message(message["topic"], key, value, [])
        assert not has_repeated_names(key, value, read)


def test_of_what_cannot_be_read_nothing_is_said():
    assert not has_repeated_names(None, '{"op":1,"op":2}', Flat("quarantined"))


names = st.sampled_from(["a", "b", "a1", "a2", r"\u0061", r"\\", r"\"", "before", "op"])
blanks = st.sampled_from(["", "", "", " ", "\n"])
texts = st.sampled_from(["1", "22", "null", '"x"', '":"', r'"\":"', r'"\\"', '" "'])


def objects(values):
    member = st.tuples(names, blanks, values).map(lambda m: f'"{m[0]}"{m[1]}:{m[2]}')
    return st.lists(member, max_size=3).map(lambda members: f"{{{','.join(members)}}}")


nested = objects(st.one_of(texts, objects(texts)))


@given(st.one_of(st.just("null"), nested), nested, objects(texts), objects(texts))
def test_what_is_let_pass_without_a_look_repeats_nothing(before, after, source, more):
    source, more = (f",{text[1:-1]}" if len(text) > 2 else "" for text in (source, more))
    value = ENVELOPE % (before, after, source, more)
    json.loads(value)
    read = flatten_message("t", None, value, [])
    expected = read.kind != "quarantined" and looked_at(value)
    assert has_repeated_names(None, value, read) is expected
