"""The same messages are read from every form in which tools write them."""

import base64
import gzip
import json
import struct
from pathlib import Path
from typing import Any

import dump_writers as write
import msgspec
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbt_debezium.dumps import read_dump
from dbt_debezium.dumps.form import Header, Message
from dbt_debezium.errors import DebeziumError
from dbt_debezium.landing.inbox import Inbox, take

TOPIC = "shop.public.orders"
SOURCE = {"name": "shop", "db": "app", "schema": "public", "table": "orders"}

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ROWS = st.fixed_dictionaries(
    {
        "id": st.integers(-(2**63), 2**63 - 1),
        "name": TEXTS | st.none(),
        "ratio": st.floats(width=32, allow_nan=False, allow_infinity=False) | st.none(),
    }
)
KEYS = st.builds(lambda id_: write.compact({"id": id_}), st.integers() | TEXTS)
HEADERS = st.lists(
    st.builds(
        Header,
        st.sampled_from(["traceparent", "__debezium.newkey"]),
        KEYS | st.none(),
    ),
    max_size=3,
)


@st.composite
def change_messages(draw: st.DrawFn) -> list[Message]:
    """Some messages of one topic: changes, and tombstones behind the first of them."""
    rows = draw(st.lists(ROWS, min_size=1, max_size=6))
    messages = []
    for offset, row in enumerate(rows):
        value = {"before": None, "after": row, "source": SOURCE, "op": "c", "ts_ms": 1}
        is_null = offset > 0 and draw(st.booleans())
        messages.append(
            Message(
                TOPIC,
                draw(st.integers(0, 3)),
                offset,
                draw(st.integers(0, 2**41)),
                draw(KEYS),
                None if is_null else write.compact(value),
                draw(HEADERS),
            )
        )
    return messages


def read(path: Path) -> list[Message]:
    """The messages of a file that is none but messages."""
    lines: list[bytes] = []
    dump = read_dump(path, lines.append)
    assert dump.refusal is None
    assert dump.message_count == len(lines)
    return [msgspec.json.decode(line, type=Message) for line in lines]


def refusal(path: Path) -> str:
    """Why a file is refused: one sentence."""
    sentence = str(read_dump(path, len).refusal)
    assert "\n" not in sentence
    return sentence


def singles(value: Any) -> Any:
    """The value with floats as 32 bits hold them."""
    if isinstance(value, dict):
        return {name: singles(field) for name, field in value.items()}
    return struct.pack("f", value) if isinstance(value, float) else value


FORMS = {
    "spark.json": lambda messages: write.spark_json(messages, is_cast=True),
    "spark-base64.json": lambda messages: write.spark_json(messages, is_cast=False),
    "kcat.jsonl": write.kcat,
    "rpk-pretty.json": lambda messages: write.rpk(messages, indent=2),
    "rpk.json": lambda messages: write.rpk(messages, indent=None),
    f"{TOPIC}.txt": lambda messages: write.console(messages, True, True),
    f"mirror.{TOPIC}.log": lambda messages: write.console(messages, False, True),
    "part-0.snappy.parquet": lambda messages: write.kafka_parquet(messages, is_cast=True),
    "part-1.snappy.parquet": lambda messages: write.kafka_parquet(messages, is_cast=False),
}


@pytest.mark.parametrize("name", FORMS)
@given(messages=change_messages())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_each_form_gives_the_same_messages(
    tmp_path: Path, name: str, messages: list[Message]
) -> None:
    expected = messages
    if "rpk" in name:
        expected = [
            msgspec.structs.replace(
                message,
                headers=[Header(header.key, header.value or "") for header in message.headers],
            )
            for message in messages
        ]
    if name.startswith("mirror"):
        expected = [
            msgspec.structs.replace(message, topic=f"mirror.{TOPIC}", timestamp=None)
            for message in messages
        ]
    content = FORMS[name](messages)
    path = tmp_path / name
    path.write_bytes(content)
    assert read(path) == expected
    if not name.endswith(".parquet"):
        path.write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n\r\n"))
        assert read(path) == expected
        path.write_bytes(gzip.compress(content))
        assert read(path) == expected


