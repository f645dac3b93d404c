"""The types of columns, as `row_history` names them, by the schema blocks of messages."""

import re

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dbt_debezium.json_text import PAYLOAD, is_too_deep
from dbt_debezium.json_values import json_decoder, json_members

JSON_TEXT = "string from json"
"""The type of a column whose values are kept as JSON text."""
BINARY = "binary from base64"
CONNECT_TYPES = {
    "int8": "smallint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "float32": "float",
    "double": "double",
    "float64": "double",
    "boolean": "boolean",
    "string": "string",
    "bytes": BINARY,
}
WITH_DEFAULT = " with default"
"""How the type of a column ends in `sent_types` that has a default in the schema block."""
UNSIGNED = "decimal(20,0) from unsigned bigint"
"""An unsigned integer of 64 bits, which connectors send as a signed one."""
PARTLY_UNSIGNED = "decimal(20,0) from partly unsigned bigint"
"""One that was signed at first: of a number below zero nobody knows which of the two it was."""
UNSIGNED_NAME = re.compile(r"\b(bigint|int8)\s+unsigned\b|\bserial\b", re.IGNORECASE)
INTEGERS = ("smallint", "int", "bigint")
"""Each holds what those before it hold."""
DECIMAL = "org.apache.kafka.connect.data.Decimal"
BITS = "io.debezium.data.Bits"
GEOMETRY = "struct<wkb:binary,srid:int> from io.debezium.data.geometry.Geometry"
SPARSE_VECTOR = "struct<dimensions:int,vector:map<int,double>> from io.debezium.data.SparseVector"
LOGICAL_TYPES = {
    "io.debezium.data.SparseDoubleVector": SPARSE_VECTOR,
    "io.debezium.data.SparseVector": SPARSE_VECTOR,
    # Each value has a scale of its own: one decimal type would lose digits.
    "io.debezium.data.VariableScaleDecimal": "string from io.debezium.data.VariableScaleDecimal",
    "io.debezium.data.geometry.Geography": GEOMETRY,
    "io.debezium.data.geometry.Geometry": GEOMETRY,
    "io.debezium.data.geometry.Point": (
        "struct<x:double,y:double,wkb:binary,srid:int> from io.debezium.data.geometry.Point"
    ),
    "io.debezium.time.Date": "date from io.debezium.time.Date",
    "io.debezium.time.IsoDate": "date from io.debezium.time.IsoDate",
    "io.debezium.time.IsoTime": "string from io.debezium.time.IsoTime",
    "io.debezium.time.IsoTimestamp": "timestamp_ntz from io.debezium.time.IsoTimestamp",
    "io.debezium.time.MicroTime": "string from io.debezium.time.MicroTime",
    "io.debezium.time.MicroTimestamp": "timestamp_ntz from io.debezium.time.MicroTimestamp",
    "io.debezium.time.NanoTime": "string from io.debezium.time.NanoTime",
    "io.debezium.time.NanoTimestamp": "timestamp_ntz from io.debezium.time.NanoTimestamp",
    "io.debezium.time.Time": "string from io.debezium.time.Time",
    "io.debezium.time.Timestamp": "timestamp_ntz from io.debezium.time.Timestamp",
    "io.debezium.time.ZonedTimestamp": "timestamp",
    "org.apache.kafka.connect.data.Date": "date from io.debezium.time.Date",
    "org.apache.kafka.connect.data.Time": "string from io.debezium.time.Time",
    "org.apache.kafka.connect.data.Timestamp": "timestamp_ntz from io.debezium.time.Timestamp",
}
"""Logical types by the name in the schema. Those that are not here are what their Connect type is:
text (uuid, json, xml, enum and set, ltree, tsvector, times with zone, intervals) or numbers (years,
durations)."""
COLUMN_TYPE = "__debezium.source.column.type"
COLUMN_COMMENT = "__debezium.source.column.comment"
UNLIMITED = 2**31 - 1
"""Length of a bit varying that has none."""
LENGTH = re.compile("[0-9]{1,10}")
LONGEST_BITS = 100_000
"""Each value of a row takes so many characters, however short it was sent."""
LARGEST_PRECISION = 38
WRITTEN_SCALES = range(-400, 20_001)
"""Scales of decimals that can be written as text, as the macro `decoded_unscaled` has them."""
DECIMAL_SIZE = re.compile(r"decimal\((\d+),(\d+)\)")


class Field(Struct):
    type: str | None = None
    name: str | None = None
    field_name: str | None = msgspec.field(name="field", default=None)
    fields: list["Field"] | None = None
    items: "Field | None" = None
    keys: "Field | None" = None
    values: "Field | None" = None
    parameters: dict[str, str] | None = None
    default: Raw | UnsetType = UNSET


