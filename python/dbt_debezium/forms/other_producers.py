"""Messages that another product than Debezium wrote, by the names of their fields."""

from collections.abc import Collection
from typing import Final

OUTBOX_TOPIC: Final = "outbox.event."
"""How topics of Debezium's outbox event router begin, unless its setting says otherwise."""

PRODUCERS: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    ("Maxwell", frozenset({"database", "table", "type", "ts", "data"})),
    ("Canal", frozenset({"database", "table", "type", "isDdl", "es"})),
    ("Oracle GoldenGate", frozenset({"table", "op_type", "op_ts", "pos"})),
    ("AWS DMS", frozenset({"data", "metadata"})),
    ("a CockroachDB changefeed", frozenset({"after", "updated"})),
    ("a CockroachDB changefeed", frozenset({"after", "key", "topic"})),
    ("a CockroachDB changefeed", frozenset({"resolved"})),
)


def other_producer(topic: str, names: Collection[str]) -> str | None:
    """Who wrote a message with these fields; None when that is not known.

    >>> other_producer("t", {"database", "table", "type", "ts", "xid", "data"})
    'Maxwell'
    >>> other_producer("outbox.event.order", {"id"})
    "Debezium's outbox event router"
    >>> other_producer("t", {"id"})
    """
    if topic.startswith(OUTBOX_TOPIC):
        return "Debezium's outbox event router"
    for producer, fields in PRODUCERS:
        if fields.issubset(names) and (len(fields) > 1 or fields == set(names)):
            return producer
    return None
