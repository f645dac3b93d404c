"""What is published, held and quarantined, per source, from the tables of the build schema."""

import json
import re
from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.internal_topics import INTERNAL_SOURCE
from dbt_debezium.quarantine.query import QUARANTINED_QUERY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PADDING: Final = re.compile("(^|/|[+]|: )0+(?=[0-9]+([+/]|$))")
"""Inside, positions are padded to one width so that they compare as text. An LSN in hexadecimal
keeps its zeros, as its database shows it."""

OUTCOMES = (
    "applied",
    "superseded",
    "duplicate",
    "tombstone",
    "control",
    "held",
    "quarantined",
)

CUT_REPORT = """
with

published as (

    select * from {schema}.cut
    where channel = 'published'

),

source_cut as (

    select inline(source_cuts) from published

),

counted as (

    select
        source,
        map_from_entries(collect_list(struct(outcome, message_count))) as counts,
        case
            when source = '{internal}'
                then array_sort(array_distinct(flatten(collect_list(topics))))
        end as internal_topics
    from (
        select
            counts.source,
            counts.outcome,
            collect_set(counts.topic) as topics,
            sum(counts.message_count) as message_count
        from published
        inner join {schema}.message_count as counts
            on published.cut_id = counts.cut_id
        -- BEGIN and END of a source that is not known yet; `unplaced_topics` names their topics.
        where counts.source != ''
        group by counts.source, counts.outcome
    )
    group by source

),

held as (

    select
        held.source,
        sort_array(collect_list(struct(
            -- What nothing places comes last, and of two at one place that without a position.
            coalesce(held.log_order, '~') as place,
            held.commit_position is null as has_no_position,
            held.transaction_id,
            held.held_reason,
            held.event_count,
            held.miscounted_tables
        ))) as held
    from published
    inner join {schema}.held_transaction__stored as held
        on published.cut_id = held.cut_id
    group by held.source

),

quarantined as (

    select
        source,
        collect_list(struct(topic, partition, `offset`, reason, detail)) as quarantined
    from ({quarantined})
    group by source

),

flagged as (

    select
        raised.source,
        array_sort(collect_list(struct(
            concat_ws('.', raised.schema_name, raised.table_name) as table, raised.flag
        ))) as flags
    from published
    inner join {schema}.table_flag__stored as raised
        on published.cut_id = raised.cut_id
    group by raised.source

),

-- Of connectors that can send a TRUNCATE, which by default they leave out (S8), whether they have.
known_connector as (

    select
        fact.source,
        max(fact.connector) as connector,
        case
            when max(fact.connector) in ('postgresql', 'mysql', 'mariadb')
                then bool_or(fact.has_truncate)
        end as has_truncate
    from published
    inner join {schema}.int_table_fact as fact
        on published.cut_id = fact.cut_id
    group by fact.source

)

select to_json(struct(
    coalesce(source_cut.source, counted.source) as source,
    source_cut.commit_number,
    source_cut.commit_position,
    source_cut.transaction_id,
    source_cut.proof,
    source_cut.decisions,
    date_format(source_cut.committed_at, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") as committed_at,
    held.held,
    counted.counts,
    counted.internal_topics,
    quarantined.quarantined,
    flagged.flags,
    known_connector.connector,
    size(source_cut.end_markers) > 0
    or coalesce(exists(held.held, one -> one.event_count is not null), false) as has_end,
    known_connector.has_truncate
)) as report
from source_cut
full join counted
    on source_cut.source = counted.source
left join held
    on coalesce(source_cut.source, counted.source) = held.source
left join quarantined
    on coalesce(source_cut.source, counted.source) = quarantined.source
left join flagged
    on coalesce(source_cut.source, counted.source) = flagged.source
left join known_connector
    on coalesce(source_cut.source, counted.source) = known_connector.source
order by coalesce(source_cut.source, counted.source)
"""


def cut_report(spark: "SparkSession", schema: str = "build") -> list[dict[str, Any]]:
    """One object per source, as `cut.json` and `status --json` hold it."""
    # A first run that ended early has made some of them.
    tables = ("cut", "held_transaction__stored", "table_flag__stored", "int_table_fact")
    if not all(spark.catalog.tableExists(f"{schema}.{table}") for table in tables):
        return []
    query = CUT_REPORT.format(
        schema=schema, internal=INTERNAL_SOURCE, quarantined=QUARANTINED_QUERY.format(schema=schema)
    )
    rows = spark.sql(query).collect()
    return [_entry(json.loads(row["report"])) for row in rows]


def _entry(report: dict[str, Any]) -> dict[str, Any]:
    counted = report.get("counts") or {}
    counts = {outcome: counted.get(outcome, 0) for outcome in OUTCOMES}
    position = report.get("commit_position")
    return {
        "source": report.get("source"),
        "commit_number": report.get("commit_number", 0),
        "commit_position": PADDING.sub(r"\1", position) if position else None,
        "transaction_id": report.get("transaction_id"),
        "proof": report.get("proof", "none"),
        "committed_at": report.get("committed_at"),
        "decisions": report.get("decisions") or [],
        "held": [entry for held in report.get("held") or [] for entry in _held(held)],
        "counts": {"landed": sum(counts.values()), **counts},
        "quarantined": sorted(
            report.get("quarantined") or [],
            key=lambda message: (message["topic"], message["partition"], message["offset"]),
        ),
        "flags": report.get("flags") or [],
        # Of the entry that counts what Kafka and Kafka Connect keep for themselves.
        "internal_topics": report.get("internal_topics") or [],
        # None where no change of it is published.
        "connector": report.get("connector"),
        "has_end": bool(report.get("has_end")),
        # None where no change tells, or the connector cannot send one.
        "has_truncate": report.get("has_truncate"),
    }


def _held(held: dict[str, Any]) -> list[dict[str, Any]]:
    """One entry per table that has not what END counts; one without a table when none is known."""
    return [
        {
            "transaction_id": held.get("transaction_id"),
            "reason": held["held_reason"],
            "table": table.get("data_collection"),
            # Without END nothing is expected, which is not the same as no change.
            "expected": None if held.get("event_count") is None else table.get("expected_count"),
            "received": table.get("received_count"),
        }
        for table in held.get("miscounted_tables") or [{}]
    ]
