"""From topics into `landing.message` and `landing.range`, each offset exactly once.

A landing first writes the ranges that it will fetch, then the messages, then marks the ranges as
landed. A landing that was killed is finished by the next one: its ranges count if its messages are
there, which Iceberg commits all at once, and are planned anew if they are not. Nothing of this is
on the machine's own disk, so any machine can go on.

A process that sleeps may write a plan late, or the messages of an old one. So a plan counts for
nothing until its messages are there, and stays until they cannot come any more.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped] # it has no types
from pyspark.errors import PySparkException
from pyspark.sql import Observation
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark writes it

from dbt_debezium.errors import DebeziumError, innermost
from dbt_debezium.home import lake_dir
from dbt_debezium.kafka.broker import Topic, read_topics
from dbt_debezium.kafka.landing_file import KafkaBlock, client_options, registry_of
from dbt_debezium.kafka.plan import (
    Landed,
    Plan,
    Range,
    noted,
    parts,
    plan_landing,
    plan_sentences,
)
from dbt_debezium.kafka.silence import Silence
from dbt_debezium.landing.land import (
    RANGE,
    TABLE,
    Base,
    append_landing,
    create_landing_tables,
    landed_base,
    next_landing,
)
from dbt_debezium.lease import HeldLease, Lease, writing
from dbt_debezium.registry.client import Registry
from dbt_debezium.registry.store import (
    found_ids,
    landed_ids,
    learn,
    observed,
    unknown_schema_sentences,
)
from dbt_debezium.spark.outages import outage_of
from dbt_debezium.spark.remote import has_java

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_OFFSETS: Final = 2_000_000
"""Of one commit. A killed landing repeats one commit at most."""
OFFSETS_PER_FILE: Final = 250_000
OVERFLOW: Final = "long overflow"
"""What Java says of a time that has more microseconds than 64 bits hold."""
FAR_TIME: Final = (
    "a message has a time after the year 294246, which Spark cannot hold; leave the topic out of "
    "topics, or remove the message with kafka-delete-records.sh, and have the broker refuse such "
    "times (message.timestamp.after.max.ms)"
)

OnProgress = Callable[[int, int], None]
"""Called with how many offsets are fetched, and of how many."""


@dataclass(frozen=True, slots=True)
class KafkaLanded:
    """What one landing from a cluster did."""

    message_count: int
    topic_count: int
    partition_count: int
    plan: Plan
    unknown_schemas: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By topic: ids in its messages that no registry has given a schema for."""
    names_no_registry: bool = False
    has_looked_again: bool = False
    """See `Silence.is_proved_by`."""
    look_again_at: datetime | None = None
    """See `Silence.wake_up_at`."""

    def sentences(self, where: str) -> list[str]:
        """What the user must know and do."""
        return plan_sentences(where, self.plan) + unknown_schema_sentences(
            where, self.unknown_schemas, self.names_no_registry
        )


def land_kafka(
    spark: "SparkSession",
    name: str,
    block: KafkaBlock,
    on_progress: OnProgress | None = None,
    most: int = MOST_OFFSETS,
    limit: int | None = None,
    is_of_others: Callable[[str], bool] = lambda _: False,
    quiet_after: timedelta = timedelta(0),
) -> KafkaLanded:
    """Append what a cluster has beyond what has landed.

    Args:
        name: the block's name, or the address, for sentences.
        most: offsets of one commit.
        limit: offsets of each partition; the next landing continues there.
        is_of_others: whether another block has a topic, and settles what was planned of it.
        quiet_after: see `Silence`.

    Raises:
        DebeziumError: the cluster cannot be reached or read, no topic fits, or another run goes on.
    """
    options = client_options(name, block)
    registry = registry_of(name, block)
    _jvm_of(spark, name)
    with Lease(lake_dir(), f"land {name}"), writing(spark) as lease:
        create_landing_tables(spark)
        base = landed_base(spark)
        waiting = finish_killed(spark, base, registry, block.has, is_of_others)
        asked_at = datetime.now(UTC)
        topics = topics_of(spark, name, block)
        landed, moved_at = landed_ends(spark, topics)
        plan = plan_landing(topics, landed, block.starting_offsets)
        if limit is not None:
            plan = plan.limited(limit)
        # Partitions of topics that are not landed any more have no range.
        asked = {(one.topic, one.partition) for one in plan.ranges} & landed.keys()
        silence = Silence({at: landed[at] for at in asked}, moved_at, quiet_after)
        ranges = noted(plan, landed, silence.is_due(asked_at))
        done = message_count = 0
        for some in parts(ranges, most):
            if done:
                _check_recreated(name, topics, topics_of(spark, name, block))
            message_count += _land_part(
                spark, name, lease, base, options, some, asked_at, registry, block.has
            )
            done += sum(one.end - one.start for one in some)
            if on_progress:
                on_progress(done, plan.offset_count)
        _drop_plans(spark, waiting, base)
        unknown = learn(spark, (), registry, block.has)
    partition_count = sum(len(topic.partitions) for topic in topics)
    return KafkaLanded(
        message_count,
        len(topics),
        partition_count,
        plan,
        unknown,
        registry is None,
        silence.is_proved_by(ranges),
        silence.after(ranges, asked_at).wake_up_at,
    )


