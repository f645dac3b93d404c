"""What is said of tables that may differ from their source, and of sources without TRUNCATE."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from dbt_debezium.names import listed
from dbt_debezium.patterns import matches
from dbt_debezium.reasons import FLAGS, Command
from dbt_debezium.reasons.accepted import OPERATIONS, stays


def flag_sentences(
    source: str, flags: Iterable[Mapping[str, Any]], command: Command = "status"
) -> list[str]:
    """One sentence for each flag.

    Args:
        source: of the tables.
        flags: `flags` of the source's entry in a report.
        command: in whose words to say it.

    >>> one = {"table": "b", "flag": "identity_lost", "detail": None}
    >>> flag_sentences("s", [one, one | {"table": "a", "detail": "commit 7"}])[0][:54]
    's: a (commit 7), b: a delete has neither row nor key, '
    """
    tables: dict[str, list[str]] = {}
    for one in sorted(flags, key=lambda one: (one["table"], one["flag"])):
        detail = f" ({one['detail']})" if one["detail"] else ""
        tables.setdefault(one["flag"], []).append(f"{one['table']}{detail}")
    return [
        f"{source}: {listed(named, 'tables')}: {FLAGS[flag].told(command, {'source': source})}"
        for flag, named in sorted(tables.items())
    ]


def truncate_sentence(
    report: Iterable[Mapping[str, Any]], command: Command, without_truncate: Collection[str] = ()
) -> str | None:
    """One sentence for all sources that could send a TRUNCATE and have not (S8); a note, no fault.

    Args:
        report: entries of `cut_report`.
        command: the command that prints it. Only a project has settings.
        without_truncate: patterns of sources that are known to send none.

    >>> entry = {"source": "s", "has_truncate": False, "accepted": []}
    >>> truncate_sentence([entry], "status")[:33]
    's: no TRUNCATE has been published'
    >>> truncate_sentence([entry], "status", ["s*"])
    >>> truncate_sentence([entry | {"has_truncate": True}], "status")
    """
    silent = sorted(
        entry["source"]
        for entry in report
        if entry["has_truncate"] is False
        and not stays(entry, OPERATIONS)
        and not any(matches(pattern, entry["source"]) for pattern in without_truncate)
    )
    if not silent:
        return None
    setting = ", or list in sources_without_truncate the sources that send none"
    return (
        f"{listed(silent, 'sources')}: no TRUNCATE has been published, and connectors leave them "
        "out by default, so a truncated table would keep its rows; set skipped.operations=none at "
        "the connector" + (setting if command == "status" else "")
    )
