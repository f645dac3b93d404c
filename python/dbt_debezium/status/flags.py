"""What is said of tables that may differ from their source, and of sources without TRUNCATE."""

import difflib
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from dbt_debezium.patterns import matches
from dbt_debezium.reasons import FLAGS, Command
from dbt_debezium.reasons.accepted import OPERATIONS, stays

SHOWN_NAMES: Final = 5
LIKENESS: Final = 0.6
"""From 0 to 1, of two names of which one may be meant by the other."""


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


def listed(names: list[str], what: str) -> str:
    """The first of some names, and how many more there are.

    >>> listed(list("abcdefg"), "tables")
    'a, b, c, d, e and 2 tables more'
    """
    shown = ", ".join(names[:SHOWN_NAMES])
    more = len(names) - SHOWN_NAMES
    return f"{shown} and {more} {what} more" if more > 0 else shown


def meant(name: str, names: Collection[str], others: str) -> str:
    """What may have been meant by a name that is not there; else a sentence on those that are.

    >>> meant("oders", ["orders", "items"], "there are 2"), meant("x", ["orders"], "there is 1")
    ('did you mean orders?', 'there is 1')
    """
    near = difflib.get_close_matches(name, names, 1, LIKENESS)
    return f"did you mean {near[0]}?" if near else others
