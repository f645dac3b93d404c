"""Avro of a schema registry is read as the text that JsonConverter would have written."""

import gzip
import io
import json
import random
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import BaseRequestHandler, TCPServer
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from avro_writer import Writer
from http_server import serving
from test_flatten import flats, settings

from dbt_debezium.errors import DebeziumError
from dbt_debezium.functions.flatten import flatten_batch
from dbt_debezium.messages.flat import Flat
from dbt_debezium.registry.block import RegistryBlock
from dbt_debezium.registry.client import Registry
from dbt_debezium.registry.connect_schema import SchemaError, connect_schema
from dbt_debezium.registry.decoder import Decoder
from dbt_debezium.registry.found import Found
from dbt_debezium.registry.texts import Schemas, message_texts
from dbt_debezium.scaffold.tables import observe

DATA = Path(__file__).parents[2] / "tests" / "data"
HEADER_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
KEY = '{"type":"record","name":"Key","fields":[{"name":"id","type":"int"}]}'
TOPIC = "shop.public.orders"


def record(*fields: dict[str, Any]) -> str:
    return json.dumps({"type": "record", "name": "Value", "fields": list(fields)})


def written(schema: str, value: Any) -> bytes:
    file = io.BytesIO()
    fastavro.schemaless_writer(file, fastavro.parse_schema(json.loads(schema)), value)
    return file.getvalue()


def flatten(
    key: bytes | None,
    value: bytes | None,
    schemas: Schemas,
    headers: dict[str, bytes] | None = None,
    topic: str = TOPIC,
) -> Flat:
    listed = [{"key": name, "value": sent} for name, sent in (headers or {}).items()]
    (row,) = flats(
        flatten_batch(
            pa.array([topic]),
            pa.array([key], pa.binary()),
            pa.array([value], pa.binary()),
            pa.array([listed], HEADER_TYPE),
            settings(1),
            schemas,
        )
    )
    return row


