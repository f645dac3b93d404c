"""Where the topics of a Kafka cluster end, asked without Spark."""

import hashlib
import json
import logging
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from dbt_debezium.kafka.broker import INTERNAL, TIMEOUTS
from dbt_debezium.kafka.landing_file import KafkaBlock
from dbt_debezium.kafka.plan import Plan

TIMEOUT_MILLIS: Final = 5_000
SAME: Final = {
    "security.protocol": "security_protocol",
    "sasl.mechanism": "sasl_mechanism",
    "client.id": "client_id",
}
"""Options of the Java client that kafka-python has too."""
LOGIN: Final = re.compile(r"\b(username|password)\s*=\s*\"([^\"\\]*)\"")

End = tuple[str, str, int, int]
"""Topic, topic id, partition, and one past its last committed offset."""


def key_of(block: KafkaBlock) -> str:
    """A short name for the brokers and topics of a block."""
    asked = json.dumps([block.bootstrap_servers, block.topics])
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def ends_of(plan: Plan) -> str:
    """A hash of how far a landing came."""
    return _hash((one.topic, one.topic_id, one.partition, one.end) for one in plan.ranges)


def ask_ends(block: KafkaBlock, options: Mapping[str, str]) -> str | None:
    """A hash of the ends of the block's topics; None if kafka-python cannot ask.

    It equals `ends_of` if nothing has been sent since that landing, no topic was deleted, created
    or recreated, and no partition was added.
    """
    settings = settings_of(options)
    if settings is None:
        return None
    # It logs what it tries next; the landing says what does not work.
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    from kafka import KafkaAdminClient

    try:
        client = KafkaAdminClient(
            **settings, request_timeout_ms=TIMEOUT_MILLIS, bootstrap_timeout_ms=TIMEOUT_MILLIS
        )
        try:
            return _hash(_ends(client, block))
        finally:
            client.close()
    except Exception:  # whatever this client stumbles over, the landing has Java's
        return None


def settings_of(options: Mapping[str, str]) -> dict[str, Any] | None:
    """Options of the Java client as kafka-python has them; None if it lacks one.

    >>> settings_of({"bootstrap.servers": "a:1", "ssl.keystore.location": "b"}) is None
    True
    >>> settings_of({"bootstrap.servers": "a:1,b:2", "request.timeout.ms": "9"})
    {'bootstrap_servers': ['a:1', 'b:2']}
    """
    settings: dict[str, Any] = {}
    for name, value in options.items():
        if name == "bootstrap.servers":
            settings["bootstrap_servers"] = value.split(",")
        elif name in TIMEOUTS:
            continue  # This question has its own.
        elif name in SAME:
            settings[SAME[name]] = value
        elif name == "sasl.jaas.config" and "LoginModule" in value:
            login = dict(LOGIN.findall(value))
            if login.keys() != {"username", "password"}:
                return None
            settings |= {f"sasl_plain_{one}": text for one, text in login.items()}
        else:
            return None
    mechanism = settings.get("sasl_mechanism", "PLAIN")
    return settings if mechanism in {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} else None


def _ends(client: Any, block: KafkaBlock) -> list[End]:
    from kafka import TopicPartition
    from kafka.protocol.consumer import IsolationLevel, OffsetSpec

    topics = {
        topic["name"]: topic
        for topic in client.describe_topics()
        if block.has(topic["name"]) and topic["name"] not in INTERNAL
    }
    asked = {
        TopicPartition(name, partition["partition_index"]): OffsetSpec.LATEST
        for name, topic in topics.items()
        for partition in topic["partitions"]
    }
    if not asked:
        return []
    found = client.list_partition_offsets(asked, isolation_level=IsolationLevel.READ_COMMITTED)
    return [
        (at.topic, _java_id(str(topics[at.topic]["topic_id"])), at.partition, found[at].offset)
        for at in asked
    ]


def _java_id(topic_id: str) -> str:
    """The UUID of a topic as Java writes it: base64 without padding.

    >>> _java_id("d9e5f1a0-0000-4000-8000-00000000000b")
    '2eXxoAAAQACAAAAAAAAACw'
    """
    return urlsafe_b64encode(UUID(topic_id).bytes).decode().rstrip("=")


def _hash(ends: Iterable[End]) -> str:
    return hashlib.sha256(json.dumps(sorted(ends)).encode()).hexdigest()
