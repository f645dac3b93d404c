"""What a message does beside its own row, by the message alone."""

import msgspec

from dbt_debezium.json_values import json_decoder
from dbt_debezium.messages.announced import emptied_tables, new_names
from dbt_debezium.messages.flat import Flat


class _SignalData(msgspec.Struct):
    type: str | None = None


_signal_data = json_decoder(_SignalData)


def asks_blocking(flat: Flat) -> bool:
    """Whether a signal asks for a blocking snapshot (S7).

    >>> asks_blocking(Flat("change", signal_type="execute-snapshot",
    ...     signal_data='{"type": "BLOCKING"}'))
    True
    """
    if flat.signal_type != "execute-snapshot" or flat.snapshot is not None:
        return False
    try:
        data = _signal_data(flat.signal_data or "{}")
    except msgspec.DecodeError:
        return False
    return (data.type or "").lower() == "blocking"


def emptied_by(flat: Flat) -> list[str] | None:
    """The tables whose rows a statement of DDL ends, as a TRUNCATE does (S8).

    Only where it says its place in the stream: what a snapshot announces ends nothing.
    """
    if flat.kind != "schema_change" or flat.snapshot is not None or flat.table_changes is None:
        return None
    if flat.transaction_id is None or flat.event_position is None:
        return None
    return emptied_tables(flat.table_changes) or None


def named_by(flat: Flat) -> list[str] | None:
    """The names that a statement of DDL gives tables. To swap two tables, as tools that change a
    schema online do, takes one statement, of which each rename is a message of its own."""
    if flat.kind != "schema_change" or flat.table_changes is None:
        return None
    return new_names(flat.table_changes) or None
