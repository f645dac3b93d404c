"""What is said of a lease, and from when on another machine may take it."""

from datetime import UTC, datetime, timedelta
from typing import Final

from dbt_debezium.lease.row import LeaseRow

CLOCKS: Final = timedelta(minutes=10)
"""How much the clocks of two machines may differ."""


def free_at(row: LeaseRow) -> datetime:
    """From when on another machine may take the lease, by its own clock.

    >>> expires_at = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
    >>> shown(free_at(LeaseRow("1", "a", "a", "run", None, None, expires_at, 0)))
    '2026-01-01T12:10:00Z'
    """
    return (row.expires_at or datetime.min.replace(tzinfo=UTC)) + CLOCKS


def held_sentence(row: LeaseRow, at: datetime) -> str:
    """Why a second run is refused."""
    return (
        f"lake: another run holds its lease ({told(row, at)}); wait for it to end, or if it is "
        f"dead, until {shown(free_at(row))}, or run `dbt-debezium lease --break`"
    )


def state_sentence(row: LeaseRow | None, at: datetime) -> str:
    """Who holds the lease.

    >>> state_sentence(None, datetime(2026, 1, 1))
    'no run holds the lease'
    """
    if row is None or not row.token:
        return "no run holds the lease"
    free = free_at(row)
    later = f"from {shown(free)} on another machine may take it" if free > at else "it has expired"
    return f"held by {told(row, at)}; {later}"


def broken_sentence(row: LeaseRow | None, at: datetime) -> str:
    """What was broken."""
    if row is None:
        return "no run holds the lease; nothing to break"
    return (
        f"taken from {told(row, at)}; if that run still works, it publishes nothing of what it has "
        "built, and says so"
    )


def lost_sentence(row: LeaseRow | None) -> str:
    """What has become of a lease.

    >>> lost_sentence(None)[:58]
    'lake: this run has lost its lease, which another run has h'
    """
    how = "which another run has held since"
    if row and row.token:
        how = f"which {row} took at {shown(row.taken_at)}"
    elif row and row.holder:
        how = "which somebody has broken"
    return (
        f"lake: this run has lost its lease, {how}; "
        "it publishes nothing more: run it again, once no other run works"
    )


def told(row: LeaseRow, at: datetime) -> str:
    """A holder, and when it was last heard of."""
    return f"{row}, since {shown(row.taken_at)}, last heard of {age(row.heartbeat_at, at)} ago"


def age(since: datetime | None, at: datetime) -> str:
    """How long ago something was, as people say it.

    >>> times = [datetime(2026, 1, 1, 11, 59, 18), datetime(2026, 1, 1, 9, 30), None]
    >>> [age(since, datetime(2026, 1, 1, 12)) for since in times]
    ['42 s', '150 min', '0 s']
    """
    seconds = max(round((at - since).total_seconds()), 0) if since else 0
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"


def shown(moment: datetime | None) -> str:
    """A time as logs have it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else "an unknown time"
