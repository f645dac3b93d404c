"""Where message keys do not tell rows apart, the announced primary key does, if it is sure."""

import json
import re

import pytest

from dbt_debezium.errors import DebeziumError
from dbt_debezium.scaffold.captured import captured_tables
from dbt_debezium.scaffold.identities import indistinct_sentence, name_identities, parse_identities
from dbt_debezium.scaffold.tables import observe

SOURCE = {"connector": "mysql", "name": "shop", "db": "inv", "file": "b.000001", "pos": 4, "row": 0}


def announced(*key):
    columns = [{"name": name, "typeName": "INT"} for name in ("a", "b", "n")]
    table = {"columns": columns, "primaryKeyColumnNames": list(key)}
    change = {"type": "CREATE", "id": '"inv"."t"', "table": table}
    value = {"source": SOURCE, "databaseName": "inv", "ddl": "", "tableChanges": [change]}
    return "shop", None, json.dumps(value)


def changed(key, row, operation="c", before=None):
    source = SOURCE | {"table": "t", "snapshot": "false", "gtid": None}
    value = {"op": operation, "source": source, "before": before, "after": row}
    return "shop.inv.t", key, json.dumps(value)


def told_apart(*messages):
    (table,) = captured_tables(list(observe(messages)), [])
    captured = table.captured()
    return captured.get("identity"), captured.get("is_keyless", False)


ROW = {"a": 1, "b": 2, "n": 3}


@pytest.mark.parametrize("key", [None, "1", '"1"'])
def test_the_announced_key_tells_rows_apart_without_keys_and_under_bare_keys(key):
    assert told_apart(announced("a", "b"), changed(key, ROW)) == (["a", "b"], False)
    assert told_apart(changed(key, ROW), announced("a", "b")) == (["a", "b"], False)


def test_a_message_key_with_its_columns_is_taken_as_it_is():
    assert told_apart(announced("a", "b"), changed('{"a":1,"b":2}', ROW)) == (None, False)


@pytest.mark.parametrize(
    "announcements",
    [[announced()], [announced("a"), announced("a", "b")], [announced("a"), announced()], []],
)
def test_a_key_that_changed_or_is_not_announced_tells_nothing(announcements):
    assert told_apart(*announcements, changed(None, ROW)) == (None, True)
    assert told_apart(*announcements, changed("1", ROW)) == (None, False)


def test_a_key_whose_columns_are_not_sent_tells_nothing():
    assert told_apart(announced("a", "b"), changed(None, {"a": 1})) == (None, True)


def test_an_update_without_key_and_without_the_old_row_is_noted():
    (facts,) = observe([changed(None, ROW, "u")])
    assert facts.hides_old_rows
    (facts,) = observe([changed(None, ROW, "u", before=ROW)])
    assert not facts.hides_old_rows


@pytest.mark.parametrize("operation", ["c", "u"])
def test_keys_that_begin_later_are_named_if_updates_tell_rows_by_them_alone(operation):
    """As after ALTER TABLE ... ADD PRIMARY KEY: without the row before, no bag can lose one."""
    tables = list(observe([changed(None, ROW), changed('{"a":1,"b":2}', ROW, operation)]))
    said = indistinct_sentence(tables[0], "shop", "preview")
    assert (said is None) == (operation == "c")
    assert said is None or said.endswith("its key alone: pass --identity 'inv.t=a,b'")
    tables = list(observe([changed(None, ROW), changed('{"a":1}', ROW, "u", before=ROW)]))
    assert indistinct_sentence(tables[0], "shop", "preview") is None
    tables = list(observe([changed('{"a":1}', ROW, "u")]))
    assert indistinct_sentence(tables[0], "shop", "preview") is None


def test_a_person_may_name_the_columns_that_tell_rows_apart():
    tables = list(observe([changed(None, ROW, "u")]))
    said = indistinct_sentence(tables[0], "shop", "preview")
    assert "--identity 'inv.t=<columns>'" in said
    name_identities(tables, parse_identities(["inv.t=a, b"]))
    assert indistinct_sentence(tables[0], "shop", "preview") is None
    (table,) = captured_tables(tables, [])
    assert table.captured()["identity"] == ["a", "b"]
    assert "is_keyless" not in table.captured()


@pytest.mark.parametrize("name", ["inv.t", "shop.inv.t"])
def test_a_table_may_be_named_with_its_source(name):
    tables = list(observe([changed(None, ROW)]))
    name_identities(tables, {name: ["a"]})
    assert tables[0].identity == ["a"]


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("inv.t", "is not <table>=<columns>"),
        ("inv.t=", "is not <table>=<columns>"),
        ("inv.t=a,,b", "is not <table>=<columns>"),
        ("=a", "is not <table>=<columns>"),
        ("t=a", "no table is called 't'"),
        ("inv.t=c", "has no column 'c'; it has a, b, n"),
    ],
)
def test_an_identity_that_cannot_be_is_refused(text, refusal):
    tables = list(observe([changed(None, ROW)]))
    with pytest.raises(DebeziumError, match=re.escape(refusal)):
        name_identities(tables, parse_identities([text]))
