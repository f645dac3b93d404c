"""What the schema-change topic says of tables, where messages have no schema block."""

import re
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from dbt_debezium.json_values import json_decoder
from dbt_debezium.messages.column_types import (
    BINARY,
    GEOMETRY,
    LARGEST_PRECISION,
    LOGICAL_TYPES,
    UNSIGNED,
    decimal_type,
    sized_bits,
)

TIMESTAMP = "io.debezium.time.Timestamp"
NUMBERS = frozenset({"int", "float"})
HEXADECIMAL = frozenset({"digit_text", "hex_text"})
TEXTS = frozenset({"string", "point_text", *HEXADECIMAL})
"""JSON types of texts: others, digits with a point, digits alone, and bytes in hexadecimal."""
MILLIS, MICROS, NANOS = 10**3, 10**6, 10**9
TIMESTAMP_UNITS = {"Timestamp": MILLIS, "MicroTimestamp": MICROS, "NanoTimestamp": NANOS}
TIME_UNITS = {"Time": MILLIS, "MicroTime": MICROS, "NanoTime": NANOS}
"""By the last part of the logical type: how many of them are a second."""
FIRST_SECOND, LAST_SECOND = 26 * 10**7, 26 * 10**10
"""From 1978 to beyond 9999-12-31, which stands for "never ends": a number that is in this range in
one unit is outside of it in the others."""
SECONDS_OF_DAY = 86_400
UNSIZED = re.compile(r" ?\(.*| (identity|zerofill)\b.*| ?\[\]$", re.IGNORECASE)
"""What a name may have beside the type. Of each space that it has, there is one."""
PLAIN_TYPES = {
    **dict.fromkeys(("tinyint", "tinyint unsigned", "smallint"), "smallint"),
    **dict.fromkeys(("int1", "int1 unsigned", "int2"), "smallint"),
    **dict.fromkeys(("smallint unsigned", "mediumint", "mediumint unsigned"), "int"),
    **dict.fromkeys(("int2 unsigned", "int3", "int3 unsigned"), "int"),
    **dict.fromkeys(("middleint", "middleint unsigned"), "int"),
    **dict.fromkeys(("int", "integer", "int4", "year"), "int"),
    **dict.fromkeys(("int unsigned", "integer unsigned", "int4 unsigned"), "bigint"),
    **dict.fromkeys(("bigint", "int8"), "bigint"),
    **dict.fromkeys(("bigint unsigned", "int8 unsigned", "serial"), UNSIGNED),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("double", "double precision"), "double"),
    "date": LOGICAL_TYPES["io.debezium.time.Date"],
    "datetimeoffset": "timestamp",
    **dict.fromkeys(
        ("char", "varchar", "nchar", "nvarchar", "text", "ntext", "tinytext", "mediumtext"),
        "string",
    ),
    **dict.fromkeys(("longtext", "clob", "enum", "set", "json", "xml"), "string"),
    **dict.fromkeys(("uniqueidentifier", "character", "character varying"), "string"),
    **dict.fromkeys(("binary", "varbinary", "image", "rowversion"), BINARY),
    **dict.fromkeys(("blob", "tinyblob", "mediumblob", "longblob"), BINARY),
    "smalldatetime": LOGICAL_TYPES[TIMESTAMP],
    "geometry": GEOMETRY,
    "point": LOGICAL_TYPES["io.debezium.data.geometry.Point"],
}
"""Types that are the same in every database that has them, without their sizes."""
DIALECTS = {
    "mysql": {"real": "double", "float": "float"},
    "mariadb": {"real": "double", "float": "float"},
    "sqlserver": {
        "real": "float",
        "float": "double",
        "timestamp": BINARY,
        "datetime": LOGICAL_TYPES[TIMESTAMP],
    },
    "db2": {"real": "float", "float": "double"},
}
"""Types that databases have under one name and mean otherwise. Oracle's NUMBER has too many forms,
so of other connectors nothing is taken."""
MONEY = {"money": (19, 4), "smallmoney": (10, 4)}


class Column(Struct, rename="camel"):
    name: str
    type_name: str | None = None
    type_expression: str | None = None
    length: int | None = None
    scale: int | None = None
    comment: str | None = None


class _Table(Struct, rename="camel"):
    columns: list[Column] = []
    primary_key_column_names: list[str] | None = None


class _Change(Struct):
    id: str
    table: _Table | None = None
    type: str | None = None
    previous_id: str | None = msgspec.field(name="previousId", default=None)


class Announced(Struct):
    """A column as the schema-change topic has it."""

    connector: str
    type_name: str
    length: int | None
    scale: int | None


_decode = json_decoder(list[_Change])
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


def emptied_tables(text: str) -> list[str]:
    r"""Tables whose rows a schema change ends, as END names them: dropped ones, and the old names
    of those that were renamed.

    >>> emptied_tables('[{"type":"DROP","id":"\\"shop\\".\\"t\\"","table":null}]')
    ['shop.t']
    >>> emptied_tables('[{"type":"ALTER","id":"\\"s\\".\\"b\\"","previousId":"\\"s\\".\\"a\\""}]')
    ['s.a']
    """
    ids = [one.id if one.type == "DROP" else one.previous_id for one in _changes(text)]
    found = (".".join(_parts(one)) for one in ids if one)
    return [*dict.fromkeys(filter(None, found))]


def new_names(text: str) -> list[str]:
    r"""The new names of tables that a schema change renames, as END names them.

    >>> new_names('[{"type":"ALTER","id":"\\"s\\".\\"b\\"","previousId":"\\"s\\".\\"a\\""}]')
    ['s.b']
    """
    return [".".join(_parts(one.id)) for one in _changes(text) if one.previous_id]


