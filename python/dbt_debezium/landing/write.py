"""Messages of dumps as data files of `landing.message`, written where the dumps are.

Executors may be on machines that see neither the dump nor the inbox. So the driver writes Parquet,
and Iceberg's library moves it to where the table lies: a batch of messages is in memory at a time.
"""

import contextlib
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa  # type: ignore[import-untyped] # ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped] # ships no types
from py4j.protocol import Py4JError  # type: ignore[import-untyped] # it has no types

from dbt_debezium.dumps.form import Message
from dbt_debezium.errors import DebeziumError
from dbt_debezium.json_values import json_decoder

BATCH_BYTES: Final = 32 << 20
"""A row group of keys and values; Spark reads it whole."""
BATCH_ROWS: Final = 50_000
FILE_BYTES: Final = 512 << 20
"""Of keys and values, before compression; one task reads a file, or a part of it."""


KINDS: Final = {
    "landing_id": pa.int64(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "key": pa.binary(),
    "value": pa.binary(),
    "headers": pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
}
"""The columns of `landing.message`."""


def write_messages(
    jvm: Any, table: Any, paths: Sequence[Path], landing_id: int
) -> tuple[list[Any], int]:
    """Write data files that no snapshot of the table names yet; where that fails, none is left.

    Args:
        jvm: py4j's view of the Java process, which must be on this machine.
        table: `landing.message` as an `org.apache.iceberg.Table`.
        paths: files of the inbox.

    Returns:
        The files as `org.apache.iceberg.DataFile`, and how many messages they have.

    Raises:
        DebeziumError: a file of the inbox is damaged.
        OSError: this machine has no room.
        Py4JJavaError: the store does not take them.
    """
    schema = _schema(table.schema())
    files, count = [], 0
    locations: list[str] = []
    try:
        with tempfile.TemporaryDirectory(prefix="_write-", dir=paths[0].parent) as folder:
            batches = message_batches(paths, landing_id, schema)
            for batch in batches:
                path = Path(folder) / f"{uuid.uuid4().hex}.parquet"
                size = 0
                with parquet_writer(path, schema) as writer:
                    while True:
                        writer.write_batch(batch)
                        size += batch.nbytes
                        count += batch.num_rows
                        if size >= FILE_BYTES or (batch := next(batches, None)) is None:
                            break
                locations.append(table.locationProvider().newDataLocation(path.name))
                files.append(_moved(jvm, table, path, locations[-1], landing_id))
                path.unlink()
    except BaseException:
        remove_files(table, locations)
        raise
    return files, count


def remove_files(table: Any, locations: Iterable[str]) -> None:
    """Remove data files that no snapshot names, as far as the store lets us.

    `dbt-debezium maintain` removes the others.
    """
    for location in locations:
        with contextlib.suppress(Py4JError, OSError):
            table.io().deleteFile(location)


def parquet_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """A writer of one data file."""
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        use_dictionary=["topic"],
        # PyArrow leaves out bounds of over 4 KB. From row groups with bounds and others without,
        # Iceberg makes bounds of a file in which it then does not look for larger keys and values.
        write_statistics=["landing_id", "topic", "partition", "offset", "timestamp"],
    )


def _schema(iceberg: Any) -> pa.Schema:
    """The columns as Parquet has them, with the ids by which Iceberg knows them."""

    def field(name: str, kind: pa.DataType, place: str) -> pa.Field:
        found = iceberg.findField(place)
        return pa.field(name, kind, metadata={"PARQUET:field_id": str(found.fieldId())})

    header = pa.struct(
        [
            field("key", pa.string(), "headers.element.key"),
            field("value", pa.binary(), "headers.element.value"),
        ]
    )
    kinds = KINDS | {"headers": pa.list_(field("element", header, "headers.element"))}
    return pa.schema([field(name, kind, name) for name, kind in kinds.items()])


def message_batches(
    paths: Iterable[Path], landing_id: int, schema: pa.Schema | None = None
) -> Iterator[pa.RecordBatch]:
    """The messages of some files of the inbox, `BATCH_BYTES` or `BATCH_ROWS` at a time.

    Args:
        schema: its columns are those of `KINDS`, which it is by default.

    Raises:
        DebeziumError: a file of the inbox is damaged.
    """
    schema = schema or pa.schema(list(KINDS.items()))
    messages: list[Message] = []
    size = 0
    for message, length in _messages(paths):
        messages.append(message)
        size += length
        if size >= BATCH_BYTES or len(messages) >= BATCH_ROWS:
            yield _batch(messages, schema, landing_id)
            messages, size = [], 0
    if messages:
        yield _batch(messages, schema, landing_id)


def _messages(paths: Iterable[Path]) -> Iterator[tuple[Message, int]]:
    decode = json_decoder(Message)
    for path in paths:
        with path.open("rb") as lines:
            for line in lines:
                try:
                    message = decode(line)
                except msgspec.DecodeError as error:
                    raise DebeziumError(
                        f"{path}: a line is not a message ({error}); "
                        "delete this file, and land its dump again"
                    ) from error
                yield message, len(line)


def _batch(messages: Sequence[Message], schema: pa.Schema, landing_id: int) -> pa.RecordBatch:
    columns = {
        "landing_id": [landing_id] * len(messages),
        "topic": [one.topic for one in messages],
        "partition": [one.partition for one in messages],
        "offset": [one.offset for one in messages],
        "timestamp": [None if one.timestamp is None else one.timestamp * 1000 for one in messages],
        "key": [_bytes(one.key) for one in messages],
        "value": [_bytes(one.value) for one in messages],
        "headers": [
            [{"key": header.key, "value": _bytes(header.value)} for header in one.headers]
            for one in messages
        ],
    }
    return pa.RecordBatch.from_arrays(
        [pa.array(columns[field.name], field.type) for field in schema], schema=schema
    )


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _moved(jvm: Any, table: Any, path: Path, location: str, landing_id: int) -> Any:
    """The file where the table lies, as an `org.apache.iceberg.DataFile`."""
    iceberg = jvm.org.apache.iceberg
    file, spec = jvm.java.io.File(str(path)), table.spec()
    stream = table.io().newOutputFile(location).create()
    try:
        jvm.java.nio.file.Files.copy(file.toPath(), stream)
    finally:
        stream.close()
    metrics = iceberg.parquet.ParquetUtil.fileMetrics(
        iceberg.Files.localInput(file), iceberg.MetricsConfig.forTable(table)
    )
    (partition,) = spec.fields()
    return (
        iceberg.DataFiles.builder(spec)
        .withPath(location)
        .withFormat("parquet")
        .withFileSizeInBytes(path.stat().st_size)
        .withMetrics(metrics)
        .withPartitionPath(f"{partition.name()}={landing_id - landing_id % 1000}")
        .build()
    )
