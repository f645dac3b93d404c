"""Fields that decide nothing: one that is not as Debezium writes it is left out.

Times order nothing, so a transform such as TimestampConverter may write them as text, and the
message is read without them. No message is looked at here before it could not be read as it is.
"""

from typing import Final

import msgspec
from msgspec import DecodeError, Raw

from dbt_debezium.connectors.base import Integer
from dbt_debezium.json_values import json_decoder, json_members

TIMES: Final = ("ts_ms", "ts_us")
COUNTS: Final = ("event_count", "data_collections")
"""Only an END counts."""

_is_integer = json_decoder(Integer)


def without_unreadable_times(text: str | Raw) -> str | None:
    """A message without times that are no numbers; None if it has none of those.

    >>> without_unreadable_times('{"op":"c","source":{"lsn":1,"ts_ms":"noon","ts_us":7}}')
    '{"op":"c","source":{"lsn":1,"ts_us":7}}'
    >>> without_unreadable_times('{"schema":null,"payload":{"status":"END","ts_ms":"noon"}}')
    '{"schema":null,"payload":{"status":"END"}}'
    >>> without_unreadable_times('{"status":"BEGIN","event_count":"none","ts_ms":1}')
    '{"status":"BEGIN","ts_ms":1}'
    >>> without_unreadable_times('{"op":"c","source":{"ts_ms":1}}')
    """
    try:
        fields = json_members(text)
    except DecodeError:
        return None
    left = {name: value for name, value in fields.items() if not _is_unreadable(name, value)}
    if bytes(fields.get("status", Raw())) == b'"BEGIN"':
        left = {name: value for name, value in left.items() if name not in COUNTS}
    for name in ("source", "payload"):
        if name in left and (inner := without_unreadable_times(left[name])) is not None:
            left[name] = Raw(inner.encode())
    return None if left == fields else msgspec.json.encode(left).decode()


def time_or_none(text: Raw) -> int | str | None:
    """A time as a number; None if it is something else.

    >>> time_or_none(Raw(b"7")), time_or_none(Raw(b'"noon"')), time_or_none(Raw())
    (7, None, None)
    """
    try:
        return _is_integer(text) if text else None
    except DecodeError:
        return None


def _is_unreadable(name: str, value: Raw) -> bool:
    return name in TIMES and bytes(value) != b"null" and time_or_none(value) is None
