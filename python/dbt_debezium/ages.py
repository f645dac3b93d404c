"""Instants and how long ago they were, for people."""

from datetime import UTC, datetime

from dbt_debezium.amounts import duration
from dbt_debezium.report import moment_of


def shown_time(moment: datetime) -> str:
    """An instant of UTC.

    >>> shown_time(datetime(2026, 11, 21, 2, 36, 49))
    '2026-11-21 02:36:49 UTC'
    """
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def age_of(text: str | None, now: datetime) -> str | None:
    """An instant as reports have it, with its age; None where there is none.

    >>> from datetime import UTC
    >>> age_of("2026-11-21T02:36:49Z", datetime(2026, 11, 23, 4, 0, 0, tzinfo=UTC))
    '2026-11-21 02:36:49 UTC, 2 days ago'
    >>> age_of("+10000-01-01T00:00:00.000000Z", datetime(2026, 11, 23, tzinfo=UTC))
    '+10000-01-01T00:00:00.000000Z'
    """
    moment = moment_of(text)
    return text if moment is None else with_age(moment, now)


def with_age(moment: datetime, now: datetime) -> str:
    """An instant and how long ago it was."""
    return f"{shown_time(moment.astimezone(UTC))}, {shown_age((now - moment).total_seconds())}"


def shown_age(seconds: float) -> str:
    """How long ago something was.

    >>> shown_age(59.9), shown_age(3_599), shown_age(-5)
    ('59 seconds ago', '59 minutes ago', 'by a clock that is ahead of this one')
    """
    if seconds < 0:
        return "by a clock that is ahead of this one"
    return f"{duration(seconds)} ago"