class _Wrapped(Struct):
    schema: Field | None = None
    payload: Raw = Raw()


_decode_wrapped = json_decoder(_Wrapped)
_known_types: dict[str, str | None] = {}
"""Column types by the text of the schema: most messages of a table have one, of 5 kB."""
_known_columns: dict[tuple[str, ...], str] = {}
MOST_KNOWN = 10_000


def wider(one: str, other: str) -> str:
    """The type that holds the values of both; each value is read by its own message's type.

    >>> wider("int", "smallint"), wider("int", "string"), wider("int", "array<int> from array")
    ('int', 'string', 'string from json')
    >>> wider(decimal_type({"scale": "2"}), decimal_type({"scale": "4"}))
    'decimal(38,4) from org.apache.kafka.connect.data.Decimal(4)'
    """
    if one in INTEGERS and other in INTEGERS:
        return max(one, other, key=INTEGERS.index)
    both = sorted([one, other])
    if {*both} in ({"bigint", UNSIGNED}, {"bigint", PARTLY_UNSIGNED}, {UNSIGNED, PARTLY_UNSIGNED}):
        return PARTLY_UNSIGNED
    if UNSIGNED in both and {*both} <= {UNSIGNED, *INTEGERS}:
        return UNSIGNED
    kinds = {spark_type(kind) for kind in both}
    if JSON_TEXT in both or "binary" in kinds or any("<" in kind for kind in kinds):
        return JSON_TEXT
    if len(kinds) == 1:
        return both[0]
    sizes = [DECIMAL_SIZE.match(kind) for kind in both]
    if sizes[0] and sizes[1]:
        precisions, scales = zip(*(map(int, size.groups()) for size in sizes if size), strict=True)
        digits = max(p - s for p, s in zip(precisions, scales, strict=True))
        scale = max(scales)
        encodings = {s: kind.partition(" from ")[2] for s, kind in zip(scales, both, strict=True)}
        precision = min(digits + scale, LARGEST_PRECISION)
        found = f"decimal({precision},{scale})"
        return f"{found} from {encodings[scale]}" if encodings[scale] else found
    return "string"


def stronger(sent: str, announced: str | None) -> str:
    """The type by the schema block, or by the schema-change topic where that says more.

    A block says neither that an integer has no sign, nor how wide a bit string or how precise a
    decimal is that its connector writes as text.

    >>> stronger("bigint", UNSIGNED), stronger("int", "bigint")
    ('decimal(20,0) from unsigned bigint', 'int')
    >>> stronger("string", "decimal(10,2)"), stronger("string", "string from json")
    ('decimal(10,2)', 'string')
    """
    if announced is None:
        return sent
    sent_kind, _, sent_encoding = sent.partition(" from ")
    kind, _, encoding = announced.partition(" from ")
    says_more = (
        (sent in ("bigint", UNSIGNED) and announced in (UNSIGNED, PARTLY_UNSIGNED))
        or (sent == f"string from {BITS}" and encoding.startswith(f"{BITS}("))
        or (sent == "string" and kind.startswith("decimal(") and not encoding)
        or (
            sent_kind.startswith(f"decimal({LARGEST_PRECISION},")
            and kind.startswith("decimal(")
            and sent_encoding == encoding != ""
        )
    )
    return announced if says_more else sent


def spark_type(column_type: str) -> str:
    """A column's type without the encoding."""
    return column_type.partition(" from ")[0]


def connect_type(schema: Field) -> str:
    """The type of a column by its schema, for `row_history`.

    >>> connect_type(Field(type="array", items=Field(type="int32", name="io.debezium.time.Date")))
    'array<date> from array<io.debezium.time.Date>'
    """
    parameters = schema.parameters or {}
    if schema.name in LOGICAL_TYPES:
        return LOGICAL_TYPES[schema.name]
    if schema.name == DECIMAL:
        return decimal_type(parameters)
    if schema.name == BITS:
        return bits_type(parameters)
    if schema.type == "array" and schema.items:
        item_type, _, encoding = connect_type(schema.items).partition(" from ")
        if encoding.startswith(("array", "map", "json")):
            return JSON_TEXT
        # Iceberg has no smallint.
        item_type = item_type.replace("smallint", "int")
        return f"array<{item_type}> from array" + (f"<{encoding}>" if encoding else "")
    if schema.type == "map" and schema.keys and schema.values:
        is_text = schema.keys.type == schema.values.type == "string"
        return "map<string,string> from map" if is_text else JSON_TEXT
    if schema.type == "int64" and UNSIGNED_NAME.search(parameters.get(COLUMN_TYPE, "")):
        return UNSIGNED
    return CONNECT_TYPES.get(schema.type or "", JSON_TEXT)


