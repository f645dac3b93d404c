"""Types of Arrow as Spark SQL writes them, for the columns that a table function returns."""

from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types

NAMES: Final = {pa.string(): "string", pa.int64(): "bigint", pa.bool_(): "boolean"}


def sql_columns(schema: pa.Schema) -> str:
    """Columns with their types.

    >>> sql_columns(pa.schema([("offset", pa.int64()), ("names", pa.list_(pa.string()))]))
    '`offset` bigint, `names` array<string>'
    """
    return ", ".join(f"`{one.name}` {sql_type(one.type)}" for one in schema)


def sql_type(kind: Any) -> str:
    """A type.

    >>> sql_type(pa.list_(pa.struct([("is_sure", pa.bool_())])))
    'array<struct<is_sure: boolean>>'
    """
    if pa.types.is_map(kind):
        return f"map<{sql_type(kind.key_type)}, {sql_type(kind.item_type)}>"
    if pa.types.is_list(kind):
        return f"array<{sql_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{one.name}: {sql_type(one.type)}' for one in kind)}>"
    return NAMES[kind]
