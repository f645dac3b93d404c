"""Values of DuckDB as Spark's side shows them."""

from datetime import UTC, datetime
from typing import Any


def with_text_times(value: Any) -> Any:
    """A value with its times as Spark's text, in UTC.

    >>> with_text_times([datetime(2026, 11, 21, 2, 36, 49, 935000, UTC), {"at": datetime(1, 2, 3)}])
    ['2026-11-21 02:36:49.935', {'at': '0001-02-03 00:00:00'}]
    """
    match value:
        case datetime():
            moment = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            text = moment.isoformat(sep=" ")
            return text.rstrip("0") if moment.microsecond else text
        case list() | tuple():
            return [with_text_times(one) for one in value]
        case dict():
            return {key: with_text_times(one) for key, one in value.items()}
    return value
