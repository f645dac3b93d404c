"""The schema-change topic gives columns their types, keys and comments where messages have none."""

import gzip
import json
from pathlib import Path

import pytest

from dbt_debezium.messages.announced import Announced, announced_type, table_changes
from dbt_debezium.scaffold.tables import TableFacts, json_type, observe

DATA = Path(__file__).parents[2] / "tests" / "data" / "mysql_schema_changes"


def messages(name: str) -> list[tuple[str, str | None, str | None]]:
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [(message["topic"], message["key"], message["value"]) for message in found]


def types(*parts: str) -> dict[str, dict[str, str]]:
    shown = observe(message for part in parts for message in messages(part))
    return {facts.table: facts.types() for facts in shown if facts.columns}


def test_columns_of_mysql_have_the_types_of_its_schema_changes() -> None:
    assert types("rows", "announced")["ty"] == types("announced", "rows")["ty"]
    found = types("announced", "rows")["ty"]
    assert {name: found[name] for name in ("da", "dt3", "dt6", "ts", "tm", "y", "de")} == {
        "da": "date from io.debezium.time.Date",
        "dt3": "timestamp_ntz from io.debezium.time.Timestamp",
        "dt6": "timestamp_ntz from io.debezium.time.MicroTimestamp",
        "ts": "timestamp",
        "tm": "string from io.debezium.time.MicroTime",
        "y": "int",
        "de": "decimal(20,5)",
    }
    assert found["bt1"] == "boolean"
    assert found["bt10"] == "string from io.debezium.data.Bits(10)"
    assert found["bin"] == "binary from base64"
    assert found["bu"] == "decimal(20,0) from unsigned bigint"


def test_without_schema_changes_they_have_the_types_of_json() -> None:
    assert {types("rows")["ty"][name] for name in ("da", "dt6", "y")} == {"bigint"}


@pytest.mark.parametrize(
    ("column", "json_types", "expected"),
    [
        (Announced("mysql", "DECIMAL", 10, 2), {"string"},
         "decimal(10,2) from org.apache.kafka.connect.data.Decimal(2)"),
        (Announced("mysql", "DECIMAL", 10, 2), {"float", "int"}, "decimal(10,2)"),
        (Announced("mysql", "DECIMAL", 65, 30), {"point_text"}, "string"),
        (Announced("sqlserver", "float", 53, None), {"float"}, "double"),
        (Announced("sqlserver", "datetime2", 27, 7), {"int"},
         "timestamp_ntz from io.debezium.time.NanoTimestamp"),
        (Announced("sqlserver", "money", 19, 4), {"point_text"}, "decimal(19,4)"),
        (Announced("db2", "int identity", 10, 0), {"int"}, "int"),
        (Announced("db2", "varchar", 255, None), {"digit_text"}, "string"),
        (Announced("mysql", "DATE", None, None), {"string"}, None),
        (Announced("oracle", "NUMBER", 10, 0), {"int"}, None),
        (Announced("mysql", "ORGANIC", None, None), {"int"}, None),
    ],
)  # fmt: skip
def test_a_type_is_taken_only_where_the_values_agree(
    column: Announced, json_types: set[str], expected: str | None
) -> None:
    assert announced_type(column, json_types) == expected


NOON_MILLIS = 43_200_000
TODAY_MILLIS = 1_790_000_000_000
LAST_MILLIS = 253_402_300_799_000
"""9999-12-31."""


@pytest.mark.parametrize(
    ("type_name", "length", "unit", "other_units"),
    [
        ("DATETIME", 6, 10**3, [1]),
        ("DATETIME", 3, 1, [10**3, 10**6]),
        ("datetime2", 7, 10**6, [1, 10**3]),
        ("datetime2", 3, 1, [10**3, 10**6]),
    ],
)
def test_a_timestamp_in_another_unit_than_the_default_is_not_taken(
    type_name: str, length: int, unit: int, other_units: list[int]
) -> None:
    """As with `time.precision.mode=connect`, which sends milliseconds."""
    connector = "mysql" if type_name == "DATETIME" else "sqlserver"
    column = Announced(connector, type_name, length, None)
    for largest in (0, TODAY_MILLIS * unit, LAST_MILLIS * unit):
        assert (announced_type(column, {"int"}, largest) or "").startswith("timestamp_ntz from ")
    for other in other_units:
        assert announced_type(column, {"int"}, TODAY_MILLIS * other) is None
        assert announced_type(column, {"int"}, LAST_MILLIS * other) is None


@pytest.mark.parametrize(
    ("connector", "length", "unit", "other_units"),
    [
        ("mysql", None, 10**3, [1]),
        ("sqlserver", 7, 10**6, [1, 10**3]),
        ("sqlserver", 5, 10**3, [1]),
        ("sqlserver", 3, 1, [10**3, 10**6]),
    ],
)
def test_a_time_in_another_unit_than_the_default_is_not_taken(
    connector: str, length: int | None, unit: int, other_units: list[int]
) -> None:
    column = Announced(connector, "time", length, None)
    for largest in (0, NOON_MILLIS * unit):
        assert (announced_type(column, {"int"}, largest) or "").startswith("string from ")
    for other in other_units:
        assert announced_type(column, {"int"}, NOON_MILLIS * other) is None


