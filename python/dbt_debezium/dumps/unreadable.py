"""Files that hold no messages in a form that can be read: what they are, and what gives one."""

import re

import msgspec

from dbt_debezium.dumps.form import COMMAND, Head
from dbt_debezium.json_values import json_members

MAGICS = (
    (b"PK\x03\x04", "a zip archive; unpack it, and name the folder"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it, and name the folder"),
    (b"Rar!", "a rar archive; unpack it, and name the folder"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; `zstd -d` gives a file that is read"),
    (b"\x04\x22\x4d\x18", "compressed with lz4; `lz4 -d` gives a file that is read"),
    (b"\xfd7zXZ", "compressed with xz; `xz -d` gives a file that is read"),
    (b"\x1f\x8b", "compressed with gzip twice; `gunzip` gives a file that is read"),
    (b"BZh", "compressed with bzip2; `bzip2 -d` gives a file that is read"),
    (b"\xff\xfe", "UTF-16, as `>` in PowerShell writes it; run the same command in cmd or bash"),
    (b"\xfe\xff", "UTF-16; write the dump as UTF-8"),
    (b"PGDMP", f"a dump of pg_dump, not of Kafka topics; {COMMAND}"),
    (b"SQLite format 3", f"an SQLite database, not a dump of Kafka topics; {COMMAND}"),
    (b"ORC", "an ORC file; write Spark's Kafka columns as JSON or Parquet"),
    (b"%PDF", f"a PDF, not a dump of Kafka topics; {COMMAND}"),
    (b"\x89PNG", f"a picture, not a dump of Kafka topics; {COMMAND}"),
)
SEGMENT_NAME = re.compile(r"\d{20}\.(log|index|timeindex|txnindex|snapshot)")
SQL_DUMP = re.compile(rb"--|/\*|(?:SET|CREATE|INSERT|DROP|USE|BEGIN|PRAGMA) ")
JSON_ARRAY = re.compile(rb"\s*\[\s*[\[\"]")
"""Of lists or texts; objects are looked at one by one."""
VALUE_NAMES = {"before", "after", "op", "source", "payload", "event_count", "ddl"}
"""Of the envelope, of transaction records and of schema changes."""

VALUES_ONLY = (
    f"values only, without topic, partition and offset; {COMMAND}, or print one topic into "
    "<topic>.txt with kafka-console-consumer, print.key=true, print.partition=true and "
    "print.offset=true; a sink's files keep their names, <topic>+<partition>+<offset>.json"
)


def binary(head: Head) -> str | None:
    """What a file is that is no text and no form recognises, and what would be read."""
    start = head.start
    for magic, what in MAGICS:
        if start.startswith(magic):
            return what
    if start[257:262] == b"ustar":
        return "a tar archive; `tar -xf` unpacks it, and the folder is read"
    if SEGMENT_NAME.fullmatch(head.path.name) and b"\0" in start:
        return f"a file of a Kafka broker's log; {COMMAND}"
    if start.startswith((b"PAR1", b"Obj\x01")):
        return "a Parquet or Avro file in gzip; `gunzip` gives a file that is read"
    if b"\0" in start:
        return (
            "binary, as keys and values of Avro or Protobuf converters are; "
            "land Avro from Kafka, use the JSON converter, or a sink with format.class=JsonFormat"
        )
    return None


def text(head: Head) -> str | None:
    """What a text is of which no line is a message, and what would be read, where that is known."""
    if is_values_only(head):
        return VALUES_ONLY
    line = head.first_line.lstrip()
    lower = line[:100].lower()
    if lower.startswith((b"<!doctype", b"<html", b"<?xml", b"<error")):
        return "a page or an error in HTML or XML, not a dump; download it again"
    if JSON_ARRAY.match(head.start):
        return f"a JSON array, and not of messages; {COMMAND}"
    if SQL_DUMP.match(line):
        return f"SQL, as pg_dump and mysqldump write it, not a dump of Kafka topics; {COMMAND}"
    before, brace, _ = line.partition(b"{")
    if before and brace and is_message(line.removeprefix(before)):
        return (
            "other text stands before each message, as `docker compose` and collectors of logs put "
            "there; `sed 's/^[^{]*//'` takes it off"
        )
    if before.count(b",") > 1 or before.count(b";") > 1:
        return f"CSV, in which null and an empty text are one; {COMMAND}"
    return None


def is_values_only(head: Head) -> bool:
    """Whether the first line is the value of a message, without its place."""
    return is_value(head.first_line)


def is_value(line: bytes) -> bool:
    """Whether a line is what Debezium sends as value, and nothing more."""
    names = names_in(line)
    return bool(names & VALUE_NAMES) and "topic" not in names


def is_message(line: bytes) -> bool:
    """Whether the line is an object with the place of a message."""
    return names_in(line) >= {"topic", "partition", "offset"}


def names_in(line: bytes) -> set[str]:
    """The names in a JSON object; none where it is something else."""
    try:
        return set(json_members(line))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return set()
