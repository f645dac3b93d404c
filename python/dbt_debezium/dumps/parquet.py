"""Parquet files: Spark's Kafka columns, or the values that a sink wrote."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dbt_debezium.dumps.connect_json import (
    Convert,
    elements,
    entries,
    fields,
    float32,
    scalar,
)
from dbt_debezium.dumps.files import Source
from dbt_debezium.dumps.form import COMMAND, BadLine, Form, Head, Message
from dbt_debezium.dumps.records import is_placed_by_name, read_records
from dbt_debezium.errors import DebeziumError

if TYPE_CHECKING:
    # Commands that read no Parquet do not wait for it, nor for NumPy.
    import pyarrow as pa  # type: ignore[import-untyped] # it has no types

ROWS_AT_ONCE = 1000


def recognises(head: Head) -> bool:
    return head.start.startswith(b"PAR1") and not head.is_gzip


def read(source: Source) -> Iterator[Message | BadLine]:
    import pyarrow as pa

    try:
        yield from _messages(source)
    except (pa.ArrowException, OSError, ValueError, ArithmeticError, RecursionError) as error:
        raise DebeziumError(
            f"{source.path}: damaged Parquet file ({str(error).splitlines()[0]}); "
            "write or copy it again"
        ) from error


FORM = Form(
    recognises,
    read,
    wanted="a Parquet file must hold Spark's Kafka columns topic, partition, offset, key and "
    f"value, or be called as a sink names it, <topic>+<partition>+<offset>.parquet; {COMMAND}",
    is_placed_by_name=is_placed_by_name,
)


def _messages(source: Source) -> Iterator[Message | BadLine]:
    import pyarrow as pa
    import pyarrow.parquet as pq  # type: ignore[import-untyped] # it has no types

    with pq.ParquetFile(source.path, coerce_int96_timestamp_unit="us") as file:
        columns = file.schema_arrow
        rows = (row for batch in file.iter_batches(ROWS_AT_ONCE) for row in batch.to_pylist())
        yield from read_records(source, columns.names, rows, converted(pa.struct(list(columns))))


def converted(type_: "pa.DataType") -> Convert:
    """What turns a value of an Arrow type into the types of JSON."""
    import pyarrow as pa

    if pa.types.is_struct(type_):
        return fields({field.name: converted(field.type) for field in type_})
    if pa.types.is_map(type_):
        return entries(converted(type_.item_type))
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return elements(converted(type_.value_type))
    return float32 if pa.types.is_float32(type_) else scalar
