"""What user interfaces export: one JSON array of messages, or lines of messages without topic.

Redpanda Console writes `partitionID` and wraps texts, as `"key": {"payload": "…"}`; others begin
names with capitals. If messages name no topic, the file must be called like it, and the messages
in it must bear that out.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Raw

from dbt_debezium.dumps import json_objects
from dbt_debezium.dumps.console_consumer import says_topic, topic_of
from dbt_debezium.dumps.files import LONGEST_LINE, TOPIC, Source
from dbt_debezium.dumps.form import COMMAND, BadLine, Form, Head, Header, Message, NotAMessageError
from dbt_debezium.errors import DebeziumError
from dbt_debezium.json_values import json_decoder, json_members

ARRAY: Final = re.compile(rb"\s*\[\s*(?:\{|$)")
PARTITIONS: Final = ("partition", "partitionid")

_elements = json_decoder(list[Raw])
_value = json_decoder(object)


class _Place(msgspec.Struct):
    partition: json_objects.Int
    offset: json_objects.Long
    timestamp: json_objects.Millis | str | None = None


def recognises(head: Head) -> bool:
    """Whether it begins like an array of objects, or with an object that names no topic."""
    return begins_array(head) or _is_exported(head.first_line)


def begins_array(head: Head) -> bool:
    """Whether it begins like an array of objects."""
    return ARRAY.match(head.start) is not None


def read(source: Source) -> Iterator[Message | BadLine]:
    """Read the messages; the number of a bad one is its line, or its number in the array."""
    topic = topic_of(source.path)
    names_no_topic = is_borne_out = False
    for number, text in _texts(source):
        try:
            message = _message(text, topic)
            if message is None:
                yield json_objects.read_object(text.decode())
                continue
            names_no_topic = True
            is_borne_out |= _bears_out(message)
            yield message
        except UnicodeDecodeError as error:
            yield BadLine(number, f"not UTF-8 at byte {error.start}")
        except RecursionError:
            yield BadLine(number, "nested too deep")
        except NotAMessageError as error:
            yield BadLine(number, str(error))
    if names_no_topic and not is_borne_out:
        yield BadLine(1, f"nothing shows that {topic}, the file's name, is the topic")


FORM = Form(
    recognises,
    read,
    wanted="an export that names no topic must be called like it, <topic>.json, and have "
    f"partition, offset, and the texts of key and value; or {COMMAND}",
    is_placed_by_name=lambda path: True,
)


def _is_exported(line: bytes) -> bool:
    names = _names(line)
    return "topic" not in names and "offset" in names and any(map(names.__contains__, PARTITIONS))


def _names(text: bytes) -> dict[str, Raw]:
    """Members of an object, by their names in small letters; none of another value."""
    try:
        return {name.lower(): value for name, value in json_members(text).items()}
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}


def _texts(source: Source) -> Iterator[tuple[int, bytes]]:
    """Each element of the array, or each line."""
    parts: list[bytes] = []
    size = 0
    for number, line in source.lines():
        if not parts and not line.lstrip().startswith(b"["):
            yield number, line
            continue
        parts.append(line)
        size += len(line)
        if size > LONGEST_LINE:
            raise DebeziumError(
                f"{source.path}: a JSON array of more than {LONGEST_LINE} bytes; "
                "`jq -c '.[]'` writes its messages as lines, which are read"
            )
    if parts:
        yield from enumerate(_array(source.path, b"\n".join(parts)), 1)


def _array(path: Path, text: bytes) -> list[bytes]:
    try:
        return [bytes(element) for element in _elements(text)]
    except msgspec.DecodeError as error:
        raise DebeziumError(f"{path}: a JSON array that is damaged ({error}); {COMMAND}") from None


def _message(text: bytes, topic: str) -> Message | None:
    """The message of an object that names no topic; None if it names one."""
    fields = _names(text)
    if "topic" in fields:
        return None
    partition = next((fields[name] for name in PARTITIONS if name in fields), None)
    if partition is None or "offset" not in fields:
        raise NotAMessageError("neither topic nor partition and offset")
    if not TOPIC.fullmatch(topic):
        raise NotAMessageError(f"{topic}, the file's name, is no name of a topic")
    try:
        place = msgspec.convert(
            {
                "partition": _value(partition),
                "offset": _value(fields["offset"]),
                "timestamp": _value(fields.get("timestamp", b"null")),
            },
            _Place,
        )
        headers = _value(fields.get("headers", b"null")) or []
        return Message(
            topic,
            place.partition,
            place.offset,
            json_objects.millis_of(place.timestamp),
            _text("key", fields.get("key")),
            _text("value", fields.get("value")),
            _headers(headers),
        )
    except msgspec.DecodeError as error:
        raise NotAMessageError(str(error)) from None


def _bears_out(message: Message) -> bool:
    """Whether the message shows that it is of the topic that its file is called like.

    Raises:
        NotAMessageError: it is of another topic.
    """
    says = says_topic(message.topic, message.key, message.value)
    if says is False:
        raise NotAMessageError(f"not of topic {message.topic}, which is the file's name")
    return says is True


def _text(name: str, part: Raw | None) -> str | None:
    """The text of a key or value, which may be wrapped as `payload`."""
    if part is None:
        return None
    return _text_of(name, _value(part))


def _text_of(name: str, value: Any) -> str | None:
    if isinstance(value, dict) and "payload" in value:
        value = value["payload"]
    if value is None or isinstance(value, str):
        return value
    raise NotAMessageError(
        f"{name} is not text but decoded, and JavaScript rounds numbers above 2^53: "
        "export it as text"
    )


def _headers(headers: Any) -> list[Header]:
    if isinstance(headers, dict):
        return [Header(name, _text_of("headers", value)) for name, value in headers.items()]
    if not isinstance(headers, list) or not all(
        isinstance(one, dict) and isinstance(one.get("key"), str) for one in headers
    ):
        raise NotAMessageError("Expected key and value of each header")
    return [Header(one["key"], _text_of("headers", one.get("value"))) for one in headers]
