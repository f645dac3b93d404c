"""JSON objects with topic, partition and offset: of Spark, `kcat -J`, `rpk topic consume`.

One object is one line, or several lines from `{` to `}`, as rpk and jq print them. All may leave
out what is null, except kcat. An object in the place of a text is the text decoded, as by
`kcat -s value=avro`. Binary columns of Spark that nobody cast are base64.
"""

import binascii
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec
from msgspec import UNSET, Raw, UnsetType

from dbt_debezium.dumps.files import LONGEST_LINE, SAID_BY_TOOL, Source, folder_columns
from dbt_debezium.dumps.form import (
    LARGEST_OFFSET,
    LARGEST_PARTITION,
    LATEST_MILLIS,
    BadLine,
    Form,
    Head,
    Header,
    Message,
    NotAMessageError,
    text_of,
)
from dbt_debezium.json_values import json_decoder, json_members

# Not beyond what the columns hold; -1 is Kafka's "no timestamp", the upper end is the year 9999.
Topic = Annotated[str, msgspec.Meta(min_length=1)]
Int = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_PARTITION)]
Long = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_OFFSET)]
Millis = Annotated[int, msgspec.Meta(ge=-1, le=LATEST_MILLIS)]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NULLS_LEFT_OUT = {"topic", "partition", "offset", "timestamp", "timestampType", "key", "headers"}
"""What Spark and rpk print of a message without value."""


class _Place(msgspec.Struct):
    topic: Topic
    partition: Int
    offset: Long
    timestamp: Millis | str | None = None
    ts: Millis | None = None
    headers: list[Header | str | None] | dict[str, list[str | None] | str | None] | None = None
    value_size: int | UnsetType = UNSET
    key_error: str | UnsetType = UNSET
    payload_error: str | UnsetType = UNSET


class _Line(_Place):
    key: str | None = None
    value: str | UnsetType | None = UNSET
    payload: str | UnsetType | None = UNSET


class _DecodedLine(_Place):
    key: Raw | UnsetType = UNSET
    value: Raw | UnsetType = UNSET
    payload: Raw | UnsetType = UNSET


_decode = json_decoder(_Line)
_decode_decoded = json_decoder(_DecodedLine)
_decode_place = json_decoder(_Place)
_decode_text = json_decoder(str)


def recognises(head: Head) -> bool:
    """Whether the first object says where it comes from, or continues on the next lines."""
    if head.first_line == b"{":
        return True
    known = folder_columns(head.path)
    try:
        line = head.first_line
        _decode_place(_with_columns(line.decode(), known) if known else line)
    except (UnicodeDecodeError, msgspec.DecodeError):
        return False
    return True


def read(source: Source) -> Iterator[Message | BadLine]:
    known = folder_columns(source.path)
    for number, line in _objects(source):
        try:
            text = text_of(line)
            yield read_object(_with_columns(text, known) if known else text)
        except NotAMessageError as error:
            yield BadLine(number, str(error))


FORM = Form(recognises, read, is_placed_by_name=lambda path: bool(folder_columns(path)))


def _with_columns(text: str, known: dict[str, str | int]) -> str:
    """The object, with the columns that its folder's name holds unless it has them itself."""
    try:
        fields = json_members(text)
    except msgspec.DecodeError:
        return text
    columns = {name: Raw(msgspec.json.encode(value)) for name, value in known.items()}
    return msgspec.json.encode(columns | fields).decode()


def _objects(source: Source) -> Iterator[tuple[int, bytes]]:
    """Lines, but those between `{` and `}` together; without what tools say about themselves."""
    parts: list[bytes] = []
    size = start = 0
    for number, line in source.lines():
        if parts:
            parts.append(line)
            size += len(line)
            if line == b"}" or size > LONGEST_LINE:
                yield start, b"\n".join(parts)
                parts = []
        elif line == b"{":
            parts, size, start = [line], 1, number
        elif not SAID_BY_TOOL.match(line):
            yield number, line
    if parts:
        yield start, b"\n".join(parts)