def comparable(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its images as values: Java writes the same number with other exponents.

    Java before 19 writes a digit too many of the smallest normal float. `content_hash` is that of
    the texts.
    """
    images = {
        name: json.loads(row[name].replace("1.17549435E-38", "1.1754944E-38"))
        for name in ("before", "after")
        if row[name] is not None
    }
    return row | images | {"content_hash": None}


@pytest.mark.parametrize(
    "name",
    [
        *("types_schema", "schema_evolution_schema"),
        *("defaults_postgresql", "defaults_mysql", "defaults_mariadb"),
    ],
)
def test_a_capture_with_schema_blocks_gives_the_same_rows_in_avro(name: str) -> None:
    with gzip.open(DATA / name / "events.jsonl.gz", "rt") as lines:
        messages = [json.loads(line) for line in lines]
    writer = Writer()
    topics = pa.array([one["topic"] for one in messages])
    headers = pa.array([[] for _ in messages], HEADER_TYPE)
    texts = [[one[part] for one in messages] for part in ("key", "value")]
    sent = [[writer.written(one) for one in some] for some in texts]
    schemas = {
        (topic, number): Found("AVRO", text)
        for topic in topics.to_pylist()
        for number, text in writer.texts.items()
    }
    as_text, as_avro = (
        flatten_batch(
            topics,
            *(pa.array(some, kind) for some in both),
            headers,
            settings(len(messages)),
            known,
        ).to_pylist()
        for both, kind, known in ((texts, pa.string(), {}), (sent, pa.binary(), schemas))
    )
    assert len(as_text) > 100
    for one, other in zip(as_text, as_avro, strict=True):
        assert comparable(one) == comparable(other)
    shown = [
        [facts.types() for facts in observe(message_texts_of(topics, both, kind, headers, known))]
        for both, kind, known in ((texts, pa.string(), {}), (sent, pa.binary(), schemas))
    ]
    assert shown[0] == shown[1]


def message_texts_of(
    topics: pa.Array, both: list[list[Any]], kind: pa.DataType, headers: pa.Array, known: Schemas
) -> Iterator[tuple[str, str | None, str | None]]:
    """Topic, key and value as `observe` takes them."""
    names = topics.to_pylist()
    found = message_texts(names, *(pa.array(one, kind) for one in both), headers, known)
    assert found.errors == {}
    yield from zip(names, found.keys, found.values, strict=True)


def test_floats_decimals_and_bytes_are_as_json_converter_writes_them() -> None:
    schema = record(
        {"name": "r", "type": ["null", "float"]},
        {"name": "d", "type": "double"},
        {"name": "n", "type": {"type": "bytes", "logicalType": "decimal", "precision": 4}},
        {"name": "a", "type": {"type": "array", "items": ["null", "float"]}},
        {"name": "m", "type": {"type": "map", "values": "double"}},
        {"name": "s", "type": {"type": "enum", "name": "Mood", "symbols": ["sad", "ok"]}},
    )
    plain = schema.replace('"logicalType": "decimal", ', "")
    value = {
        "r": 0.1, "d": float("nan"), "n": b"\x00\xff", "a": [None, float("inf")],
        "m": {"x": -0.0}, "s": "ok",
    }  # fmt: skip
    payload = Decoder(schema).payload(written(plain, value))
    assert payload == (
        '{"r":0.1,"d":"NaN","n":"AP8=","a":[null,"Infinity"],"m":{"x":-0.0},"s":"ok"}'
    )


def test_a_map_whose_keys_are_no_texts_is_a_list_of_pairs() -> None:
    entry = {
        "type": "record",
        "name": "MapEntry",
        "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "double"}],
    }
    schema = record({"name": "m", "type": {"type": "array", "items": entry}})
    sent = written(schema, {"m": [{"key": 1, "value": 0.5}]})
    assert Decoder(schema).payload(sent) == '{"m":[[1,0.5]]}'
    block = connect_schema(json.loads(schema))["fields"][0]
    assert (block["type"], block["keys"]["type"], block["values"]["type"]) == (
        *("map", "int32", "double"),
    )


def test_connect_properties_say_more_than_avro() -> None:
    small = {"type": "int", "connect.type": "int16", "connect.default": 7}
    block = connect_schema(
        json.loads(record({"name": "s", "type": small, "default": 7}, {"name": "o", "type": "int"}))
    )
    assert block["fields"] == [
        {"type": "int16", "optional": False, "default": 7, "field": "s"},
        {"type": "int32", "optional": False, "field": "o"},
    ]


def test_a_default_of_bytes_is_base64_as_in_json() -> None:
    field = {"name": "b", "type": ["bytes", "null"], "default": "\u0000\u00ff"}
    (block,) = connect_schema(json.loads(record(field)))["fields"]
    assert block["default"] == "AP8="


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ("{", "no Avro schema"),
        ("[]", "a union of several types"),
        ('{"type":"record"}', "no Avro schema"),
        (record({"name": "u", "type": ["int", "string"]}), "u: a union of several types"),
        (record({"name": "n", "type": "null"}), "n: a field that is always null"),
        (record({"name": "x", "type": "shop.Missing"}), "x: the type shop.Missing"),
        (record({"name": "v", "type": ["null", "Value"]}), "v: .*a type that contains itself"),
    ],
)
def test_a_schema_that_connect_does_not_write_is_refused(schema: str, why: str) -> None:
    with pytest.raises(SchemaError, match=why):
        Decoder(schema)


def test_a_key_in_either_framing_is_the_key_in_json() -> None:
    datum = written(KEY, {"id": 7})
    by_number = flatten(b"\0\0\0\0\x05" + datum, None, {(TOPIC, "5"): Found("AVRO", KEY)})
    by_header = flatten(
        datum,
        None,
        {(TOPIC, "contentId:5"): Found("AVRO", KEY)},
        {"apicurio.key.contentId": (5).to_bytes(8, "big")},
    )
    assert by_number == by_header == Flat("tombstone", row_key='{"id":"7"}')


@pytest.mark.parametrize(
    ("value", "known", "reason", "detail"),
    [
        (b"\0\0\0\0\x05\x02", None, "unknown_schema", "value: schema 5 is not in landing.schema"),
        (b"\0\0\0\0\x05\x02\x00", KEY, "bad_avro", "value: its bytes do not fit schema 5"),
        (b"\0\0\0\0\x05\x80", KEY, "bad_avro", "value: its bytes do not fit schema 5"),
        (b"\0\0\0\0\x05\x02", "{", "bad_avro", "value: schema 5: no Avro schema (DecodeError)"),
        (b"\0\0\0\0\0\0\0\0\x05\x02", KEY, "other_format", "value: expected JSON text"),
    ],
)
def test_what_cannot_be_decoded_is_quarantined_without_a_value(
    value: bytes, known: str | None, reason: str, detail: str
) -> None:
    schemas = {(TOPIC, "5"): Found("AVRO", known)} if known else {}
    row = flatten(None, value, schemas)
    assert (row.kind, row.quarantine_reason) == ("quarantined", reason)
    assert (row.quarantine_detail or "").startswith(detail)


@pytest.mark.parametrize("topic", ["__consumer_offsets", "_schemas", "heartbeats"])
def test_what_kafka_writes_for_itself_is_no_avro(topic: str) -> None:
    row = flatten(b"\0\1", b"\0\0\0\0\5abc", {}, topic=topic)
    assert (row.kind, row.quarantine_reason) == ("internal", None)


def test_protobuf_is_named() -> None:
    row = flatten(None, b"\0\0\0\0\x05\x02", {(TOPIC, "5"): Found("PROTOBUF", "message A {}")})
    assert row.quarantine_detail == "value: PROTOBUF of a schema registry, schema 5"


def test_json_behind_the_bytes_of_a_registry_needs_no_schema() -> None:
    heartbeat = b'\0\0\0\0\x05{"ts_ms":1}'
    for schemas in ({}, {(TOPIC, "5"): Found("JSON", "{}")}):
        assert flatten(None, heartbeat, schemas).kind == "heartbeat"


def test_no_bytes_stop_the_batch() -> None:
    """Whatever stands behind a known number is decoded or quarantined."""
    dice = random.Random(40)
    schema = record(
        {"name": "a", "type": {"type": "array", "items": ["null", "string"]}},
        {"name": "m", "type": {"type": "map", "values": "bytes"}},
        {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["x"]}},
        {"name": "f", "type": {"type": "fixed", "name": "F", "size": 3}},
        {"name": "l", "type": "long"},
    )
    good = written(schema, {"a": [None, "b"], "m": {"k": b"v"}, "e": "x", "f": b"abc", "l": 2**62})
    for _ in range(300):
        datum = bytearray(good[: dice.randint(0, len(good))])
        for _ in range(dice.randint(0, 3)):
            if datum:
                datum[dice.randrange(len(datum))] = dice.randrange(256)
        row = flatten(None, b"\0\0\0\0\x05" + bytes(datum), {(TOPIC, "5"): Found("AVRO", schema)})
        assert row.quarantine_reason != "internal_error"
        assert row.kind == "quarantined"


class _Answers(BaseHTTPRequestHandler):
    """A registry with one schema, for whoever has the password."""

    def do_GET(self) -> None:
        if self.headers["Authorization"] != "Basic bWU6cDRzcw==":
            status, body = 401, b""
        elif self.path == "/schemas/ids/7":
            status, body = 200, json.dumps({"schema": KEY}).encode()
        elif self.path == "/schemas/ids/8":
            status, body = 200, json.dumps({"schema": "x", "schemaType": "PROTOBUF"}).encode()
        elif self.path == "/apis/registry/v2/ids/contentIds/7":
            status, body = 200, KEY.encode()
        elif self.path == "/schemas/ids/9":
            status, body = 200, b"<html>"
        elif self.path.startswith("/proxy/"):
            status, body = 404, b"<html>"
        else:
            status, body = 404, b'{"error_code":40403,"message":"Schema not found"}'
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(_Answers) as address:
        yield address


def registry_at(url: str, password: str = "p4ss") -> Registry:
    return Registry("shop", RegistryBlock(url, "me", password))


def test_a_registry_gives_schemas_by_both_kinds_of_ids(url: str) -> None:
    registry = registry_at(url + "/")
    assert registry.schema("7") == registry.schema("contentId:7") == Found("AVRO", KEY)
    assert registry.schema("8") == Found("PROTOBUF", "x")
    assert registry.schema("404") is None


@pytest.mark.parametrize(
    ("password", "schema_id", "sentence"),
    [
        ("p4ss", "9", "shop: http://127.0.0.1:PORT: answers without a schema; url must name"),
        ("secret", "7", "shop: http://127.0.0.1:PORT: HTTP 401; it wants credentials"),
    ],
)
def test_a_registry_that_refuses_is_named_without_its_password(
    url: str, password: str, schema_id: str, sentence: str
) -> None:
    with pytest.raises(DebeziumError) as refused:
        registry_at(url, password).schema(schema_id)
    assert str(refused.value).startswith(sentence.replace("PORT", url.rpartition(":")[2]))
    assert password not in str(refused.value)


def test_a_registry_that_does_not_answer_is_named() -> None:
    with pytest.raises(
        DebeziumError, match=r"shop: http://127\.0\.0\.1:9: .*does not answer; check its address"
    ):
        Registry("shop", RegistryBlock("http://127.0.0.1:9")).schema("7")


def test_a_page_of_a_proxy_is_no_answer_of_a_registry(url: str) -> None:
    """Taken for an unknown schema, it would quarantine all messages until somebody retries them."""
    registry = registry_at(f"{url}/proxy")
    with pytest.raises(DebeziumError, match="HTTP 404 without the JSON of a registry; url must"):
        registry.schema("7")
    with pytest.raises(DebeziumError, match="url must name Confluent's API"):
        registry.check()


@pytest.mark.parametrize(
    "sent",
    [
        b"220 mail.example.com\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\xff",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_an_answer_that_breaks_off_or_is_no_http_is_none(sent: bytes) -> None:
    class Answers(BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            self.request.sendall(sent)

    with TCPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with pytest.raises(DebeziumError, match=r"[A-Z]\w+: the registry does not answer"):
                registry_at(f"http://127.0.0.1:{server.server_address[1]}").schema("7")
        finally:
            server.shutdown()
            thread.join()


def test_credentials_are_for_the_registry_alone_and_not_for_whom_it_refers_to() -> None:
    sent: list[str | None] = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent.append(self.headers["Authorization"])
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"[]")

        def log_message(self, *_: object) -> None:
            pass

    with serving(Elsewhere) as elsewhere:

        class Refers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                sent.append(self.headers["Authorization"])
                self.send_response(302)
                self.send_header("Location", f"{elsewhere}{self.path}")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        with serving(Refers) as address:
            registry_at(address).check()
    assert sent == ["Basic bWU6cDRzcw==", None]


def test_a_page_is_no_list_of_subjects() -> None:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, *_: object) -> None:
            pass

    with (
        serving(Page) as address,
        pytest.raises(DebeziumError, match="has no list of subjects; url must"),
    ):
        registry_at(address).check()
