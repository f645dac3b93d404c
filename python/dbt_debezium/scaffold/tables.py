"""Which tables the landed messages hold: their columns, keys and simple types.

Types come from a message's schema block where it has one. Without one a value keeps its JSON type,
which is enough to look at data (`preview`); a project that is to last states its types (S19).
"""

import math
import re
from collections.abc import Iterable, Iterator
from functools import reduce

import msgspec
from msgspec import Raw, Struct

from dbt_debezium.json_text import PAYLOAD, shield
from dbt_debezium.json_values import json_members
from dbt_debezium.messages.announced import TEXTS, Announced, announced_type, table_changes
from dbt_debezium.messages.column_types import (
    COLUMN_COMMENT,
    DECIMAL,
    JSON_TEXT,
    connect_type,
    schema_block_columns,
    stronger,
    wider,
)
from dbt_debezium.messages.envelope import flatten_message, opened_value
from dbt_debezium.messages.keys import NAMELESS
from dbt_debezium.settings import DEFAULTS, Settings

LARGEST = 2**63
LONGEST_BIGINT = len(str(-LARGEST))
OWN_FORMS = ('{"before":', '{"schema":{"type":"struct"', '{"op":')
"""How the values of most changes begin."""
NUMBER_TEXT = re.compile(rb'"-?\d+(\.\d+)?"')
HEX_TEXT = re.compile(rb'"(?:[0-9a-f]{2})+"')


def full_name(schema: str | None, table: str) -> str:
    """The table's name with its schema, where it has one.

    >>> full_name("public", "orders"), full_name(None, "orders")
    ('public.orders', 'orders')
    """
    return f"{schema}.{table}" if schema else table


class TableFacts(Struct):
    """One table of one source, as its messages show it."""

    source: str
    schema: str | None
    table: str
    columns: dict[str, set[str]] = {}
    """The JSON types seen in each column, in the columns' order in the source."""
    connect_types: dict[str, str] = {}
    """Column types by a schema block; empty when no message has one."""
    is_keyless: bool = False
    """A message that changes a row came without a key."""
    key_columns: list[str] = []
    """The fields of the messages' keys."""
    comments: dict[str, str] = {}
    """What the source says of a column, where the connector passes it on."""
    announced: dict[str, list[Announced]] = {}
    """Columns as the schema-change topic has had them."""
    databases: set[str] = set()
    """Databases of the source that the messages name."""
    has_signals: bool = False
    """A row of it told the connector to read tables, or closed what it read: it is no data."""
    has_bare_keys: bool = False
    """A message's key is the bare value of one column, which may be one of several."""
    primary_keys: set[tuple[str, ...]] = set()
    """Primary keys that the schema-change topic has given it."""
    hides_old_rows: bool = False
    """A message without a key changes a row and does not show it as it was."""
    has_blind_keys: bool = False
    """A message with a key changes a row and does not show it as it was: the key alone tells it."""
    largest: dict[str, int] = {}
    """The largest whole number of each column, without its sign: it shows the unit of times."""
    hashed: set[str] = set()
    """The columns whose values are hashed, and so text, in lower case."""
    named_identity: list[str] = []
    """The columns that tell rows apart, as a person has named them."""

    @property
    def place(self) -> tuple[str, str | None, str]:
        return self.source, self.schema, self.table

    @property
    def identity(self) -> list[str]:
        """The columns that tell rows apart where message keys do not: as named, else as announced.

        None where the primary key has changed.

        >>> facts = TableFacts("s", None, "t", {"a": {"int"}}, is_keyless=True)
        >>> facts.identity, msgspec.structs.replace(facts, primary_keys={("a",)}).identity
        ([], ['a'])
        """
        if self.named_identity:
            return self.named_identity
        if len(self.primary_keys) != 1 or not (self.is_keyless or self.has_bare_keys):
            return []
        (columns,) = self.primary_keys
        return list(columns) if self.columns.keys() >= set(columns) else []

    def types(self) -> dict[str, str]:
        """The columns with their types for `row_history`.

        >>> TableFacts("s", None, "t", {"a": {"int"}, "b": {"int", "string"}, "c": set()}).types()
        {'a': 'bigint', 'b': 'string from json', 'c': 'string'}
        """
        found: dict[str, str] = {}
        for name, json_types in self.columns.items():
            announced = self.announced_type(name, json_types)
            if name.lower() in self.hashed:
                found[name] = "string"
            elif name in self.connect_types:
                found[name] = sent_as(stronger(self.connect_types[name], announced), json_types)
            else:
                found[name] = announced or type_of(json_types)
        return found

    def announced_type(self, name: str, json_types: set[str]) -> str | None:
        """The type by the schema-change topic; None where it has none, or one that cannot be."""
        found = [
            announced_type(column, json_types, self.largest.get(name, 0))
            for column in self.announced.get(name, [])
        ]
        types = [one for one in found if one]
        return reduce(wider, types) if types and len(types) == len(found) else None

    def merge(self, other: "TableFacts") -> None:
        """Add what other messages of the table, or the same table of another source, have shown."""
        for name, json_types in other.columns.items():
            self.columns.setdefault(name, set()).update(json_types)
        self.merge_types(other.connect_types)
        self.is_keyless |= other.is_keyless
        self.key_columns += [name for name in other.key_columns if name not in self.key_columns]
        self.comments.update(other.comments)
        for name, columns in other.announced.items():
            known = self.announced.setdefault(name, [])
            known += [column for column in columns if column not in known]
        self.databases |= other.databases
        self.has_signals |= other.has_signals
        self.has_bare_keys |= other.has_bare_keys
        self.primary_keys |= other.primary_keys
        self.hides_old_rows |= other.hides_old_rows
        self.has_blind_keys |= other.has_blind_keys
        for name, number in other.largest.items():
            self.largest[name] = max(number, self.largest.get(name, 0))
        self.hashed |= other.hashed
        self.named_identity = self.named_identity or other.named_identity

    def merge_types(self, connect_types: dict[str, str]) -> None:
        """Add the types of another schema; of two that differ, what holds the values of both."""
        for name, found in connect_types.items():
            known = self.connect_types.setdefault(name, found)
            if known != found:
                self.connect_types[name] = wider(known, found)


