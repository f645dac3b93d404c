"""Published tables as JSON lines, one file per source and table."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as T  # noqa: N812

from dbt_debezium.column_types import JSON_TEXT
from dbt_debezium.dumps.connect_json import elements, entries, float32
from dbt_debezium.patterns import matches
from dbt_debezium.plain_values import plain
from dbt_debezium.readers import SparkReader
from dbt_debezium.report import cut_report
from dbt_debezium.scaffold import CapturedTable
from dbt_debezium.tables import full_name
from dbt_debezium.writers import path, sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def export(spark: "SparkSession", tables: Sequence[CapturedTable], directory: Path) -> None:
    """Write `<source>/<schema>.<table>.jsonl` for each published table, and `cut.json`.

    Duplicate rows of keyless tables are repeated; columns stand in the order of the source.
    """
    directory.mkdir(parents=True, exist_ok=True)
    report = cut_report(SparkReader(spark))
    (directory / "cut.json").write_text(
        json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    for table in tables:
        export_table(spark, table, directory, report)


def export_table(
    spark: "SparkSession",
    table: CapturedTable,
    directory: Path,
    report: Sequence[dict[str, Any]],
) -> None:
    """Write one table, a file for each published source that its models capture."""
    types = table.facts.types()
    names = [json.dumps(name, ensure_ascii=False) for name in types]
    columns = [sql.identifier(name) for name in types]
    rows = with_text_times(spark.table(f"`public`.{sql.identifier(table.model_name)}")).orderBy(
        "_change.source", "_change.commit_number"
    )
    encoders = [
        encoder(column_type, rows.schema[name].dataType) for name, column_type in types.items()
    ]
    for entry in report:
        is_captured = any(matches(pattern, entry["source"]) for pattern in table.sources)
        if entry["commit_number"] and is_captured:
            table_path(directory, entry["source"], table).touch()
    file = None
    source = None
    try:
        for *row, row_source in rows.select(*columns, "_change.source").toLocalIterator():
            if row_source != source:
                if file:
                    file.close()
                source = row_source
                file = table_path(directory, source, table).open("w", encoding="utf-8")
            fields = (
                f"{name}: {'null' if value is None else encode(value)}"
                for name, encode, value in zip(names, encoders, row, strict=True)
            )
            assert file is not None
            file.write(f"{{{', '.join(fields)}}}\n")
    finally:
        if file:
            file.close()


def with_text_times(frame: "DataFrame") -> "DataFrame":
    """Dates and times as Spark's text, in UTC: Python would shift them to the machine's zone."""
    # By place, because a query may give two columns one name.
    numbered = frame.toDF(*map(str, range(len(frame.schema))))
    return numbered.select(
        *(
            numbered[str(at)].cast(with_text_for_times(field.dataType)).alias(field.name)
            for at, field in enumerate(frame.schema)
        )
    )


def with_text_for_times(kind: T.DataType) -> T.DataType:
    """A type with texts in place of the dates and times in it.

    >>> with_text_for_times(T.ArrayType(T.DateType())).simpleString()
    'array<string>'
    """
    match kind:
        case T.DateType() | T.TimestampType() | T.TimestampNTZType():
            return T.StringType()
        case T.ArrayType():
            return T.ArrayType(with_text_for_times(kind.elementType), kind.containsNull)
        case T.MapType():
            key, value = with_text_for_times(kind.keyType), with_text_for_times(kind.valueType)
            return T.MapType(key, value, kind.valueContainsNull)
        case T.StructType():
            return T.StructType(
                [
                    T.StructField(field.name, with_text_for_times(field.dataType), field.nullable)
                    for field in kind
                ]
            )
        case _:
            return kind


def table_path(directory: Path, source: str, table: CapturedTable) -> Path:
    """The file of a table. Names come from the data; none may leave the directory."""
    folder = directory / path.component(source)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{path.component(full_name(table.schema, table.table))}.jsonl"


def encoder(column_type: str, kind: T.DataType) -> Callable[[Any], str]:
    """How a value is written: numbers and booleans as JSON, JSON text as it is, others as text.

    Args:
        column_type: as the history model has it.
        kind: Spark's type of the value.

    >>> encoder("float", T.FloatType())(0.10000000149011612)
    '0.1'
    """
    if column_type == JSON_TEXT:
        return str
    convert = with_short_floats(kind)
    return lambda value: json.dumps(plain(convert(value)), ensure_ascii=False)


def with_short_floats(kind: T.DataType) -> Callable[[Any], Any]:
    """What writes each float of 32 bits in a value as the shortest number that it stands for.

    Python has floats of 64 bits alone, in which a `real` of 0.1 is 0.10000000149011612.

    >>> with_short_floats(T.ArrayType(T.FloatType()))([0.10000000149011612, None])
    [0.1, None]
    """
    match kind:
        case T.FloatType():
            return float32
        case T.ArrayType():
            return elements(with_short_floats(kind.elementType))
        case T.MapType():
            return entries(with_short_floats(kind.valueType))
        case T.StructType():
            converts = [with_short_floats(field.dataType) for field in kind]
            return lambda value: (
                value and [to(part) for to, part in zip(converts, value, strict=True)]
            )
        case _:
            return lambda value: value
