"""Dates and times of Spark as text."""

from pyspark.sql import DataFrame
from pyspark.sql import types as T  # noqa: N812


def with_text_times(frame: DataFrame) -> DataFrame:
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