def type_of(json_types: set[str]) -> str:
    """The Spark type that holds values of these JSON types, for `row_history`."""
    if json_types <= TEXTS:
        return "string"
    if json_types == {"boolean"}:
        return "boolean"
    if json_types == {"int"}:
        return "bigint"
    if json_types <= {"int", "float"}:
        return "double"
    return JSON_TEXT


def sent_as(connect_type: str, json_types: set[str]) -> str:
    """The type with its encoding, which the converter can change: `decimal.format=NUMERIC`.

    >>> sent_as("decimal(4,2) from org.apache.kafka.connect.data.Decimal(2)", {"float", "int"})
    'decimal(4,2)'
    """
    spark_type, _, encoding = connect_type.partition(" from ")
    if encoding.startswith(DECIMAL) and json_types and not json_types & TEXTS:
        return spark_type
    return connect_type


def json_type(text: bytes) -> str | None:
    """The JSON type of a value by its text; None for null, which says nothing.

    A number that no column of Spark holds exactly is `other`, and so kept as text.

    >>> [json_type(text) for text in (b"1", b"1e400", b"1.5", b"true", b"[1]", b"null", b'"a"')]
    ['int', 'other', 'float', 'boolean', 'other', None, 'string']
    >>> json_type(b'"1"'), json_type(b'"-1.50"'), json_type(b'"0aff"')
    ('digit_text', 'point_text', 'hex_text')
    """
    if text == b"null":
        return None
    if text in {b"true", b"false"}:
        return "boolean"
    if text[:1] == b'"':
        number = NUMBER_TEXT.fullmatch(text)
        if number:
            return "point_text" if number[1] else "digit_text"
        return "hex_text" if HEX_TEXT.fullmatch(text) else "string"
    if text[:1] in b"{[":
        return "other"
    if text.lstrip(b"-").isdigit():
        is_bigint = len(text) <= LONGEST_BIGINT and -LARGEST <= int(text) < LARGEST
        return "int" if is_bigint else "other"
    return "float" if math.isfinite(float(text)) else "other"


