"""Models for captured tables: `<table>_history.sql`, written from what the landing shows."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dbt_debezium.errors import DebeziumError
from dbt_debezium.tables import TableFacts

RESERVED = frozenset({"_source", "_row_key", "_valid_from", "_valid_to", "_change", "is_version"})
"""Columns of our own in every history."""
PUBLIC_NAMES = frozenset({"commit", "published_cut", "held_transaction"})
"""Public tables of our own."""


@dataclass(frozen=True, slots=True)
class Group:
    """Sources that fill one set of tables, told apart by `_change.source`."""

    pattern: str
    name: str

    @classmethod
    def parse(cls, text: str) -> "Group":
        """Read `pattern=name`.

        Raises:
            DebeziumError: it is not of that form.

        >>> Group.parse("shop_*=shop")
        Group(pattern='shop_*', name='shop')
        """
        pattern, separator, name = text.partition("=")
        if {"?", "["} & set(pattern):
            raise DebeziumError(
                f"--group: pattern '{pattern}' has ? or [; only * stands for other text"
            )
        if not (separator and pattern and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)):
            raise DebeziumError(
                f"--group: '{text}' is not <pattern>=<name>; "
                "write --group 'shop_*=shop', the name of letters, digits and underscores"
            )
        return cls(pattern, name)


@dataclass(slots=True, eq=False)
class CapturedTable:
    """One table as models see it: of one source, or of all sources of a group."""

    group: str
    schema: str | None
    table: str
    sources: list[str]
    """Names of sources, or one pattern."""
    facts: TableFacts
    model_name: str = field(default="")

    def place(self) -> tuple[str, str, str]:
        """Group, schema and table."""
        return self.group, self.schema or "", self.table

    def sql(self) -> str:
        """The text of the history model."""
        captured = (
            "{%- set captured = {\n"
            f"    'sources': {jinja_literal(self.sources)},\n"
            f"    'schema': {jinja_literal(self.schema)},\n"
            f"    'table': {jinja_literal(self.table)},\n"
            f"    'is_keyless': {jinja_literal(self.facts.is_keyless)},\n"
            "} -%}\n"
        )
        columns = "".join(
            f"        {jinja_literal(name)}: {jinja_literal(column_type)},\n"
            for name, column_type in self.facts.types().items()
        )
        return (
            f"{captured}{{{{ config(meta={{'captured': captured, "
            f"'public_name': {jinja_literal(self.model_name)}}}) }}}}\n\n"
            f"{{{{ row_history(\n    captured=captured,\n    columns={{\n{columns}    }}\n) }}}}\n"
        )


def jinja_literal(value: str | bool | list[str] | None) -> str:
    """A value as Jinja writes it. Names come from the data, so nothing of them may be code.

    >>> jinja_literal(["it's", None, True])
    "['it\\\\'s', none, true]"
    >>> jinja_literal("{{ x }}")
    "'\\\\x7b\\\\x7b x \\\\x7d\\\\x7d'"
    """
    if isinstance(value, list):
        return f"[{', '.join(jinja_literal(item) for item in value)}]"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    # Even inside a literal these would open or close a block.
    escaped = escaped.replace("{", "\\x7b").replace("}", "\\x7d").replace("#", "\\x23")
    return f"'{escaped}'"


def matches(pattern: str, source: str) -> bool:
    """Whether a source's name fits a pattern, as the macro matches_any has it: * is any text.

    >>> matches("shop_*", "shop_1"), matches("shop_*", "my_shop_1"), matches("a[1]", "a[1]")
    (True, False, True)
    """
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(".*".join(parts), source, re.DOTALL) is not None


def captured_tables(tables: Sequence[TableFacts], groups: Sequence[Group]) -> list[CapturedTable]:
    """The tables that models are written for.

    Sources that match a group's pattern share its tables; the others share tables with the sources
    that have the same ones, so that a hundred tenants of one shape cost no hundred times one.

    Raises:
        DebeziumError: a column is called like one of ours, or two columns differ in case only.
    """
    by_source: dict[str, list[TableFacts]] = {}
    for facts in tables:
        by_source.setdefault(facts.source, []).append(facts)
    sets: dict[object, list[str]] = {}
    for source, source_tables in by_source.items():
        group = next((group for group in groups if matches(group.pattern, source)), None)
        sets.setdefault(group or _shape(source_tables), []).append(source)

    captured: list[CapturedTable] = []
    for key, sources in sets.items():
        merged: dict[tuple[str | None, str], TableFacts] = {}
        for source in sources:
            for facts in by_source[source]:
                place = (facts.schema, facts.table)
                if place not in merged:
                    merged[place] = TableFacts(source, facts.schema, facts.table)
                merged[place].merge(facts)
        name = key.name if isinstance(key, Group) else sources[0]
        patterns = [key.pattern] if isinstance(key, Group) else sources
        for (schema, table), facts in merged.items():
            check_columns(facts)
            if not facts.columns:
                # Only truncates of it have landed: it has no rows, and its columns are unknown.
                continue
            captured.append(CapturedTable(name, schema, table, patterns, facts))
    return _named(captured)


def _shape(tables: Sequence[TableFacts]) -> object:
    return frozenset(
        (facts.schema, facts.table, facts.is_keyless, tuple(facts.types().items()))
        for facts in tables
    )


def check_columns(facts: TableFacts) -> None:
    """Refuse columns that Spark or our own columns would swallow."""
    where = f"table {facts.schema}.{facts.table} of {facts.source}"
    if clashes := RESERVED & {name.lower() for name in facts.columns}:
        raise DebeziumError(
            f"{where}: column '{min(clashes)}' is called like one of ours; "
            "rename it at the source, or leave it out with column.exclude.list"
        )
    counts = Counter(name.lower() for name in facts.columns)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise DebeziumError(
            f"{where}: columns called '{twice[0]}' differ in case only, which Spark cannot hold; "
            "leave one out with column.exclude.list"
        )


def _named(tables: list[CapturedTable]) -> list[CapturedTable]:
    """Give each table the shortest model name that no other table has."""
    for part_count in (1, 2, 3):
        taken = {*PUBLIC_NAMES, *_public_names(table.model_name for table in tables)}
        names = {
            table: _identifier("_".join(filter(None, table.place()[-part_count:])))
            for table in tables
            if not table.model_name
        }
        counts = Counter(public for name in names.values() for public in _public_names([name]))
        for table, name in names.items():
            if all(counts[one] == 1 and one not in taken for one in _public_names([name])):
                table.model_name = name
    number = 0
    for table in tables:
        while not table.model_name:
            number += 1
            name = f"{_identifier(table.table)}_{number}"
            taken = {*PUBLIC_NAMES, *_public_names(other.model_name for other in tables)}
            if taken.isdisjoint(_public_names([name])):
                table.model_name = name
    return tables


def _public_names(model_names: Iterable[str]) -> list[str]:
    """The names that tables take in the public schema."""
    return [f"{name}{suffix}" for name in model_names if name for suffix in ("", "_history")]


def _identifier(name: str) -> str:
    """A name that dbt, Spark and file systems take: lower case letters, digits and underscores."""
    plain = re.sub(r"[^a-z0-9_]", "_", name.lower()).strip("_")[:60]
    return plain if plain and not plain[0].isdigit() else f"table_{plain}"