def test_columns_in_the_names_of_folders_are_read(tmp_path: Path) -> None:
    """Spark's `partitionBy` takes them out of the file."""
    import pyarrow.parquet as pq

    messages = [Message(TOPIC, 2, 7, 1790000000000, '{"id":1}', '{"op":"c"}')]
    folder = tmp_path / f"topic={TOPIC}" / "partition=2"
    folder.mkdir(parents=True)
    names = ["topic", "partition"]
    for is_cast in (True, False):
        line = json.loads(write.spark_json(messages, is_cast))
        path = folder / "part-0.json"
        path.write_text(json.dumps({name: line[name] for name in line if name not in names}))
        assert read(path) == messages
        path = folder / "part-0.parquet"
        path.write_bytes(write.kafka_parquet(messages, is_cast))
        table = pq.read_table(path, partitioning=None)
        path.write_bytes(write.parquet(table.drop_columns(names)))
        assert read(path) == messages


@given(rows=st.lists(ROWS, min_size=1, max_size=5), first=st.integers(0, 2**40))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_files_of_a_sink_give_the_same_values(
    tmp_path: Path, rows: list[dict[str, object]], first: int
) -> None:
    values = [{"before": None, "after": row, "op": "c", "ts_ms": 1} for row in rows]
    texts = [write.compact(value) for value in values]
    name = f"{TOPIC}+2+{first:010}"
    for suffix, content in {
        ".json": write.sink_json(texts),
        ".json.gz": gzip.compress(write.sink_json(texts, end="\r\n")),
        # StringConverter leaves texts, which JsonFormat puts into quotes.
        ".bin": write.sink_json([json.dumps(text) for text in texts]),
        ".snappy.parquet": write.sink_parquet(values),
        ".avro": write.sink_avro(values),
    }.items():
        path = tmp_path / (name + suffix)
        path.write_bytes(content)
        messages = read(path)
        for index, message in enumerate(messages):
            place = (message.topic, message.partition, message.offset)
            assert place == (TOPIC, 2, first + index), suffix
            assert singles(json.loads(message.value or "")) == singles(values[index]), suffix
            assert (message.key, message.timestamp, message.headers) == (None, None, [])
        assert len(messages) == len(values), suffix
        path.unlink()


def test_a_sink_s_keys_are_read_with_its_values(tmp_path: Path) -> None:
    path = tmp_path / f"{TOPIC}+0+0000000007.json"
    keys = tmp_path / f"{TOPIC}+0+0000000007.keys.json"
    path.write_bytes(write.sink_json(['{"op":"c"}', '{"op":"u"}']))
    keys.write_bytes(write.sink_json(['{"id":1}', json.dumps('{"id":2}')]))
    assert [message.key for message in read(path)] == ['{"id":1}', '{"id":2}']
    keys.write_bytes(write.sink_json(['{"id":1}']))
    assert f"{path}:2: not a message ({keys} has fewer lines);" in refusal(path)
    keys.write_bytes(write.sink_json(['{"id":1}'] * 3))
    assert f"({keys} has more lines);" in refusal(path)


def test_parquet_and_avro_values_are_written_as_connect_writes_them(tmp_path: Path) -> None:
    from datetime import UTC, date, datetime, time
    from decimal import Decimal

    table = pa.table(
        {
            "price": pa.array([Decimal("12.50"), None], pa.decimal128(30, 2)),
            "day": pa.array([date(1970, 1, 3), None]),
            "at": pa.array([datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), None]),
            "time": pa.array([time(0, 0, 2), None]),
            "photo": pa.array([b"\x00\xff", None]),
            "ratios": pa.array([[0.1, None], None], pa.list_(pa.float32())),
            "odd": pa.array([float("inf"), float("nan")]),
            "tags": pa.array([[("a", "b")], None], pa.map_(pa.string(), pa.string())),
        }
    )
    path = tmp_path / "t+0+5.parquet"
    path.write_bytes(write.parquet(table))
    first, second = read(path)
    assert first.value == (
        '{"price":12.50,"day":2,"at":1000,"time":2000,"photo":"AP8=","ratios":[0.1,null],'
        '"odd":"Infinity","tags":{"a":"b"}}'
    )
    assert second.value == (
        '{"price":null,"day":null,"at":null,"time":null,"photo":null,"ratios":null,'
        '"odd":"NaN","tags":null}'
    )