def _changes(text: str) -> list[_Change]:
    """The changes of tables in a schema change; none of what cannot be read."""
    try:
        return _decode(text)
    except msgspec.DecodeError:
        return []


def _parts(name: str) -> list[str]:
    return [part.replace('""', '"') for part in _QUOTED.findall(name)]


def table_changes(text: str) -> Iterator[tuple[str | None, str, list[Column], list[str]]]:
    """Schema, name, columns and key of each table in a schema change; none of one that is dropped.

    >>> list(table_changes('[{"type":"DROP","id":"\\\\"shop\\\\".\\\\"t\\\\"","table":null}]'))
    []
    """
    for change in _changes(text):
        parts = _parts(change.id)
        if change.table and parts:
            schema = parts[-2] if len(parts) > 1 else None
            table = change.table
            yield schema, parts[-1], table.columns, table.primary_key_column_names or []


def announced_type(column: Announced, json_types: set[str], largest: int = 0) -> str | None:
    """The type of a column for `row_history`; None where the topic does not say enough.

    The precision mode of times is taken to be the connector's default. What the values contradict
    is not taken.

    Args:
        column: as the topic has it.
        json_types: the JSON types of its values.
        largest: the largest whole number among them, without its sign.

    >>> announced_type(Announced("mysql", "DATETIME", 6, None), {"int"})
    'timestamp_ntz from io.debezium.time.MicroTimestamp'
    >>> announced_type(Announced("mysql", "DECIMAL", 14, 2), {"point_text"})
    'decimal(14,2)'
    >>> announced_type(Announced("mysql", "DATE", None, None), {"string"}) is None
    True
    """
    dialect = DIALECTS.get(column.connector)
    if dialect is None:
        return None
    name = UNSIZED.sub("", " ".join(column.type_name.split())).lower()
    length, scale = column.length, column.scale or 0
    if name in MONEY:
        length, scale = MONEY[name]
    if name in ("decimal", "numeric", "dec", "fixed", *MONEY):
        return sent_decimal(length or LARGEST_PRECISION, scale, json_types)
    found = dialect.get(name) or PLAIN_TYPES.get(name) or sized_type(column.connector, name, length)
    if found is None or not json_types <= json_types_of(found):
        return None
    is_hexadecimal = found == BINARY and bool(json_types) and json_types <= HEXADECIMAL
    return None if is_hexadecimal or has_other_unit(found, largest) else found


def has_other_unit(column_type: str, largest: int) -> bool:
    """Whether times are in another unit than their type has, as in `time.precision.mode=connect`.

    >>> has_other_unit("timestamp_ntz from io.debezium.time.MicroTimestamp", 1_790_000_000_000)
    True
    """
    name = column_type.rpartition(".")[2]
    if name in TIMESTAMP_UNITS and largest >= FIRST_SECOND * MILLIS:
        unit = TIMESTAMP_UNITS[name]
        return not FIRST_SECOND * unit <= largest < LAST_SECOND * unit
    if name == "Time":
        return largest > SECONDS_OF_DAY * MILLIS
    if name in TIME_UNITS:
        # A whole day in the unit before would be less than a minute and a half in this one.
        return 0 < largest <= SECONDS_OF_DAY * TIME_UNITS[name] // 1000
    return False


def sent_decimal(precision: int, scale: int, json_types: set[str]) -> str | None:
    """The type of a decimal by how it was sent: as a number, as text, or in base64."""
    is_text = "point_text" in json_types if scale else json_types <= {"digit_text"}
    if json_types <= NUMBERS or (is_text and json_types <= TEXTS):
        is_of_spark = 0 < precision <= LARGEST_PRECISION and 0 <= scale <= precision
        return f"decimal({precision},{scale})" if is_of_spark else "string"
    if json_types <= TEXTS:
        return decimal_type({"scale": str(scale), "connect.decimal.precision": str(precision)})
    return None


def sized_type(connector: str, name: str, length: int | None) -> str | None:
    """The type of a column whose length says how it is sent."""
    is_mysql = connector in ("mysql", "mariadb")
    digits = length if length is not None else {"sqlserver": 7, "db2": 6}.get(connector, 0)
    if name == "bit":
        is_boolean = connector == "sqlserver" or (length or 1) == 1
        return "boolean" if is_boolean else sized_bits(length or 0)
    if name == "timestamp" and is_mysql:
        return "timestamp"
    if name in ("datetime", "datetime2", "timestamp"):
        unit = "Timestamp" if digits <= 3 else "MicroTimestamp" if digits <= 6 else "NanoTimestamp"
        return LOGICAL_TYPES[f"io.debezium.time.{unit}"]
    if name == "time":
        unit = "Time" if digits <= 3 else "MicroTime" if digits <= 6 else "NanoTime"
        # The default there is adaptive_time_microseconds; Db2's times have whole seconds.
        unit = "MicroTime" if is_mysql else "Time" if connector == "db2" else unit
        return LOGICAL_TYPES[f"io.debezium.time.{unit}"]
    return None


def json_types_of(column_type: str) -> frozenset[str]:
    """The JSON types that values of a column type are sent as."""
    spark_type, _, encoding = column_type.partition(" from ")
    if encoding.startswith("io.debezium.time.") or column_type == UNSIGNED:
        return frozenset({"int"})
    if spark_type.startswith("struct"):
        return frozenset({"other"})
    if spark_type in ("smallint", "int", "bigint"):
        return frozenset({"int"})
    if spark_type in ("float", "double"):
        return NUMBERS
    return frozenset({"boolean"}) if spark_type == "boolean" else TEXTS
