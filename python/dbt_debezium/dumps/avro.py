"""Avro container files: values of a sink, Spark's Kafka columns, or Event Hubs Capture."""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, Final

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
from dbt_debezium.dumps.files import LONGEST_LINE, Source, cannot_be_read
from dbt_debezium.dumps.form import COMMAND, BadLine, Form, Head, Message, NotAMessageError
from dbt_debezium.dumps.records import is_placed_by_name, read_records
from dbt_debezium.errors import DebeziumError

MOST_BYTES: Final = LONGEST_LINE
"""Of a block, unpacked."""
SYNC_BYTES: Final = 16
"""Behind each block."""
UNPACKING: Final[dict[str, Callable[[], Any]]] = {
    "deflate": lambda: zlib.decompressobj(-zlib.MAX_WBITS),
    "bzip2": bz2.BZ2Decompressor,
    "xz": lzma.LZMADecompressor,
}
"""The codecs of which a few bytes can be gigabytes, and that fastavro reads by itself."""

# A length that was damaged asks for more memory than there is, and a schema may be any JSON.
DAMAGE = (
    *(EOFError, ValueError, LookupError, MemoryError, ArithmeticError, zlib.error, lzma.LZMAError),
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
        takes_no_bytes({"type": "array", "items": schema})
        check_blocks(file, rows.codec)
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


def takes_no_bytes(schema: Any) -> bool:
    """Whether a value takes none, as null does.

    Raises:
        ValueError: the schema has records or items of no bytes, of which a file of a hundred could
            have any number.
    """
    if isinstance(schema, list):
        for branch in schema:
            takes_no_bytes(branch)
        return False
    if isinstance(schema, str):
        return schema == "null"
    kind = schema["type"]
    is_nothing = False
    if kind == "record":
        fields_of_nothing = [takes_no_bytes(field["type"]) for field in schema["fields"]]
        is_nothing = all(fields_of_nothing)
    elif kind == "array":
        is_nothing = takes_no_bytes(schema["items"])
    elif kind == "map":
        takes_no_bytes(schema["values"])
    elif kind == "fixed":
        is_nothing = not schema["size"]
    else:
        return takes_no_bytes(kind)
    if is_nothing:
        raise ValueError("its schema has what takes no bytes, so there could be any number of it")
    return False


def check_blocks(file: BinaryIO, codec: str) -> None:
    """Refuse a block that unpacks to more than a driver has memory for, since fastavro unpacks all.

    Args:
        file: at its first block, where it is left.
        codec: of its blocks.

    Raises:
        ValueError: there is one.
    """
    unpacking = UNPACKING.get(codec)
    if unpacking is None:
        return
    start = file.tell()
    while _long(file) is not None:
        packed = file.read(_long(file) or 0)
        if len(unpacking().decompress(packed, MOST_BYTES + 1)) > MOST_BYTES:
            raise ValueError(f"a block of over {MOST_BYTES} bytes")
        file.read(SYNC_BYTES)
    file.seek(start)


def _long(file: BinaryIO) -> int | None:
    """A number as Avro writes it; None at the end of the file."""
    number = place = 0
    while byte := file.read(1):
        number |= (byte[0] & 127) << place
        place += 7
        if byte[0] < 128:
            return number >> 1 ^ -(number & 1)
    return None


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
