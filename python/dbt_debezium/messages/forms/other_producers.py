"""Messages that another product than Debezium wrote, by the names of their fields."""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec
from msgspec import Raw

from dbt_debezium.json_text import json_string
from dbt_debezium.json_values import json_decoder

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


ROW: Final = frozenset({"before", "after"})
ENGINE: Final = frozenset({"before", "after", "op", "ts_ms", "source"})
"""All that other engines write; Debezium has `transaction` or `ts_us` too."""
WITHOUT_CONNECTOR: Final = (
    "value: Debezium JSON of another program, such as Flink, Materialize or RisingWave: it names "
    "no connector, so has no order of transactions"
)
IN_CAPITALS: Final = (
    "value: an envelope with names in capitals, as ksqlDB writes it: BEFORE, AFTER, SOURCE and OP"
)

_fields = json_decoder(dict[str, Raw] | None)


def detail_of(topic: str, fields: Mapping[str, Raw]) -> str | None:
    """What a message of another program is; None when that is not known.

    >>> detail_of("t", {"before": Raw(b"null"), "after": Raw(b"{}"), "op": Raw(b'"c"')})[:45]
    'value: Debezium JSON of another program, such'
    >>> detail_of("t", {"BEFORE": Raw(b"null"), "AFTER": Raw(b"{}"), "OP": Raw(b'"c"')})[-39:]
    'writes it: BEFORE, AFTER, SOURCE and OP'
    """
    names = fields.keys()
    if ROW | {"op"} <= {name.lower() for name in names} and "op" not in names:
        return IN_CAPITALS
    if ROW <= names <= ENGINE and not _names_a_connector(fields.get("source")):
        return WITHOUT_CONNECTOR
    producer = None if "op" in names else other_producer(topic, names) or _by_its_kind(fields)
    return producer and f"value: a message of {producer}"


def _by_its_kind(fields: Mapping[str, Raw]) -> str | None:
    """Whose form it is that other engines write too, without the names of database and table."""
    kind = json_string(fields.get("type")) or ""
    if "data" in fields and kind.lower() in ("insert", "update", "delete"):
        return "Maxwell or Canal, or of an engine such as Flink in their form"
    if fields.keys() == ROW | {"op_type"}:
        return "Oracle GoldenGate, or of an engine such as Flink in its form"
    return None


def _names_a_connector(source: Raw | None) -> bool:
    try:
        members = _fields(source) or {} if source else {}
    except msgspec.DecodeError:
        return True
    return not members.keys().isdisjoint({"connector", "name", "version"})


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
