"""What a source holds, a line for each reason."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dbt_debezium.ages import moment_of, with_age
from dbt_debezium.names import listed
from dbt_debezium.status.holds import is_snapshot, shown_id
from dbt_debezium.status.lacking import lacking_text
from dbt_debezium.status.snapshot_reads import SnapshotReads


@dataclass(frozen=True, slots=True)
class HeldGroup:
    """What is held for one reason."""

    reason: str
    count: int
    """Of transactions and snapshots."""
    oldest: str | None
    """When the oldest of them was committed; None if no time is known."""
    first: str
    """The first of them in the order of the log."""
    tables: str
    """Tables that are short, with what has landed of what is expected."""


def held_groups(held: Iterable[dict[str, Any]], now: datetime) -> list[HeldGroup]:
    """The groups, in the order of the log.

    Args:
        held: all entries of a source, in the order of its log.
        now: when the page is made, UTC.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for one in held:
        groups.setdefault(one["reason"], []).append(one)
    return [_group(reason, some, now) for reason, some in groups.items()]


def _group(reason: str, held: list[dict[str, Any]], now: datetime) -> HeldGroup:
    moments = [moment for one in held if (moment := moment_of(one["committed_at"]))]
    short: dict[str, list[int | None]] = {}
    for one in held:
        if one["table"]:
            counts = short.setdefault(one["table"], [0, 0])
            for place, name in enumerate(("received", "expected")):
                count, more = counts[place], one[name]
                counts[place] = None if count is None or more is None else count + more
    return HeldGroup(
        reason,
        len({one["transaction_id"] for one in held}),
        with_age(min(moments), now) if moments else None,
        shown_id(held[0]["transaction_id"]),
        listed([_table_text(name, *counts) for name, counts in short.items()], "tables"),
    )


def _table_text(name: str, received: int | None, expected: int | None) -> str:
    """A table that is short.

    >>> _table_text("public.a", 12, 15), _table_text("public.a", 12, None)
    ('public.a: 12 of 15', 'public.a: 12 landed')
    """
    if received is None:
        return name
    return f"{name}: {received:,} " + ("landed" if expected is None else f"of {expected:,}")


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """A table of a snapshot that is held."""

    table: str
    read_count: int
    missing: str
    """What is known to be missing; empty if nothing is."""


def snapshot_rows(
    held: Iterable[dict[str, Any]], reads: Iterable[SnapshotReads]
) -> list[SnapshotRow]:
    """The tables of held snapshots, with those of which nothing has landed.

    Args:
        held: all entries of a source.
        reads: what has landed.
    """
    short = {
        one["table"]: one for one in held if is_snapshot(one["transaction_id"]) and one["table"]
    }
    counts = {one.table: one.read_count for one in reads}
    return [
        SnapshotRow(name, counts.get(name, 0), _missing(short.get(name)))
        for name in sorted({*counts, *short})
    ]


def _missing(short: dict[str, Any] | None) -> str:
    if short is None:
        return ""
    if not short["has_landed"]:
        return "nothing of it has landed"
    return lacking_text(short["lacking"]) or "perhaps its last rows"
