"""Avro container files: the values that a sink wrote, or Spark's Kafka columns."""

import zlib
from collections.abc import Iterator
from typing import Any

import fastavro

from dbt_debezium.dumps.connect_json import (
    KAFKA_COLUMNS,
    Convert,
    elements,
    entries,
    fields,
    float32,
    kafka_message,
    scalar,
    sink_message,
)
from dbt_debezium.dumps.files import Source, cannot_be_read, folder_columns
from dbt_debezium.dumps.form import COMMAND, BadLine, Form, Head, Message, NotAMessageError
from dbt_debezium.dumps.sink_files import place_of
from dbt_debezium.errors import DebeziumError


def recognises(head: Head) -> bool:
    return head.start.startswith(b"Obj\x01") and not head.is_gzip


def read(source: Source) -> Iterator[Message | BadLine]:
    try:
        yield from _messages(source)
    except OSError as error:
        raise cannot_be_read(source.path, error) from error
    except (EOFError, ValueError, LookupError, zlib.error) as error:
        raise DebeziumError(
            f"{source.path}: damaged Avro file ({error}); write or copy it again"
        ) from error


FORM = Form(
    recognises,
    read,
    wanted="an Avro file must be called as a sink names it, <topic>+<partition>+<offset>.avro; "
    f"{COMMAND}",
    is_placed_by_name=lambda path: place_of(path) is not None or bool(folder_columns(path)),
)


def _messages(source: Source) -> Iterator[Message | BadLine]:
    with source.path.open("rb") as file:
        rows: Any = fastavro.reader(file)
        schema = rows.writer_schema
        place = place_of(source.path)
        columns = schema.get("fields", ()) if isinstance(schema, dict) else ()
        known = folder_columns(source.path)
        is_kafka = {*(column["name"] for column in columns), *known} >= KAFKA_COLUMNS
        if not is_kafka and place is None:
            yield BadLine(1, "without the columns topic, partition, offset, key and value")
            return
        convert = converted(schema, {})
        for index, row in enumerate(rows):
            try:
                if is_kafka or place is None:
                    yield kafka_message(known | row)
                else:
                    yield sink_message(place, index, convert(row))
            except NotAMessageError as error:
                yield BadLine(index + 1, str(error))
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
