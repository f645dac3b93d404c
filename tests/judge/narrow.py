"""Narrow rows of messages, with the columns that the product makes of them. No Spark."""

from collections.abc import Iterable
from hashlib import blake2b

import pyarrow as pa  # type: ignore[import-untyped] # it has none
from landed import Landed

from dbt_debezium.evidence.narrow import COLUMNS
from dbt_debezium.functions.flatten import ARROW_FIELDS, column_array, row_of


def narrow_row(one: Landed, landed_at: int | None = None) -> tuple[object, ...]:
    """One delivery as a row of `COLUMNS`, as the models staging and proof make it.

    Args:
        one: a message.
        landed_at: when its landing had read the partition, in microseconds. Proof gives it to reads
            and signals.
    """
    flat = one.flat
    columns = dict(
        zip((field.name for field in ARROW_FIELDS), row_of(flat, is_repeated=False), strict=True)
    )
    if columns["event_hash"] is None:
        columns["event_hash"] = _delivery_hash(one)
    is_timed = flat.snapshot is not None or flat.signal_type is not None
    columns |= {
        "topic": one.topic,
        "partition": one.partition,
        "offset": one.offset,
        "landed_at_micros": landed_at if is_timed else None,
        "leaves_key": flat.new_row_key is not None,
        "enters_key": flat.old_row_key is not None,
    }
    return tuple(columns[name] for name in COLUMNS.names)


def table_of(rows: Iterable[tuple[object, ...]]) -> pa.Table:
    """Rows that `narrow_row` has made, as a table of `COLUMNS`."""
    columns = [*zip(*rows, strict=True)]
    if not columns:
        return COLUMNS.empty_table()
    arrays = [column_array(one, field) for one, field in zip(columns, COLUMNS, strict=True)]
    return pa.Table.from_arrays(arrays, schema=COLUMNS)


def _delivery_hash(one: Landed) -> int:
    """Of what nothing but its delivery makes itself."""
    text = f"{one.topic} {one.partition} {one.offset}"
    digest = blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
