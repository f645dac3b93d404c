"""Rows of a table of signals: they ask a connector for a snapshot, or note a window of one (S6)."""

from typing import Final

from msgspec import DecodeError

from dbt_debezium.json_text import json_string
from dbt_debezium.json_values import json_members

SIGNALS: Final = frozenset(
    {
        "execute-snapshot",
        "stop-snapshot",
        "pause-snapshot",
        "resume-snapshot",
        "schema-changes",
        "snapshot-window-open",
        "snapshot-window-close",
        "log",
    }
)
SNAPSHOT_SIGNALS: Final = {f'"{name}"'.encode(): name for name in SIGNALS if "snapshot" in name}
"""What no other table of these columns says, by its JSON; `log` and `schema-changes` one may."""
SIGNAL_FIELDS: Final = frozenset({"id", "type", "data"})


def row_signal(row: str) -> tuple[str, str | None] | None:
    """What a row of a change signals.

    Debezium asks for a table of three columns: id, type and data, here in either case.

    Args:
        row: an image as JSON text.

    Returns:
        The signal's type, and its argument as JSON text; None when the row is no signal about
        snapshots, as rows of all other tables.

    >>> row_signal('{"id":"1","type":"execute-snapshot","data":"{}"}')
    ('execute-snapshot', '{}')
    >>> row_signal('{"id":"1","type":"log","data":null}')
    """
    # All types have the word, so of most other rows this is all that is looked at.
    if "snapshot" not in row:
        return None
    try:
        columns = {name.lower(): text for name, text in json_members(row).items()}
    except DecodeError:  # lone surrogates, which no signal has
        return None
    signal_type = SNAPSHOT_SIGNALS.get(bytes(columns.get("type", b"")))
    if signal_type is None or len(columns) != len(SIGNAL_FIELDS):
        return None
    return signal_type, json_string(columns.get("data"))