def read_object(text: str) -> Message:
    """The message in one object.

    Raises:
        NotAMessageError: it is none.
    """
    try:
        # As text: msgspec does not look at the bytes of fields it has no use for.
        line = _decode(text)
    except msgspec.ValidationError as error:
        line = _decoded_line(text, str(error))
    except msgspec.DecodeError as error:
        raise NotAMessageError(str(error)) from None
    value = line.value
    if line.payload is not UNSET:
        if value is not UNSET:
            raise NotAMessageError("needs either value or payload")
        value = line.payload
    if value is UNSET:
        _check_that_it_is_null(text)
        value = None
    if line.key_error is not UNSET or line.payload_error is not UNSET:
        raise NotAMessageError("kcat could not decode it: payload_error")
    key = line.key
    if not (value is None or value.startswith("{")) and (decoded := json_of_base64(value)):
        value = decoded
        if key and not key.startswith("{") and not json_of_base64(key):
            raise NotAMessageError(
                "value is base64, and key may be: "
                "write `cast(key as string), cast(value as string)` in Spark"
            )
    if key is not None and not key.startswith("{"):
        key = json_of_base64(key) or key
    headers = _headers(line) if line.headers else []
    time = millis_of(line.ts if line.timestamp is None else line.timestamp)
    return Message(line.topic, line.partition, line.offset, time, key, value, headers)


def _decoded_line(text: str, why: str) -> _Line:
    """The line, with objects in the place of texts turned back into text."""
    try:
        line = _decode_decoded(text)
    except msgspec.DecodeError as error:
        raise NotAMessageError(str(error)) from None
    place = {name: getattr(line, name) for name in _Place.__struct_fields__}
    # A key of one column is a bare number.
    key = None if line.key is UNSET else _text_of_json(bytes(line.key), b'{"-0123456789', why)
    value, payload = (
        UNSET if raw is UNSET else _text_of_json(bytes(raw), b'{"', why)
        for raw in (line.value, line.payload)
    )
    return _Line(**place, key=key, value=value, payload=payload)


def _text_of_json(json: bytes, starts: bytes, why: str) -> str | None:
    if json == b"null":
        return None
    if json[0] not in starts:
        raise NotAMessageError(why)
    return _decode_text(json) if json.startswith(b'"') else json.decode()


def _check_that_it_is_null(text: str) -> None:
    """A value that is left out is null, unless it stands under another name."""
    names = json_members(text).keys()
    if "value_size" in names:
        raise NotAMessageError("the value is left out: rpk ran with --meta-only")
    if others := sorted(names - NULLS_LEFT_OUT):
        raise NotAMessageError(
            f"neither value nor payload, but `{others[0]}`; Spark keeps values that are null "
            "with .option('ignoreNullFields', 'false')"
        )


def json_of_base64(text: str) -> str | None:
    """The JSON object that the text is in base64; None when it is none.

    No JSON object is base64, and no other text of a change event is base64 of one.

    >>> json_of_base64("eyJpZCI6MX0=")
    '{"id":1}'
    >>> json_of_base64("elephant") is json_of_base64("MQ==") is None
    True
    """
    if not text.startswith("e"):
        return None
    try:
        decoded = binascii.a2b_base64(text, strict_mode=True).decode()
        json_members(decoded)
    except (ValueError, msgspec.DecodeError):
        return None
    return decoded


def millis_of(time: int | str | None) -> int | None:
    """A timestamp in milliseconds, from a number or an ISO 8601 time.

    Raises:
        NotAMessageError: it is another text.
    """
    if isinstance(time, str):
        try:
            moment = datetime.fromisoformat(time)
        except ValueError:
            raise NotAMessageError(
                "Expected milliseconds or an ISO 8601 time - at `$.timestamp`"
            ) from None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - EPOCH) // timedelta(milliseconds=1)
    return None if time == -1 else time


def _headers(line: _Line) -> list[Header]:
    """Objects with key and value, or kcat's keys and values in turn or by key."""
    if isinstance(line.headers, dict):
        return [
            Header(key, value)
            for key, values in line.headers.items()
            for value in (values if isinstance(values, list) else [values])
        ]
    headers = line.headers or []
    objects = [header for header in headers if isinstance(header, Header)]
    if line.payload is UNSET:
        if len(objects) < len(headers):
            raise NotAMessageError("Expected `object` with key and value - at `$.headers[...]`")
        for header in objects:
            # A value is bytes in Spark also where key and value were cast.
            if header.value is not None and header.value.startswith("e"):
                header.value = json_of_base64(header.value) or header.value
        return objects
    texts = [header for header in headers if not isinstance(header, Header)]
    if len(texts) % 2:
        raise NotAMessageError("Expected key and value in turn - at `$.headers`")
    if objects or None in texts[::2]:
        raise NotAMessageError("Expected `str` - at `$.headers[...]`")
    return [Header(key or "", value) for key, value in zip(texts[::2], texts[1::2], strict=True)]
