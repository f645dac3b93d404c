"""Avro container files: values of a sink, Spark's Kafka columns, or Event Hubs Capture."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import fastavro.schema

from dbt_debezium.dumps import event_hubs
from dbt_debezium.dumps.connect_json import (
    Convert,
    elements,
    entries,
    fields,
    float32,
    scalar,
)
from dbt_debezium.dumps.files import Source, cannot_be_read
from dbt_debezium.dumps.form import COMMAND, BadLine, Form, Head, Message, NotAMessageError
from dbt_debezium.dumps.records import is_placed_by_name, read_records
from dbt_debezium.errors import DebeziumError

# A length that was damaged asks for more memory than there is, and a schema may be any JSON.
DAMAGE = (
    *(EOFError, ValueError, LookupError, MemoryError, ArithmeticError, zlib.error),
    *(RecursionError, TypeError, AttributeError),
    fastavro.schema.SchemaParseException,
)


def recognises(head: Head) -> bool:
    return head.start.startswith(b"Obj\x01") and not head.is_gzip


def read(source: Source) -> Iterator[Message | BadLine]:
    try:
        yield from _messages(source)
    except OSError as error:
        raise cannot_be_read(source.path, error) from error
    except DAMAGE as error:
        raise DebeziumError(
            f"{source.path}: damaged Avro file ({error}); write or copy it again"
        ) from error


FORM = Form(
    recognises,
    read,
    wanted="an Avro file must be called as a sink names it, <topic>+<partition>+<offset>.avro; "
    f"{event_hubs.WANTED}; or {COMMAND}",
    is_placed_by_name=lambda path: is_placed_by_name(path) or bool(event_hubs.place_of(path)),
)


def _messages(source: Source) -> Iterator[Message | BadLine]:
    with source.path.open("rb") as file:
        rows: Any = fastavro.reader(file)
        schema = rows.writer_schema
        if event_hubs.is_captured(schema):
            yield from _captured(source, rows)
            return
        columns = schema.get("fields", ()) if isinstance(schema, dict) else ()
        names = [column["name"] for column in columns]
        yield from read_records(source, names, rows, converted(schema, {}))


def _captured(source: Source, rows: Iterable[Any]) -> Iterator[Message | BadLine]:
    place = event_hubs.place_of(source.path)
    if place is None:
        yield BadLine(1, "of Event Hubs Capture, in folders that name no event hub and partition")
        return
    for number, row in enumerate(rows, 1):
        try:
            yield event_hubs.message(place, row)
        except NotAMessageError as error:
            yield BadLine(number, str(error))
    source.tell_all()


def converted(schema: Any, named: dict[str, Convert]) -> Convert:
    """What turns a value of an Avro type into the types of JSON.

    Args:
        named: the records that were met on the way, by their names.
    """
    if isinstance(schema, list):
        branches = [branch for branch in schema if branch != "null"]
        return converted(branches[0], named) if len(branches) == 1 else scalar
    if isinstance(schema, str):
        return named.get(schema, float32 if schema == "float" else scalar)
    kind = schema["type"]
    if kind == "record":
        to: dict[str, Convert] = {}
        named[schema["name"]] = fields(to)
        to.update({field["name"]: converted(field["type"], named) for field in schema["fields"]})
        return named[schema["name"]]
    if kind == "array":
        return elements(converted(schema["items"], named))
    if kind == "map":
        return entries(converted(schema["values"], named))
    return converted(kind, named) if isinstance(kind, (dict, list)) or kind == "float" else scalar
