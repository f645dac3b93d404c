"""Texts that exhaust a parser stop at the place that reads them, in one sentence.

What they are part of is refused or quarantined, and whatever stands beside it is read.
"""

import bz2
import contextlib
import io
import json
import lzma
import re
import time
import zlib
from pathlib import Path

import fastavro
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rendered import rendered as macro

import dbt_debezium
from dbt_debezium import dumps
from dbt_debezium.dumps import avro, read_dump
from dbt_debezium.errors import DebeziumError
from dbt_debezium.json_text import DEEPEST_LEVELS, LONGEST_NAME, LONGEST_NUMBER
from dbt_debezium.json_values import end_of_json, json_decoder, json_members
from dbt_debezium.messages.announced import Announced, announced_type, table_changes
from dbt_debezium.messages.column_types import Field, connect_type, schema_block_columns, sent_types
from dbt_debezium.messages.envelope import flatten_message
from dbt_debezium.registry.connect_schema import SchemaError
from dbt_debezium.registry.decoder import MisfitError, decoder
from dbt_debezium.scaffold.tables import observe

PACKAGE = Path(dbt_debezium.__file__).parent
FROM_OUTSIDE = (
    *("messages", "connectors", "dumps", "registry"),
    *("json_text.py", "landing/write.py", "scaffold/tables.py"),
)
"""Folders and modules that read what connectors, registries and dumps hold."""
NO_VALUES = "messages/repeated_names.py"
"""It parses texts that have been read before, and looks for what their values do not show."""
DEEP = 2_000
BRACKETS = 100_000
DIGITS = 5_000


def change(after: str, key: str | None = '{"id":1}', schema: str | None = None):
    """Topic, key and value of a change whose row is a JSON text."""
    value = (
        f'{{"before":null,"after":{after},"source":{{"version":"3.6.0","connector":"postgresql",'
        '"name":"shop","ts_ms":1,"snapshot":"false","db":"d","sequence":"[null,\\"1\\"]",'
        '"schema":"public","table":"t","txId":7,"lsn":9},'
        '"transaction":{"id":"7:9","total_order":1,"data_collection_order":1},"op":"c","ts_ms":1}'
    )
    if schema is not None:
        value = f'{{"schema":{schema},"payload":{value}}}'
    return "shop.public.t", key, value


def row_of(*message):
    return flatten_message(*message, [])


def nested_block(levels: int) -> str:
    """A schema block whose column is a list of lists."""
    column = (
        '{"type":"array","items":' * levels
        + '{"type":"int32"}'
        + ',"field":"v"}' * 1
        + "}" * (levels - 1)
    )
    return (
        '{"type":"struct","fields":[{"type":"struct","fields":[{"type":"int32","field":"id"},'
        f'{column}],"field":"after"}}],"name":"shop.public.t.Envelope"}}'
    )


def test_texts_from_outside_become_values_in_one_place():
    parsers = re.compile(r"msgspec\.json\.(Decoder|decode)\(|\bjson\.loads?\(")
    found = {
        path.relative_to(PACKAGE).as_posix()
        for one in FROM_OUTSIDE
        for path in ([PACKAGE / one] if one.endswith(".py") else (PACKAGE / one).rglob("*.py"))
        if parsers.search(path.read_text())
    }
    assert found == {NO_VALUES}


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([object, msgspec.Raw, str, int, dict[str, msgspec.Raw], list[object], Field]),
    st.sampled_from(["[", '{"a":', '{"items":', '"', "9", "-", "1e", "\ud800", '{"a":1,']),
    st.integers(1, 20_000),
    st.text(max_size=3),
)
def test_a_text_is_a_value_or_fails_in_one_way(kind, part, times, end):
    text = part * times + end
    with contextlib.suppress(msgspec.DecodeError):
        json_decoder(kind)(text)
    assert end_of_json(text, 0) in (None, *range(len(text) + 1))


@pytest.mark.fault(65)
@pytest.mark.parametrize(
    "number", ["9" * DIGITS, "-" + "9" * DIGITS, "0." + "1" * DIGITS, "1" * 1001]
)
def test_a_number_that_spark_takes_for_no_json_is_quarantined(number):
    for message in (change(f'{{"id":1,"v":{number}}}'), change('{"id":1}', f'{{"id":{number}}}')):
        row = row_of(*message)
        assert (row.kind, row.quarantine_reason) == ("quarantined", "bad_type")
        assert (row.source, row.table_name) == ("shop", "t")
        assert list(observe([message])) == []


@pytest.mark.parametrize("digits", [20, 999, LONGEST_NUMBER])
def test_a_number_that_spark_reads_is_read(digits):
    number = "9" * digits
    message = change(f'{{"id":1,"v":{number}}}')
    assert row_of(*message).after == f'{{"id":1,"v":{number}}}'
    (facts,) = observe([message])
    assert facts.columns["v"] == {"other"}