def topics_of(spark: "SparkSession", name: str, block: KafkaBlock) -> list[Topic]:
    """The topics of a block, as the cluster has them now.

    Raises:
        DebeziumError: the cluster cannot be reached or read, or no topic fits.
    """
    topics = read_topics(_jvm_of(spark, name), name, client_options(name, block), block.has)
    if not topics:
        raise DebeziumError(
            f"{name}: no topic fits {named_topics(block)}; "
            f"look at what {block.bootstrap_servers} has, and correct topics"
        )
    return topics


def _check_recreated(name: str, before: Sequence[Topic], now: Sequence[Topic]) -> None:
    """A long landing must not continue in a topic that has another one's name.

    Raises:
        DebeziumError: a topic was recreated.
    """
    ids = {topic.name: topic.id for topic in now}
    recreated = [one.name for one in before if ids.get(one.name, one.id) != one.id]
    if recreated:
        raise DebeziumError(
            f"{name}: {recreated[0]}: the topic was deleted and created again while it landed; "
            "land again, which names what to do"
        )


def _jvm_of(spark: "SparkSession", name: str) -> Any:
    if not has_java(spark):
        raise DebeziumError(
            f"{name}: Spark Connect cannot ask Kafka for its offsets; "
            "land with another target on the same catalog, such as prod"
        )
    return spark._jvm


def named_topics(block: KafkaBlock) -> str:
    """The topics that a block names, for a sentence."""
    return block.topics if isinstance(block.topics, str) else ", ".join(block.topics)


def finish_killed(
    spark: "SparkSession",
    base: Base,
    registry: Registry | None,
    has: Callable[[str], bool],
    is_of_others: Callable[[str], bool],
) -> set[int]:
    """Settle the ranges that a killed landing planned: they count if its messages are there.

    Args:
        registry: of the topics that `has` takes.
        has: whether a topic is one of the block that lands.
        is_of_others: whether one is that of a block whose own landing asks its own registry. Until
            then no run reads it, or its messages would be quarantined.

    Returns:
        Landings that may still bring their messages, if their process only sleeps.

    Raises:
        DebeziumError: the registry does not answer.
    """
    planned = spark.sql(
        f"select landing_id, collect_set(topic) as topics from {RANGE} where not is_landed"
        " group by landing_id"
    ).collect()
    waiting = set()
    for row in planned:
        landed = spark.table(TABLE).where(f"landing_id = {row.landing_id}")
        if landed.head() is None:
            waiting.add(row.landing_id)
        elif any(map(has, row.topics)) or not any(map(is_of_others, row.topics)):
            learn(spark, landed_ids(landed, registry), registry, has)
            _mark_landed(spark, row.landing_id)
    return waiting - _drop_plans(spark, waiting, base)


def _drop_plans(spark: "SparkSession", waiting: set[int], base: Base) -> set[int]:
    """Remove plans whose messages cannot come: Iceberg refuses them after a later landing."""
    refused = {landing_id for landing_id in waiting if landing_id < base.newest}
    if refused:
        spark.sql(f"delete from {RANGE} where landing_id in ({', '.join(map(str, refused))})")
    return refused


def landed_ends(
    spark: "SparkSession", topics: Sequence[Topic]
) -> tuple[Mapping[tuple[str, int], Landed], datetime | None]:
    """Of each partition of these topics where its newest landing ended; of all topics, when.

    Returns:
        By topic and partition; and when a cluster was asked for the newest messages of any topic.
    """
    names = {topic.name for topic in topics}
    rows = spark.sql(
        "select topic, partition, max_by(topic_id, landing_id) as topic_id, "
        "max(end_offset) as end_offset, unix_micros(max(fetched_at)) as looked_at, "
        "max_by(is_sure_end, landing_id) as is_sure_end, "
        "unix_micros(max(fetched_at) filter (where end_offset > start_offset)) as moved_at "
        f"from {RANGE} where is_landed group by topic, partition"
    ).collect()
    landed = {
        (row.topic, row.partition): Landed(
            row.topic_id,
            row.end_offset,
            _time(row.looked_at),
            _time(row.looked_at) if row.is_sure_end else None,
        )
        for row in rows
        if row.topic in names
    }
    return landed, _time(max((row.moved_at for row in rows if row.moved_at), default=None))


