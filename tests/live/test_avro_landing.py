"""Avro from a real broker: decoded as the same changes in JSON, and never lost to its registry."""

import gzip
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from avro_writer import Writer
from http_server import serving
from kafka import KafkaProducer
from lake import Lake, open_lake

from dbt_debezium.errors import DebeziumError
from dbt_debezium.functions import flatten
from dbt_debezium.kafka.land import KafkaLanded, land_kafka
from dbt_debezium.kafka.landing_file import KafkaBlock
from dbt_debezium.registry.block import RegistryBlock
from dbt_debezium.rounds.sources import KafkaSource
from dbt_debezium.scaffold.landed_tables import landed_tables
from local_chain.broker import broker

pytestmark = pytest.mark.slow

TYPES = Path(__file__).parents[1] / "data" / "types_schema" / "events.jsonl.gz"
FRAMINGS = ("confluent", "headers")
Sent = list[tuple[str, bytes | None, bytes | None, list[tuple[str, bytes]]]]


@pytest.fixture(scope="module")
def sent() -> tuple[Sent, dict[str, str]]:
    """A capture of all types as JSON and in both framings, and its schemas by number."""
    writer = Writer()
    messages: Sent = []
    with gzip.open(TYPES, "rt") as lines:
        for text in map(json.loads, lines):
            topic, key, value = text["topic"], text["key"], text["value"]
            messages.append((f"json.{topic}", encoded(key), encoded(value), []))
            key, value = writer.written(key), writer.written(value)
            messages.append((f"confluent.{topic}", key, value, []))
            headers = [
                (f"apicurio.{part}.contentId", bytes(4) + framed[1:5])
                for part, framed in (("key", key), ("value", value))
                if framed is not None
            ]
            messages.append((f"headers.{topic}", key and key[5:], value and value[5:], headers))
            if value and not topic.endswith("transaction"):
                late = value
    messages += [("late", None, late, []), ("odd", None, b"\0\0\0\1\0\2", [])]
    return [*messages, ("beside", None, b"{}", [])], writer.texts


def encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


@pytest.fixture(scope="module")
def registry(sent: tuple[Sent, dict[str, str]]) -> Iterator[str]:
    """A registry by Confluent's API and by Apicurio's."""

    class Schemas(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            *_, kind, number = self.path.split("/")
            text = sent[1].get(number)
            body = text if text is None or kind == "contentIds" else json.dumps({"schema": text})
            self.send_response(200 if body else 404)
            self.end_headers()
            self.wfile.write((body or '{"error_code": 40403}').encode())

        def log_message(self, *_: object) -> None:
            pass

    with serving(Schemas) as address:
        yield address


@pytest.fixture(scope="module")
def cluster(
    tmp_path_factory: pytest.TempPathFactory, sent: tuple[Sent, dict[str, str]]
) -> Iterator[str]:
    """A broker with the messages, each framing in topics of its own."""
    with broker(tmp_path_factory.mktemp("avro") / "broker") as address:
        producer = KafkaProducer(bootstrap_servers=address)
        for topic, key, value, headers in sent[0]:
            producer.send(topic, value, key, headers, 0)
        producer.close()
        yield address


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with open_lake(tmp_path_factory.mktemp("avro_lake"), []) as lake:
        yield lake


def land(lake: Lake, cluster: str, topics: str, registry: str | None) -> KafkaLanded:
    named = RegistryBlock(registry) if registry else None
    return land_kafka(lake.spark, "test", KafkaBlock(cluster, topics, registry=named))


def flattened(lake: Lake, topics: str) -> list[dict[str, Any]]:
    """The rows of the topics that begin so, in an order that all converters share."""
    flatten.register(lake.spark)
    rows = lake.spark.sql(
        "select flat.* from (select topic, `offset`,"
        " flatten_message(topic, key, value, headers, '{}') as flat"
        f" from landing.message where startswith(topic, '{topics}')) order by topic, `offset`"
    ).collect()
    return [
        row.asDict()
        # A transaction record is named by its topic alone.
        | {"source": (row["source"] or "").removeprefix(topics)}
        # Both write the same numbers with other exponents, and this is that of the texts.
        | {"content_hash": None}
        | {
            # Java before 19 writes a digit too many of the smallest normal float.
            name: json.loads(row[name].replace("1.17549435E-38", "1.1754944E-38"))
            for name in ("before", "after")
            if row[name] is not None
        }
        for row in rows
    ]


def reads_to_the_end(lake: Lake) -> bool:
    """Whether a run takes in all that has landed, which it decides before its first model."""
    lake.build("--select", "int_operator_decision", command="run")
    newest = "(select max(landing_id) from landing.message)"
    is_newest = f"select landing_id = {newest} from build.cut where channel = 'candidate'"
    return lake.rows(is_newest) == [(True,)]


def column_types(lake: Lake) -> dict[tuple[str, str], dict[str, str]]:
    """What `scaffold` would write of each table."""
    return {(one.source, one.table): one.types() for one in landed_tables(lake.spark)}


def test_avro_gives_the_rows_and_types_of_json_with_schema_blocks(
    lake: Lake, cluster: str, registry: str
) -> None:
    land(lake, cluster, "json[.].*", None)
    as_json, types = flattened(lake, "json."), column_types(lake)
    assert len(as_json) > 40
    for framing in FRAMINGS:
        landed = land(lake, cluster, f"{framing}[.].*", registry)
        assert (landed.message_count, landed.sentences("test")) == (len(as_json), [])
        as_avro = flattened(lake, f"{framing}.")
        for one, other in zip(as_json, as_avro, strict=True):
            assert one == other
    assert column_types(lake) == types


def test_a_registry_that_is_down_leaves_the_landing_unfinished(
    lake: Lake, cluster: str, registry: str
) -> None:
    with pytest.raises(DebeziumError, match=r"registry: http://127\.0\.0\.1:9: .*not answer"):
        land(lake, cluster, "odd", "http://127.0.0.1:9")
    unfinished = "select count(*) from landing.range where not is_landed"
    assert lake.rows(unfinished) == [(1,)]
    assert not reads_to_the_end(lake)
    # Another block must not finish it, or a run would read the message without its schema.
    down = KafkaBlock(cluster, "odd", registry=RegistryBlock("http://127.0.0.1:9"))
    blocks = {"down": down, "up": KafkaBlock(cluster, "beside")}
    landing = KafkaSource(blocks).land(lake.spark, print)
    assert (landing.message_count, len(landing.failures)) == (1, 1)
    assert lake.rows(unfinished) == [(1,)]
    assert not reads_to_the_end(lake)
    landed = land(lake, cluster, "odd", registry)
    assert lake.rows(unfinished) == [(0,)]
    assert reads_to_the_end(lake)
    assert lake.rows("select count(*) from landing.message where topic = 'odd'") == [(1,)]
    (sentence,) = landed.sentences("test")
    assert sentence.startswith("test: odd: no schema is known for the messages with schema id 256,")
    (row,) = flattened(lake, "odd")
    assert row["quarantine_reason"] == "unknown_schema"


def test_a_registry_that_is_named_later_gives_what_is_missing(
    lake: Lake, cluster: str, registry: str
) -> None:
    (sentence,) = land(lake, cluster, "late", None).sentences("test")
    assert "name the registry in landing.yml" in sentence
    assert [row["quarantine_reason"] for row in flattened(lake, "late")] == ["unknown_schema"]
    landed = land(lake, cluster, "late", registry)
    assert (landed.message_count, landed.sentences("test")) == (0, [])
    assert [row["kind"] for row in flattened(lake, "late")] == ["change"]
