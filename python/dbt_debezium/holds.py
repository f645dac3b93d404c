"""Why a transaction or a snapshot is held, and what to do: one line for each reason.

docs/runbook.md has the whole entry.
"""

from typing import Any, Final

REMEDIES: Final = {
    "no_end": "the END record has not landed; land the transaction topic",
    "missing_events": (
        "land the rest of the topic, or name a table that never lands in not_ingested_tables "
        "(preview: --not-ingested); what is lost needs a new snapshot or a decision"
    ),
    "too_many_events": "more changes than END counts; give each connector a prefix of its own",
    "contradicting_events": "copies or counters of its changes differ; land what was sent",
    "key_change_torn": "half of a key change is missing; land the rest of the topic",
    "no_commit_position": "its END tells no place; land the topics of its tables",
    "topic_made_again": (
        "the transaction topic gives out its offsets again, so they tell no order; begin a new lake"
    ),
    "missing_predecessor": "the transaction before it has not landed",
    "missing_reads": (
        "reads of the snapshot, its markers first and last, or all of a table that a transaction "
        "counts are missing; land the rest of the topics, or name a table that never lands in "
        "not_ingested_tables (preview: --not-ingested)"
    ),
    "unproven_reads": (
        "a partition may hold more reads of the snapshot; "
        "land more, or set landing_reaches_the_end (preview: --complete) when what has landed "
        "reaches the end of every partition"
    ),
    "missing_signal": "the transaction that signals it has not landed; land the signal table",
    "missing_row": (
        "it takes a row that a keyless table does not hold; a new initial snapshot replaces it"
    ),
    "unproven_restart": (
        "the connector restarted inside it; a later change in each partition would show that "
        "nothing is missing"
    ),
    "above_low_water": "a partition has not passed it; transaction metadata would spare the wait",
    "several_partitions": "watermark_sources is for one partition, and its changes are in several",
    "unaccounted_gtid": (
        "a truncate may be missing before it; land the schema-change topic, "
        "or name the source in sources_without_truncate if it never sends one"
    ),
    "refused_proof": "refused_proofs names its proof; have the connector send transaction metadata",
    "quarantined_event": "a message of its table cannot be read; mend it and land it again",
}
"""What to do about each reason that is a cause; those of what follows it are none."""


def held_sentence(entry: dict[str, Any]) -> str | None:
    """What a source holds first and why, in one sentence; None when it holds nothing.

    Args:
        entry: its entry in the report.
    """
    if not entry["held"]:
        return None
    held = entry["held"]
    first = next((one for one in held if one["reason"] in REMEDIES), held[0])
    transactions = len({one["transaction_id"] for one in held})
    first_id = first["transaction_id"]
    what = first_id if first_id.startswith("snapshot ") else f"transaction {first_id}"
    counts = (
        f" ({first['table']} has {first['received']} of {first['expected']})"
        if first["table"]
        else ""
    )
    remedy = f"; {REMEDIES[first['reason']]}" if first["reason"] in REMEDIES else ""
    return (
        f"{entry['source']}: {transactions} held, first {what}: {first['reason']}{counts}{remedy}"
    )
