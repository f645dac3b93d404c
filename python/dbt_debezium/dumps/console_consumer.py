"""What `kafka-console-consumer.sh` prints with `print.partition`, `print.offset` and `print.key`.

A line is `CreateTime:123<tab>Partition:0<tab>Offset:5<tab>NO_HEADERS<tab>key<tab>value`, of which
time and headers may be missing; null is printed as `null`. The topic is not printed: the file must
be called like it, and the messages in it must bear that out.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from dbt_debezium.dumps.files import SAID_BY_TOOL, SUFFIXES, TOPIC, Source
from dbt_debezium.dumps.form import (
    BadLine,
    Form,
    Head,
    Header,
    Message,
    NotAMessageError,
    each_line,
    placed,
    text_of,
)
from dbt_debezium.dumps.unreadable import is_value
from dbt_debezium.json_values import end_of_json, json_decoder

OPTIONS = "print.key=true, print.partition=true and print.offset=true"
START = re.compile(
    rb"(?:(?:CreateTime|LogAppendTime):-?\d+|NO_TIMESTAMP|Partition:\d+|Offset:\d+)"
    rb"(?P<separator>[^\w{]+)"
)
PLACE = re.compile(
    r"(?:(?:(?:CreateTime|LogAppendTime):(?P<timestamp>-?\d{1,19})|NO_TIMESTAMP)\t)?"
    r"Partition:(?P<partition>\d{1,19})\tOffset:(?P<offset>\d{1,19})\t(?:(?:Delivery|Epoch):\w+\t)*"
)
LAST_LINE = re.compile(
    rb"(?:\^C)?Processed a total of \d+ messages"
    rb"|org\.apache\.kafka\.common\.errors\.TimeoutException"
)
"""After `--max-messages`, Ctrl-C or `--timeout-ms`."""
HEADER = re.compile(r"([^\s:,]+):")
NEXT_HEADER = re.compile(r",[^\s:,]+:")
NO_HEADERS = "NO_HEADERS"


class _Names(msgspec.Struct):
    """Of the table in a change event's `source`."""

    name: str | None = None
    db: str | None = None
    schema: str | None = None
    table: str | None = None


class _Value(msgspec.Struct, rename="camel"):
    source: _Names | None = None
    status: str | None = None
    id: str | None = None
    table_changes: list[msgspec.Raw] | None = None
    """Of a schema change."""
    payload: "_Value | None" = None


class _Key(msgspec.Struct, rename="camel"):
    server_name: str | None = None
    """Of a heartbeat."""
    payload: "_Key | None" = None


_key = json_decoder(_Key)
_value = json_decoder(_Value)


def recognises(head: Head) -> bool:
    """Whether a line begins with a time or a place, or is a key and a value without them."""
    _, separator, value = head.first_line.rpartition(b"\t")
    return START.match(head.first_line) is not None or bool(separator and is_value(value))


def read(source: Source) -> Iterator[Message | BadLine]:
    lines = _Lines(topic_of(source.path))
    if not TOPIC.fullmatch(lines.topic):
        yield BadLine(1, f"{lines.topic}, the file's name, is no name of a topic")
        return
    yield from each_line(source, lines.message)
    if lines.field_count and not lines.is_borne_out:
        yield BadLine(1, f"nothing shows that {lines.topic}, the file's name, is the topic")


FORM = Form(
    recognises,
    read,
    wanted=f"kafka-console-consumer prints no topic: print one topic into a file named "
    f"<topic>.txt, with {OPTIONS}; or use `kcat -C -b <broker> -t <topic> -e -J`",
    is_placed_by_name=lambda path: True,
)


def topic_of(path: Path) -> str:
    """The topic that a file is called like.

    >>> topic_of(Path("shop.public.orders.txt.gz"))
    'shop.public.orders'
    >>> topic_of(Path("shop.public.orders"))
    'shop.public.orders'
    """
    name = path.name.removesuffix(".gz")
    for suffix in (*SUFFIXES, ".tsv", ".dump"):
        name = name.removesuffix(suffix)
    return name


