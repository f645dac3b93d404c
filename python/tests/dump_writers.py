"""Messages as tools write them to a file, after the tools' own sources."""

import base64
import io
import json
from collections.abc import Sequence
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from dbt_debezium.dumps.form import Message

ROW = pa.struct([("id", pa.int64()), ("name", pa.string()), ("ratio", pa.float32())])


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def lines(texts: Sequence[str], end: str = "\n") -> bytes:
    return "".join(text + end for text in texts).encode()


def base64_of(text: str | None) -> str | None:
    return None if text is None else base64.b64encode(text.encode()).decode()


def without_nulls(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def iso(millis: int | None) -> str | None:
    if millis is None:
        return None
    from datetime import UTC, datetime, timedelta

    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def spark_json(messages: Sequence[Message], is_cast: bool) -> bytes:
    """`spark.read.format("kafka").load().write.json(...)`; headers hold bytes in any case."""
    text = (lambda value: value) if is_cast else base64_of
    return lines(
        [
            compact(
                without_nulls(
                    {
                        "key": text(message.key),
                        "value": text(message.value),
                        "topic": message.topic,
                        "partition": message.partition,
                        "offset": message.offset,
                        "timestamp": iso(message.timestamp),
                        "timestampType": 0,
                        "headers": [
                            without_nulls({"key": header.key, "value": base64_of(header.value)})
                            for header in message.headers
                        ]
                        or None,
                    }
                )
            )
            for message in messages
        ]
    )


def kcat(messages: Sequence[Message]) -> bytes:
    """`kcat -J`: json.c of kcat."""
    texts = []
    for message in messages:
        time = {} if message.timestamp is None else {"tstype": "create", "ts": message.timestamp}
        turns = [text for header in message.headers for text in (header.key, header.value)]
        place = {"topic": message.topic, "partition": message.partition, "offset": message.offset}
        headers = {"headers": turns} if turns else {}
        fields = place | time | {"broker": 1} | headers
        texts.append(compact(fields | {"key": message.key, "payload": message.value}))
    return lines(texts)


def rpk(messages: Sequence[Message], indent: int | None) -> bytes:
    """`rpk topic consume`: writeRecordJSON of rpk, whose encoder escapes <, > and &."""
    texts = []
    for message in messages:
        fields = without_nulls({"topic": message.topic, "key": message.key, "value": message.value})
        if message.headers:
            fields["headers"] = [
                {"key": header.key, "value": header.value or ""} for header in message.headers
            ]
        fields |= {"timestamp": message.timestamp, "partition": message.partition}
        fields["offset"] = message.offset
        separators = None if indent else (",", ":")
        text = json.dumps(fields, indent=indent, separators=separators, ensure_ascii=False)
        for sign in "<>&\u2028\u2029":
            text = text.replace(sign, f"\\u{ord(sign):04x}")
        texts.append(text)
    return lines(texts)


def console(messages: Sequence[Message], with_time: bool, with_headers: bool) -> bytes:
    """`kafka-console-consumer.sh`: Kafka's DefaultMessageFormatter."""
    texts = []
    for message in messages:
        fields = [f"Partition:{message.partition}", f"Offset:{message.offset}"]
        if with_time:
            time = message.timestamp
            fields.insert(0, "NO_TIMESTAMP" if time is None else f"CreateTime:{time}")
        if with_headers:
            headers = [f"{header.key}:{header.value or 'null'}" for header in message.headers]
            fields.append(",".join(headers) or "NO_HEADERS")
        fields += [message.key or "null", message.value or "null"]
        texts.append("\t".join(fields))
    return lines(texts)


def sink_json(texts: Sequence[str | None], end: str = "\n") -> bytes:
    """JsonFormat of Confluent's sinks, for keys or values: JsonRecordWriterProvider."""
    return lines([text or "null" for text in texts], end)


def kafka_parquet(messages: Sequence[Message], is_cast: bool) -> bytes:
    """`spark.read.format("kafka").option("includeHeaders", "true").load().write.parquet(...)`."""
    text = pa.string() if is_cast else pa.binary()
    header = pa.struct([("key", pa.string()), ("value", pa.binary())])
    columns = {
        "key": pa.array([message.key for message in messages], pa.string()).cast(text),
        "value": pa.array([message.value for message in messages], pa.string()).cast(text),
        "topic": pa.array([message.topic for message in messages]),
        "partition": pa.array([message.partition for message in messages], pa.int32()),
        "offset": pa.array([message.offset for message in messages], pa.int64()),
        "timestamp": pa.array(
            [message.timestamp for message in messages], pa.timestamp("ms", "UTC")
        ),
        "timestampType": pa.array([0] * len(messages), pa.int32()),
        "headers": pa.array(
            [
                [
                    {"key": one.key, "value": None if one.value is None else one.value.encode()}
                    for one in message.headers
                ]
                or None
                for message in messages
            ],
            pa.list_(header),
        ),
    }
    # As Spark writes times unless spark.sql.parquet.outputTimestampType says otherwise.
    return parquet(pa.table(columns), use_deprecated_int96_timestamps=True)


def sink_parquet(values: Sequence[dict[str, Any]]) -> bytes:
    """ParquetFormat of Confluent's S3 sink: the fields of the value are columns."""
    schema = pa.schema(
        [("before", ROW), ("after", ROW), ("op", pa.string()), ("ts_ms", pa.int64())]
    )
    return parquet(pa.Table.from_pylist(list(values), schema), compression="snappy")


def parquet(table: pa.Table, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def sink_avro(values: Sequence[dict[str, Any]]) -> bytes:
    """AvroFormat of Confluent's sinks: the value is the record."""
    row = {
        "type": "record",
        "name": "Value",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "name", "type": ["null", "string"], "default": None},
            {"name": "ratio", "type": ["null", "float"], "default": None},
        ],
    }
    schema = {
        "type": "record",
        "name": "Envelope",
        "fields": [
            {"name": "before", "type": ["null", row], "default": None},
            {"name": "after", "type": ["null", "Value"], "default": None},
            {"name": "op", "type": "string"},
            {"name": "ts_ms", "type": ["null", "long"], "default": None},
        ],
    }
    file = io.BytesIO()
    fastavro.writer(file, schema, values)
    return file.getvalue()
