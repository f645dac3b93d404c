"""Topics that Kafka, Kafka Connect and MirrorMaker keep for themselves, in a dump of all topics.

Only a message that cannot be read is asked whether its topic is one: a table may have any name.
"""

import re
from functools import lru_cache
from typing import Final, Literal

from msgspec import DecodeError

from dbt_debezium.json_values import json_decoder

INTERNAL_SOURCE: Final = "(Kafka)"
"""Where their messages are counted; no topic prefix can have brackets."""

TOPICS: Final = re.compile(
    # Kafka, and what clusters of vendors add: __consumer_offsets, __transaction_state.
    r"__(?!debezium)[^.]*|__redpanda\..*"
    # Registries of schemas, Confluent's monitoring.
    r"|_schemas|_schema_encoders|_confluent.*"
    # Kafka Connect: connect-configs, my_connect_offsets, docker-connect-status. Topics of tables
    # have a dot.
    r"|(?:[^.]*[_-])?connect[_-](?:[^.]*[_-])?(?:configs?|offsets?|status|statuses)"
    # MirrorMaker 2: mm2-offset-syncs.b.internal, a.checkpoints.internal.
    r"|mm2-.*\.internal|[^.]+\.checkpoints\.internal"
)
CONNECT_TOPICS: Final = re.compile(r".*(?:configs?|offsets?|status|statuses)")
HEARTBEATS: Final = re.compile(r"(?:[^.]+\.)?heartbeats")
"""Of MirrorMaker 2; a table can be called so, and no message of one begins with zero bytes."""
CONNECT_KEY: Final = re.compile(
    r"(?:connector|task|commit|target-state|tasks-fencing|restart-connector|logger-cluster)-.+"
    r"|session-key|status-(?:connector|task|topic)-.+"
)
"""Keys of the topics of Kafka Connect's workers, which may have any name."""

_decode_parts = json_decoder(list[object])


def is_internal(topic: str, key: str | None, value: str | None) -> bool:
    """Whether a message that cannot be read is of such a topic.

    >>> names = ["__consumer_offsets", "_schemas", "my_connect_statuses", "a.checkpoints.internal"]
    >>> [is_internal(name, None, "{}") for name in names]
    [True, True, True, True]
    >>> names = ["__debezium-heartbeat.shop", "shop.public.connect_status", "shop.heartbeats"]
    >>> [is_internal(name, None, "{}") for name in names]
    [False, False, False]
    >>> is_internal("pipeline-offsets", '["shop-connector",{"server":"shop"}]', "{}")
    True
    """
    kind = kind_of_topic(topic)
    if kind is None:
        return False
    if kind == "heartbeats":
        return value is not None and value.startswith("\0\0")
    return kind == "internal" or is_connect_key(key or "")


@lru_cache(maxsize=10_000)
def kind_of_topic(topic: str) -> Literal["internal", "heartbeats", "may_be_connect"] | None:
    """What the name of a topic says; every tombstone is asked, so it is looked at once."""
    if TOPICS.fullmatch(topic):
        return "internal"
    if HEARTBEATS.fullmatch(topic):
        return "heartbeats"
    return "may_be_connect" if CONNECT_TOPICS.fullmatch(topic) else None


def is_connect_key(key: str) -> bool:
    """Whether a key is one of the topics in which Kafka Connect's workers keep their state.

    >>> is_connect_key("status-task-shop-connector-0"), is_connect_key('{"id":1}')
    (True, False)
    """
    if CONNECT_KEY.fullmatch(key):
        return True
    if not key.startswith("["):
        return False
    try:
        parts = _decode_parts(key)
    except DecodeError:
        return False
    return len(parts) == 2 and isinstance(parts[0], str) and isinstance(parts[1], dict)
