"""What `status` says of runs and decisions, beside what each source shows."""

from collections.abc import Sequence
from typing import Any, Final

from dbt_debezium.lake_format import MARKED, PROPERTY, newer_sentence
from dbt_debezium.readers import Reader
from dbt_debezium.spark.session import nothing_landed
from dbt_debezium.status.acceptances import idle_acceptances, read_acceptances

LANDED: Final = "select count(*) as message_count from landing.message"
UNPLACED_TOPICS: Final = """
select topic.topic, topic.marker_count, topic.shown_prefixes
from {schema}.cut as published
inner join {schema}.int_topic as topic
    on published.cut_id = topic.cut_id
where
    published.channel = 'published'
    and topic.role = 'transactions'
    and topic.marker_source is null
"""


UNJUDGED: Final = """
select proof.content
from {schema}.cut as published
inner join {schema}.proof as proof
    on published.cut_id = proof.cut_id
where published.channel = 'published' and proof.kind = 'refusal'
"""


def unjudged_sources(lake: Reader, schema: str = "build") -> list[str]:
    """Why the published run could not judge some sources, a sentence for each.

    Args:
        lake: what reads it.
        schema: the schema that models are built in.
    """
    if not lake.has(f"{schema}.proof"):
        return []
    return sorted(str(row["content"]) for row in lake.rows(UNJUDGED.format(schema=schema)))


def newer_lake(lake: Reader) -> list[str]:
    """That a newer version has written the lake, in one sentence; empty where none has."""
    schema, table = MARKED
    if not lake.has(f"{schema}.{table}"):
        return []
    sentence = newer_sentence(lake.properties(schema, table).get(PROPERTY))
    return [sentence] if sentence else []


def landed_count(lake: Reader) -> int:
    """How many messages have landed.

    Raises:
        DebeziumError: none has.
    """
    count = 0
    if lake.has("landing.message"):
        ((count,),) = (row.values() for row in lake.rows(LANDED))
    if not count:
        raise nothing_landed()
    return count


def unpublished_run(lake: Reader, schema: str = "build") -> str | None:
    """That the latest run has published nothing, in one sentence; None when it has.

    Args:
        lake: what reads it.
        schema: the schema that models are built in.
    """
    if not lake.has(f"{schema}.cut"):
        return None
    found = lake.rows(f"select channel, cut_id from {schema}.cut")
    cuts = {row["channel"]: row["cut_id"] for row in found}
    published = cuts.get("published")
    if cuts.get("candidate", 0) <= (published or 0):
        return None
    readers = f"readers see cut {published}" if published else "nothing is published yet"
    return (
        f"the latest run has not published its cut {cuts['candidate']}, so {readers}: "
        "it failed, was killed, built a part, or is still going on"
    )


def idle_decisions(
    lake: Reader, report: Sequence[dict[str, Any]], schema: str = "build"
) -> list[str]:
    """Decisions of operators that no cut rests on, no held transaction waits for, and accept
    nothing.

    Args:
        lake: what reads it.
        report: what `cut_report` says of it, after a run.
        schema: the schema that models are built in.
    """
    # A run of a part of the project may not have built it.
    if not lake.has(f"{schema}.int_operator_decision"):
        return []
    entries = {entry["source"]: entry for entry in report}
    sentences = []
    decisions = f"select source, transaction_id, sentence from {schema}.int_operator_decision"
    for row in lake.rows(decisions):
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
    sentences += idle_acceptances(report, read_acceptances(lake, schema))
    return sorted(sentences)


def unplaced_topics(lake: Reader, schema: str = "build") -> list[str]:
    """Transaction topics of which nothing shows the source, one sentence for each.

    Args:
        lake: what reads it, after a run.
        schema: the schema that models are built in.
    """
    if not lake.has(f"{schema}.int_topic"):
        return []
    rows = lake.rows(UNPLACED_TOPICS.format(schema=schema))
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
