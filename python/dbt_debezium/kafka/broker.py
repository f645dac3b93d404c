"""What a Kafka cluster knows of its topics, asked through the Java client beside Spark's source.

The client is that of Spark's own jars, so that one set of options serves both.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from dbt_debezium.errors import DebeziumError

TIMEOUT_MILLIS: Final = 15_000
TIMEOUTS: Final = "default.api.timeout.ms", "request.timeout.ms"
POLICY, FEWEST_IN_SYNC = "cleanup.policy", "min.insync.replicas"
INTERNAL: Final = "__consumer_offsets", "__transaction_state"
REMEDIES: Final = {
    "TimeoutException": "no broker answers; check host and port, and security.protocol in "
    "landing.yml",
    "DisconnectException": "it hangs up; check that it is a Kafka broker",
    "SaslAuthenticationException": "it refuses the credentials; check sasl.jaas.config",
    "SslAuthenticationException": "TLS fails; check the trust store",
    "TopicAuthorizationException": "it does not let us describe topics; grant Describe",
    "ClusterAuthorizationException": "it does not let us describe topics; grant Describe",
    "UnknownTopicOrPartitionException": "a topic was deleted meanwhile; land again",
    "IllegalArgumentException": "it is no login that Kafka knows; check sasl.jaas.config",
    "NoSuchFileException": "there is no such file; check the key store and the trust store",
    "UnrecoverableKeyException": "a password of the key store or the trust store is wrong; check "
    "both",
}
"""By the innermost reason that Kafka gives: what is wrong, and what to check."""
NO_LEADER: Final = (
    "a partition has no broker that answers for it; look whether all brokers of the cluster run"
)
TRANSIENT: Final = {
    "DisconnectException",
    "NetworkException",
    "TimeoutException",
    "UnknownTopicOrPartitionException",
}
"""Reasons that end by themselves. Another one is that of a cluster which never tells."""


@dataclass(frozen=True, slots=True)
class PartitionEnds:
    """Offsets of a partition at one moment."""

    start: int
    """First offset that retention has left."""
    end: int
    """One past the last offset that a reader of committed messages can have."""
    is_sure: bool = True
    """Whether nothing is written behind the end that such a reader cannot see yet, and enough
    replicas are in sync for producers to write."""


class TopicSettings(NamedTuple):
    """None where the cluster does not tell us."""

    cleanup_policy: str | None
    """delete, compact or both."""
    fewest_in_sync: int | None
    """How many replicas must be in sync for producers to write."""


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
        infos = {
            (name, info.partition()): info
            for name in names
            for info in described[name].partitions()
        }
        starts = _offsets(jvm, where, options, admin, infos, "earliest")
        # Asked first: what is written in between makes the ends differ.
        written = _offsets(jvm, where, options, admin, infos, "latest", "READ_UNCOMMITTED")
        ends = _offsets(jvm, where, options, admin, infos, "latest")
        settings = _settings(jvm, where, options, admin, names)

        def ends_of(name: str, number: int) -> PartitionEnds:
            info = infos[name, number]
            enough = settings[name].fewest_in_sync or info.replicas().size()
            end, is_all = ends[name, number], ends[name, number] >= written[name, number]
            return PartitionEnds(starts[name, number], end, is_all and info.isr().size() >= enough)

        return [
            Topic(
                name,
                str(described[name].topicId().toString()),
                settings[name].cleanup_policy,
                {
                    number: ends_of(name, number)
                    for number in sorted(one.partition() for one in described[name].partitions())
                },
            )
            for name in names
        ]


@contextmanager
def _admin(jvm: Any, where: str, options: Mapping[str, str]) -> Iterator[Any]:
    properties = jvm.java.util.Properties()
    for name, value in with_timeouts(options).items():
        properties.setProperty(name, value)
    try:
        admin = jvm.org.apache.kafka.clients.admin.Admin.create(properties)
    except Exception as error:
        raise _refusal(where, options, error) from None
    try:
        yield admin
    finally:
        admin.close(jvm.java.time.Duration.ofSeconds(1))


def with_timeouts(options: Mapping[str, str]) -> dict[str, str]:
    """The options, with both timeouts: Kafka refuses a request that may outlast its call.

    >>> with_timeouts({"request.timeout.ms": "60000"})
    {'default.api.timeout.ms': '60000', 'request.timeout.ms': '60000'}
    """
    given = [options[name] for name in TIMEOUTS if name in options]
    return dict.fromkeys(TIMEOUTS, given[0] if given else str(TIMEOUT_MILLIS)) | dict(options)


def _answer(where: str, options: Mapping[str, str], future: Any) -> Any:
    try:
        return future.get()
    except Exception as error:
        raise _refusal(where, options, error) from None


def _refusal(where: str, options: Mapping[str, str], error: Exception) -> DebeziumError:
    """Kafka's reason without its values: they may hold a password."""
    reason, message = _innermost(error)
    remedy = REMEDIES.get(reason, "check the options of landing.yml")
    if reason == "ConfigException":
        remedy = config_remedy(message)
    return DebeziumError(f"{where}: {options['bootstrap.servers']}: {reason}: {remedy}")


