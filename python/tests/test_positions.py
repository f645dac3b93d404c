"""A position is made of all its parts, or it is none: nothing stands in for a missing field.

Every field of `source` and of the transaction block is taken from every kind of message in turn.
tests/pipeline/test_dropped_fields.py builds the tables of such messages.
"""

import json
from collections.abc import Iterator

import pytest

from dbt_debezium.messages.envelope import Flat, flatten_message
from dbt_debezium.settings import Settings

SETTINGS = Settings(generic_sources={"generic": ["commit_lsn", "change_lsn"]})
GTID = "3ff300ed-e55c-11f1-98c4-02fc00000001:65"
LSN, CHANGE_LSN = "00000027:00000ac0:0007", "00000027:00000ac0:0003"
COMMON = {
    "version": "3.6.3.Final",
    "ts_ms": 1790000000000,
    "ts_us": 1790000000000000,
    "ts_ns": 1790000000000000000,
    "db": "app",
    "schema": "app",
    "table": "orders",
}
BINLOG = {"file": "binlog.000013", "pos": 4441, "row": 1, "server_id": 9, "gtid": GTID}
LOG = {"commit_lsn": LSN, "change_lsn": CHANGE_LSN}
PLACES = {
    "postgresql": (
        {"txId": 739, "lsn": 26521408, "sequence": '["26521400","26521408"]'},
        "739:26521408",
    ),
    "mysql": (BINLOG, GTID),
    "mariadb": (BINLOG | {"gtid": "0-1-23"}, "0-1-23"),
    "sqlserver": (LOG | {"event_serial_no": 2}, LSN),
    "db2": (LOG, LSN),
    "oracle": (
        {"txId": "5.6.641", "scn": "98", "commit_scn": "99", "rs_id": "0x31c.a2b.10", "ssn": 3},
        "5.6.641",
    ),
    "informix": ({"txId": "42", "commit_lsn": "99", "change_lsn": "98"}, "42"),
}  # fmt: skip
OPERATIONS = ("c", "u", "d", "t", "r", "incremental")
POSITIONS = (
    "source",
    "data_collection",
    "transaction_id",
    "commit_position",
    "log_position",
    "previous_commit_position",
    "event_position",
    "total_order",
    "data_collection_order",
)
"""What a lake tells messages apart and orders them by."""
NOWHERE = {
    "sqlserver": "00000000:00000000:0000/00000000:00000000:0000/0000000000000000000",
    "db2": "00000000:00000000:0000/00000000:00000000:0000",
    "informix": "0000000000000000000/0000000000000000000",
}
"""Where all reads of an initial snapshot stand that come without the place of their log. A snapshot
of which some do and some do not is held."""


def message(connector: str, operation: str, *, has_block: bool) -> dict:
    place, transaction_id = PLACES[connector]
    is_read = operation in ("r", "incremental")
    # A truncate of MySQL is a transaction by itself.
    is_statement = operation == "t" and connector in ("mysql", "mariadb")
    row = {"id": 1, "v": "a"}
    name = "generic" if connector == "informix" else "server"
    snapshot = {"r": "true", "incremental": "incremental"}.get(operation, "false")
    block = {"id": transaction_id, "total_order": 2, "data_collection_order": 1}
    return {
        "op": "r" if is_read else operation,
        "before": row if operation == "d" else None,
        "after": row if operation in ("c", "u") or is_read else None,
        "source": {"connector": connector, "name": name, "snapshot": snapshot} | COMMON | place,
        "transaction": block if has_block and not is_read and not is_statement else None,
    }


def flat(value: dict) -> Flat:
    key = None if value["op"] == "t" else '{"id":1}'
    return flatten_message("server.app.orders", key, json.dumps(value), [], SETTINGS)


def dropped(value: dict) -> Iterator[tuple[str, str, dict]]:
    """The message without each of its fields, which is null or is not there at all."""
    for block in ("source", "transaction"):
        for name in value[block] or ():
            rest = {one: other for one, other in value[block].items() if one != name}
            yield block, name, {**value, block: rest}
            yield block, name, {**value, block: {**value[block], name: None}}


@pytest.mark.parametrize("has_block", [True, False])
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("connector", PLACES)
def test_no_position_is_made_of_less_than_its_parts(connector, operation, has_block):
    value = message(connector, operation, has_block=has_block)
    whole = flat(value)
    assert whole.kind == "change", whole.quarantine_detail
    for block, name, changed in dropped(value):
        row = flat(changed)
        if row.kind == "quarantined":
            assert name in str(row.quarantine_detail) or "source" in str(row.quarantine_detail)
            continue
        differs = {
            field: getattr(row, field)
            for field in POSITIONS
            if getattr(row, field) not in (None, getattr(whole, field))
        }
        allowed = exceptions(connector, operation, name)
        assert differs.keys() <= allowed, (block, name, differs)
        if "event_position" in differs and name != "snapshot":
            assert differs["event_position"] == NOWHERE[connector]


def exceptions(connector: str, operation: str, name: str) -> set[str]:
    """What may differ, because it is known in another way, or because it makes the change another.

    A lake must take none of these for the whole message: test_dropped_fields.py.
    """
    found: set[str] = set()
    if name == "commit_lsn" and operation == "r" and connector in NOWHERE:
        found |= {"event_position"}
    if name == "snapshot":
        # A read of a window is then one of an initial snapshot, at its own place.
        found |= {"event_position"} if operation == "incremental" else set()
    if name in ("db", "schema"):
        found |= {"data_collection", "source"}
    if name == "gtid":
        # A truncate, or the end of a window, is then known by its place in the binary log.
        found |= {"transaction_id", "log_position"}
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("connector", PLACES)
def test_a_change_that_nothing_orders_is_refused_and_the_missing_field_named(connector, operation):
    value = message(connector, operation, has_block=False)
    for _, name, changed in dropped(value):
        row = flat(changed)
        if row.kind == "change" and row.event_position is None:
            assert row.transaction_id is None
            assert row.snapshot is None
        if row.quarantine_reason == "no_position":
            assert f"source.{name}" in row.quarantine_detail


def test_a_change_of_oracle_without_commit_scn_is_ordered_by_its_block_alone():
    value = message("oracle", "u", has_block=True)
    value["source"]["commit_scn"] = None
    row = flat(value)
    assert (row.kind, row.event_position, row.log_position) == ("change", None, None)
    assert (row.transaction_id, row.total_order) == ("5.6.641", 2)
    value["transaction"] = None
    assert flat(value).quarantine_reason == "no_position"
