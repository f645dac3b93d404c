"""Applies to a report what operators have accepted, so that it asks for nothing of it any more."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from dbt_debezium.patterns import matches
from dbt_debezium.readers import Reader
from dbt_debezium.reasons import accepted
from dbt_debezium.reasons.accepted import ACCEPT, Acceptance
from dbt_debezium.status.metadata import lacks_metadata

ACCEPTED: Final = f"""
select source, transaction_id, decided_by, cast(decided_on as string) as decided_on, reason
from {{schema}}.operator_decision
where decision = '{ACCEPT}'
order by source, transaction_id, decided_on
"""


def read_acceptances(lake: Reader, schema: str) -> list[Acceptance]:
    """The rows that accept something, the latest of each.

    Args:
        lake: what reads it.
        schema: the schema that models and seeds are built in.
    """
    if not lake.has(f"{schema}.operator_decision"):
        return []
    found = {
        (row["source"], row["transaction_id"]): Acceptance(
            row["source"],
            row["transaction_id"],
            f"{row['decided_by']} on {row['decided_on']} ({row['reason']})",
        )
        for row in lake.rows(ACCEPTED.format(schema=schema))
    }
    return [*found.values()]


def accept(report: Sequence[dict[str, Any]], acceptances: Sequence[Acceptance]) -> None:
    """Mark in a report what is accepted.

    Each flag and each quarantined message has in `accepted` who accepted it, or None. `accepted` of
    an entry has the acceptances of its source, with how much each stands for.

    Args:
        report: entries of `cut_report`, which are changed.
        acceptances: of all sources.
    """
    for entry in report:
        for one in (*entry["flags"], *entry["quarantined"]):
            one["accepted"] = None
        entry["accepted"] = []
        for acceptance in acceptances:
            if acceptance.source == entry["source"] and not acceptance.problem():
                for one in _matching(entry, acceptance.parts):
                    one["accepted"] = acceptance.by
                entry["accepted"].append({"what": acceptance.what, "by": acceptance.by})
        count_accepted(entry)


def count_accepted(entry: dict[str, Any]) -> None:
    """Count what each acceptance stands for; None if nobody has looked for it."""
    for one in entry["accepted"]:
        parts = Acceptance(entry["source"], one["what"], one["by"]).parts
        if "setting" in parts:
            one["count"] = _asks_for(entry, parts["setting"])
        elif "table" in parts:
            tables = entry.get("tables_without_model")
            one["count"] = None
            if tables is not None:
                one["count"] = sum(matches(parts["table"], table) for table in tables)
        else:
            one["count"] = len(_matching(entry, parts))


def _matching(entry: dict[str, Any], parts: Mapping[str, str]) -> list[dict[str, Any]]:
    if "flag" in parts:
        return [
            one
            for one in entry["flags"]
            if one["flag"] == parts["flag"] and matches(parts["flagged"], one["table"])
        ]
    if "topic" in parts:
        return [
            one
            for one in entry["quarantined"]
            if matches(parts["topic"], one["topic"])
            and parts["partition"] in ("*", str(one["partition"]))
            and parts["offset"] in ("*", str(one["offset"]))
        ]
    return []


def _asks_for(entry: Mapping[str, Any], setting: str) -> int | None:
    """1 if a sentence asks to change a setting of the source's connector, else 0."""
    match setting:
        case accepted.METADATA:
            return int(lacks_metadata(entry))
        case accepted.OPERATIONS:
            return int(entry["has_truncate"] is False)
        case _:
            return int(bool(entry["encoded_columns"])) if "encoded_columns" in entry else None


def open_flags(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The flags that nobody has accepted."""
    return [one for one in entry["flags"] if not one["accepted"]]


def open_messages(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The quarantined messages that nobody has accepted."""
    return [one for one in entry["quarantined"] if not one["accepted"]]


def accepted_count(report: Iterable[Mapping[str, Any]]) -> int:
    """How many flags, messages, settings and tables are accepted."""
    counts = (one["count"] for entry in report for one in entry["accepted"])
    return sum(1 if count is None else count for count in counts)


def accepted_sentences(entry: Mapping[str, Any], kind: str = "") -> list[str]:
    """What is accepted of a source, a sentence for each row of the decisions that has an effect.

    Args:
        entry: the source's entry in a report.
        kind: flag, message, setting or table, with which the row begins; empty for all.
    """
    return [
        Acceptance(entry["source"], one["what"], one["by"]).sentence(one["count"] or 1)
        for one in entry["accepted"]
        if one["count"] != 0 and one["what"].startswith(kind)
    ]


def idle_acceptances(
    report: Sequence[Mapping[str, Any]], acceptances: Sequence[Acceptance]
) -> list[str]:
    """Rows of the decisions that accept nothing, a sentence for each.

    Args:
        report: to which `accept` has applied them.
        acceptances: of all sources.
    """
    entries = {entry["source"]: entry for entry in report}
    found = []
    for acceptance in acceptances:
        problem = acceptance.problem()
        entry = entries.get(acceptance.source)
        if problem:
            found.append(problem)
        elif entry is None:
            found.append(acceptance.idle_sentence("no such source"))
        elif {"what": acceptance.what, "by": acceptance.by, "count": 0} in entry["accepted"]:
            found.append(acceptance.idle_sentence())
    return sorted(found)
