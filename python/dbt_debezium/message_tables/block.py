"""A block of landing.yml that names a table of messages.

archive:
  table: lake.raw.kafka
  columns: {offset: kafka_offset, value: payload}
"""

import re
from typing import Final

from msgspec import Struct, field

from dbt_debezium.errors import DebeziumError
from dbt_debezium.message_tables import SCHEME
from dbt_debezium.registry.block import RegistryBlock

REQUIRED: Final = ("topic", "partition", "offset", "key", "value")
OPTIONAL: Final = ("timestamp", "headers")
"""Columns of Spark's Kafka source that a table may lack."""


class TableBlock(Struct, forbid_unknown_fields=True, frozen=True):
    """A table, or Parquet files; one of the two."""

    table: str | None = None
    """An Iceberg table, as Spark names it: catalog.schema.table."""
    files: str | None = None
    """Parquet files: a folder, or a pattern as Hadoop has it, with any scheme that Spark reads."""
    columns: dict[str, str] = field(default_factory=dict)
    """By the name of Spark's Kafka source: the column of the table, where it has another name."""
    registry: RegistryBlock | None = None
    """The schema registry of the topics, if their messages are Avro."""

    @property
    def name(self) -> str:
        """The table or the files, as the lake remembers what was read of them."""
        return self.table or self.files or ""


def block_of_table(address: str) -> TableBlock:
    """The block that `table://catalog.schema.table` stands for.

    Raises:
        DebeziumError: the address names no table.

    >>> block_of_table("table://lake.raw.kafka").table
    'lake.raw.kafka'
    """
    return checked_table(address, TableBlock(address.removeprefix(SCHEME)))


def checked_table(where: str, block: TableBlock) -> TableBlock:
    """The block, if it names one table or files, and columns that messages have.

    Raises:
        DebeziumError: it does not.
    """
    if (block.table is None) == (block.files is None):
        raise DebeziumError(
            f"{where}: names {'both' if block.table else 'neither'} table and files; name one: "
            "table: catalog.schema.table, or files: s3a://bucket/folder"
        )
    if block.table is not None and not re.fullmatch(r"\w+([.]\w+){1,3}", block.table):
        raise DebeziumError(
            f"{where}: table: {block.table!r} is no name of a table; "
            "write it as catalog.schema.table"
        )
    for name in block.columns:
        if name not in (*REQUIRED, *OPTIONAL):
            raise DebeziumError(
                f"{where}: columns: {name} is no column of a message; "
                f"there is: {', '.join((*REQUIRED, *OPTIONAL))}"
            )
    return block