def test_digits_in_a_text_may_be_any_number():
    for value in ('"' + "9" * DIGITS + '"', '"\\"' + "9" * DIGITS + '\\\\"'):
        message = change(f'{{"id":1,"v":{value}}}', f'{{"id":"{"9" * DIGITS}"}}')
        assert row_of(*message).kind == "change"
        (facts,) = observe([message])
        assert facts.columns["v"] & {"digit_text", "string"}


def test_an_exponent_of_a_thousand_million_is_no_number_that_anyone_writes_out():
    for number in ("1e1000000000", "-1.5E-1000000000", "1e-999999999999999999999"):
        (facts,) = observe([change(f'{{"id":1,"v":{number}}}', f'{{"id":{number}}}')])
        assert facts.columns["v"] <= {"float", "other"}


@pytest.mark.parametrize("after", ['{{"{}":1}}', '{{"a":[{{"{}" : 1}}]}}'])
def test_a_name_that_spark_does_not_read_is_quarantined(after):
    row = row_of(*change(after.format("n" * (LONGEST_NAME + 1))))
    assert row.quarantine_reason == "bad_type"
    assert row.table_name == "t"
    assert row_of(*change(after.format("n" * LONGEST_NAME))).kind == "change"
    assert row_of(*change(f'{{"a":"{"n" * 200_000}"}}')).kind == "change"


@pytest.mark.fault(65)
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_brackets_are_quarantined_wherever_they_stand(opening):
    deep = opening * BRACKETS
    in_text = json.dumps(deep)
    assert row_of(*change(deep)).quarantine_reason == "too_deep"
    assert row_of(*change('{"id":1}', deep)).quarantine_reason == "too_deep"
    assert row_of("pipeline-offsets", deep, "x").quarantine_reason == "bad_json"
    assert row_of("t", None, in_text).quarantine_reason in ("too_deep", "bad_json", "not_envelope")
    assert row_of(*change(f'{{"id":1,"v":{in_text}}}')).kind == "change"
    event = f'{{"specversion":"1.0","type":"io.debezium.x","data":{in_text}}}'
    assert row_of("t", None, event).quarantine_reason != "internal_error"
    assert list(table_changes(deep)) == []


@pytest.mark.parametrize("levels", [DEEPEST_LEVELS, 500, 900, DEEP])
def test_a_schema_block_that_nests_leaves_its_row_without_types(levels):
    message = change('{"id":1,"v":[]}', schema=nested_block(levels))
    assert schema_block_columns(message[2]) == []
    row = row_of(*message)
    assert (row.kind, row.column_types) == ("change", '{"id":"","v":""}')
    (facts,) = observe([message])
    assert facts.types() == {"id": "bigint", "v": "string from json"}
    assert sent_types(change("{}", schema=nested_block(20))[2])


TYPE = re.compile(
    r"(string|binary|boolean|decimal\((?P<precision>\d+),(?P<scale>\d+)\)|\w+)"
    r"( from [A-Za-z0-9.]+(Bits\((?P<length>\d+)\)|Decimal\((?P<digits>-?\d+)\))?)?"
)
NUMBERS = (
    1 - 2**31,
    -401,
    -400,
    -39,
    -38,
    -1,
    0,
    1,
    38,
    39,
    64,
    20_001,
    100_000,
    100_001,
    2**31 - 1,
    2**63,
    10**40,
)


def check_type(found: str | None) -> None:
    """Whether Spark has such a type, and no value of it can be filled up without end."""
    read = TYPE.fullmatch(found or "string")
    assert read, found
    if read["precision"]:
        assert 0 <= int(read["scale"]) <= int(read["precision"]) <= 38
        assert int(read["precision"])
    assert 0 < int(read["length"] or 1) <= 100_000
    # The power of ten by which each value is multiplied.
    assert -400 <= int(read["digits"] or 0) <= 20_000


@pytest.mark.parametrize("spark_type", ["string", "decimal(38,0)"])
@pytest.mark.parametrize("scale", NUMBERS)
def test_no_scale_of_a_landed_type_gives_sql_that_fails_the_run(scale, spark_type):
    written = macro("decoded_unscaled", "total", spark_type, scale)
    # Two signs in a row begin a comment.
    assert "--" not in written
    if not -400 <= scale <= 20_000:
        assert written.strip() == f"cast(null as {spark_type})"


@pytest.mark.parametrize("number", [*map(str, NUMBERS), "9" * DIGITS, "x", "\u0663"])
@pytest.mark.parametrize("precision", ["0", "38", "39", str(10**40), "9" * DIGITS, ""])
def test_a_schema_block_gives_no_type_that_fails_the_run(number, precision):
    parameters = {"length": number, "scale": number, "connect.decimal.precision": precision}
    for name in ("io.debezium.data.Bits", "org.apache.kafka.connect.data.Decimal"):
        check_type(connect_type(Field(type="bytes", name=name, parameters=parameters)))


