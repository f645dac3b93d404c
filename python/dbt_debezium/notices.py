"""What `status` says of runs and decisions, beside what each source shows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dbt_debezium.session import nothing_landed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def landed_count(spark: "SparkSession") -> int:
    """How many messages have landed.

    Raises:
        DebeziumError: none has.
    """
    count = 0
    if spark.catalog.tableExists("landing.message"):
        count = spark.table("landing.message").count()
    if not count:
        raise nothing_landed()
    return count


def unpublished_run(spark: "SparkSession", schema: str = "build") -> str | None:
    """That the latest run has published nothing, in one sentence; None when it has.

    Args:
        spark: a session on the lake.
        schema: the schema that models are built in.
    """
    if not spark.catalog.tableExists(f"{schema}.cut"):
        return None
    cuts = {row["channel"]: row["cut_id"] for row in spark.table(f"{schema}.cut").collect()}
    published = cuts.get("published")
    if cuts.get("candidate", 0) <= (published or 0):
        return None
    readers = f"readers see cut {published}" if published else "nothing is published yet"
    return (
        f"the latest run has not published its cut {cuts['candidate']}, so {readers}: "
        "it failed, was killed, built a part, or is still going on"
    )


def idle_decisions(
    spark: "SparkSession", report: Sequence[dict[str, Any]], schema: str = "build"
) -> list[str]:
    """Decisions of operators that no cut rests on and no held transaction waits for.

    Args:
        spark: a session on the lake.
        report: what `cut_report` says of it, after a run.
        schema: the schema that models are built in.
    """
    # A run of a part of the project may not have built it.
    if not _is_built(spark, f"{schema}.int_operator_decision"):
        return []
    entries = {entry["source"]: entry for entry in report}
    sentences = []
    for row in spark.table(f"{schema}.int_operator_decision").collect():
        source, transaction_id = row["source"], row["transaction_id"]
        entry = entries.get(source, {"decisions": [], "held": []})
        held = {one["transaction_id"] for one in entry["held"]}
        # Who decided when, and why, may have been corrected since.
        decided = row["sentence"].partition(" by ")[0]
        has_effect = any(one.startswith(f"{decided} by ") for one in entry["decisions"])
        if not has_effect and transaction_id not in held:
            sentences.append(
                f"{source}: the decision on {transaction_id} has had no effect: "
                + ("nothing is held under that id" if source in entries else "no such source")
            )
    return sorted(sentences)


def unplaced_topics(spark: "SparkSession", schema: str = "build") -> list[str]:
    """Transaction topics of which nothing shows the source, one sentence for each.

    Args:
        spark: a session on the lake, after a run.
        schema: the schema that models are built in.
    """
    if not _is_built(spark, f"{schema}.int_transaction_topic"):
        return []
    rows = spark.table(f"{schema}.int_transaction_topic").where("source_prefix is null").collect()
    return sorted(
        unplaced_topic_sentence(row["topic"], row["marker_count"], row["shown_prefixes"])
        for row in rows
    )


def unplaced_topic_sentence(topic: str, marker_count: int, sources: Sequence[str]) -> str:
    """That BEGIN and END of a topic are held, and what would place them.

    Args:
        topic: the topic.
        marker_count: how many are held.
        sources: those that their ids and counts fit.

    >>> unplaced_topic_sentence("eu.tx", 4, [])[:66]
    'eu.tx: 4 BEGIN and END records are held, because no change that ha'
    """
    held = f"{topic}: {marker_count:,} BEGIN and END records are held, because"
    setting = (
        f"name its topic prefix in dbt_project.yml, transaction_topics: {{'{topic}': <prefix>}}"
    )
    if sources:
        return (
            f"{held} they fit several sources ({', '.join(sources)}); {setting}, or take off the "
            "transform that sends BEGIN and END of all of them there"
        )
    return (
        f"{held} no change that has landed shows whose they are; "
        f"add the topics of their tables, or {setting}"
    )


def _is_built(spark: "SparkSession", name: str) -> bool:
    """Whether a table or a view is there; Spark's `tableExists` sees no view of Iceberg."""
    from pyspark.errors import AnalysisException

    try:
        spark.table(name)
    except AnalysisException as error:
        if error.getCondition() != "TABLE_OR_VIEW_NOT_FOUND":
            raise
        return False
    return True
