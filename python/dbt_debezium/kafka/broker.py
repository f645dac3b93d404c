"""What a Kafka cluster knows of its topics, asked through the Java client beside Spark's source.

The client is that of Spark's own jars, so that one set of options serves both.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from dbt_debezium.errors import DebeziumError

TIMEOUT_MILLIS: Final = 15_000
INTERNAL: Final = "__consumer_offsets", "__transaction_state"


@dataclass(frozen=True, slots=True)
class PartitionEnds:
    """Offsets of a partition at one moment."""

    start: int
    """First offset that retention has left."""
    end: int
    """One past the last offset that a reader of committed messages can have."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic at one moment."""

    name: str
    id: str
    """Another one after the topic was deleted and created again."""
    cleanup_policy: str | None
    """delete, compact or both; None where the cluster does not tell us."""
    partitions: Mapping[int, PartitionEnds]


def read_topics(
    jvm: Any, where: str, options: Mapping[str, str], has: Callable[[str], bool]
) -> list[Topic]:
    """The topics that `has` takes, with the offsets that are there.

    Args:
        jvm: py4j's view of the JVM.
        where: begins the sentence of an error.
        options: of Kafka's clients.

    Raises:
        DebeziumError: the cluster cannot be reached, or refuses.
    """
    with _admin(jvm, where, options) as admin:
        listed = _answer(where, options, admin.listTopics().names())
        names = sorted(name for name in listed if has(name) and name not in INTERNAL)
        if not names:
            return []
        described = _answer(where, options, admin.describeTopics(_list(jvm, names)).allTopicNames())
        partitions = {
            name: sorted(part.partition() for part in described[name].partitions())
            for name in names
        }
        starts = _offsets(jvm, where, options, admin, partitions, "earliest")
        ends = _offsets(jvm, where, options, admin, partitions, "latest")
        policies = _policies(jvm, admin, names)
        return [
            Topic(
                name,
                str(described[name].topicId().toString()),
                policies.get(name),
                {
                    number: PartitionEnds(starts[name, number], ends[name, number])
                    for number in partitions[name]
                },
            )
            for name in names
        ]


@contextmanager
def _admin(jvm: Any, where: str, options: Mapping[str, str]) -> Iterator[Any]:
    properties = jvm.java.util.Properties()
    for name, value in options.items():
        properties.setProperty(name, value)
    for name in ("default.api.timeout.ms", "request.timeout.ms"):
        if name not in options:
            properties.setProperty(name, str(TIMEOUT_MILLIS))
    try:
        admin = jvm.org.apache.kafka.clients.admin.Admin.create(properties)
    except Exception as error:
        raise _refusal(where, options, error) from None
    try:
        yield admin
    finally:
        admin.close(jvm.java.time.Duration.ofSeconds(1))


def _answer(where: str, options: Mapping[str, str], future: Any) -> Any:
    try:
        return future.get()
    except Exception as error:
        raise _refusal(where, options, error) from None


def _refusal(where: str, options: Mapping[str, str], error: Exception) -> DebeziumError:
    """Kafka's reason without its values: they may hold a password."""
    java = getattr(error, "java_exception", None)
    reasons = []
    while java is not None:
        reasons.append(java.getClass().getSimpleName())
        java = java.getCause()
    reason = reasons[-1] if reasons else type(error).__name__
    servers = options["bootstrap.servers"]
    remedies = {
        "TimeoutException": "no broker answers; check host and port, and security.protocol in "
        "landing.yml",
        "DisconnectException": "it hangs up; check that it is a Kafka broker",
        "SaslAuthenticationException": "it refuses the credentials; check sasl.jaas.config",
        "SslAuthenticationException": "TLS fails; check the trust store",
        "TopicAuthorizationException": "it does not let us describe topics; grant Describe",
        "ClusterAuthorizationException": "it does not let us describe topics; grant Describe",
    }
    remedy = remedies.get(reason, "check the options of landing.yml")
    return DebeziumError(f"{where}: {servers}: {reason}: {remedy}")


def _offsets(
    jvm: Any,
    where: str,
    options: Mapping[str, str],
    admin: Any,
    partitions: Mapping[str, Sequence[int]],
    spec: str,
) -> dict[tuple[str, int], int]:
    package = jvm.org.apache.kafka
    asked = jvm.java.util.HashMap()
    for name, numbers in partitions.items():
        for number in numbers:
            at = package.common.TopicPartition(name, number)
            asked.put(at, getattr(package.clients.admin.OffsetSpec, spec)())
    committed = package.clients.admin.ListOffsetsOptions(
        package.common.IsolationLevel.READ_COMMITTED
    )
    answer = _answer(where, options, admin.listOffsets(asked, committed).all())
    return {(at.topic(), at.partition()): answer[at].offset() for at in answer}


def _policies(jvm: Any, admin: Any, names: Sequence[str]) -> dict[str, str]:
    """cleanup.policy of each topic; none where we may not ask."""
    package = jvm.org.apache.kafka.common.config
    kind = getattr(package, "ConfigResource$Type").TOPIC
    resources = [package.ConfigResource(kind, name) for name in names]
    try:
        answer = admin.describeConfigs(_list(jvm, resources)).all().get()
    except Exception:  # DescribeConfigs is a right of its own, and only doctor needs its answer
        return {}
    return {at.name(): str(answer[at].get("cleanup.policy").value()) for at in answer}


def _list(jvm: Any, values: Sequence[Any]) -> Any:
    made = jvm.java.util.ArrayList()
    for value in values:
        made.add(value)
    return made