class _Lines:
    """The lines of one file, which must be of one topic and print the same fields."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.is_borne_out = False
        """Whether one of them has shown that the file is called like its topic."""
        self.field_count = 0

    def message(self, line: bytes) -> Message | None:
        if LAST_LINE.fullmatch(line) or SAID_BY_TOOL.match(line):
            return None
        text = text_of(line)
        place = PLACE.match(text)
        if place is None:
            raise NotAMessageError(_why_no_place(line))
        fields = text[place.end() :].split("\t")
        if len(fields) == 1 or (len(fields) == 2 and fields[0] == NO_HEADERS):
            raise NotAMessageError("no key")
        if len(fields) > 3 or self.field_count not in (0, len(fields)):
            raise NotAMessageError("a tab in headers, key or value")
        self.field_count = len(fields)
        *headers, key, value = (None if field == "null" else field for field in fields)
        said = says_topic(self.topic, key, value)
        if said is False:
            raise NotAMessageError(f"not of topic {self.topic}, which is the file's name")
        self.is_borne_out |= said is True
        time = place["timestamp"]
        return placed(
            Message(
                self.topic,
                int(place["partition"]),
                int(place["offset"]),
                None if time in (None, "-1") else int(time),
                key,
                value,
                _headers((headers and headers[0]) or NO_HEADERS),
            )
        )


def _why_no_place(line: bytes) -> str:
    start = START.match(line)
    if start is None or start["separator"] == b"\t":
        return "no partition and offset at its beginning"
    return "fields not separated by a tab: leave key.separator out"


def _headers(text: str) -> list[Header]:
    """Of `name:value,name:value`; the values that matter are JSON objects, which may hold both.

    >>> [(header.key, header.value) for header in _headers('a:1,b:{"c":"d,e:f"},g:null')]
    [('a', '1'), ('b', '{"c":"d,e:f"}'), ('g', None)]
    """
    headers: list[Header] = []
    if text == NO_HEADERS:
        return headers
    position = 0
    while name := HEADER.match(text, position):
        start = name.end()
        end = end_of_json(text, start) if text.startswith("{", start) else None
        if end is None:
            following = NEXT_HEADER.search(text, start)
            end = following.start() if following else len(text)
        value = text[start:end]
        headers.append(Header(name[1], None if value == "null" else value))
        position = end + 1
    return headers


def says_topic(topic: str, key: str | None, text: str | None) -> bool | None:
    """Whether the message is of the topic by Debezium's names; None when it does not say."""
    if text is None:
        return None
    try:
        value = _value(text)
    except msgspec.DecodeError:
        return None
    value = value.payload or value
    source = value.source
    if source is not None and source.name:
        if value.table_changes is not None:
            return _ends_like(topic, [source.name])
        if not source.table:
            return None
        table = [source.schema or source.db or "", source.table]
        with_database = [source.db or "", *table] if source.schema else table
        return _ends_like(topic, [source.name, *table]) or _ends_like(
            topic, [source.name, *with_database]
        )
    if value.status in ("BEGIN", "END") and value.id:
        return topic.endswith("transaction") and topic != "transaction"
    server = _server_of_heartbeat(key)
    return _ends_like(topic, [server]) if server else None


def _server_of_heartbeat(key: str | None) -> str | None:
    try:
        names = _key(key or "{}")
    except msgspec.DecodeError:
        return None
    return (names.payload or names).server_name


def _ends_like(topic: str, parts: list[str]) -> bool:
    """Whether the topic is called so, whatever stands for other signs and in front of it."""
    plain, name = (re.sub(r"[^A-Za-z0-9]", "_", text) for text in (topic, ".".join(parts)))
    return plain == name or plain.endswith(f"_{name}")
