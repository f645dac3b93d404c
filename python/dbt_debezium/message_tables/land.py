"""From a table of messages into `landing.message`.

A landing writes what it will read to `landing.table_read`, then the messages, then that they have
landed. A landing that was killed is finished by the next one: it counts if its messages are there,
which Iceberg commits all at once. Nothing of this is on the machine's own disk.

As with Kafka, a process that sleeps may write its plan late. So a plan counts for nothing until its
messages are there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark writes it

from dbt_debezium.amounts import counted
from dbt_debezium.errors import DebeziumError, innermost
from dbt_debezium.home import lake_dir
from dbt_debezium.landing.land import (
    TABLE,
    TABLE_READ,
    Base,
    append_landing,
    create_landing_tables,
    landed_base,
    next_landing,
)
from dbt_debezium.lease import HeldLease, Lease, writing
from dbt_debezium.message_tables.block import OPTIONAL, REQUIRED, TableBlock
from dbt_debezium.message_tables.files import files_of
from dbt_debezium.message_tables.removed import without_removed
from dbt_debezium.message_tables.snapshots import news_of
from dbt_debezium.registry.client import Registry
from dbt_debezium.registry.store import TABLE as SCHEMAS
from dbt_debezium.registry.store import landed_ids, learn, unknown_schema_sentences
from dbt_debezium.spark.remote import has_java
from dbt_debezium.table_properties import METADATA_PROPERTIES
from dbt_debezium.writers import path, sql

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

CREATE_TABLE: Final = f"""
create table if not exists {TABLE_READ} (
    landing_id bigint comment 'Which landing read it.',
    source string comment 'The table or the files, as landing.yml names them.',
    position string comment 'The snapshot of the table that was reached; null for files.',
    files array<string> comment 'Path, size and time of each file that was read; null for a table.',
    is_landed boolean comment 'Whether the messages are in landing.message.'
)
using iceberg
tblproperties (
    'format-version' = '2',
    {METADATA_PROPERTIES}
)
"""
TYPES: Final = {
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "key": "binary",
    "value": "binary",
    "headers": "array<struct<key: string, value: binary>>",
}
NUMBERS: Final = ("bigint", "int")


@dataclass(frozen=True, slots=True)
class TableLanded:
    """What one landing from a table did."""

    message_count: int
    file_count: int | None = None
    """None for a table."""
    compared: bool = False
    """Whether all rows were compared with what had landed, because snapshots are gone."""
    unknown_schemas: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By topic: ids in its messages that no registry has given a schema for."""
    names_no_registry: bool = False

    def sentence(self, where: str) -> str:
        """How much has landed.

        >>> TableLanded(7, 2).sentence("raw"), TableLanded(7).sentence("raw")
        ('raw: landed 7 messages of 2 new files', 'raw: landed 7 messages')
        """
        said = f"{where}: landed {counted(self.message_count, 'message')}"
        if self.file_count is not None:
            said += f" of {counted(self.file_count, 'new file')}"
        if self.compared:
            said += ", compared with all that had landed, because snapshots since then "
            said += "have expired or rows were overwritten"
        return said

    def notes(self, where: str) -> list[str]:
        """What the user must do."""
        return unknown_schema_sentences(where, self.unknown_schemas, self.names_no_registry)


def land_table(
    spark: "SparkSession", name: str, block: TableBlock, registry: Registry | None
) -> TableLanded:
    """Append what a table has beyond what has landed.

    Args:
        name: the block's name, or the address, for sentences.
        registry: of the table's topics.

    Raises:
        DebeziumError: the table cannot be read, lacks a column, or another run goes on.
    """
    with Lease(lake_dir(), f"land {name}"), writing(spark) as lease:
        create_landing_tables(spark)
        spark.sql(CREATE_TABLE)
        base = landed_base(spark)
        _finish_killed(spark, base)
        landed = (
            _land_snapshots(spark, lease, base, name, block, registry)
            if block.table is not None
            else _land_files(spark, lease, base, name, block, registry)
        )
        # A registry may know by now what it did not when earlier messages landed.
        topics = _topics_without_schema(spark, block)
        unknown = learn(spark, (), registry, lambda topic: topic in topics)
        return replace(
            landed, unknown_schemas=unknown, names_no_registry=bool(unknown) and registry is None
        )


def _land_snapshots(
    spark: "SparkSession",
    lease: HeldLease,
    base: Base,
    name: str,
    block: TableBlock,
    registry: Registry | None,
) -> TableLanded:
    news = news_of(spark, name, block.name, _landed_position(spark, block))
    if news is None:
        return TableLanded(0)
    rows = messages(name, block, news.rows)
    if news.may_have_landed:
        landed = spark.table(TABLE).select("topic", "partition", "offset")
        rows = rows.join(landed, ["topic", "partition", "offset"], "left_anti")
        rows = without_removed(spark, rows)
    count = _append(spark, lease, base, name, block, registry, rows, position=news.position)
    return TableLanded(count, compared=news.may_have_landed)


def _land_files(
    spark: "SparkSession",
    lease: HeldLease,
    base: Base,
    name: str,
    block: TableBlock,
    registry: Registry | None,
) -> TableLanded:
    landed = spark.sql(
        f"select explode(files) as file from {TABLE_READ} where source = :source and is_landed",
        {"source": block.name},
    ).collect()
    known = {row.file for row in landed}
    fresh = [
        (path, f"{path} {mark}")
        for path, mark in _files_of(spark, name, block)
        if f"{path} {mark}" not in known
    ]
    if not fresh:
        return TableLanded(0, 0)
    rows = messages(name, block, _parquet(spark, name, [path for path, _ in fresh]))
    count = _append(
        spark, lease, base, name, block, registry, rows, files=[mark for _, mark in fresh]
    )
    return TableLanded(count, len(fresh))


