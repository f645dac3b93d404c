"""What a message belongs to, and what makes it itself: both by the message alone."""

from hashlib import blake2b
from typing import Final, Literal, NamedTuple, TypeAlias

from dbt_debezium.judge.traits import TRAITS
from dbt_debezium.messages.flat import Flat

UnitKind: TypeAlias = Literal["transaction", "snapshot", "window", "message", "statement"]


class Unit(NamedTuple):
    """What is published together."""

    kind: UnitKind
    id: str


def unit_of(flat: Flat) -> Unit | None:
    """The unit of a message; None of what belongs to none, such as tombstones and heartbeats.

    - `transaction`: a change, BEGIN, END, or a logical message inside of one, by its id.
    - `snapshot`: a read of an initial or a blocking snapshot, by the position of its reads.
    - `window`: a read of an incremental snapshot, by the commit that it names as the one before
      (PostgreSQL), else by its log position, its commit or its place in the log (S6).
    - `message`: a logical message outside of transactions, by its position.
    - `statement`: a schema change that says its place in the log, by that place.

    >>> unit_of(Flat("change", snapshot="last", event_position="0042"))
    Unit(kind='snapshot', id='0042')
    >>> unit_of(Flat("tombstone"))
    """
    match flat.kind:
        case "change" if flat.snapshot == "incremental":
            names = (
                flat.previous_commit_position,
                flat.log_position,
                flat.commit_position,
                flat.event_position,
            )
            # The first window of a stream of PostgreSQL names no commit.
            traits = TRAITS.get(flat.connector or "")
            may_name_none = traits is not None and traits.names_predecessor
            return Unit("window", next(filter(None, names[:1] if may_name_none else names), ""))
        case "change" if flat.snapshot is not None:
            return Unit("snapshot", flat.event_position or "")
        case "change" if flat.transaction_id is not None:
            return Unit("transaction", flat.transaction_id)
        case "transaction_marker":
            return Unit("transaction", flat.transaction_id or "")
        case "logical_message" if flat.transaction_id is not None:
            return Unit("transaction", flat.transaction_id)
        case "logical_message":
            return Unit("message", flat.event_position or "")
        case "schema_change" if flat.event_position is not None:
            return Unit("statement", flat.event_position)
        case _:
            return None


class Hashes(NamedTuple):
    """Signed numbers of 64 bits, by which copies of a message are found (S1)."""

    event: int | None
    """Of what makes it itself within its source and unit, whatever its delivery. None of what is
    known by its delivery alone."""
    content: int
    """Of the row before and after it."""
    order: int
    """Of its numbers inside the transaction."""


def hashes_of(flat: Flat) -> Hashes:
    """The hashes of a message.

    A change of a keyless table, or without a position, is known by its content and its order; a
    read of PostgreSQL, or under a bare key, by its key and its content; a keyless read, and every
    message that is no change, by its delivery alone. CDL may send again in 2.0 what it sent in 1.0,
    which names no database (S22).

    >>> read = Flat("change", snapshot="true", connector="mysql", row_key='{"id":"1"}')
    >>> hashes_of(read).event == hashes_of(read._replace(after='{"id":1}')).event
    True
    >>> hashes_of(read._replace(row_key=None)).event
    """
    key = flat.row_key
    if flat.kind != "change":
        return Hashes(None, 0, 0)
    database = None if flat.connector == "cdl" else flat.database_name
    what = (database, flat.schema_name, flat.table_name, flat.operation, flat.event_position)
    content = (flat.before, flat.after)
    if flat.snapshot is None:
        is_placed = key is not None and flat.event_position is not None
        event = _hash(*what, key) if is_placed else _hash(*what, key, flat.total_order, *content)
    elif key is None:
        event = None
    elif flat.connector == "postgresql" or key.startswith('{"":'):
        event = _hash(*what, key, flat.after)
    else:
        event = _hash(*what, key)
    return Hashes(event, _hash(*content), _hash(flat.total_order, flat.data_collection_order))


_BETWEEN: Final = "\x1f"
_NOTHING: Final = "\x00"


def _hash(*parts: str | int | None) -> int:
    text = _BETWEEN.join(_NOTHING if one is None else str(one) for one in parts)
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
