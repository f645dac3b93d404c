"""What is said of sources of which nothing counts the transactions (S15)."""

from collections.abc import Iterable, Mapping
from typing import Any

from dbt_debezium.names import listed
from dbt_debezium.reasons import Command
from dbt_debezium.reasons.accepted import METADATA, stays
from dbt_debezium.reasons.reason import WORDS


def metadata_sentence(report: Iterable[Mapping[str, Any]]) -> str | None:
    """One sentence for all sources whose connector sends no transaction metadata.

    Args:
        report: entries of `cut_report`.

    >>> entry = {"source": "s", "connector": "mysql", "proof": "watermark", "held": [],
    ...          "accepted": []}
    >>> metadata_sentence([entry])[:36]
    's: changes have no transaction metad'
    >>> metadata_sentence([entry | {"connector": "cdl"}])
    """
    sources = sorted(entry["source"] for entry in report if asks_for_metadata(entry))
    if not sources:
        return None
    return (
        f"{listed(sources, 'sources')}: changes have no transaction metadata, so a commit is shown "
        "once every partition has passed it (proof: watermark); set "
        "provide.transaction.metadata=true at the connector, and commits are proved by their counts"
    )


def asks_for_metadata(entry: Mapping[str, Any]) -> bool:
    """Whether it lacks metadata and nobody has accepted that."""
    return lacks_metadata(entry) and not stays(entry, METADATA)


def lacks_metadata(entry: Mapping[str, Any]) -> bool:
    """Whether a connector that could send transaction metadata does not."""
    is_waiting = any(one["reason"] == "awaiting_watermark" for one in entry["held"])
    return entry["connector"] != "cdl" and (entry["proof"] == "watermark" or is_waiting)


def end_sentence(report: Iterable[Mapping[str, Any]], command: Command) -> str | None:
    """One sentence for all sources whose changes name transactions of which no END has landed.

    Args:
        report: entries of `cut_report`.
        command: the command that prints it.

    >>> held = [{"reason": "no_end"}]
    >>> end_sentence([{"source": "s", "has_end": False, "held": held}], "preview")[:41]
    's: no END has landed, so no transaction i'
    """
    sources = sorted(
        entry["source"]
        for entry in report
        if not entry["has_end"] and any(one["reason"] == "no_end" for one in entry["held"])
    )
    if not sources:
        return None
    land = WORDS[command]["land"]
    return (
        f"{listed(sources, 'sources')}: no END has landed, so no transaction is known to be whole; "
        f"{land} the transaction topic too, which topic.transaction at the connector may have "
        "renamed (by default <topic.prefix>.transaction)"
    )
