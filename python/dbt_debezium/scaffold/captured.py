"""Which captured tables get models, and under which names."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbt_debezium.errors import DebeziumError
from dbt_debezium.patterns import matches
from dbt_debezium.scaffold.model_files import Texts, history_sql
from dbt_debezium.scaffold.tables import TableFacts, full_name
from dbt_debezium.writers.name import check_name

RESERVED = frozenset(
    {
        "_source",
        "_row_key",
        "_valid_from",
        "_valid_to",
        "_valid_from_at",
        "_valid_to_at",
        "_change",
        "is_version",
    }
)
"""Columns of our own in every history, and in what readers see of it."""
METADATA_COLUMNS = frozenset(
    {
        "_file",
        "_pos",
        "_deleted",
        "_spec_id",
        "_partition",
        "_row_id",
        "_last_updated_sequence_number",
        "_change_type",
        "_change_ordinal",
        "_commit_snapshot_id",
    }
)
"""Columns that Iceberg has in every table (its class MetadataColumns): one of the source is built
and then cannot be read."""
PUBLIC_NAMES = frozenset({"commit", "published_cut", "held_transaction", "table_flag"})
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

    @property
    def has_several_sources(self) -> bool:
        """Whether rows of more than one source can be in it."""
        return len(self.sources) > 1 or "*" in self.sources[0]

    def place(self) -> tuple[str, str, str]:
        """Group, schema and table."""
        return self.group, self.schema or "", self.table

    def captured(self) -> dict[str, Any]:
        """What the history model says of the table."""
        told_apart: dict[str, Any] = {}
        if identity := self.facts.identity:
            told_apart = {"identity": identity}
        elif self.facts.is_keyless:
            told_apart = {"is_keyless": True}
        return {
            "sources": self.sources,
            "schema": self.schema,
            "table": self.table,
            **told_apart,
            "truncate": "apply",
        }

    def texts(self) -> Texts:
        """What people read about the table."""
        columns = self.facts.types()
        return Texts(
            place=full_name(self.schema, self.table),
            model_name=self.model_name,
            columns=columns,
            key_columns=self.facts.identity or self._key_columns(),
            comments=self.facts.comments,
            has_several_sources=self.has_several_sources,
        )

    def _key_columns(self) -> list[str]:
        columns, key = self.facts.columns, self.facts.key_columns
        if self.facts.is_keyless or not columns.keys() >= set(key):
            return []
        return [name for name in columns if name in key]

    def sql(self) -> str:
        """The text of the history model."""
        return history_sql(self.captured(), self.model_name, self.facts.types())


def chosen_tables(tables: Sequence[TableFacts], patterns: Sequence[str]) -> list[TableFacts]:
    """The tables whose name, with or without their source's before it, fits a pattern.

    A table of signals is no data (S10): only its own name, without *, chooses it.

    Raises:
        DebeziumError: no table fits one of the patterns.
    """
    chosen: list[TableFacts] = []
    for pattern in patterns:
        fitting = [one for one in tables if any(matches(pattern, name) for name in full_names(one))]
        if not fitting:
            raise DebeziumError(
                f"scaffold: no table that has landed fits '{pattern}'; "
                "write it like 'public.orders' or 'shop.public.*'"
            )
        chosen += [one for one in fitting if "*" not in pattern or not one.has_signals]
    if not patterns:
        return [one for one in tables if not one.has_signals]
    return [one for one in tables if one in chosen]


def full_names(facts: TableFacts) -> tuple[str, str]:
    """A table's name with its schema, and with its source before that."""
    name = full_name(facts.schema, facts.table)
    return name, f"{facts.source}.{name}"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A table of which there is no model, and why."""

    sources: list[str]
    """Names or patterns."""
    sentence: str


def writable_tables(tables: Sequence[TableFacts]) -> tuple[list[TableFacts], list[LeftOut]]:
    """The tables that models can be written for, and what is to be said of the others."""
    written, refusals = [], []
    for facts in tables:
        try:
            check_database(facts)
            check_names(facts)
        except DebeziumError as error:
            refusals.append(LeftOut([facts.source], str(error)))
        else:
            written.append(facts)
    return written, refusals


def captured_tables(
    tables: Sequence[TableFacts],
    groups: Sequence[Group],
    taken: Collection[str] = (),
    refusals: list[LeftOut] | None = None,
) -> list[CapturedTable]:
    """The tables that models are written for.

    Sources that match a group's pattern share its tables; the others share tables with the sources
    that have the same ones, so that a hundred tenants of one shape cost no hundred times one.

    Args:
        taken: names of models and public tables that are there already.
        refusals: takes each table that is left out; without it the first one ends everything.

    Raises:
        DebeziumError: a column is called like one of ours, two columns differ in case only, or a
            source has a table of two databases.
    """
    if refusals is not None:
        tables, found = writable_tables(tables)
        refusals += found
    by_source: dict[str, list[TableFacts]] = {}
    for facts in tables:
        check_database(facts)
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
            try:
                check_names(facts)
            except DebeziumError as error:
                # What each of them has alone can differ in case only.
                if refusals is None:
                    raise
                refusals.append(LeftOut(patterns, str(error)))
                continue
            if not facts.columns:
                # Only truncates of it have landed: it has no rows, and its columns are unknown.
                continue
            captured.append(CapturedTable(name, schema, table, patterns, facts))
    return _named(captured, taken)


def _shape(tables: Sequence[TableFacts]) -> object:
    return frozenset(
        (facts.schema, facts.table, facts.is_keyless, tuple(facts.types().items()))
        for facts in tables
    )


def check_names(facts: TableFacts) -> None:
    """Refuse names that cannot be written, and columns that Spark or ours would swallow."""
    where = f"table {full_name(facts.schema, facts.table)} of {facts.source}"
    check_name(where, "source", facts.source)
    if facts.schema is not None:
        check_name(where, "schema", facts.schema)
    check_name(where, "table", facts.table)
    for name in facts.columns:
        check_name(where, "column", name)
    if "*" in facts.source:
        raise DebeziumError(
            f"{where}: a model takes * for any text; give the source another topic.prefix"
        )
    if clashes := RESERVED & {name.lower() for name in facts.columns}:
        raise DebeziumError(
            f"{where}: column '{min(clashes)}' is called like one of ours; "
            "rename it at the source, or leave it out with column.exclude.list"
        )
    if clashes := METADATA_COLUMNS & {name.lower() for name in facts.columns}:
        raise DebeziumError(
            f"{where}: column '{min(clashes)}' is called like a metadata column of Iceberg; "
            "rename it at the source, or leave it out with column.exclude.list"
        )
    counts = Counter(name.lower() for name in facts.columns)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise DebeziumError(
            f"{where}: columns called '{twice[0]}' differ in case only, which Spark cannot hold; "
            "leave one out with column.exclude.list"
        )


def check_database(facts: TableFacts) -> None:
    """Refuse a table of two databases: a source is one database, so its rows would be mixed."""
    if len(facts.databases) > 1:
        names = " and ".join(f"'{name}'" for name in sorted(facts.databases))
        raise DebeziumError(
            f"table {full_name(facts.schema, facts.table)} of {facts.source}: comes from the "
            f"databases {names}; give each database a connector with a topic.prefix of its own"
        )


def _named(tables: list[CapturedTable], reserved: Collection[str]) -> list[CapturedTable]:
    """Give each table the shortest model name that no other table has."""
    taken = {*PUBLIC_NAMES, *reserved}
    for part_count in (1, 2, 3):
        names = {
            table: identifier("_".join(filter(None, table.place()[-part_count:])))
            for table in tables
            if not table.model_name
        }
        counts = Counter(one for name in names.values() for one in names_of(name))
        for table, name in names.items():
            if all(counts[one] == 1 for one in names_of(name)) and taken.isdisjoint(names_of(name)):
                table.model_name = name
        taken.update(one for table in tables for one in names_of(table.model_name))
    number = 0
    for table in tables:
        while not table.model_name:
            number += 1
            name = f"{identifier(table.table)}_{number}"
            if taken.isdisjoint(names_of(name)):
                table.model_name = name
                taken.update(names_of(name))
    return tables


def names_of(model_name: str) -> tuple[str, ...]:
    """The names that a table takes among models and public tables."""
    if not model_name:
        return ()
    return (model_name, f"{model_name}_history", f"{model_name}_changes", f"cur_{model_name}")


def identifier(name: str) -> str:
    """A name that dbt, Spark and file systems take: lower case letters, digits and underscores."""
    plain = re.sub(r"[^a-z0-9_]", "_", name.lower()).strip("_")[:60]
    return plain if plain and not plain[0].isdigit() else f"table_{plain}"
