"""What is published, held and quarantined, per source, from the tables of the build schema."""

import json
import re
from typing import TYPE_CHECKING, Any, Final

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
        map_from_entries(collect_list(struct(outcome, message_count))) as counts
    from (
        select
            counts.source,
            counts.outcome,
            sum(counts.message_count) as message_count
        from published
        inner join {schema}.message_count as counts
            on published.cut_id = counts.cut_id
        group by counts.source, counts.outcome
    )
    group by source

),

held as (

    select
        held.source,
        sort_array(collect_list(struct(
            coalesce(held.commit_position, 'without end') as place,
            held.transaction_id,
            held.commit_position,
            held.held_reason,
            cast(held.committed_at as string) as committed_at,
            held.miscounted_tables
        ))) as held
    from published
    inner join {schema}.held_transaction__stored as held
        on published.cut_id = held.cut_id
    group by held.source

),

quarantined as (

    select
        message.source,
        collect_list(struct(
            message.topic, message.partition, message.offset,
            message.quarantine_reason as reason, message.quarantine_detail as detail
        )) as quarantined
    from published
    inner join {schema}.quarantined_message as message
        on message.cut_id <= published.cut_id
    group by message.source

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

-- Connectors that can send a TRUNCATE, which by default they leave out (S8).
truncating as (

    select
        fact.source,
        bool_or(fact.has_truncate) as has_truncate
    from published
    inner join {schema}.int_table_fact as fact
        on published.cut_id = fact.cut_id
    group by fact.source
    having max(fact.connector) in ('postgresql', 'mysql', 'mariadb')

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
    quarantined.quarantined,
    flagged.flags,
    truncating.has_truncate
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
left join truncating
    on coalesce(source_cut.source, counted.source) = truncating.source
order by coalesce(source_cut.source, counted.source)
"""


def cut_report(spark: "SparkSession", schema: str = "build") -> list[dict[str, Any]]:
    """One object per source, as `cut.json` and `status --json` hold it."""
    # A first run that ended early has made some of them.
    tables = ("cut", "held_transaction__stored", "table_flag__stored", "int_table_fact")
    if not all(spark.catalog.tableExists(f"{schema}.{table}") for table in tables):
        return []
    rows = spark.sql(CUT_REPORT.format(schema=schema)).collect()
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
            "expected": table.get("expected_count"),
            "received": table.get("received_count"),
        }
        for table in held.get("miscounted_tables") or [{}]
    ]
