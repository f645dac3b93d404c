"""Where models and the tables of their source have come apart, of what is published."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dbt_debezium.names import listed
from dbt_debezium.patterns import matches
from dbt_debezium.readers import Reader
from dbt_debezium.reasons.accepted import needs_no_model
from dbt_debezium.scaffold.model_files import HistoryModel
from dbt_debezium.scaffold.tables import full_name
from dbt_debezium.status.acceptances import count_accepted

SHOWN_COLUMNS = """
select distinct shown.schema_name, shown.table_name, shown.source, shown.column_name
from {schema}.cut as published
inner join {schema}.table_schema as shown
    on shown.cut_id <= published.cut_id
where published.channel = 'published' and shown.told_by = 'change'
order by shown.source, shown.schema_name, shown.table_name, shown.column_name
"""
SCHEMA_CHANGES = """
select change.source, change.schema_name, change.table_name, change.commit_number, change.position,
    change.change_kind, change.column_name, change.previous_type, change.column_type,
    change.has_default, change.may_have_changed_rows
from {schema}.cut as published
inner join {schema}.schema_change as change
    on change.cut_id <= published.cut_id
where published.channel = 'published'
order by
    change.source, change.commit_number, change.position, change.table_name, change.column_name
"""

OF_SCHEMA_CHANGES: Final = frozenset(
    {"column_renamed", "key_changed", "schema_default", "type_converted"}
)
"""Flags that a change of a table's columns raises."""
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
    accepted: list[str] = field(default_factory=list)
    """Tables of which an operator has accepted that no model shows them."""

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
        tables = [name for name in self.tables_without_model() if name not in self.accepted]
        if tables:
            names = listed(tables, "tables")
            found.append(f"{source}: no model shows {names}; `dbt-debezium scaffold` writes one")
        return found


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


def accept_tables(shapes: Mapping[str, ShapeReport], report: Iterable[dict[str, Any]]) -> None:
    """Note in both which tables are without a model, and of which that is accepted.

    Args:
        shapes: by source.
        report: entries of `cut_report`.
    """
    for entry in report:
        shape = shapes.get(entry["source"], ShapeReport())
        entry["tables_without_model"] = shape.tables_without_model()
        shape.accepted = [
            name for name in entry["tables_without_model"] if needs_no_model(entry, name)
        ]
        count_accepted(entry)


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


def flag_details(lake: Reader, schema: str = "build") -> dict[tuple[str, str, str], str]:
    """Which columns have raised a flag, and in which commit, by source, table and flag.

    Args:
        lake: what reads it.
        schema: the schema that models are built in.
    """
    return details_of(lake.rows(SCHEMA_CHANGES.format(schema=schema)))


def details_of(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str, str], str]:
    """The newest changes of each table's columns, in words.

    Args:
        rows: of SCHEMA_CHANGES, in their order.

    >>> row = {"source": "s", "schema_name": None, "table_name": "t", "commit_number": 7,
    ...        "position": "1", "has_default": False, "previous_type": None, "column_type": None}
    >>> details_of([row | {"change_kind": "column_missing", "column_name": "a"},
    ...             row | {"change_kind": "column_added", "column_name": "b"}])
    {('s', 't', 'column_renamed'): 'commit 7: a is gone, b is new'}
    >>> details_of([row | {"change_kind": "column_missing", "column_name": "a"},
    ...             row | {"change_kind": "column_added", "column_name": "a", "position": "2"}])
    {}
    """
    found: dict[tuple[str, str, str], str] = {}
    # One commit can drop a column and add another in two statements.
    places: dict[tuple[str, str, int, str], list[dict[str, Any]]] = {}
    for row in rows:
        table = full_name(row["schema_name"], row["table_name"])
        place = (row["source"], table, row["commit_number"], row["position"])
        places.setdefault(place, []).append(row)
    for (source, table, commit_number, _), changes in places.items():
        added = [one["column_name"] for one in changes if one["change_kind"] == "column_added"]
        gone = [one["column_name"] for one in changes if one["change_kind"] == "column_missing"]
        defaults = [
            one["column_name"]
            for one in changes
            if one["change_kind"] == "column_added" and one["has_default"]
        ]
        converted = [
            f"{one['column_name']} is {one['column_type']} instead of {one['previous_type']}"
            for one in changes
            if one["change_kind"] in ("type_changed", "type_narrowed")
        ]
        keys = [
            f"key {one['column_type']} instead of {one['previous_type']}"
            for one in changes
            if one["change_kind"] == "key_changed"
        ]
        renamed = f"{listed(gone, 'columns')} is gone, {listed(added, 'columns')} is new"
        by_flag = {
            "column_renamed": [renamed] if gone and added else [],
            "schema_default": [f"{name} is new" for name in defaults],
            "type_converted": converted,
            "key_changed": keys,
        }
        for flag, texts in by_flag.items():
            if texts:
                found[source, table, flag] = f"commit {commit_number}: {listed(texts, 'columns')}"
    return found