def _time(micros: int | None) -> datetime | None:
    return None if micros is None else datetime.fromtimestamp(micros / 1e6, UTC)


def _land_part(
    spark: "SparkSession",
    name: str,
    lease: HeldLease,
    base: Base,
    options: Mapping[str, str],
    ranges: Sequence[Range],
    asked_at: datetime,
    registry: Registry | None,
    has: Callable[[str], bool],
) -> int:
    """One commit; how many messages it brought."""
    landing_id = next_landing(spark, lease, base)
    _plan_ranges(spark, landing_id, ranges, asked_at)
    filled = [one for one in ranges if one.end > one.start]
    count = 0
    if filled:
        seen = Observation()
        rows = observed(messages(spark, landing_id, options, filled), seen)
        try:
            count = append_landing(spark, rows, landing_id, base)
        # What fails in a task is no exception of PySpark's own.
        except (PySparkException, Py4JJavaError) as error:
            reason = innermost(error)
            if OVERFLOW in reason:
                names = [
                    one for one in _topics_of(filled) if _overflows(spark, options, filled, one)
                ]
                raise DebeziumError(f"{name}: {', '.join(names)}: {FAR_TIME}") from error
            raise outage_of(error, spark) or DebeziumError(
                f"{name}: messages could not be fetched ({reason}); "
                "once that is mended, land again: it continues where it stopped"
            ) from error
        # Until its schemas are known, no run reads the landing.
        learn(spark, found_ids(seen.get, registry), registry, has)
    _mark_landed(spark, landing_id)
    return count


def _topics_of(ranges: Sequence[Range]) -> list[str]:
    return sorted({one.topic for one in ranges})


def _overflows(
    spark: "SparkSession", options: Mapping[str, str], ranges: Sequence[Range], topic: str
) -> bool:
    """Whether a message of the topic has a time that Spark cannot hold."""
    of_topic = [one for one in ranges if one.topic == topic]
    try:
        messages(spark, 0, options, of_topic).select("offset").agg(F.max("offset")).collect()
    except (PySparkException, Py4JJavaError) as error:
        return OVERFLOW in innermost(error)
    return False


def _plan_ranges(
    spark: "SparkSession", landing_id: int, ranges: Sequence[Range], asked_at: datetime
) -> None:
    rows = [
        (
            landing_id, one.topic, one.topic_id, one.partition, one.start, one.end,
            one.log_start, one.log_end, one.cleanup_policy, one.is_sure_end,
        )
        for one in ranges
    ]  # fmt: skip
    columns = (
        "landing_id bigint, topic string, topic_id string, partition int, start_offset bigint, "
        "end_offset bigint, log_start_offset bigint, log_end_offset bigint, cleanup_policy string, "
        "is_sure_end boolean"
    )
    frame = spark.createDataFrame(rows, columns)
    frame.coalesce(1).withColumns(
        {"fetched_at": F.lit(asked_at), "is_landed": F.lit(False)}
    ).writeTo(RANGE).append()


def _mark_landed(spark: "SparkSession", landing_id: int) -> None:
    spark.sql(f"update {RANGE} set is_landed = true where landing_id = {landing_id}")


def messages(
    spark: "SparkSession", landing_id: int, options: Mapping[str, str], ranges: Sequence[Range]
) -> "DataFrame":
    """The messages of the ranges as rows of `landing.message`."""
    starts: dict[str, dict[str, int]] = defaultdict(dict)
    ends: dict[str, dict[str, int]] = defaultdict(dict)
    for one in ranges:
        starts[one.topic][str(one.partition)] = one.start
        ends[one.topic][str(one.partition)] = one.end
    assigned = {topic: [int(number) for number in some] for topic, some in starts.items()}
    reader = spark.read.format("kafka").options(
        assign=json.dumps(assigned),
        startingOffsets=json.dumps(starts),
        endingOffsets=json.dumps(ends),
        includeHeaders="true",
        failOnDataLoss="true",
    )
    for option, value in options.items():
        reader = reader.option(f"kafka.{option}", value)
    offset_count = sum(one.end - one.start for one in ranges)
    file_count = max(spark.sparkContext.defaultParallelism, -(-offset_count // OFFSETS_PER_FILE))
    # By default, messages of aborted transactions would land too.
    return (
        reader.option("kafka.isolation.level", "read_committed")
        .load()
        .coalesce(file_count)
        .select(
            F.lit(landing_id).cast("bigint").alias("landing_id"),
            "topic",
            "partition",
            "offset",
            "timestamp",
            "key",
            "value",
            F.coalesce(
                "headers", F.array().cast("array<struct<key: string, value: binary>>")
            ).alias("headers"),
        )
    )