def decimal_type(parameters: dict[str, str]) -> str:
    """The type of a decimal in bytes.

    >>> decimal_type({"scale": "2", "connect.decimal.precision": "10"})
    'decimal(10,2) from org.apache.kafka.connect.data.Decimal(2)'
    >>> decimal_type({"scale": "5", "connect.decimal.precision": "3"})
    'decimal(5,5) from org.apache.kafka.connect.data.Decimal(5)'
    >>> decimal_type({"scale": "2046"})
    'string from org.apache.kafka.connect.data.Decimal(2046)'
    >>> decimal_type({"scale": "-2147483647"})
    'string'
    """
    try:
        scale = int(parameters.get("scale", "0"))
        precision = int(parameters.get("connect.decimal.precision", LARGEST_PRECISION))
    except ValueError:
        return "string"
    if scale not in WRITTEN_SCALES:
        return "string"
    if abs(scale) > LARGEST_PRECISION:
        return f"string from {DECIMAL}({scale})"
    precision = min(max(precision - min(scale, 0), scale, 1), LARGEST_PRECISION)
    return f"decimal({precision},{max(scale, 0)}) from {DECIMAL}({scale})"


def bits_type(parameters: dict[str, str]) -> str:
    """The type of a bit string, with its length where all values have it.

    >>> bits_type({"length": "5"}), bits_type({"length": "2147483647"})
    ('string from io.debezium.data.Bits(5)', 'string from io.debezium.data.Bits')
    """
    length = parameters.get("length", "")
    is_varying = "VAR" in parameters.get(COLUMN_TYPE, "").upper()
    if is_varying or not LENGTH.fullmatch(length) or int(length) == UNLIMITED:
        return f"string from {BITS}"
    return sized_bits(int(length))


def sized_bits(length: int) -> str:
    """The type of a bit string of this length: text up to a length that rows can be filled up to.

    >>> sized_bits(5), sized_bits(10**9)
    ('string from io.debezium.data.Bits(5)', 'binary from base64')
    """
    return f"string from {BITS}({length})" if 0 < length <= LONGEST_BITS else BINARY


def schema_name(value: str) -> str | None:
    """The name of a message's schema by its schema block.

    >>> schema_name('{"schema":{"type":"struct","name":"shop.public.orders.Envelope"}}')
    'shop.public.orders.Envelope'
    """
    try:
        schema = _decode_wrapped(value).schema
    except msgspec.DecodeError:
        return None
    return schema.name if schema else None


def schema_block_columns(value: str) -> list[Field]:
    """The columns by the schema block of a message; none when it has no such block."""
    try:
        # Types are made level by level, so what msgspec reads could still exhaust the stack.
        schema = None if is_too_deep(value) else _decode_wrapped(value).schema
    except msgspec.DecodeError:
        return []
    for image in (schema.fields or []) if schema else []:
        if image.field_name == "after":
            return [column for column in image.fields or [] if column.field_name]
    return []


def sent_types(value: str) -> str | None:
    """The columns of a wrapped change with their types by its schema block, as a JSON object.

    >>> sent_types('{"schema":{"fields":[{"field":"after","fields":[{"field":"id","type":"int32",'
    ...     '"default":7}]}]},"payload":{"op":"c"}}')
    '{"id":"int with default"}'
    """
    cut = value.find(PAYLOAD)
    if cut < 0:
        return _types_of(value)
    schema = value[: cut + 1]
    try:
        return _known_types[schema]
    except KeyError:
        if len(_known_types) >= MOST_KNOWN:
            _known_types.clear()
        return _known_types.setdefault(schema, _types_of(schema + "}"))


def untyped_columns(row: str) -> str:
    """The columns of a row whose message has no schema block, as `sent_types` gives them.

    >>> untyped_columns('{"id":1,"name":"x"}')
    '{"id":"","name":""}'
    """
    names = tuple(json_members(row))
    text = _known_columns.get(names)
    if text is None:
        if len(_known_columns) >= MOST_KNOWN:
            _known_columns.clear()
        text = msgspec.json.encode(dict.fromkeys(names, "")).decode()
        _known_columns[names] = text
    return text


def _types_of(value: str) -> str | None:
    columns = {
        column.field_name or "": connect_type(column)
        + ("" if column.default is UNSET else WITH_DEFAULT)
        for column in schema_block_columns(value)
    }
    return msgspec.json.encode(columns).decode() if columns else None
