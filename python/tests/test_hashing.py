"""Hashed columns: no clear value in what is flattened, equal hashes for equal values. No Spark."""

import hashlib
import hmac
import json
import os
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
import yaml
from real_messages import MESSAGES

from dbt_debezium.errors import DebeziumError
from dbt_debezium.functions.flatten import FINGERPRINT, FLAT_TYPE, flatten_batch
from dbt_debezium.messages.hashing import FILLER, check_hash_key, fingerprint, hash_key
from dbt_debezium.preview import write_project
from dbt_debezium.scaffold.tables import observe
from dbt_debezium.settings import Settings, settings_of

SECRET = "a key of 32 bytes, for tests only"
USERS = Settings(hashed={"public.users": ["id", "email"], "public.orders": ["user_id"]})
FIELDS = FLAT_TYPE.fieldNames()


def hash_of(text: str) -> str:
    return hmac.new(SECRET.encode(), text.encode(), hashlib.sha256).hexdigest()


def message(table: str, after: str | None, before: str | None = None, op: str = "c") -> str:
    source = {"connector": "postgresql", "name": "shop", "schema": "public", "table": table}
    source |= {"db": "shop", "lsn": 100, "txId": 7, "ts_ms": 1_700_000_000_000, "snapshot": "false"}
    source["sequence"] = '["90","100"]'
    transaction = {"id": "7:100", "total_order": 1, "data_collection_order": 1}
    tail = json.dumps({"source": source, "op": op, "transaction": transaction})[1:]
    return f'{{"before":{before or "null"},"after":{after or "null"},{tail}'


def flattened(
    key: str | None,
    value: str | None,
    settings: Settings = USERS,
    secret: bytes | None = SECRET.encode(),
    headers: list[dict[str, object]] | None = None,
) -> dict[str, Any]:
    columns = [pa.array(["t"]), pa.array([key], pa.string()), pa.array([value], pa.string())]
    type_of_headers = pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))
    text = pa.array([msgspec.json.encode(settings).decode()])
    batch = flatten_batch(
        *columns, pa.array([headers or []], type_of_headers), text, key_of_hashes=secret
    )
    (row,) = batch.to_pylist()
    found: dict[str, Any] = row
    return found


def test_values_of_hashed_columns_are_hashed_in_the_row_and_its_key() -> None:
    value = message("users", '{"id": 7, "email": "a@b.c", "n": 1.50}', '{"id": 7, "email": null}')
    flat = flattened('{"id":7}', value)
    assert flat["kind"] == "change"
    assert json.loads(flat["row_key"]) == {"id": hash_of("7")}
    assert flat["after"] == f'{{"id":"{hash_of("7")}","email":"{hash_of("a@b.c")}","n":1.50}}'
    assert json.loads(flat["before"]) == {"id": hash_of("7"), "email": None}


def test_equal_values_have_equal_hashes_in_other_tables_and_types() -> None:
    order = flattened(None, message("orders", '{"user_id": "7", "id": 7}'))
    assert json.loads(order["after"]) == {"user_id": hash_of("7"), "id": 7}


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ("true", "true"),
        ("1.10", "1.10"),
        ('"\\u00e9"', "é"),
        ('{"b": 1, "a": 2.0}', '{"a":2.0,"b":1}'),
        ("[1, null]", "[1,null]"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        pytest.param("7" * 1000, "7" * 1000, id="as many digits as are read"),
        ('""', ""),
    ],
)
def test_a_hash_is_that_of_the_values_text(sent: str, text: str) -> None:
    flat = flattened(None, message("users", f'{{"email": {sent}}}'))
    assert json.loads(flat["after"]) == {"email": hash_of(text)}


