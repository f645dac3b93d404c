"""A Kafka broker that is its own controller (KRaft)."""

import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from local_chain.java import java_command
from local_chain.server import HOST, free_port, listens, run, running

MEMORY = "384m"
USER, PASSWORD = "reader", "word-of-broker-8f14e45fceea167a"


@contextmanager
def broker(
    folder: Path, *, default_partitions: int = 1, secured: str | None = None
) -> Iterator[str]:
    """Run a broker; the value is its address for clients.

    Args:
        folder: a folder for its data, which does not exist.
        default_partitions: of a topic that is created without saying how many; Kafka's default.
        secured: a second address, at which clients log in as `USER` with `PASSWORD` (SASL PLAIN).
    """
    port, controller_port = free_port(), free_port()
    address = f"{HOST}:{port}"
    settings = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "listeners": f"PLAINTEXT://{address},CONTROLLER://{HOST}:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"1@{HOST}:{controller_port}",
        "log.dirs": folder / "log",
        "num.partitions": default_partitions,
        "offsets.topic.num.partitions": 1,
        "offsets.topic.replication.factor": 1,
        "transaction.state.log.num.partitions": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "group.initial.rebalance.delay.ms": 0,
    }
    if secured:
        settings["listeners"] = f"{settings['listeners']},SASL_PLAINTEXT://{secured}"
        settings["listener.security.protocol.map"] = (
            "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT"
        )
        settings["sasl.enabled.mechanisms"] = "PLAIN"
        settings["listener.name.sasl_plaintext.plain.sasl.jaas.config"] = (
            "org.apache.kafka.common.security.plain.PlainLoginModule required "
            f'user_{USER}="{PASSWORD}";'
        )
    folder.mkdir()
    config, log = folder / "server.properties", folder / "broker.log"
    config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    cluster = urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
    format_storage: list[str | Path] = [
        "kafka.tools.StorageTool",
        "format",
        # One in 64 ids begins with a dash, which would be an option behind `-t`.
        f"--cluster-id={cluster}",
        "-c",
        config,
    ]
    run(java_command("kafka", MEMORY, *format_storage), log)
    command = java_command("kafka", MEMORY, "kafka.Kafka", config)
    with running(command, log, lambda: listens(port) and _answers(address)):
        yield address


def _answers(address: str) -> bool:
    try:
        client = KafkaAdminClient(bootstrap_servers=address)
    except KafkaError:
        return False
    try:
        client.list_topics()
    except KafkaError:
        return False
    finally:
        client.close()
    return True
