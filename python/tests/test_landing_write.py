"""What the driver writes of the inbox is what Iceberg takes it for."""

from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbt_debezium.dumps.form import Message
from dbt_debezium.errors import DebeziumError
from dbt_debezium.landing.write import _messages, message_batches, parquet_writer

SCHEMA = pa.schema(
    [
        ("landing_id", pa.int64()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
    ]
)


def entry(folder: Path, *messages: Message) -> Path:
    path = folder / "a.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in messages))
    return path


def test_no_bounds_are_written_of_keys_and_values(tmp_path: Path) -> None:
    """PyArrow writes none over 4 KB; those of other row groups would stand for the whole file,
    and a query would not look for larger values in it."""
    with parquet_writer(tmp_path / "a.parquet", SCHEMA) as writer:
        for value in ("b", "z" * 5000):
            path = entry(tmp_path, Message("t", 0, 1, 2, value, value))
            for batch in message_batches([path], 7, SCHEMA):
                writer.write_batch(batch)
    file = pq.ParquetFile(tmp_path / "a.parquet")
    assert file.read()["value"].to_pylist() == [b"b", b"z" * 5000]
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        columns = [group.column(place) for place in range(group.num_columns)]
        bounded = {one.path_in_schema for one in columns if one.is_stats_set}
        assert bounded == {"landing_id", "topic", "partition", "offset", "timestamp"}


def test_a_damaged_entry_is_named(tmp_path: Path) -> None:
    path = entry(tmp_path, Message("t", 0, 1))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DebeziumError, match=r"a\.jsonl: a line is not a message \(.*delete this"):
        [*_messages([path])]
