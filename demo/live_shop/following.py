"""Debezium's connector for the shop, and `run kafka://… --every` on its topics in this process."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kafka import KafkaConsumer, TopicPartition

from dbt_debezium.cli.land import source_of
from dbt_debezium.cli.one_session import OneSession
from dbt_debezium.cli.problems import sentence_of
from dbt_debezium.cli.run import rounds_of
from dbt_debezium.home import lake_dir
from dbt_debezium.lease import Lease
from dbt_debezium.rounds.loop import Told, run_rounds
from live_shop.commit_log import KEYS
from live_shop.lake_rows import SOURCE

if TYPE_CHECKING:
    from dbt_debezium.rounds.loop import Stop
    from dbt_debezium.rounds.round import Round

CONNECTOR: Final = SOURCE
TOPICS: Final = f"{SOURCE}[.].*"
PARTITIONS: Final = 3
JSON: Final = "org.apache.kafka.connect.json.JsonConverter"

SETTINGS: Final = {
    **{f"{part}.converter": JSON for part in ("key", "value")},
    **{f"{part}.converter.schemas.enable": "false" for part in ("key", "value")},
    "table.include.list": ",".join(f"public.{table}" for table in KEYS),
    "publication.autocreate.mode": "filtered",
    "provide.transaction.metadata": "true",
    "skipped.operations": "none",
    "decimal.handling.mode": "string",
    "poll.interval.ms": "100",
    # Small batches, so that a worker can be killed in the middle of a transaction.
    "max.batch.size": "64",
    "max.queue.size": "256",
    "topic.creation.default.partitions": str(PARTITIONS),
    "topic.creation.default.replication.factor": "1",
    "topic.creation.groups": "single",
    "topic.creation.single.include": rf"{SOURCE}\.transaction",
    "topic.creation.single.partitions": "1",
}
"""What the connector needs beside the address of the database."""


def rounds_on(bootstrap: str, registry: str | None = None) -> "Round":
    """The rounds of `run kafka://BOOTSTRAP --topics TOPICS`, with the lake of the environment.

    Args:
        registry: the address of a schema registry.
    """
    source = source_of(f"kafka://{bootstrap}", TOPICS, registry)
    return rounds_of(source, OneSession("local"), [], False)


def follow(rounds: "Round", every: float, stop: "Stop", tell: Callable[[Told], None]) -> None:
    """What `run --every` does with its rounds, until it is stopped.

    Raises:
        CannotWorkError: a round can never work.
        DebeziumError: another process holds the lake.
    """
    with Lease(lake_dir(), "dbt-debezium run"):
        run_rounds(rounds.run, every, stop, tell, sentence_of)


def wait_for_messages(bootstrap: str, table: str, count: int, patience: Callable[[], bool]) -> int:
    """Wait until the broker has so many more messages of a table; the value is how many it has.

    Args:
        patience: asked after each look; false ends the wait.
    """
    consumer = KafkaConsumer(bootstrap_servers=bootstrap)
    try:
        before = sent_count(consumer, table)
        while (found := sent_count(consumer, table) - before) < count and patience():
            pass
        return found
    finally:
        consumer.close()


def sent_count(consumer: KafkaConsumer, table: str) -> int:
    """How many messages of a table the broker has."""
    topic = f"{SOURCE}.public.{table}"
    partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
    return sum(consumer.end_offsets(partitions).values())
