"""Settings of connectors, as far as what they have sent shows them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dbt_debezium.doctor.finding import Finding
from dbt_debezium.doctor.null_defaults import null_default_sentences
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.scaffold.project_models import ProjectModels
from dbt_debezium.status.acceptances import open_flags
from dbt_debezium.status.encoded_columns import ShownTable, encoded_columns
from dbt_debezium.status.flags import flag_sentences, truncate_sentence
from dbt_debezium.status.holds import held_sentence
from dbt_debezium.status.metadata import end_sentence, metadata_sentence
from dbt_debezium.status.quarantined import quarantine_sentences
from dbt_debezium.status.sentences import open_encoded_sentences

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def connector_findings(
    spark: "SparkSession",
    report: Sequence[dict[str, Any]],
    models: ProjectModels,
    settings: Mapping[str, Any],
    build_schema: str,
    public_schema: str,
) -> Iterator[Finding]:
    """Of the connectors of a lake.

    Args:
        spark: a session on it.
        report: what `cut_report` says of it.
        models: of its project.
        settings: of its project.
        build_schema: the schema that models are built in.
        public_schema: the schema of the readers.
    """
    silent = settings.get("sources_without_truncate") or []
    for sentence in (
        metadata_sentence(report),
        truncate_sentence(report, "status", silent),
        *null_default_sentences(spark),
    ):
        if sentence:
            yield Finding("note", sentence)
    tables = [
        ShownTable(one.public_name, one.captured, one.columns) for one in models.histories.values()
    ]
    encoded = encoded_columns(SparkReader(spark), tables, build_schema, public_schema)
    for entry in report:
        entry["encoded_columns"] = encoded.get(entry["source"], {})
        for sentence in open_encoded_sentences(entry, "status"):
            yield Finding("note", sentence)
    if unended := end_sentence(report, "status"):
        yield Finding("wrong", unended)
    for entry in report:
        if held := held_sentence(entry, "status"):
            yield Finding("note", held)
        for sentence in (
            *quarantine_sentences(entry, "status"),
            *flag_sentences(entry["source"], open_flags(entry)),
        ):
            yield Finding("wrong", sentence)
