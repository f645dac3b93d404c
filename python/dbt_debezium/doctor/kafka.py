"""The clusters, tables and registries that landing.yml names."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_debezium.doctor.finding import Finding, checked
from dbt_debezium.kafka.broker import Topic
from dbt_debezium.kafka.land import landed_ends, named_topics, topics_of
from dbt_debezium.kafka.landing_file import FILE, Block, KafkaBlock, read_landing_file, registry_of
from dbt_debezium.kafka.plan import is_of_source, plan_landing, plan_sentences
from dbt_debezium.landing.land import RANGE
from dbt_debezium.message_tables.block import TableBlock
from dbt_debezium.message_tables.land import messages, table_of
from dbt_debezium.names import listed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def kafka_findings(spark: "SparkSession", project: Path) -> Iterator[Finding]:
    """Of each block of landing.yml."""
    if not (project / FILE).is_file():
        return
    for name, block in read_landing_file(project).items():
        if isinstance(block, KafkaBlock):
            yield from checked(partial(_cluster, spark, name, block))
        else:
            yield from checked(partial(_table, spark, name, block))
        yield from checked(partial(_registry, name, block))


def _cluster(spark: "SparkSession", name: str, block: KafkaBlock) -> Iterator[Finding]:
    topics = topics_of(spark, name, block)
    landed = landed_ends(spark, topics)[0] if spark.catalog.tableExists(RANGE) else {}
    plan = plan_landing(topics, landed, block.starting_offsets)
    partitions = sum(len(topic.partitions) for topic in topics)
    yield Finding(
        "ok",
        f"{name}: {len(topics):,} topics and {partitions:,} partitions fit {named_topics(block)}; "
        f"{plan.offset_count:,} offsets have not landed",
    )
    for sentence in plan_sentences(name, plan):
        yield Finding("wrong", sentence)
    yield from _topics(name, topics)


def _table(spark: "SparkSession", name: str, block: TableBlock) -> Iterator[Finding]:
    rows = messages(name, block, table_of(spark, name, block))
    yield Finding("ok", f"{name}: {block.name} has the columns {', '.join(rows.columns)}")


def _topics(name: str, topics: list[Topic]) -> Iterator[Finding]:
    of_source = [topic for topic in topics if is_of_source(topic.name)]
    if not any("transaction" in topic.name for topic in of_source):
        yield Finding(
            "note",
            f"{name}: no topic has transaction in its name; set provide.transaction.metadata=true "
            f"at the connector, and let topics of {FILE} name its topic of BEGIN and END, so that "
            "commits are proved by their counts",
        )
    compacted = [topic.name for topic in of_source if "compact" in (topic.cleanup_policy or "")]
    if compacted:
        yield Finding(
            "wrong",
            f"{name}: {listed(compacted, 'topics')}: compaction removes changes, and a transaction "
            "that lacks one is held; set cleanup.policy=delete",
        )
    silent = [topic.name for topic in of_source if topic.cleanup_policy is None]
    if silent:
        yield Finding(
            "note",
            f"{name}: {listed(silent, 'topics')}: the cluster does not show cleanup.policy, so an "
            "offset without a message is a gap; grant DescribeConfigs",
        )


def _registry(name: str, block: Block) -> Iterator[Finding]:
    registry = registry_of(name, block)
    if registry is not None:
        registry.check()
        yield Finding("ok", f"{name}: registry: {registry.url} answers")