LINE = {"topic": "t", "partition": 0, "offset": 1}


def one_line(path: Path, **fields: object) -> Message:
    path.write_text(json.dumps(LINE | fields))
    (message,) = read(path)
    return message


def test_values_that_a_tool_has_decoded_are_text_again(tmp_path: Path) -> None:
    path = tmp_path / "kcat.jsonl"
    path.write_text('{"topic":"t","partition":0,"offset":1,"key":7,"payload":{"n": 1.10}}')
    (message,) = read(path)
    assert (message.key, message.value) == ("7", '{"n": 1.10}')


def test_headers_of_kcat_may_be_a_map(tmp_path: Path) -> None:
    message = one_line(tmp_path / "a", key=None, payload="x", headers={"h": ["1", None], "i": "2"})
    assert message.headers == [Header("h", "1"), Header("h", None), Header("i", "2")]


LOG4J = "[2026-11-26 10:00:00,123] WARN [Consumer clientId=a] x (org.apache.kafka.clients)"


def test_what_kcat_says_about_itself_is_no_message(tmp_path: Path) -> None:
    path = tmp_path / "kcat.jsonl"
    said = "% Auto-selecting Consumer mode\n%3|1790000000.123|FAIL|rdkafka#consumer-1| refused"
    path.write_text(f"{said}\n{json.dumps(LINE)}\n{said}\n{json.dumps(LINE)}\n% Reached end")
    assert len(read(path)) == 2


def test_what_the_console_consumer_says_about_itself_is_no_message(tmp_path: Path) -> None:
    """As through `kubectl exec -t`, which makes one of its two outputs."""
    path = tmp_path / f"{TOPIC}.txt"
    error = "ERROR Error processing message, terminating consumer process:  (kafka.tools)"
    timeout = "org.apache.kafka.common.errors.TimeoutException"
    text = f"{LOG4J}\n{CONSOLE}{ORDER}\n{LOG4J}\n{CONSOLE}{ORDER}\n"
    path.write_text(
        f"{text}{LOG4J.replace('WARN', error)}\n{timeout}\nProcessed a total of 2 messages"
    )
    assert len(read(path)) == 2
    path.write_text(f"{text}^CProcessed a total of 2 messages")
    assert len(read(path)) == 2


def test_fields_that_kafka_4_prints_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / f"{TOPIC}.txt"
    start = "Partition:0\tOffset:5\tDelivery:NOT_PRESENT\tEpoch:7\tNO_HEADERS"
    path.write_text(f"{start}\t{{}}\t{ORDER}")
    (message,) = read(path)
    assert (message.offset, message.key, message.value) == (5, "{}", ORDER)


def test_text_that_could_be_base64_stays_text(tmp_path: Path) -> None:
    for key in ("1234", "MQ==", "abcd", "eeee", "e30", ""):
        assert one_line(tmp_path / "a", key=key, value='{"op":"c"}').key == key
        assert one_line(tmp_path / "a", key=key).key == key


def test_a_bare_key_beside_base64_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "spark.json"
    value = base64.b64encode(b'{"op":"c"}').decode()
    path.write_text(json.dumps(LINE | {"key": "MQ==", "value": value}))
    assert "write `cast(key as string), cast(value as string)` in Spark" in refusal(path)
    assert one_line(path, key='{"id":1}', value=value).key == '{"id":1}'


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"value_size": 7}, "the value is left out: rpk ran with --meta-only"),
        ({"body": "{}"}, "neither value nor payload, but `body`"),
        ({"payload": None, "payload_error": "x"}, "kcat could not decode it"),
        ({"key": None, "payload": "x", "key_error": "x"}, "kcat could not decode it"),
        ({"value": [1]}, "Expected `str | null`, got `array`"),
    ],
)
def test_a_value_that_was_lost_is_no_tombstone(
    tmp_path: Path, fields: dict[str, object], why: str
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(LINE | fields))
    assert why in refusal(path)


