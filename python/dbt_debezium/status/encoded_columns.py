"""Published columns whose values look encoded though nothing says how (S19).

Without schema blocks (`schemas.enable=false`) a decimal is base64 and a date a number of days. They
are published as sent, and this says of which columns that seems to be so.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dbt_debezium.messages.column_types import JSON_TEXT
from dbt_debezium.patterns import matches
from dbt_debezium.readers import Reader
from dbt_debezium.scaffold.tables import full_name
from dbt_debezium.status.value_looks import look_of
from dbt_debezium.writers import sql

SAMPLED_ROWS: Final = 200
TABLES_A_QUERY: Final = 50

# A column that the schema-change topic announces as a number or a text is what it says.
UNTYPED = """
select shown.source, shown.schema_name, shown.table_name, shown.column_name,
    bool_or(shown.told_by = 'change' and shown.is_key) as is_key,
    bool_or(shown.told_by = 'schema_change' and rlike(shown.column_type, '(?i)int|number|numeric'))
        as is_number,
    bool_or(shown.told_by = 'schema_change' and rlike(shown.column_type, '(?i)char|text|clob'))
        as is_text
from {schema}.cut as published
inner join {schema}.table_schema as shown
    on shown.cut_id <= published.cut_id
where published.channel = 'published'
group by shown.source, shown.schema_name, shown.table_name, shown.column_name
having not bool_or(shown.told_by = 'change' and shown.column_type is not null)
"""
SAMPLE = """
select {number} as number, _change.source, to_json(struct({columns})) as row
from (select _change, {columns} from {place} limit {rows})
"""


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A published table and its model."""

    name: str
    captured: Mapping[str, Any]
    columns: Mapping[str, str]
    """With their types, as `row_history` takes them."""

    def as_sent(self) -> list[str]:
        """Columns that are published as they were sent."""
        return [
            name
            for name, kind in self.columns.items()
            if kind in ("string", "bigint", "double", JSON_TEXT)
        ]

    def place(self) -> str:
        return full_name(self.captured["schema"], self.captured["table"])


def encoded_columns(
    lake: Reader, tables: Iterable[ShownTable], build_schema: str, public_schema: str
) -> dict[str, dict[str, dict[str, str]]]:
    """By source and table: the columns that look encoded, and what they look like.

    Reads the first rows of each table that has columns without types.
    """
    published = lake.views(public_schema)
    if not published or not lake.has(f"{build_schema}.table_schema"):
        return {}
    untyped: dict[tuple[str | None, str], dict[str, dict[str, Any]]] = {}
    for row in lake.rows(UNTYPED.format(schema=build_schema)):
        of_source = untyped.setdefault((row["schema_name"], row["table_name"]), {})
        of_source.setdefault(row["source"], {})[row["column_name"]] = row
    sampled = [
        (table, columns)
        for table in tables
        if (of_table := untyped.get((table.captured["schema"], table.captured["table"])))
        and (columns := [name for name in table.as_sent() if _is_untyped(name, table, of_table)])
        and table.name in published
    ]
    found: dict[str, dict[str, dict[str, str]]] = {}
    for start in range(0, len(sampled), TABLES_A_QUERY):
        for (table, source), values in _samples(
            lake, sampled[start : start + TABLES_A_QUERY], public_schema
        ):
            told = untyped[table.captured["schema"], table.captured["table"]].get(source, {})
            looks = {
                name: look.name
                for name, texts in sorted(values.items())
                if name in told
                and (look := look_of(name, texts, told[name]["is_key"] or told[name]["is_number"]))
                and not told[name]["is_text"]
            }
            if looks:
                found.setdefault(source, {})[table.place()] = looks
    return {source: dict(sorted(of_source.items())) for source, of_source in found.items()}


def _is_untyped(
    column: str, table: ShownTable, of_table: Mapping[str, Mapping[str, object]]
) -> bool:
    return any(
        column in columns
        for source, columns in of_table.items()
        if any(matches(pattern, source) for pattern in table.captured["sources"])
    )


def _samples(
    lake: Reader, sampled: Sequence[tuple[ShownTable, Sequence[str]]], schema: str
) -> Iterable[tuple[tuple[ShownTable, str], dict[str, list[str]]]]:
    """The values of the first rows that are not null, by table and source, and by column."""
    queries = [
        SAMPLE.format(
            number=number,
            columns=", ".join(map(sql.identifier, columns)),
            place=f"{sql.identifier(schema)}.{sql.identifier(table.name)}",
            rows=SAMPLED_ROWS,
        )
        for number, (table, columns) in enumerate(sampled)
    ]
    values: dict[tuple[int, str], dict[str, list[str]]] = {}
    for row in lake.rows("union all".join(queries)):
        of_table = values.setdefault((row["number"], row["source"]), {})
        for name, value in json.loads(row["row"], parse_float=str).items():
            # Spark leaves out what is null, and DuckDB does not.
            if value is not None:
                shown = value if isinstance(value, str) else json.dumps(value)
                of_table.setdefault(name, []).append(shown)
    return [((sampled[number][0], source), one) for (number, source), one in values.items()]
