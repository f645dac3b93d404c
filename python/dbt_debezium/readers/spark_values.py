"""Dates and times of Spark as text."""

from pyspark.sql import DataFrame
from pyspark.sql import types as T  # noqa: N812

from dbt_debezium.writers import sql


def with_text_times(frame: DataFrame) -> DataFrame:
    """Dates and times as Spark's text, in UTC: Python would shift them to the machine's zone."""
    return frame.select(
        *(
            frame[sql.identifier(field.name)]
            .cast(with_text_for_times(field.dataType))
            .alias(field.name)
            for field in frame.schema
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
