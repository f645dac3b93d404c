"""What a broker holds, as the JSON lines that `preview` and `land` read."""

from collections.abc import Iterator
from typing import Any

from kafka import KafkaConsumer, TopicPartition

Message = dict[str, Any]
"""topic, partition, offset, timestamp, key, value, headers: as Spark's Kafka source names them."""

INTERNAL = ("__consumer_offsets", "__transaction_state", "connect-")
SILENCE_MS = 10_000
"""How long a poll waits for messages that must be there."""


def messages(bootstrap: str) -> list[Message]:
    """All messages of all topics up to their present ends, each partition in its order.

    Those of Kafka and Connect themselves are left out, and what Kafka transactions aborted.
    """
    with_ends = KafkaConsumer(
        bootstrap_servers=bootstrap,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        consumer_timeout_ms=SILENCE_MS,
    )
    try:
        return sorted(
            _read(with_ends), key=lambda message: (message["topic"], message["partition"])
        )
    finally:
        with_ends.close()


def _read(consumer: KafkaConsumer) -> Iterator[Message]:
    partitions = [
        TopicPartition(topic, partition)
        for topic in sorted(consumer.topics())
        if not topic.startswith(INTERNAL)
        for partition in sorted(consumer.partitions_for_topic(topic) or ())
    ]
    if not partitions:
        return
    consumer.assign(partitions)
    consumer.seek_to_beginning(*partitions)
    ends = consumer.end_offsets(partitions)
    while any(consumer.position(partition) < ends[partition] for partition in partitions):
        polled = consumer.poll(timeout_ms=SILENCE_MS)
        for partition, records in polled.items():
            for record in records:
                if record.offset < ends[partition]:
                    yield _message(record)


def _message(record: Any) -> Message:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": _text(record.key),
        "value": _text(record.value),
        "headers": [{"key": key, "value": _text(value)} for key, value in record.headers],
    }


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()
