"""Why a table may differ from its source although every proof holds (S5, S12, S23)."""

from collections.abc import Iterable
from typing import Final

SHOWN_TABLES: Final = 5

MEANINGS: Final = {
    "no_baseline": (
        "no snapshot of its source has landed, so rows from before its first change are missing"
    ),
    "snapshot_may_be_torn": (
        "its connector may read a snapshot after it has let go of the locks, "
        "so rows of it can be newer than others"
    ),
    "snapshot_may_double_rows": (
        "it has no key, so a row that its snapshot read and the log sent again stands twice"
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
        f"{source}: {_listed(named)}: {flag}: {MEANINGS[flag]}"
        for flag, named in sorted(tables.items())
    ]


def _listed(tables: list[str]) -> str:
    shown = ", ".join(tables[:SHOWN_TABLES])
    more = len(tables) - SHOWN_TABLES
    return f"{shown} and {more} tables more" if more > 0 else shown
