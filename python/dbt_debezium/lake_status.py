"""All that `status` knows of a lake."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dbt_debezium.encoded_columns import ShownTable, encoded_columns
from dbt_debezium.model_files import HistoryModel
from dbt_debezium.notices import idle_decisions, landed_count, unplaced_topics, unpublished_run
from dbt_debezium.partition_ends import PartitionEnds, partition_ends
from dbt_debezium.readers import Reader
from dbt_debezium.report import cut_report
from dbt_debezium.shapes import ShapeReport, accept_tables, shape_reports
from dbt_debezium.unrepresentable import unrepresentable_counts


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

    def _repr_html_(self) -> str:
        """What a notebook shows: a row per source, and what is to be said of it."""
        from dbt_debezium.api import html
        from dbt_debezium.report import OUTCOMES
        from dbt_debezium.sentences import own_sentences, shared_sentences

        named = ("source", "commit_number", "transaction_id", "proof", "committed_at")
        rows = [
            (*(entry[name] for name in named), *(entry["counts"][name] for name in OUTCOMES))
            for entry in self.report
        ]
        said = [one for entry in self.report for one in own_sentences(entry, "status")]
        said += shared_sentences(self.report, "status", self.without_truncate)
        said += [one for source, shape in self.shapes.items() for one in shape.sentences(source)]
        return html.table((*named, *OUTCOMES), rows) + html.paragraphs([*said, *self.notices])


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
    notices = unplaced_topics(lake, build_schema)
    if unpublished := unpublished_run(lake, build_schema):
        notices.append(unpublished)
    shapes = shape_reports(lake, models, build_schema)
    names = [model.public_name for model in models]
    unrepresentable = unrepresentable_counts(lake, names, public_schema)
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
    partitions = partition_ends(lake, build_schema)
    return LakeStatus(
        report, landed, shapes, unrepresentable, notices, without_truncate, partitions
    )
