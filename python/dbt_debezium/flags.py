"""Why a table may differ from its source although every proof holds (S5, S12, S23)."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from dbt_debezium.patterns import matches

SHOWN_NAMES: Final = 5

MEANINGS: Final = {
    "no_baseline": (
        "no snapshot that read it has landed, so rows from before its first change are missing"
    ),
    "snapshot_may_be_torn": (
        "its connector may read a snapshot after it has let go of the locks, "
        "so rows of it can be newer than others"
    ),
    "snapshot_may_double_rows": (
        "it has no key, so a row that its snapshot read and that was sent again stands twice"
    ),
    "snapshot_not_finished": (
        "an incremental snapshot has read rows of it, and no notification says that it was read "
        "to the end"
    ),
    "deletes_may_be_missing": (
        "rows that were deleted while the connector stood still stay after an incremental snapshot"
    ),
    "schema_changed_in_snapshot": (
        "its columns changed while an incremental snapshot read it, which Db2 does not support"
    ),
    "not_in_latest_snapshot": (
        "the newest snapshot has no row of it: it is empty, or no longer captured; rows are kept"
    ),
    "append_only": (
        "it has no key, and no change has shown an old row: without REPLICA IDENTITY FULL its "
        "updates and deletes are not sent"
    ),
    "identity_lost": "a delete told neither row nor key, and is quarantined",
    "identity_not_in_key": (
        "a delete has a key of zeros, as REPLICA IDENTITY USING INDEX on other columns sends it, "
        "which deletes no row; if it has that, name the index's columns as identity in its model"
    ),
    "repeated_names": "a message of it has two members of one name, of which the last counts",
    "schema_default": (
        "a column with a default was added, and no event says that the rows before it have it; "
        "a snapshot of it mends them"
    ),
    "dropped_or_not_captured": (
        "the schema-change topic says DROP: dropped, or no longer captured; rows are kept"
    ),
    "nothing_seen": "a model waits for it, and no change of it has been published",
}
"""What each flag says of a table."""


def flag_sentences(source: str, flags: Iterable[tuple[str, str]]) -> list[str]:
    """One sentence for each flag, from pairs of table and flag.

    >>> flag_sentences("s", [("b", "identity_lost"), ("a", "identity_lost")])
    ['s: a, b: identity_lost: a delete told neither row nor key, and is quarantined']
    """
    tables: dict[str, list[str]] = {}
    for table, flag in sorted(flags):
        tables.setdefault(flag, []).append(table)
    return [
        f"{source}: {_listed(named, 'tables')}: {flag}: {MEANINGS[flag]}"
        for flag, named in sorted(tables.items())
    ]


def truncate_sentence(
    report: Iterable[Mapping[str, Any]], without_truncate: Collection[str] = ()
) -> str | None:
    """One sentence for all sources that could send a TRUNCATE and have not (S8); a note, no fault.

    Args:
        report: entries of `cut_report`.
        without_truncate: patterns of sources that are known to send none.

    >>> truncate_sentence([{"source": "s", "has_truncate": False}])[:33]
    's: no TRUNCATE has been published'
    >>> truncate_sentence([{"source": "s", "has_truncate": False}], ["s*"])
    >>> truncate_sentence([{"source": "s", "has_truncate": True}])
    """
    silent = sorted(
        entry["source"]
        for entry in report
        if entry["has_truncate"] is False
        and not any(matches(pattern, entry["source"]) for pattern in without_truncate)
    )
    if not silent:
        return None
    return (
        f"{_listed(silent, 'sources')}: no TRUNCATE has been published, and connectors leave them "
        "out by default, so a truncated table would keep its rows: set skipped.operations=none, "
        "or name in sources_without_truncate what sends none"
    )


def _listed(names: list[str], what: str) -> str:
    shown = ", ".join(names[:SHOWN_NAMES])
    more = len(names) - SHOWN_NAMES
    return f"{shown} and {more} {what} more" if more > 0 else shown