@pytest.mark.parametrize(
    "sent",
    [
        '"{}"',
        '["{}"]',
        '{{"{}": "{}"}}',
        '"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="',
    ],
)
def test_a_value_that_was_not_sent_stays_marked(sent: str) -> None:
    placeholder = "__debezium_unavailable_value"
    value = message("users", f'{{"email": {sent.format(placeholder, placeholder)}}}', op="u")
    assert json.loads(flattened(None, value)["after"]) == {"email": placeholder}


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("encode", [str, json.dumps], ids=["plain", "double-encoded"])
def test_of_no_message_that_a_connector_sent_a_value_stays(
    name: str, encode: Callable[[str], str]
) -> None:
    sent = MESSAGES[name]
    headers = [{"key": header, "value": value} for header, value in sent["headers"]]
    value = sent["value"] and encode(sent["value"])
    images = ("before", "after", "row_key", "new_row_key", "old_row_key")
    clear = flattened(sent["key"], value, Settings(), headers=headers)
    rows = [json.loads(clear[image]) for image in images if clear[image]]
    if clear["kind"] != "change":
        rows = []
    columns = sorted({column for row in rows for column in row} | {"x"})
    settings = Settings(hashed={"*": columns})
    flat = flattened(sent["key"], value, settings, headers=headers)
    assert flat["kind"] == clear["kind"]
    left = [json.loads(flat[image]) for image in images if flat[image]]
    assert len(left) == len(rows)
    for before, after in zip(rows, left, strict=True):
        assert before.keys() == after.keys()
        for column, text in after.items():
            is_hash = text is not None and re.fullmatch("[0-9a-f]{64}", text)
            is_sent = before[column] not in (None, settings.unavailable_value_placeholder)
            assert bool(is_hash) == is_sent
            assert is_sent or text == before[column]


def test_a_lone_surrogate_and_an_escaped_name_are_hashed_too() -> None:
    value = message("users", '{"\\u0065mail": "secret \\ud800", "n": "\\udc00"}')
    flat = flattened(None, value)
    assert flat["kind"] == "change"
    after = json.loads(flat["after"])
    assert len(after["email"]) == 64
    assert after["n"] == "\udc00"


def test_a_lone_surrogate_in_a_name_and_in_a_notification_is_read() -> None:
    flat = flattened('{"\\ud800":"7"}', message("users", '{"id": 7, "\\ud800": 1}'))
    assert flat["kind"] == "change"
    assert json.loads(flat["after"]) == {"\ud800": 1, "id": hash_of("7")}
    assert json.loads(flat["column_types"]) == {"\ud800": "", "id": ""}
    text = '{"type":"x\\ud800","aggregate_type":"y","additional_data":{}}'
    assert json.loads(flattened(None, text)["notification"])["type"] == "x\ud800"


def test_a_column_is_hashed_in_whatever_case_its_name_is_sent() -> None:
    settings = Settings(hashed={"public.users": ["ID", "email"]})
    flat = flattened('{"Id":7}', message("users", '{"Id": 7, "EMail": "a"}'), settings)
    assert json.loads(flat["row_key"]) == {"Id": hash_of("7")}
    assert json.loads(flat["after"]) == {"Id": hash_of("7"), "EMail": hash_of("a")}
    (facts,) = observe([("t", '{"Id":7}', message("users", '{"Id": 7}'))], settings)
    assert facts.types() == {"Id": "string"}


def test_of_a_repeated_name_no_value_stays() -> None:
    flat = flattened(None, message("users", '{"email": "first", "email": "last"}'))
    assert flat["has_repeated_names"]
    assert flat["after"] == f'{{"email":"{hash_of("last")}"}}'


@pytest.mark.parametrize("key", ["7", '"7"', "Struct{id=7}"])
def test_keys_that_are_no_json_object_are_hashed(key: str) -> None:
    flat = flattened(key, message("users", '{"id": 7, "n": 1}'))
    assert set(json.loads(flat["row_key"]).values()) == {hash_of("7")}


def test_the_other_key_of_a_moved_row_is_hashed() -> None:
    headers: list[dict[str, object]] = [{"key": "__debezium.newkey", "value": '{"id":8}'}]
    value = message("users", None, '{"id": 7}', op="d")
    flat = flattened('{"id":7}', value, headers=headers)
    assert json.loads(flat["new_row_key"]) == {"id": hash_of("8")}