CONSOLE = "CreateTime:1\tPartition:0\tOffset:5\tNO_HEADERS\t{}\t"
ORDER = write.compact({"op": "c", "source": SOURCE})
DDL = write.compact({"source": SOURCE, "ddl": "drop table orders", "tableChanges": []})


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("dump.txt", CONSOLE + ORDER, "1: not a message (not of topic dump, which is the file"),
        ("orders.txt", CONSOLE + ORDER, "(not of topic orders, which is the file"),
        (f"{TOPIC}.txt", CONSOLE + "null", f"(nothing shows that {TOPIC}, the file's name, is"),
        (f"{TOPIC}.txt", f"{CONSOLE}{ORDER}\n{CONSOLE}a\tb", ":2: not a message (a tab in"),
        (f"{TOPIC}.txt", f"Partition:0\tOffset:5\t{ORDER}", "(no key)"),
        (f"{TOPIC}.txt", f"Partition:0\tOffset:5\tNO_HEADERS\t{ORDER}", "(no key)"),
        (f"{TOPIC}.txt", f"CreateTime:1\tnull\t{ORDER}", "(no partition and offset at its"),
        (f"{TOPIC}.txt", f"Partition:0|Offset:5|null|{ORDER}", "leave key.separator out"),
        (
            f"{TOPIC}.txt",
            CONSOLE + '{"status":"END","id":"7"}',
            f"(not of topic {TOPIC}, which is the file's name)",
        ),
        (f"{TOPIC}.txt", CONSOLE + DDL, f"(not of topic {TOPIC}, which is the file's name)"),
    ],
)
def test_the_console_consumer_s_topic_is_never_guessed(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    (tmp_path / name).write_text(text)
    sentence = refusal(tmp_path / name)
    assert why in sentence
    assert sentence.endswith(
        "kafka-console-consumer prints no topic: print one topic into a file named <topic>.txt, "
        "with print.key=true, print.partition=true and print.offset=true; "
        "or use `kcat -C -b <broker> -t <topic> -e -J`"
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shop.transaction.txt", {"status": "END", "id": "7"}),
        ("a.shop.app.public.orders", {"op": "c", "source": SOURCE}),
        ("shop_app_orders.txt", {"op": "c", "source": SOURCE | {"schema": None}}),
        ("shop.public.orders.txt", {"schema": {}, "payload": {"op": "c", "source": SOURCE}}),
        ("shop.txt", {"source": SOURCE, "ddl": "drop table orders", "tableChanges": []}),
        ("eu.shop.txt", {"source": SOURCE | {"table": None}, "ddl": "set x=1", "tableChanges": []}),
    ],
)
def test_a_file_called_like_its_topic_is_read(
    tmp_path: Path, name: str, value: dict[str, object]
) -> None:
    (tmp_path / name).write_text(f"{CONSOLE}{json.dumps(value)}\nProcessed a total of 1 messages\n")
    assert [message.topic for message in read(tmp_path / name)] == [name.removesuffix(".txt")]


def test_a_heartbeat_topic_is_known_by_the_server_in_its_keys(tmp_path: Path) -> None:
    line = 'Partition:0\tOffset:5\t{"serverName":"shop"}\t{"ts_ms":1}\n'
    (tmp_path / "__debezium-heartbeat.shop.txt").write_text(line)
    (message,) = read(tmp_path / "__debezium-heartbeat.shop.txt")
    assert message.topic == "__debezium-heartbeat.shop"
    (tmp_path / "shop.public.orders.txt").write_text(line)
    assert "(not of topic shop.public.orders, which" in refusal(tmp_path / "shop.public.orders.txt")


@pytest.mark.parametrize(
    "line",
    [
        '{"id":1}\t{"before":null,"after":{"id":1},"op":"c"}',
        '{"schema":{},"payload":{"id":1}}\t{"schema":{},"payload":{}}',
        'null\t{"status":"BEGIN","id":"1","event_count":null}',
        'NO_HEADERS\t{"id":1}\t{"before":null,"after":{"id":1},"op":"c"}',
    ],
)
def test_keys_and_values_without_their_place_are_refused_with_what_to_print(
    tmp_path: Path, line: str
) -> None:
    path = tmp_path / "shop.public.orders.txt"
    path.write_text(f"{line}\nProcessed a total of 1 messages\n")
    assert refusal(path).startswith(
        f"{path}:1: not a message (no partition and offset at its beginning); "
        "kafka-console-consumer prints no topic: print one topic into a file named <topic>.txt, "
        "with print.key=true, print.partition=true and print.offset=true; or use `kcat"
    )