@pytest.mark.parametrize("length", NUMBERS)
@pytest.mark.parametrize("scale", NUMBERS)
def test_the_schema_change_topic_gives_no_type_that_fails_the_run(length, scale):
    for name in ("BIT", "DECIMAL", "DATETIME", "TIME"):
        for types in ({"int"}, {"point_text"}, {"string"}, set()):
            check_type(announced_type(Announced("mysql", name, length, scale), types))


@pytest.mark.parametrize("name", ["VARCHAR" + " " * 500_000 + "x", " " * 500_000 + "BIGINT"])
def test_the_name_of_a_type_costs_no_more_than_its_length(name):
    began = time.monotonic()
    check_type(announced_type(Announced("mysql", name, None, None), {"int"}))
    assert time.monotonic() - began < 10


LINE = '{"topic":"shop.public.t","partition":0,"offset":0,"timestamp":1,"key":null,"value":%s}'
GOOD = LINE % '"{}"'


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("dump.jsonl", LINE.replace("}", "") % ("[" * BRACKETS)),
        ("dump.jsonl", LINE % ("[" * BRACKETS + "]" * BRACKETS)),
        ("dump.jsonl", LINE.replace('"offset":0', '"offset":' + "9" * DIGITS) % '"{}"'),
        ("dump.jsonl", LINE.replace('"timestamp":1', '"timestamp":1e999999999') % '"{}"'),
        (
            "dump.jsonl",
            LINE.replace('"timestamp":1', '"timestamp":"' + "9" * DIGITS + '"') % '"{}"',
        ),
        ("shop.public.t.txt", f"CreateTime:1\tPartition:0\tOffset:{'9' * DIGITS}\tnull\t{{}}"),
        ("shop.public.t.txt", f"CreateTime:{'9' * 19}\tPartition:0\tOffset:1\tnull\t{{}}"),
        ("shop.public.t.txt", f"CreateTime:1\tPartition:{'9' * 11}\tOffset:1\tnull\t{{}}"),
        ("shop.public.t.txt", f"CreateTime:1\tPartition:0\tOffset:{'9' * 19}\tnull\t{{}}"),
    ],
)
def test_a_line_that_is_no_message_is_named_by_file_and_number(tmp_path, name, line):
    good = GOOD if name == "dump.jsonl" else "CreateTime:1\tPartition:0\tOffset:0\tnull\t{}"
    path = tmp_path / name
    path.write_text(f"{good}\n{line}\n")
    refusal = read_dump(path, len).refusal
    assert str(refusal).startswith(f"{path}:2: not a message (")
    assert len(str(refusal)) < 1000
    path.write_text(f"{line}\n")
    assert isinstance(read_dump(path, len).refusal, DebeziumError)


def test_a_header_of_brackets_takes_no_longer_than_its_length(tmp_path):
    path = tmp_path / "shop.public.t.txt"
    value = change('{"id":1}')[2]
    header = "a:{" + "}{" * 500_000
    path.write_text(f"CreateTime:1\tPartition:0\tOffset:0\t{header}\tnull\t{value}\n")
    assert read_dump(path, len).message_count == 1


def test_a_sinks_file_whose_name_has_no_place_of_kafka_is_refused(tmp_path):
    path = tmp_path / f"shop.public.t+0+{'9' * 19}.json"
    path.write_text("{}\n{}\n")
    assert "offset 9999999999999999999" in str(read_dump(path, len).refusal)


def test_an_avro_file_that_nests_is_one_sentence(tmp_path):
    path = tmp_path / "shop.public.t+0+0.avro"
    file = io.BytesIO()
    schema = {"type": "record", "name": "R", "fields": [{"name": "v", "type": "int"}]}
    fastavro.writer(file, schema, [{"v": 1}])
    text = json.dumps(schema["fields"][0]["type"])
    deep = '{"type":"array","items":' * DEEP + text + "}" * DEEP
    damaged = json.dumps(schema).replace(text, deep).encode()
    sent = file.getvalue()
    path.write_bytes(
        b"Obj\x01\x02\x16avro.schema" + long(len(damaged)) + damaged + b"\x00" + sent[-40:]
    )
    with pytest.raises(DebeziumError, match=re.escape(str(path))):
        read_dump(path, len)


def container(schema: object, count: int, body: bytes, codec: bytes = b"null") -> bytes:
    """A file of Avro with one block, which says that it has so many rows."""
    meta = json.dumps(schema).encode()
    head = b"Obj\x01" + long(2) + long(11) + b"avro.schema" + long(len(meta)) + meta
    head += long(10) + b"avro.codec" + long(len(codec)) + codec + long(0) + b"s" * 16
    return head + long(count) + long(len(body)) + body + b"s" * 16


