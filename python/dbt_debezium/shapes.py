"""Where models and the tables of their source have come apart, of what is published."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dbt_debezium.flags import listed
from dbt_debezium.model_files import HistoryModel
from dbt_debezium.patterns import matches
from dbt_debezium.readers import Reader
from dbt_debezium.tables import full_name

SHOWN_COLUMNS = """
select distinct shown.schema_name, shown.table_name, shown.source, shown.column_name
from {schema}.cut as published
inner join {schema}.table_schema as shown
    on shown.cut_id <= published.cut_id
where published.channel = 'published' and shown.told_by = 'change'
order by shown.source, shown.schema_name, shown.table_name, shown.column_name
"""
SCHEMA_CHANGES = """
select change.source, change.schema_name, change.table_name, change.commit_number,
    change.change_kind, change.column_name, change.previous_type, change.column_type,
    change.may_have_changed_rows
from {schema}.cut as published
inner join {schema}.schema_change as change
    on change.cut_id <= published.cut_id
where published.channel = 'published'
order by
    change.source, change.commit_number, change.position, change.table_name, change.column_name
"""


KEY_CHANGES = """
select
    source, concat_ws('.', schema_name, table_name) as table_name, commit_number,
    previous_type, column_type
from {schema}.schema_change
where change_kind = 'key_changed'
order by source, commit_number, position
"""

SIGNAL_COLUMNS = {"id", "type", "data"}


@dataclass(slots=True)
class ShapeReport:
    """What one source shows of its tables that their models do not say."""

    unknown_columns: dict[str, list[str]] = field(default_factory=dict)
    """Columns that the model lacks, by table."""
    unmodelled: dict[str, set[str]] = field(default_factory=dict)
    """The columns of tables that no model has, by table."""
    changes: list[dict[str, Any]] = field(default_factory=list)
    """Every change of a captured table's shape, in order of commit."""

    def tables_without_model(self) -> list[str]:
        """Tables that nobody can query, without those of signals (S6)."""
        return sorted(
            table
            for table, columns in self.unmodelled.items()
            if {column.lower() for column in columns} != SIGNAL_COLUMNS
        )

    def sentences(self, source: str) -> list[str]:
        """What a person has to know, one sentence for each table and matter."""
        found = [
            f"{source}: {table} has columns that its model lacks: {', '.join(sorted(columns))}; "
            "`dbt-debezium scaffold` adds them"
            for table, columns in sorted(self.unknown_columns.items())
        ]
        tables = self.tables_without_model()
        if tables:
            names = listed(tables, "tables")
            found.append(f"{source}: no model shows {names}; `dbt-debezium scaffold` writes one")
        flagged: dict[str, dict[str, Any]] = {}
        for change in self.changes:
            if change["may_have_changed_rows"]:
                flagged.setdefault(change["table"], change)
        return found + [
            f"{source}: {table} may have rows that a statement changed without an event, from "
            f"commit {change['commit_number']} on (column {change['column']}); "
            "a snapshot of it mends them"
            for table, change in sorted(flagged.items())
        ]


def follows(model: HistoryModel) -> bool:
    """Whether the model wants to know of changes of its table."""
    return bool(model.captured.get("schema_changes") != "ignore")


def shape_reports(
    lake: Reader, models: Iterable[HistoryModel], schema: str = "build"
) -> dict[str, ShapeReport]:
    """What is to be said of each source's tables.

    Of a table whose policy is `ignore` nothing is said.
    """
    by_table: dict[tuple[str | None, str], list[HistoryModel]] = {}
    for model in models:
        place = (model.captured["schema"], model.captured["table"])
        by_table.setdefault(place, []).append(model)

    def model_of(source: str, place: tuple[str | None, str]) -> HistoryModel | None:
        for model in by_table.get(place, []):
            if any(matches(pattern, source) for pattern in model.captured["sources"]):
                return model
        return None

    reports: dict[str, ShapeReport] = {}
    # A first run that ended early has made some of them.
    if not all(lake.has(f"{schema}.{one}") for one in ("cut", "table_schema", "schema_change")):
        return reports
    for row in lake.rows(SHOWN_COLUMNS.format(schema=schema)):
        source, column = row["source"], row["column_name"]
        found = model_of(source, (row["schema_name"], row["table_name"]))
        table = full_name(row["schema_name"], row["table_name"])
        if not found:
            unmodelled = reports.setdefault(source, ShapeReport()).unmodelled
            unmodelled.setdefault(table, set()).add(column)
        elif follows(found) and column not in {*found.columns, *found.captured.get("left_out", [])}:
            unknown = reports.setdefault(source, ShapeReport()).unknown_columns
            unknown.setdefault(table, []).append(column)
    for row in lake.rows(SCHEMA_CHANGES.format(schema=schema)):
        found = model_of(row["source"], (row["schema_name"], row["table_name"]))
        if found and follows(found):
            reports.setdefault(row["source"], ShapeReport()).changes.append(_change(row))
    return reports


def _change(row: dict[str, Any]) -> dict[str, Any]:
    """A row of SCHEMA_CHANGES as `status --json` holds it."""
    return {
        "table": full_name(row["schema_name"], row["table_name"]),
        "commit_number": row["commit_number"],
        "change": row["change_kind"],
        "column": row["column_name"],
        "previous_type": row["previous_type"],
        "type": row["column_type"],
        "may_have_changed_rows": row["may_have_changed_rows"],
    }


def silent_changes(lake: Reader, schema: str = "build") -> list[tuple[str, str]]:
    """For each table that may have rows which a statement changed without an event, its source and
    a sentence.
    """
    reports: dict[str, ShapeReport] = {}
    for row in lake.rows(SCHEMA_CHANGES.format(schema=schema)):
        reports.setdefault(row["source"], ShapeReport()).changes.append(_change(row))
    return [
        (source, sentence)
        for source, found in sorted(reports.items())
        for sentence in found.sentences(source)
    ]


def key_changes(
    lake: Reader, keyless: Iterable[str], schema: str = "build"
) -> list[tuple[str, str]]:
    """For each change of a key its source and a sentence for `preview`, which asks nobody.

    Args:
        keyless: tables in which no key tells rows apart.
    """
    without_key = set(keyless)
    return [
        (
            row["source"],
            f"{row['source']}: {row['table_name']} has the key {row['column_type']} from commit "
            f"{row['commit_number']} on, {row['previous_type']} before it; "
            "a row that changed under both appears twice; pass --identity "
            f"'{row['table_name']}=<columns>' with columns that it has under both",
        )
        for row in lake.rows(KEY_CHANGES.format(schema=schema))
        if row["table_name"] not in without_key
    ]
