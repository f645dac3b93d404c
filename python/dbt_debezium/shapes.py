"""Where models and the tables of their source have come apart, of what is published."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dbt_debezium.flags import listed
from dbt_debezium.model_files import HistoryModel
from dbt_debezium.patterns import matches
from dbt_debezium.tables import full_name

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

SHOWN_COLUMNS = """
select distinct shown.schema_name, shown.table_name, shown.source, shown.column_name
from {schema}.cut as published
inner join {schema}.table_schema as shown
    on shown.cut_id <= published.cut_id
where published.channel = 'published' and shown.told_by = 'change'
"""
SCHEMA_CHANGES = """
select change.source, change.schema_name, change.table_name, change.commit_number,
    change.change_kind, change.column_name, change.previous_type, change.column_type,
    change.may_have_changed_rows
from {schema}.cut as published
inner join {schema}.schema_change as change
    on change.cut_id <= published.cut_id
where published.channel = 'published'
order by change.source, change.commit_number, change.position, change.column_name
"""


KEY_CHANGES = """
select source, concat_ws('.', schema_name, table_name), commit_number, previous_type, column_type
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
    spark: "SparkSession", models: Iterable[HistoryModel], schema: str = "build"
) -> dict[str, ShapeReport]:
    """What is to be said of each source's tables.

    Of a table whose policy is `ignore` nothing is said.
    """
    from pyspark.errors import AnalysisException

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
    try:
        shown = spark.sql(SHOWN_COLUMNS.format(schema=schema)).collect()
        changes = spark.sql(SCHEMA_CHANGES.format(schema=schema)).collect()
    except AnalysisException:
        # Nothing is built yet.
        return reports
    for schema_name, table_name, source, column in shown:
        found = model_of(source, (schema_name, table_name))
        table = full_name(schema_name, table_name)
        if not found:
            unmodelled = reports.setdefault(source, ShapeReport()).unmodelled
            unmodelled.setdefault(table, set()).add(column)
        elif follows(found) and column not in {*found.columns, *found.captured.get("left_out", [])}:
            unknown = reports.setdefault(source, ShapeReport()).unknown_columns
            unknown.setdefault(table, []).append(column)
    for row in changes:
        found = model_of(row["source"], (row["schema_name"], row["table_name"]))
        if found and follows(found):
            reports.setdefault(row["source"], ShapeReport()).changes.append(_change(row))
    return reports


def _change(row: "Row") -> dict[str, Any]:
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


def silent_changes(spark: "SparkSession", schema: str = "build") -> list[tuple[str, str]]:
    """For each table that may have rows which a statement changed without an event, its source and
    a sentence.
    """
    reports: dict[str, ShapeReport] = {}
    for row in spark.sql(SCHEMA_CHANGES.format(schema=schema)).collect():
        reports.setdefault(row["source"], ShapeReport()).changes.append(_change(row))
    return [
        (source, sentence)
        for source, found in sorted(reports.items())
        for sentence in found.sentences(source)
    ]


def key_changes(
    spark: "SparkSession", keyless: Iterable[str], schema: str = "build"
) -> list[tuple[str, str]]:
    """For each change of a key its source and a sentence for `preview`, which asks nobody.

    Args:
        keyless: tables in which no key tells rows apart.
    """
    without_key = set(keyless)
    return [
        (
            source,
            f"{source}: {table} has the key {new} from commit {commit_number} on, {old} before it; "
            "a row that changed under both appears twice; pass --identity "
            f"'{table}=<columns>' with columns that it has under both",
        )
        for source, table, commit_number, old, new in spark.sql(
            KEY_CHANGES.format(schema=schema)
        ).collect()
        if table not in without_key
    ]