def test_a_delete_whose_key_was_not_sent_shows_that_although_its_key_is_hashed() -> None:
    value = message("users", None, '{"id": 0, "email": null, "code": "x"}', op="d")
    flat = flattened('{"id":0}', value)
    # The first member of all, where `is_filler_key` looks.
    assert flat["before"].startswith('{"":true,')
    before = json.loads(flat["before"])
    assert before == {"": True, "id": hash_of("0"), "email": None, "code": "x"}
    # A row whose key is really zero must still be found.
    assert json.loads(flat["row_key"]) == {"id": hash_of("0")}


ZERO_UUID = "00000000-0000-0000-0000-000000000000"


@pytest.mark.parametrize(
    ("key", "before", "mark"),
    [
        *(
            (f'{{"id":{zero}}}', f'{{"id":{zero},"n":1}}', True)
            for zero in [
                *("0", "0.00", "false", '""', '"AA=="', f'"{ZERO_UUID}"', '"00:00:00Z"'),
                *('"1970-01-01"', '"1970-01-01T00:00:00Z"', '{"value":"AA==","scale":0}'),
            ]
        ),
        ("0", '{"id":0,"n":1}', True),
        ('{"id":0,"n":0}', '{"id":0,"n":0,"email":"a"}', True),
        # All columns are zeros, so the row may be one that has them.
        ('{"id":0}', '{"id":0,"email":"","n":null}', False),
        ('{"n":0}', '{"n":0,"email":""}', False),
        ('{"id":0,"n":7}', '{"id":0,"n":7,"email":"a"}', None),
        ('{"id":7}', '{"id":7,"n":0}', None),
        ('{"id":null}', '{"id":null,"n":1}', None),
        ('{"id":"00x"}', '{"id":"00x","n":1}', None),
        (None, '{"id":0,"n":1}', None),
    ],
)
def test_whether_a_key_was_sent_is_told_by_its_clear_values(
    key: str | None, before: str, mark: bool | None
) -> None:
    flat = flattened(key, message("users", None, before, op="d"))
    assert flat["kind"] == "change"
    assert json.loads(flat["before"]).get("") is mark


def test_only_deletes_of_tables_with_hashed_columns_show_whether_their_key_was_sent() -> None:
    row = '{"id": 0, "n": 1}'
    update = flattened('{"id":0}', message("users", row, row, op="u"))
    assert json.loads(update["before"]) == {"id": hash_of("0"), "n": 1}
    assert flattened('{"id":0}', message("users", None, None, op="d"))["before"] is None
    assert flattened('{"id":0}', message("bags", None, row, op="d"))["before"] == row


def test_the_macro_knows_the_same_filler_and_the_mark() -> None:
    macro = Path(__file__).parents[2] / "macros" / "is_filler_key.sql"
    assert f"'^({FILLER.pattern})$'" in macro.read_text()
    assert """startswith({{ before }}, '{"":true')""" in macro.read_text()


@pytest.mark.parametrize(
    "value",
    [
        None,
        '{"ts_ms":1}',
        '{"op":"x"}',
        '{"source":{"name":"shop"},"position":{},"ddl":"","tableChanges":[]}',
        '{"type":"x","aggregate_type":"y","additional_data":{}}',
    ],
)
def test_messages_without_a_table_lose_their_keys(value: str | None) -> None:
    assert flattened('{"id":7}', value, Settings(), None)["kind"] != "change"
    assert flattened('{"id":7}', value)["row_key"] is None


def test_hashed_columns_are_text_for_models_and_shapes() -> None:
    columns = [("id", "int32"), ("email", "string"), ("n", "int32")]
    fields = [{"field": name, "type": kind} for name, kind in columns]
    schema = {"type": "struct", "fields": [{"field": "after", "type": "struct", "fields": fields}]}
    payload = message("users", '{"id": 7, "email": "a", "n": 1}')
    value = f'{{"schema":{json.dumps(schema)},"payload":{payload}}}'
    types = {"id": "string", "email": "string", "n": "int"}
    assert json.loads(flattened('{"id":7}', value)["column_types"]) == types
    (facts,) = observe([("t", '{"id":7}', value)], USERS)
    assert facts.types() == types


def test_without_hashed_columns_nothing_changes() -> None:
    value = message("users", '{"id": 7}')
    assert flattened('{"id":7}', value, Settings(), None)["after"] == '{"id": 7}'


