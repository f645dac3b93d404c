"""What every form of dump is read into, and how a reader says that a line is no message."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from dbt_debezium.dumps.files import LONGEST_LINE, Source
from dbt_debezium.json_values import json_decoder

COMMAND = "dump the topics with `kcat -C -b <broker> -t <topic> -e -J`"
WANTED = (
    "a line must be a JSON object with topic, partition, offset, key and value: "
    f"{COMMAND}, or see docs/forms.md"
)

_json = json_decoder(msgspec.Raw)


class Header(msgspec.Struct):
    """A record header."""

    key: str
    value: str | None = None


class Message(msgspec.Struct):
    """A Kafka message, its bytes as text. Encoded as JSON, it is a line of the inbox."""

    topic: str
    partition: int
    offset: int
    timestamp: int | None = None
    """Milliseconds since 1970; None when the dump has none."""
    key: str | None = None
    value: str | None = None
    headers: list[Header] = []


class NotAMessageError(ValueError):
    """Why a line is not a message, without its content."""


LARGEST_PARTITION = 2**31 - 1
LARGEST_OFFSET = 2**63 - 2
"""The end of its partition is one more, and must be a number of 64 bits, too."""
LATEST_MILLIS = 253_402_300_799_999
"""The end of the year 9999."""


def placed(message: Message) -> Message:
    """The message, whose place no decoder has checked.

    Raises:
        NotAMessageError: Kafka has no such partition, offset or timestamp.
    """
    if not 0 <= message.partition <= LARGEST_PARTITION:
        raise NotAMessageError(f"partition {message.partition}; Kafka's end at {LARGEST_PARTITION}")
    if not 0 <= message.offset <= LARGEST_OFFSET:
        raise NotAMessageError(f"offset {message.offset}; Kafka's end at {LARGEST_OFFSET}")
    if message.timestamp is not None and not -1 <= message.timestamp <= LATEST_MILLIS:
        raise NotAMessageError("a timestamp that is not between 1970 and the year 9999")
    return message


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not a message. Its content is not kept: it may be anybody's data."""

    number: int
    """1-based; of an object over several lines, where it begins."""
    why: str


@dataclass(frozen=True, slots=True)
class Head:
    """How a file begins, decompressed."""

    path: Path
    start: bytes
    """The first 4 KiB."""
    first_line: bytes
    """The first line that is not blank, whole and without its end."""
    is_gzip: bool


@dataclass(frozen=True, slots=True)
class Form:
    """A way in which some tool writes messages to a file."""

    recognises: Callable[[Head], bool]
    read: Callable[[Source], Iterator[Message | BadLine]]
    wanted: str = WANTED
    """What a line must be, for the sentence about one that is something else."""
    is_placed_by_name: Callable[[Path], bool] = lambda path: False
    """Whether the file's name says where its messages come from: then the same content under
    another name is other messages."""


def each_line(
    source: Source, parse: Callable[[bytes], Message | None]
) -> Iterator[Message | BadLine]:
    """Read a file whose messages are one line each; `parse` gives None for a line to pass over."""
    for number, line in source.lines():
        try:
            message = parse(line)
        except NotAMessageError as error:
            yield BadLine(number, str(error))
        else:
            if message is not None:
                yield message


def text_of(line: bytes) -> str:
    """The line as text.

    Raises:
        NotAMessageError: it is too long, or not UTF-8.
    """
    if len(line) > LONGEST_LINE:
        raise NotAMessageError(f"longer than {LONGEST_LINE} bytes")
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise NotAMessageError(f"not UTF-8 at byte {error.start}") from None


def checked_json(text: str) -> str:
    """The text, which is one JSON value.

    Raises:
        NotAMessageError: it is not JSON.
    """
    try:
        _json(text)
    except msgspec.DecodeError as error:
        raise NotAMessageError(str(error)) from None
    return text