def zipped(content: bytes) -> bytes:
    """Without a clock in it: both workers must name the tests alike."""
    return gzip.compress(content, mtime=0)


LOG_SEGMENT = bytes(8) + b"\x00\x00\x00\x50" + bytes(4) + b"\x02" + bytes(60)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.zip", b"PK\x03\x04rest", "a zip archive; unpack it, and name the folder"),
        ("a.jsonl.zst", b"\x28\xb5\x2f\xfd\x00", "compressed with zstd; `zstd -d` gives a file"),
        ("a.json", "\ufeff{}".encode("utf-16-le"), "UTF-16, as `>` in PowerShell writes it;"),
        ("a.dump", b"PGDMP\x01\x0e", "a dump of pg_dump, not of Kafka topics; dump the topics"),
        ("a.sql", b"--\n-- PostgreSQL database dump\n--\n", "SQL, as pg_dump and mysqldump"),
        ("a.json", b"<!DOCTYPE html><title>403</title>", "a page or an error in HTML or XML,"),
        ("a.json", b'<?xml version="1.0"?><Error/>', "a page or an error in HTML or XML,"),
        ("a.json", b'[{"topic":"t"},\n{}]', "1: not a message (Object missing required field"),
        ("a.json", b"[[1]]", "a JSON array, and not of messages; dump the topics with"),
        ("a.csv", b"id,name,op\n1,a,c\n", "CSV, in which null and an empty text are one;"),
        ("a.tar.gz", zipped(b"x" * 257 + b"ustar" + bytes(250)), "a tar archive;"),
        ("00000000000000000000.log", LOG_SEGMENT, "a file of a Kafka broker's log; dump the"),
        ("a.json", b'{"na\xefve":1}', "1: not a message (not UTF-8 at byte 4)"),
        ("a.bin", b"\x00\x00\x00\x00\x07\x02abc\n", "binary, as keys and values of Avro or Proto"),
        ("a.parquet.gz", zipped(b"PAR1"), "a Parquet or Avro file in gzip; `gunzip`"),
        ("a.gz", zipped(zipped(b"{}")), "compressed with gzip twice; `gunzip` gives a file that"),
        ("a.txt", b'%t 0 7 {"id":1} {"op":"c","a":1,"b":2}', "1: not a message (JSON is malformed"),
        ("a.txt", b"kcat-1  | " + json.dumps(LINE).encode(), "other text stands before each mess"),
        ("a.txt", f"{LOG4J}\nError".encode(), "2: not a message (JSON is malformed"),
        ("a.json", b'{"before":null,"after":{},"op":"c"}', "values only, without topic, partition"),
        ("a.json", b'{"schema":{},"payload":{}}', "values only, without topic, partition and"),
        ("a.json", b'{"status":"BEGIN","id":"1","event_count":null}', "values only, without topic"),
    ],
)
def test_what_is_no_dump_is_refused_by_name(
    tmp_path: Path, name: str, content: bytes, sentence: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert refusal(path).startswith((f"{path}: {sentence}", f"{path}:{sentence}"))


def test_a_parquet_or_avro_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    values = [{"before": None, "after": None, "op": "c", "ts_ms": 1}]
    for suffix, content in (
        (".parquet", write.sink_parquet(values)),
        (".avro", write.sink_avro(values)),
    ):
        path = tmp_path / f"orders{suffix}"
        path.write_bytes(content)
        assert "(without the columns topic, partition, offset, key and value);" in refusal(path)
        placed = tmp_path / f"orders+0+1{suffix}"
        for damaged in (content[:-30], content.replace(b'"name"', b'"namE"')):
            if damaged != content:
                placed.write_bytes(damaged)
                with pytest.raises(DebeziumError, match=r"damaged (Parquet|Avro) file \("):
                    read_dump(placed, len)


def test_binary_in_kafka_columns_is_no_text(tmp_path: Path) -> None:
    fields = {"topic": ["t"], "partition": [0], "offset": [1], "key": [b"\xff"], "value": [b"x"]}
    path = tmp_path / "a.parquet"
    path.write_bytes(write.parquet(pa.table(fields)))
    assert "(key is not UTF-8 at byte 0);" in refusal(path)


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        ({"topic": pa.array([None], pa.string())}, "`str`, got `null` - at `$.topic`"),
        ({"partition": pa.array([2**31])}, "`int` <= 2147483647 - at `$.partition`"),
        ({"offset": pa.array([-1])}, "`int` >= 0 - at `$.offset`"),
        ({"value": pa.array([{"id": 1}])}, "`str | null`, got `object` - at `$.value`"),
        ({"timestamp": pa.array(["2026-01-01"])}, "`int | null`, got `str` - at `$.timestamp`"),
    ],
)
def test_kafka_columns_of_another_type_are_refused_before_they_are_kept(
    tmp_path: Path, column: dict[str, pa.Array], sentence: str
) -> None:
    """In the inbox, one would fail each landing from then on."""
    fields = {"topic": ["t"], "partition": [0], "offset": [1], "key": ["{}"], "value": ["{}"]}
    path = tmp_path / "a.parquet"
    path.write_bytes(write.parquet(pa.table(fields | column)))
    assert f"(Expected {sentence});" in refusal(path)


