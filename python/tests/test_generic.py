"""A connector that nobody knows here has the order that a setting gives it, and else is refused."""

import json

import pytest
from real_messages import with_fields

from dbt_debezium.errors import DebeziumError
from dbt_debezium.messages.envelope import flatten_message
from dbt_debezium.settings import Settings, settings_of

SETTINGS = Settings(generic_sources={"ifx*": ["commit_lsn", "change_lsn"]})
CHANGE = {
    "before": None,
    "after": {"id": 1, "v": "a"},
    "source": {
        "connector": "informix",
        "name": "ifx",
        "ts_ms": 1,
        "snapshot": "false",
        "db": "bank",
        "schema": "app",
        "table": "orders",
        "txId": "42",
        "commit_lsn": "150332465204",
        "change_lsn": 7,
    },
    "op": "c",
    "transaction": {"id": "42", "total_order": 1, "data_collection_order": 1},
}


def change(settings=SETTINGS, **fields):
    """The change flattened, with fields set; `...` leaves one out."""
    value = json.dumps(with_fields(json.loads(json.dumps(CHANGE)), fields))
    return flatten_message("ifx.app.orders", '{"id":1}', value, [], settings)


def end(topic="ifx.transaction", settings=SETTINGS, **fields):
    record = {
        "status": "END",
        "id": "42",
        "event_count": 1,
        "data_collections": [{"data_collection": "bank.app.orders", "event_count": 1}],
    }
    return flatten_message(topic, None, json.dumps(record | fields), [], settings)


def test_a_change_stands_where_the_named_fields_say():
    row = change()
    assert (row.kind, row.connector, row.source) == ("change", "generic", "ifx")
    assert (row.data_collection, row.transaction_id) == ("app.orders", "42")
    assert (row.total_order, row.data_collection_order) == (1, 1)
    assert row.event_position == "0000000150332465204/0000000000000000007"
    assert row.log_position == "commit#0000000150332465204"
    assert (row.row_key, row.after) == ('{"id":"1"}', '{"id": 1, "v": "a"}')


def test_a_change_in_kafka_connects_wrapper_is_the_same_change_with_types():
    schema = {"fields": [{"field": "after", "fields": [{"field": "id", "type": "int64"}]}]}
    value = json.dumps({"schema": schema, "payload": CHANGE})
    row = flatten_message("ifx.app.orders", '{"id":1}', value, [], SETTINGS)
    assert row.column_types == '{"id":"bigint"}'
    assert row == change()._replace(column_types=row.column_types)


@pytest.mark.parametrize("transaction_id", ["42", "739:26521408", "any; text"])
def test_end_belongs_to_the_source_whatever_its_id_looks_like(transaction_id):
    row = end(id=transaction_id)
    assert (row.connector, row.source, row.transaction_id) == ("generic", "ifx", transaction_id)
    assert row.collection_counts == {"app.orders": 1}
    assert (row.commit_position, row.log_position) == (None, None)


def test_a_source_without_schemas_has_its_database_in_their_place():
    row = change(source__schema=...)
    assert (row.schema_name, row.data_collection) == ("bank", "bank.orders")
    counts = [{"data_collection": "bank.orders", "event_count": 1}]
    assert end(data_collections=counts).collection_counts == {"bank.orders": 1}


def test_a_read_of_a_snapshot_belongs_to_no_transaction():
    row = change(op="r", source__snapshot="true", source__commit_lsn=...)
    assert (row.kind, row.snapshot, row.transaction_id) == ("change", "true", None)
    assert row.event_position == "0000000000000000000/0000000000000000000"
    assert row.log_position is None


def test_a_change_without_a_place_has_none():
    assert change(source__change_lsn=None).event_position is None


@pytest.mark.parametrize("number", ["0x1f", -1, 1.5, {"a": 1}, "9" * 20])
def test_a_place_that_is_no_number_is_refused_in_its_transaction(number):
    row = change(source__commit_lsn=number)
    assert row.kind == "quarantined"
    assert row.quarantine_reason == "bad_type"
    assert row.quarantine_detail.startswith("source.commit_lsn: expected a natural number")
    assert (row.connector, row.source, row.transaction_id) == ("generic", "ifx", "42")
    assert change(source__commit_lsn=number, transaction=None).transaction_id is None


@pytest.mark.parametrize("settings", [Settings(), Settings(generic_sources={"other": ["x"]})])
def test_without_the_setting_the_connector_is_refused_and_the_setting_named(settings):
    row = change(settings)
    assert row.quarantine_reason == "unknown_connector"
    assert "'informix' is not known" in row.quarantine_detail
    assert "generic_sources" in row.quarantine_detail
    refused = end(settings=settings, id="no form")
    assert refused.quarantine_reason == "unknown_connector"
    assert "generic_sources" in refused.quarantine_detail


def test_a_connector_that_is_known_keeps_its_own_order():
    row = change(source__connector="db2", source__name="ifx_2", transaction=None)
    assert row.connector == "db2"


def test_an_order_of_no_field_is_refused():
    with pytest.raises(DebeziumError, match="generic_sources must be a mapping of patterns"):
        settings_of({"generic_sources": {"ifx*": []}})