def table_of(spark: "SparkSession", name: str, block: TableBlock) -> "DataFrame":
    """All rows of a block's table or files, as they are there.

    Raises:
        DebeziumError: they cannot be read.
    """
    if block.table is not None:
        news = news_of(spark, name, block.table, None)
        return news.rows if news else spark.table(block.table)
    return _parquet(spark, name, [path for path, _ in _files_of(spark, name, block)])


def _parquet(spark: "SparkSession", name: str, paths: Sequence[str]) -> "DataFrame":
    try:
        # One file may lack a column that others have.
        return spark.read.option("mergeSchema", "true").parquet(*map(path.pattern, paths))
    except PySparkException as error:
        raise DebeziumError(
            f"{name}: {paths[0]} cannot be read as Parquet ({innermost(error)}); "
            "name files of messages"
        ) from error


def _files_of(spark: "SparkSession", name: str, block: TableBlock) -> list[tuple[str, str]]:
    if not has_java(spark):
        raise DebeziumError(
            f"{name}: Spark Connect cannot list files; "
            "land with another target on the same catalog, such as prod"
        )
    configuration = spark._jsparkSession.sessionState().newHadoopConf()
    return files_of(spark._jvm, configuration, name, block.files or "")


def _append(
    spark: "SparkSession",
    lease: HeldLease,
    base: Base,
    name: str,
    block: TableBlock,
    registry: Registry | None,
    rows: "DataFrame",
    position: str | None = None,
    files: Sequence[str] | None = None,
) -> int:
    """One commit; how many messages it brought."""
    landing_id = next_landing(spark, lease, base)
    try:
        # Before the messages, so that no run reads them without their schemas.
        named = landed_ids(rows, registry)
        topics = {one.topic for one in named}
        learn(spark, named, registry, lambda topic: topic in topics)
        planned = spark.createDataFrame(
            [(landing_id, block.name, position, files, False)], spark.table(TABLE_READ).schema
        )
        planned.writeTo(TABLE_READ).append()
        numbered = rows.select(F.lit(landing_id).cast("bigint").alias("landing_id"), *TYPES)
        count = append_landing(spark, numbered, landing_id, base)
    except PySparkException as error:
        raise DebeziumError(
            f"{name}: messages could not be read from {block.name} ({innermost(error)}); "
            "once that is mended, land again: it continues where it stopped"
        ) from error
    _mark_landed(spark, landing_id)
    return count


def _finish_killed(spark: "SparkSession", base: Base) -> None:
    """Settle what a killed landing planned: it counts if its messages are there.

    They may still come if its process only sleeps, until a later landing is there.
    """
    planned = spark.sql(f"select landing_id from {TABLE_READ} where not is_landed").collect()
    for row in planned:
        if spark.table(TABLE).where(f"landing_id = {row.landing_id}").head() is not None:
            _mark_landed(spark, row.landing_id)
        elif row.landing_id < base.newest:
            spark.sql(f"delete from {TABLE_READ} where landing_id = {row.landing_id}")


def _mark_landed(spark: "SparkSession", landing_id: int) -> None:
    spark.sql(f"update {TABLE_READ} set is_landed = true where landing_id = {landing_id}")


def _landed_position(spark: "SparkSession", block: TableBlock) -> str | None:
    row = spark.sql(
        f"select max_by(position, landing_id) as position from {TABLE_READ} "
        "where source = :source and is_landed",
        {"source": block.name},
    ).head()
    return row.position if row else None


def _topics_without_schema(spark: "SparkSession", block: TableBlock) -> set[str]:
    """The topics that this block has brought and of which a schema is not known."""
    if not spark.catalog.tableExists(SCHEMAS):
        return set()
    rows = spark.sql(
        f"select distinct message.topic from {TABLE} as message"
        f" inner join {TABLE_READ} as read on message.landing_id = read.landing_id"
        f" inner join {SCHEMAS} as named on message.topic = named.topic"
        " where read.source = :source and named.schema_text is null",
        {"source": block.name},
    ).collect()
    return {row.topic for row in rows}


def messages(name: str, block: TableBlock, table: "DataFrame") -> "DataFrame":
    """The rows of a table with the columns of `landing.message`, but for landing_id.

    Raises:
        DebeziumError: a column is missing.
    """
    types = dict(table.dtypes)
    columns = []
    for column in (*REQUIRED, *OPTIONAL):
        found = block.columns.get(column, column)
        if found in types:
            value = _cast(column, found, types[found])
            if column in ("topic", "partition", "offset"):
                missing = F.raise_error(F.lit(f"a row has no {found}")).cast(TYPES[column])
                value = F.coalesce(value, missing)
            columns.append(value.alias(column))
        elif column in REQUIRED or column in block.columns:
            raise DebeziumError(
                f"{name}: {block.name} has no column {found}, but {', '.join(types)}; name the one "
                f"that holds it in a block of landing.yml, as columns: {{{column}: NAME}}"
            )
        else:
            columns.append(_absent(column).alias(column))
    return table.select(*columns)


def _cast(column: str, found: str, kind: str) -> "Column":
    value = F.col(sql.identifier(found))
    if column == "timestamp" and kind in NUMBERS:
        return F.timestamp_millis(value)
    if column == "headers":
        return F.coalesce(value.cast(TYPES[column]), _absent(column))
    return value.cast(TYPES[column])


def _absent(column: str) -> "Column":
    return (F.array() if column == "headers" else F.lit(None)).cast(TYPES[column])
