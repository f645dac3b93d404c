"""Files of records with columns: Spark's Kafka columns, or the values that a sink wrote."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dbt_debezium.dumps.connect_json import (
    KAFKA_COLUMNS,
    Convert,
    kafka_message,
    sink_message,
)
from dbt_debezium.dumps.files import Source, folder_columns
from dbt_debezium.dumps.form import BadLine, Message, NotAMessageError
from dbt_debezium.dumps.sink_files import place_of


def is_placed_by_name(path: Path) -> bool:
    """Whether the names of file or folders say where the messages come from."""
    return place_of(path) is not None or bool(folder_columns(path))


def read_records(
    source: Source, columns: Iterable[str], records: Iterable[dict[str, Any]], convert: Convert
) -> Iterator[Message | BadLine]:
    """The messages of a file, one for each record.

    Args:
        source: the file.
        columns: their names in the file; folders may name more.
        records: its records, in order.
        convert: turns a record into the types of JSON.
    """
    place = place_of(source.path)
    known = folder_columns(source.path)
    is_kafka = {*columns, *known} >= KAFKA_COLUMNS
    if not is_kafka and place is None:
        yield BadLine(1, "without the columns topic, partition, offset, key and value")
        return
    for index, record in enumerate(records):
        try:
            if is_kafka or place is None:
                yield kafka_message(known | record)
            else:
                yield sink_message(place, index, convert(record))
        except NotAMessageError as error:
            yield BadLine(index + 1, str(error))
    source.tell_all()