def test_the_unit_of_times_is_seen_in_messages() -> None:
    columns = [{"name": "at", "typeName": "DATETIME", "length": 6}]
    for value, expected in (
        (TODAY_MILLIS * 1000, "timestamp_ntz from io.debezium.time.MicroTimestamp"),
        (TODAY_MILLIS, "bigint"),
    ):
        first, second = (json.loads(schema_block("at", "int64"))["payload"] for _ in range(2))
        first["after"] |= {"at": 0}
        second["after"] |= {"at": value}
        seen = [("s.d.t", '{"k":1}', json.dumps(one)) for one in (second, first)]
        (facts,) = observe([*seen, ("s", None, announcement(*columns))])
        assert facts.types()["at"] == expected


def test_bytes_in_hexadecimal_are_not_taken_for_base64() -> None:
    """As with `binary.handling.mode=hex`; the text of whole bytes is base64 of other bytes."""
    column = Announced("mysql", "BINARY", 16, None)
    for text, expected in (("ab" * 16, None), ("12" * 16, None), ("q80=", "binary from base64")):
        found = json_type(json.dumps(text).encode())
        assert announced_type(column, {found or ""}) == expected


def test_a_name_in_quotes_is_read_whatever_it_holds() -> None:
    changes = json.dumps([{
        "type": "CREATE", "id": '"db"."a "" . b"',
        "table": {"columns": [{"name": "x"}], "primaryKeyColumnNames": ["x"]},
    }])  # fmt: skip
    ((schema, table, columns, key),) = table_changes(changes)
    assert (schema, table, [one.name for one in columns], key) == ("db", 'a " . b', ["x"], ["x"])
    assert list(table_changes("[1]")) == []


def test_a_table_without_messages_gets_no_columns() -> None:
    shown = list(observe(messages("announced")))
    assert shown
    assert all(isinstance(facts, TableFacts) and not facts.columns for facts in shown)


def schema_block(column_name: str, column_type: str, **more: object) -> str:
    """A change with a schema block that gives its one column a Connect type."""
    column = {"field": column_name, "type": column_type, "optional": True, **more}
    value = {
        "schema": {"fields": [{"field": "after", "fields": [column]}]},
        "payload": {
            "op": "c",
            "after": {column_name: -1 if column_type == "int64" else "1.50"},
            "source": {
                "connector": "mysql", "name": "s", "db": "d", "table": "t",
                "file": "b.000001", "pos": 4, "row": 0, "server_id": 1,
            },
            "transaction": {"id": "file=b.000001,pos=4", "total_order": 1},
        },
    }  # fmt: skip
    return json.dumps(value)


def announcement(*columns: dict[str, object]) -> str:
    table = {"columns": list(columns), "primaryKeyColumnNames": []}
    changes = [{"type": "ALTER", "id": '"d"."t"', "table": table}]
    source = {"connector": "mysql", "name": "s", "db": "d"}
    return json.dumps({"source": source, "databaseName": "d", "ddl": "", "tableChanges": changes})


UNSIGNED = {"name": "n", "typeName": "BIGINT UNSIGNED"}
SIGNED = {"name": "n", "typeName": "BIGINT"}
BITS = "io.debezium.data.Bits"


@pytest.mark.parametrize(
    ("block", "announced", "expected"),
    [
        (schema_block("n", "int64"), [UNSIGNED], "decimal(20,0) from unsigned bigint"),
        (schema_block("n", "int64"), [{"name": "n", "typeName": "INT8 UNSIGNED ZEROFILL"}],
         "decimal(20,0) from unsigned bigint"),
        (schema_block("n", "int64"), [{"name": "n", "typeName": "INT"}, UNSIGNED],
         "decimal(20,0) from unsigned bigint"),
        (schema_block("n", "int64"), [SIGNED, UNSIGNED],
         "decimal(20,0) from partly unsigned bigint"),
        (schema_block("n", "int64"), [SIGNED], "bigint"),
        (schema_block("n", "int64", name="io.debezium.time.MicroTimestamp"), [UNSIGNED],
         "timestamp_ntz from io.debezium.time.MicroTimestamp"),
        (schema_block("n", "string"),
         [{"name": "n", "typeName": "DECIMAL", "length": 10, "scale": 2}], "decimal(10,2)"),
        (schema_block("n", "bytes", name=BITS), [{"name": "n", "typeName": "BIT", "length": 10}],
         f"string from {BITS}(10)"),
    ],
)  # fmt: skip
def test_an_announced_type_counts_where_the_schema_block_says_less(
    block: str, announced: list[dict[str, object]], expected: str
) -> None:
    seen: list[tuple[str, str | None, str | None]] = [("s.d.t", '{"k":1}', block)]
    seen += [("s", None, announcement(column)) for column in announced]
    (facts,) = [one for one in observe(seen) if one.columns]
    assert facts.types()["n"] == expected