NO_BYTES = {"type": "record", "name": "Nothing", "fields": []}
OF_NULLS = {"type": "record", "name": "Nulls", "fields": [{"name": "v", "type": "null"}]}


@pytest.mark.parametrize(
    "schema",
    [
        "null",
        NO_BYTES,
        OF_NULLS,
        {"type": "fixed", "name": "F", "size": 0},
        {"type": "record", "name": "R", "fields": [{"name": "v", "type": OF_NULLS}]},
        *(
            {"type": "record", "name": "R", "fields": [{"name": "v", "type": one}]}
            for one in (
                {"type": "array", "items": "null"},
                {"type": "array", "items": NO_BYTES},
                ["null", {"type": "array", "items": {"type": "null"}}],
                {"type": "map", "values": {"type": "array", "items": "null"}},
            )
        ),
    ],
)
def test_an_avro_file_whose_rows_take_no_bytes_is_refused(tmp_path, schema):
    """A hundred bytes would fill the disk, or all memory."""
    path = tmp_path / "shop.public.t+0+0.avro"
    path.write_bytes(container(schema, 10**12, b"\2" + long(10**12) + b"\0"))
    with pytest.raises(DebeziumError, match="its schema has what takes no bytes"):
        read_dump(path, len)


@pytest.mark.parametrize(
    ("codec", "packed"),
    [
        (b"deflate", lambda text: zlib.compress(text, 9)[2:-4]),
        (b"bzip2", bz2.compress),
        (b"xz", lzma.compress),
    ],
)
def test_an_avro_file_that_unpacks_without_end_is_refused(tmp_path, monkeypatch, codec, packed):
    schema = {"type": "record", "name": "R", "fields": [{"name": "v", "type": "string"}]}
    path = tmp_path / "shop.public.t+0+0.avro"
    row = long(2_000_000) + b"a" * 2_000_000
    path.write_bytes(container(schema, 3, packed(row * 3), codec))
    assert read_dump(path, len).message_count == 3
    monkeypatch.setattr(avro, "MOST_BYTES", 5_000_000)
    with pytest.raises(DebeziumError, match="a block of over 5000000 bytes"):
        read_dump(path, len)


def test_a_file_that_grows_to_a_thousand_times_its_size_is_refused(tmp_path, monkeypatch):
    """Of a column of nulls a file holds the count alone."""
    path = tmp_path / "shop.public.t+0+0.parquet"
    pq.write_table(pa.table({"op": pa.nulls(100_000, pa.string())}), path)
    assert read_dump(path, len).message_count == 100_000
    monkeypatch.setattr(dumps, "ALWAYS_TAKEN", 1_000_000)
    written = []
    refused = read_dump(path, written.append)
    assert str(refused.refusal).startswith(f"{path}: its messages have over 1,000 times the size")
    assert sum(map(len, written)) < 1_010_000 + 1_000 * path.stat().st_size
    plain = tmp_path / "dump.jsonl"
    plain.write_text(f"{GOOD}\n" * 10_000)
    assert read_dump(plain, len).refusal is None


def long(number: int) -> bytes:
    """A number as Avro writes it."""
    number <<= 1
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def record(name: str, *fields: object) -> dict[str, object]:
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": f"f{place}", "type": kind} for place, kind in enumerate(fields)],
    }


def doubled(times: int) -> object:
    """A record of two fields of the record before it, and so on: it doubles with each."""
    schema: object = "int"
    for number in range(times):
        schema = record(f"R{number}", schema, f"R{number - 1}" if number else "int")
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        '{"type":"array","items":' * DEEP + '"int"' + "}" * DEEP,
        '{"type":' * DEEP + '"int"' + "}" * DEEP,
        "[" * BRACKETS,
        json.dumps(doubled(40)),
        json.dumps(record("A", {"type": "array", "items": record("Nothing")})),
        json.dumps(record("A", {"type": "fixed", "name": "F", "size": 0})),
        json.dumps(record("A", "A")),
        json.dumps({"type": "record", "name": "A", "fields": [{"name": [1], "type": "int"}]}),
        json.dumps({"type": "fixed", "name": "F", "size": 0}).replace("0", "9" * DIGITS),
    ],
)
def test_a_schema_that_grows_without_end_is_refused_in_one_sentence(schema):
    refused = decoder(schema)
    assert isinstance(refused, SchemaError)
    assert len(str(refused)) < 300


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 10**7))
def test_bytes_fit_their_schema_or_do_not(datum, zeros):
    schema = record("A", {"type": "array", "items": {"type": "array", "items": "long"}}, "string")
    read = decoder(json.dumps(schema))
    with contextlib.suppress(MisfitError):
        json_members(read.payload(datum + b"\x80" * (zeros % 1000)))