def test_one_content_in_the_folders_of_two_topics_is_two_dumps(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "inbox")
    for topic in ("a", "b"):
        path = tmp_path / "dump" / f"topic={topic}" / "part-0.json"
        path.parent.mkdir(parents=True)
        path.write_text('{"partition":0,"offset":1,"key":"k","value":"v"}')
    assert len(take(tmp_path / "dump", inbox)[0]) == 2
    assert take(tmp_path / "dump", inbox) == ([], ())


def test_one_content_under_the_names_of_two_partitions_is_two_dumps(tmp_path: Path) -> None:
    dump, inbox = tmp_path / "dump", Inbox(tmp_path / "inbox")
    for partition in (0, 1):
        path = dump / "topics" / TOPIC / f"partition={partition}" / f"{TOPIC}+{partition}+0.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(write.sink_json([ORDER]))
    (dump / "topics" / "_temporary").mkdir()
    (dump / "topics" / "_temporary" / "a.json").write_text("unfinished")
    (dump / f"{TOPIC}+0+7.keys.json").write_text("{}")
    heartbeats = dump / "__debezium-heartbeat.shop+0+3.json"
    heartbeats.write_bytes(write.sink_json(['{"ts_ms":1}']))
    dumps, skipped = take(dump, inbox)
    assert (sum(dump.message_count for dump in dumps), skipped) == (3, ())
    assert take(dump, inbox) == ([], ())
    lines = [line for file in sorted((tmp_path / "inbox").iterdir()) for line in file.open()]
    places = sorted((json.loads(line)["topic"], json.loads(line)["partition"]) for line in lines)
    assert places == [("__debezium-heartbeat.shop", 0), (TOPIC, 0), (TOPIC, 1)]


@pytest.mark.parametrize(
    ("folders", "starts", "is_right"),
    [
        (("partition=0", "partition=0"), (0, 2), True),
        # Tombstones between them were dropped.
        (("partition=0", "partition=0"), (0, 4), True),
        (("flat", "flat"), (0, 4), True),
        (("flat", "flat"), (0, 1), False),
        (("hour=1", "hour=2"), (0, 2), True),
        (("hour=1", "hour=2"), (0, 1), False),
        # Offset 3 may be the second line of the first file.
        (("hour=1", "hour=2"), (0, 4), False),
    ],
)
def test_lines_that_a_sink_wrote_in_turns_with_others_have_no_offset(
    tmp_path: Path, folders: tuple[str, str], starts: tuple[int, int], is_right: bool
) -> None:
    inbox = Inbox(tmp_path / "inbox")
    for folder, start in zip(folders, starts, strict=True):
        path = tmp_path / "topics" / TOPIC / folder / f"{TOPIC}+0+{start:010}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(write.sink_json([ORDER, ORDER]))
    if is_right:
        assert len(take(tmp_path / "topics", inbox)[0]) == 2
    else:
        with pytest.raises(DebeziumError, match=r": 2 lines, and offset . begins another file"):
            take(tmp_path / "topics", inbox)
        assert not inbox.has_unread()