def read_image(image: str) -> dict[str, Raw]:
    """The columns of an image with their values' JSON text."""
    try:
        return json_members(image)
    except msgspec.DecodeError:
        # The envelope was read, so what is left to refuse are lone surrogates.
        return json_members(shield(image))


def observe(
    messages: Iterable[tuple[str, str | None, str | None]],
    settings: Settings = DEFAULTS,
) -> Iterator[TableFacts]:
    """Look at messages, and yield what they show of each table, once per table.

    Args:
        messages: topic, key and value of each.
        settings: what the project says of its connectors.
    """
    tables: dict[tuple[str, str | None, str], TableFacts] = {}
    known_schemas: set[tuple[tuple[str, str | None, str], str]] = set()
    for topic, key, value in messages:
        flat = flatten_message(topic, key, value, [], settings)
        if flat.kind == "schema_change" and flat.source and flat.table_changes:
            observe_announced(tables, flat.source, flat.connector or "", flat.table_changes)
        if flat.kind != "change" or value is None or not flat.source or not flat.table_name:
            continue
        facts = TableFacts(flat.source, flat.schema_name, flat.table_name)
        facts = tables.setdefault(facts.place, facts)
        if flat.database_name is not None:
            facts.databases.add(flat.database_name)
        facts.has_signals |= flat.signal_type is not None
        facts.hashed |= settings.hashed_columns(flat.schema_name, flat.table_name)
        if not value.startswith(OWN_FORMS):
            value = opened_value(value)
        # Most messages of a table have one schema block, of 5 kB.
        schema = value[: max(value.find(PAYLOAD), 0)]
        if (facts.place, schema) not in known_schemas:
            known_schemas.add((facts.place, schema))
            columns = schema_block_columns(value)
            facts.merge_types({column.field_name or "": connect_type(column) for column in columns})
            for column in columns:
                if comment := (column.parameters or {}).get(COLUMN_COMMENT):
                    facts.comments[column.field_name or ""] = comment
        is_blind = flat.operation == "u" and flat.before is None
        if flat.row_key is None:
            facts.is_keyless |= flat.operation != "t"
            facts.hides_old_rows |= is_blind
        elif flat.row_key.startswith(NAMELESS):
            facts.has_bare_keys = True
        elif not facts.key_columns:
            facts.key_columns = list(read_image(flat.row_key))
        facts.has_blind_keys |= is_blind and flat.row_key is not None
        # Without a key `before` is a true image; with one its other columns may be made up (S12).
        images = [flat.after] if flat.row_key else [flat.before, flat.after]
        for image in filter(None, images):
            for name, text in read_image(image).items():
                json_types = facts.columns.setdefault(name, set())
                if (shown := json_type(bytes(text))) is not None:
                    json_types.add(shown)
                if shown == "int" and (number := abs(int(bytes(text)))) > facts.largest.get(
                    name, 0
                ):
                    facts.largest[name] = number
    yield from tables.values()


def observe_announced(
    tables: dict[tuple[str, str | None, str], TableFacts], source: str, connector: str, changes: str
) -> None:
    """Note what a message of the schema-change topic says of columns."""
    for schema, table, columns, key_columns in table_changes(changes):
        facts = TableFacts(source, schema, table)
        for column in columns:
            name = column.type_expression or column.type_name or ""
            facts.announced[column.name] = [Announced(connector, name, column.length, column.scale)]
            if column.comment:
                facts.comments[column.name] = column.comment
        facts.key_columns = key_columns
        facts.primary_keys = {tuple(key_columns)}
        tables.setdefault(facts.place, TableFacts(*facts.place)).merge(facts)
