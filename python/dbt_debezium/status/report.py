"""What is published, held and quarantined, per source, from the tables of the build schema."""

import re
from collections.abc import Sequence
from typing import Any, Final

from dbt_debezium.ages import time_text
from dbt_debezium.messages.internal_topics import INTERNAL_SOURCE
from dbt_debezium.quarantine.query import QUARANTINED_QUERY
from dbt_debezium.readers import Reader
from dbt_debezium.status.acceptances import accept, read_acceptances
from dbt_debezium.status.held_tables import name_held_tables
from dbt_debezium.status.lacking import LandedTopics, landed_partitions
from dbt_debezium.status.shapes import OF_SCHEMA_CHANGES, flag_details

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
                then flatten(collect_list(topics))
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
        collect_list(struct(
            held.log_order,
            held.commit_position,
            held.transaction_id,
            held.held_reason,
            unix_micros(held.committed_at) as committed_at_micros,
            held.event_count,
            held.miscounted_tables
        )) as held
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
        collect_list(struct(
            concat_ws('.', raised.schema_name, raised.table_name) as table, raised.flag
        )) as flags
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

select
    coalesce(source_cut.source, counted.source) as source,
    source_cut.commit_number,
    source_cut.commit_position,
    source_cut.transaction_id,
    source_cut.proof,
    source_cut.decisions,
    unix_micros(source_cut.committed_at) as committed_at_micros,
    held.held,
    counted.counts,
    counted.internal_topics,
    quarantined.quarantined,
    flagged.flags,
    known_connector.connector,
    known_connector.has_truncate
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


def cut_report(lake: Reader, schema: str = "build") -> list[dict[str, Any]]:
    """One object per source, as `cut.json` and `status --json` hold it."""
    # A first run that ended early has made some of them.
    tables = ("cut", "held_transaction__stored", "table_flag__stored", "int_table_fact")
    if not all(lake.has(f"{schema}.{table}") for table in tables):
        return []
    query = CUT_REPORT.format(
        schema=schema, internal=INTERNAL_SOURCE, quarantined=QUARANTINED_QUERY.format(schema=schema)
    )
    report = [_entry(row) for row in lake.rows(query)]
    name_held_tables(lake, report, schema)
    # Most lakes hold nothing of which tables are short, and need no further query.
    if any(one["table"] for entry in report for one in entry["held"]):
        partitions = landed_partitions(lake, schema)
        for entry in report:
            explain_short_tables(entry, partitions)
    flags = [(entry["source"], one) for entry in report for one in entry["flags"]]
    if any(one["flag"] in OF_SCHEMA_CHANGES for _, one in flags):
        details = flag_details(lake, schema)
        for source, one in flags:
            one["detail"] = details.get((source, one["table"], one["flag"]))
    for entry in report:
        for one in entry["held"]:
            one["commit_position"] = _shown_position(one["commit_position"])
    accept(report, read_acceptances(lake, schema))
    return report


def explain_short_tables(entry: dict[str, Any], partitions: Sequence[dict[str, Any]]) -> None:
    """Say of each held transaction which partitions of the tables that it lacks have not landed.

    Args:
        entry: the source's entry, which is changed.
        partitions: the result of `landed_partitions`.
    """
    landed = LandedTopics(entry["source"], partitions, entry["connector"])
    for one in entry["held"]:
        if one["table"]:
            # Nothing counts what a snapshot should have, nor what has no END yet.
            position = None if one["expected"] is None else one["commit_position"]
            found = landed.of_table(one["table"], position)
            one["has_landed"] = found.has_landed
            one["lacking"] = [lacking.entry() for lacking in found.lacking]
            one["is_passed"] = found.is_passed


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    counted = row["counts"] or {}
    counts = {outcome: counted.get(outcome, 0) for outcome in OUTCOMES}
    held = sorted(row["held"] or [], key=_log_order)
    return {
        "source": row["source"],
        "commit_number": row["commit_number"] or 0,
        "commit_position": _shown_position(row["commit_position"]),
        "transaction_id": row["transaction_id"],
        "proof": row["proof"] or "none",
        "committed_at": time_text(row["committed_at_micros"]),
        "decisions": row["decisions"] or [],
        "held": [entry for one in held for entry in _held(one)],
        "counts": {"landed": sum(counts.values()), **counts},
        "quarantined": sorted(
            row["quarantined"] or [],
            key=lambda message: (message["topic"], message["partition"], message["offset"]),
        ),
        "flags": [
            # Which columns have raised it; flag_details knows.
            {"table": one["table"], "flag": one["flag"], "detail": None}
            for one in sorted(row["flags"] or [], key=lambda one: (one["table"], one["flag"]))
        ],
        # Of the entry that counts what Kafka and Kafka Connect keep for themselves.
        "internal_topics": sorted({*(row["internal_topics"] or [])}),
        # None where no change of it is published.
        "connector": row["connector"],
        # Only END counts the changes of a transaction.
        "has_end": (row["proof"] == "counted" and row["transaction_id"] is not None)
        or any(one["event_count"] is not None for one in held),
        # None where no change tells, or the connector cannot send one.
        "has_truncate": row["has_truncate"],
    }


def _shown_position(position: str | None) -> str | None:
    return PADDING.sub(r"\1", position) if position else None


def _log_order(held: dict[str, Any]) -> tuple[str, bool, str, str]:
    """What nothing places comes last, and of two at one place that without a position."""
    place = "~" if held["log_order"] is None else held["log_order"]
    has_no_position = held["commit_position"] is None
    return place, has_no_position, held["transaction_id"] or "", held["held_reason"]


def _held(held: dict[str, Any]) -> list[dict[str, Any]]:
    """One entry per table that has not what END counts; one without a table when none is known."""
    return [
        {
            "transaction_id": held["transaction_id"],
            "reason": held["held_reason"],
            "table": table.get("data_collection"),
            # Without END nothing is expected, which is not the same as no change.
            "expected": None if held["event_count"] is None else table.get("expected_count"),
            "received": table.get("received_count"),
            "commit_position": held["commit_position"],
            "committed_at": time_text(held["committed_at_micros"]),
            # What has landed of the table's topics; explain_short_tables knows.
            "has_landed": None,
            "lacking": [],
            "is_passed": None,
        }
        for table in held["miscounted_tables"] or [{}]
    ]
