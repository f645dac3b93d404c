"""Instants and how long ago they were, for people."""

from datetime import UTC, datetime, timedelta
from typing import Final

from dbt_debezium.amounts import duration

MICROS_OF_400_YEARS: Final = 146_097 * 86_400 * 10**6


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


def time_text(micros: int | None) -> str | None:
    """An instant in UTC, of any year, as Spark shows it.

    >>> time_text(-1), time_text(253_402_300_800_000_000)
    ('1969-12-31T23:59:59.999999Z', '+10000-01-01T00:00:00.000000Z')
    """
    if micros is None:
        return None
    # The calendar repeats itself, and Python's ends with the year 9999.
    cycles, rest = divmod(micros, MICROS_OF_400_YEARS)
    moment = datetime(1970, 1, 1) + timedelta(microseconds=rest)
    year = moment.year + 400 * cycles
    return f"{'+' if year > 9999 else ''}{year:04}{moment:-%m-%dT%H:%M:%S.%fZ}"


def moment_of(text: str | None) -> datetime | None:
    """An instant as reports have it; None where there is none, or Python does not have its year."""
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
