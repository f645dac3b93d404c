"""A row of a table of signals is told from rows of other tables by what it says."""

import json

import pytest

from dbt_debezium.messages.signal_rows import SNAPSHOT_SIGNALS, row_signal


@pytest.mark.parametrize("signal_type", sorted(SNAPSHOT_SIGNALS.values()))
@pytest.mark.parametrize("columns", [("id", "type", "data"), ("ID", "TYPE", "DATA")])
def test_each_signal_about_snapshots_is_one(signal_type, columns):
    row = dict(zip(columns, ("1", signal_type, '{"type":"blocking"}'), strict=True))
    assert row_signal(json.dumps(row)) == (signal_type, '{"type":"blocking"}')


@pytest.mark.parametrize(
    "row",
    [
        {"id": "1", "type": "log", "data": "{}"},
        {"id": "1", "type": "execute-snapshot"},
        {"id": "1", "type": "execute-snapshot", "data": None, "note": None},
        {"id": "1", "kind": "execute-snapshot", "data": None},
        {"id": "1", "type": {"name": "execute-snapshot"}, "data": None},
        {"id": "execute-snapshot", "type": "a snapshot", "data": "\ud800"},
    ],
)
def test_a_row_of_another_table_is_none(row):
    assert row_signal(json.dumps(row)) is None


def test_an_argument_that_is_no_text_is_none():
    assert row_signal('{"id":"1","type":"stop-snapshot","data":null}') == ("stop-snapshot", None)
    assert row_signal('{"id":"1","type":"stop-snapshot","data":{}}') == ("stop-snapshot", None)