def test_messages_are_not_read_without_a_key() -> None:
    with pytest.raises(DebeziumError, match="hashed: there is no key where messages are read"):
        flattened(None, message("users", '{"id": 7}'), secret=None)


def test_the_key_comes_from_the_environment_or_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "key"
    file.write_text(f"{SECRET}\n")
    assert hash_key() is None
    monkeypatch.setenv("DBT_DEBEZIUM_HASH_KEY_FILE", str(file))
    assert hash_key() == SECRET.encode()
    monkeypatch.setenv("DBT_DEBEZIUM_HASH_KEY", "k" * 32)
    assert hash_key() == b"k" * 32
    assert fingerprint(b"k" * 32) != fingerprint(SECRET.encode())


def test_a_key_that_is_missing_short_or_unreadable_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    check_hash_key(Settings())
    with pytest.raises(DebeziumError, match="hashed: dbt_project"):
        check_hash_key(USERS)
    monkeypatch.setenv("DBT_DEBEZIUM_HASH_KEY", "too short")
    with pytest.raises(DebeziumError) as short:
        check_hash_key(USERS)
    assert "DBT_DEBEZIUM_HASH_KEY has a key of 9 bytes; use at least 32" in str(short.value)
    assert "too short" not in str(short.value)
    monkeypatch.delenv("DBT_DEBEZIUM_HASH_KEY")
    file = tmp_path / "key"
    file.write_text("too short\n")
    monkeypatch.setenv("DBT_DEBEZIUM_HASH_KEY_FILE", str(file))
    with pytest.raises(DebeziumError, match=r"the file that .*_FILE names has a key of 9 bytes"):
        check_hash_key(USERS)


def test_a_key_that_was_given_for_the_name_of_its_file_is_not_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_HASH_KEY_FILE", SECRET)
    with pytest.raises(DebeziumError, match="_FILE names cannot be read") as unreadable:
        check_hash_key(USERS)
    assert SECRET not in "".join(traceback.format_exception(unreadable.value))


def test_a_key_may_be_bytes_that_are_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    key = bytes(range(128, 160))
    monkeypatch.setenv("DBT_DEBEZIUM_HASH_KEY", os.fsdecode(key))
    assert hash_key() == key


def test_a_site_that_hides_keys_shows_which_of_them_hashes() -> None:
    assert not re.search("(?i)secret|password|token|key|credential|url", FINGERPRINT)
    macro = Path(__file__).parents[2] / "macros" / "hooks" / "hash_key_fingerprint.sql"
    assert f"`{FINGERPRINT}`" in macro.read_text()


@pytest.mark.parametrize("hashed", [["public.users"], {"public.users": "id"}, {"public.users": []}])
def test_a_setting_of_another_form_is_refused(hashed: object) -> None:
    with pytest.raises(DebeziumError, match=r"dbt_project\.yml: hashed must be a mapping"):
        settings_of({"hashed": hashed})


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (
            '{"scanned_collection":"a.b","maximum_key":"clear","last_processed_key":"clear"}',
            {"scanned_collection": "a.b"},
        ),
        ('{"total_rows_scanned":"1"}', {}),
        ("null", None),
        ('"clear"', None),
    ],
)
def test_of_notifications_only_what_is_read_stays(data: str, kept: object) -> None:
    text = f'{{"type":"IN_PROGRESS","aggregate_type":"x","additional_data":{data},"row":"clear"}}'
    flat = flattened(None, text)
    assert flat["kind"] == "notification"
    said = json.loads(flat["notification"])
    assert said.pop("additional_data", None) == kept
    assert said == {"type": "IN_PROGRESS", "aggregate_type": "x"}


@pytest.mark.parametrize("is_preview", [False, True])
def test_a_preview_hashes_and_need_not_have_the_tables(tmp_path: Path, is_preview: bool) -> None:
    copy = tmp_path / "project"
    write_project(Path(__file__).parents[2], copy, [], {"hashed": USERS.hashed}, is_preview)
    configuration = yaml.safe_load((copy / "dbt_project.yml").read_text())
    assert configuration["vars"]["hashed"] == USERS.hashed
    asks = any("check_hashed_columns" in hook for hook in configuration["on-run-start"])
    assert asks is not is_preview
