"""All that `status` knows of a lake."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dbt_debezium import notebook
from dbt_debezium.readers import Reader
from dbt_debezium.scaffold.model_files import HistoryModel
from dbt_debezium.status.encoded_columns import ShownTable, encoded_columns
from dbt_debezium.status.lake_size import LakeSize, lake_size
from dbt_debezium.status.notices import (
    idle_decisions,
    landed_count,
    newer_lake,
    unjudged_sources,
    unplaced_topics,
    unpublished_run,
)
from dbt_debezium.status.partition_ends import PartitionEnds, partition_ends
from dbt_debezium.status.published_rows import PublishedRows, published_rows
from dbt_debezium.status.report import OUTCOMES, cut_report
from dbt_debezium.status.sentences import own_sentences, shared_sentences
from dbt_debezium.status.shapes import ShapeReport, accept_tables, shape_reports
from dbt_debezium.status.snapshot_reads import SnapshotReads, snapshot_reads
from dbt_debezium.status.unrepresentable import unrepresentable_counts

SIZED_TABLES: Final = 200
"""A catalog of REST is asked once for each."""


@dataclass(slots=True)
class LakeStatus:
    """What is published, held, quarantined and flagged, and what models lack."""

    report: list[dict[str, Any]]
    """As `status --json` prints it; empty where nothing is published."""
    landed: int
    """How many messages have landed, where nothing is published."""
    shapes: dict[str, ShapeReport]
    """By source."""
    unrepresentable: dict[str, dict[str, int]]
    """By source and public table."""
    notices: list[str] = field(default_factory=list)
    """Sentences on decisions, topics and the latest run."""
    without_truncate: Sequence[str] = ()
    """Patterns of sources that are known to send no TRUNCATE, a setting."""
    partitions: dict[str, list[PartitionEnds]] = field(default_factory=dict)
    """By source, those that wait or lack something first."""
    rows: list[PublishedRows] = field(default_factory=list)
    """Of public tables, by table and source."""
    sizes: dict[str, int] = field(default_factory=dict)
    """The bytes of the histories of public tables, of the first ones if there are many."""
    snapshots: dict[str, list[SnapshotReads]] = field(default_factory=dict)
    """By source, what has landed of snapshots that are held."""
    size: LakeSize = field(default_factory=lambda: LakeSize({}))
    """What the lake stores."""

    def _repr_html_(self) -> str:
        """What a notebook shows: a row per source, and what is to be said of it."""
        named = ("source", "commit_number", "transaction_id", "proof", "committed_at")
        rows = [
            (*(entry[name] for name in named), *(entry["counts"][name] for name in OUTCOMES))
            for entry in self.report
        ]
        said = [one for entry in self.report for one in own_sentences(entry, "status")]
        said += shared_sentences(self.report, "status", self.without_truncate)
        said += [one for source, shape in self.shapes.items() for one in shape.sentences(source)]
        return notebook.table((*named, *OUTCOMES), rows) + notebook.paragraphs(
            [*said, *self.notices]
        )


def lake_status(
    lake: Reader,
    models: Sequence[HistoryModel],
    build_schema: str,
    public_schema: str,
    without_truncate: Sequence[str],
) -> LakeStatus:
    """Look at a lake.

    Args:
        lake: what reads it.
        models: the history models of its project.
        build_schema: the schema that models are built in.
        public_schema: the schema that readers use.
        without_truncate: patterns of sources that are known to send no TRUNCATE.

    Raises:
        DebeziumError: nothing has landed.
    """
    report = cut_report(lake, build_schema)
    landed = 0 if report else landed_count(lake)
    notices = [*newer_lake(lake), *unjudged_sources(lake, build_schema)]
    notices += unplaced_topics(lake, build_schema)
    if unpublished := unpublished_run(lake, build_schema):
        notices.append(unpublished)
    shapes = shape_reports(lake, models, build_schema)
    rows = published_rows(lake, [model.public_name for model in models], public_schema)
    unrepresentable = unrepresentable_counts(rows)
    tables = [ShownTable(one.public_name, one.captured, one.columns) for one in models]
    encoded = encoded_columns(lake, tables, build_schema, public_schema)
    for entry in report:
        entry["unrepresentable"] = unrepresentable.get(entry["source"], {})
        found = shapes.get(entry["source"], ShapeReport())
        entry["unknown_columns"] = found.unknown_columns
        entry["schema_changes"] = found.changes
        entry["encoded_columns"] = encoded.get(entry["source"], {})
    accept_tables(shapes, report)
    if report:
        notices = [*idle_decisions(lake, report, build_schema), *notices]
    sizes, are_all = _sizes(lake, models, {one.name for one in rows}, build_schema)
    return LakeStatus(
        report,
        landed,
        shapes,
        unrepresentable,
        notices,
        without_truncate,
        partition_ends(lake, build_schema),
        rows,
        sizes,
        snapshot_reads(lake, report, build_schema),
        lake_size(lake, sizes if are_all else None, build_schema),
    )


def _sizes(
    lake: Reader, models: Sequence[HistoryModel], published: Collection[str], schema: str
) -> tuple[dict[str, int], bool]:
    """The bytes of histories by public table, and whether these are all."""
    histories = {model.name: model.public_name for model in models}
    some = sorted(name for name, public in histories.items() if public in published)
    found = lake.sizes(schema, some[:SIZED_TABLES])
    return {histories[name]: size for name, size in found.items()}, len(found) == len(some)
