"""Rows of Parquet and Avro as the JSON that Kafka Connect's JsonConverter writes of them.

A sink that writes Parquet or Avro has decoded the value, so its text is written again: decimals as
numbers, bytes in base64, dates and times as the numbers that Connect sends.
"""

import struct
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any
from uuid import UUID

import msgspec

from dbt_debezium.dumps.form import Header, Message, NotAMessageError
from dbt_debezium.dumps.json_objects import EPOCH, Int, Long, Millis, Topic
from dbt_debezium.dumps.sink_files import Place

KAFKA_COLUMNS = {"topic", "partition", "offset", "key", "value"}
EPOCH_DAY = EPOCH.date()

MILLISECOND = timedelta(milliseconds=1)

_encoder = msgspec.json.Encoder()


class _Row(msgspec.Struct):
    """Spark's Kafka columns; a file may have others of the same names."""

    topic: Topic
    partition: Int
    offset: Long
    timestamp: Millis | None
    key: str | None
    value: str | None
    headers: list[Header]


def kafka_message(row: Mapping[str, Any]) -> Message:
    """The message in a row of Spark's Kafka columns.

    Raises:
        NotAMessageError: a column has another type or null, or a key or value is not text.
    """
    timestamp = row.get("timestamp")
    columns = {
        "topic": row["topic"],
        "partition": row["partition"],
        "offset": row["offset"],
        "timestamp": _millis(timestamp) if isinstance(timestamp, datetime) else timestamp,
        "key": _text("key", row["key"]),
        "value": _text("value", row["value"]),
        "headers": [
            {"key": header["key"], "value": _text("headers", header["value"])}
            for header in row.get("headers") or ()
        ],
    }
    try:
        read = msgspec.convert(columns, _Row)
    except msgspec.ValidationError as error:
        raise NotAMessageError(str(error)) from None
    return Message(
        read.topic,
        read.partition,
        read.offset,
        read.timestamp,
        read.key,
        read.value,
        read.headers,
    )


def sink_message(place: Place, index: int, row: Any) -> Message:
    """The message whose value a row, in the types of JSON, is."""
    value = None if row is None else _encoder.encode(row).decode()
    return place.message(index, None, value)


Convert = Callable[[Any], Any]
"""A value in the types of JSON."""


def scalar(value: Any) -> Any:
    """A value of one column or field, but a float of 32 bits."""
    if isinstance(value, float):
        return (
            value
            if isfinite(value)
            else {"nan": "NaN", "inf": "Infinity"}.get(str(value), "-Infinity")
        )
    if isinstance(value, datetime):
        return _millis(value)
    if isinstance(value, date):
        return (value - EPOCH_DAY).days
    if isinstance(value, time):
        return (datetime.combine(EPOCH_DAY, value, UTC) - EPOCH) // MILLISECOND
    if isinstance(value, Decimal):
        # Without an exponent, which a reader could take for a float.
        return msgspec.Raw(f"{value:f}".encode())
    return str(value) if isinstance(value, UUID) else value


def float32(value: float | None) -> Any:
    """A float of 32 bits as the shortest number that it stands for.

    >>> float32(0.10000000149011612)
    0.1
    """
    if value is None or not isfinite(value):
        return scalar(value)
    for digits in range(6, 9):
        candidate = float(f"{value:.{digits}g}")
        if struct.pack("f", candidate) == struct.pack("f", value):
            return candidate
    return float(f"{value:.9g}")


def fields(converts: Mapping[str, Convert]) -> Convert:
    """Of a struct or record."""
    return lambda value: value and {name: to(value[name]) for name, to in converts.items()}


def elements(convert: Convert) -> Convert:
    """Of a list."""
    return lambda value: value and [convert(element) for element in value]


def entries(convert: Convert) -> Convert:
    """Of a map with texts as keys."""
    return lambda value: value and {str(key): convert(field) for key, field in dict(value).items()}


def _millis(moment: datetime) -> int:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // MILLISECOND


def _text(column: str, value: bytes | str | None) -> str | None:
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise NotAMessageError(f"{column} is not UTF-8 at byte {error.start}") from None