def _innermost(error: Exception) -> tuple[str, str]:
    """The class and the message at the bottom of Java's causes. The message may hold a password."""
    java = getattr(error, "java_exception", None)
    reason, message = type(error).__name__, ""
    while java is not None:
        reason, message = java.getClass().getSimpleName(), str(java.getMessage())
        java = java.getCause()
    return reason, message


def config_remedy(message: str) -> str:
    """What to check of a configuration that Kafka refuses, without the value that it shows.

    >>> config_remedy("Invalid value p4ss for configuration ssl.protocol: not known")
    'the value of ssl.protocol cannot be; correct it in landing.yml'
    >>> config_remedy("No resolvable bootstrap urls given in bootstrap.servers")
    'it names no host that is known here; write each broker as host:port'
    """
    if "bootstrap" in message:
        return "it names no host that is known here; write each broker as host:port"
    named = re.findall(r" for configuration ([a-z.]+)", message)
    if named:
        return f"the value of {named[-1]} cannot be; correct it in landing.yml"
    return "check the options of landing.yml"


def _offsets(
    jvm: Any,
    where: str,
    options: Mapping[str, str],
    admin: Any,
    partitions: Iterable[tuple[str, int]],
    spec: str,
    read: str = "READ_COMMITTED",
) -> dict[tuple[str, int], int]:
    package = jvm.org.apache.kafka
    asked = jvm.java.util.HashMap()
    for name, number in partitions:
        at = package.common.TopicPartition(name, number)
        asked.put(at, getattr(package.clients.admin.OffsetSpec, spec)())
    level = package.clients.admin.ListOffsetsOptions(getattr(package.common.IsolationLevel, read))
    try:
        answer = admin.listOffsets(asked, level).all().get()
    except Exception as error:
        reason, _ = _innermost(error)
        if reason != "TimeoutException":
            raise _refusal(where, options, error) from None
        # Brokers have answered before.
        servers = options["bootstrap.servers"]
        raise DebeziumError(f"{where}: {servers}: {reason}: {NO_LEADER}") from None
    return {(at.topic(), at.partition()): answer[at].offset() for at in answer}


def _settings(
    jvm: Any, where: str, options: Mapping[str, str], admin: Any, names: Sequence[str]
) -> dict[str, TopicSettings]:
    package = jvm.org.apache.kafka.common.config
    kind = getattr(package, "ConfigResource$Type").TOPIC
    resources = {name: package.ConfigResource(kind, name) for name in names}
    asked = admin.describeConfigs(_list(jvm, [*resources.values()])).values()
    return {
        name: settings_of(where, options, asked.get(resource))
        for name, resource in resources.items()
    }


def settings_of(where: str, options: Mapping[str, str], future: Any) -> TopicSettings:
    """Settings of a topic; of nulls where we may not ask, because that is a right of its own.

    Raises:
        DebeziumError: the answer only failed to come. As None, each offset without a message would
            be a gap for good in what lands now.
    """
    try:
        found = future.get()
        fewest = found.get(FEWEST_IN_SYNC)
        policy = found.get(POLICY).value()
        return TopicSettings(str(policy), None if fewest is None else int(fewest.value()))
    except Exception as error:
        if _innermost(error)[0] in TRANSIENT:
            raise _refusal(where, options, error) from None
        return TopicSettings(None, None)


def _list(jvm: Any, values: Sequence[Any]) -> Any:
    made = jvm.java.util.ArrayList()
    for value in values:
        made.add(value)
    return made
