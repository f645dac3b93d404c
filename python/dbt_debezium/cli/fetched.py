"""What `preview` has read of Kafka, partition by partition."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dbt_debezium.amounts import chosen, counted
from dbt_debezium.cli.console import out
from dbt_debezium.cli.tables import show_rows
from dbt_debezium.kafka.plan import Plan, Range

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt_debezium.kafka.land import KafkaLanded

SHOWN_PARTITIONS = 20


def show_fetched(spark: "SparkSession", name: str, fetched: "KafkaLanded", limit: int) -> None:
    """How many messages each partition gave, from which offsets, and how many it has more.

    Args:
        spark: a session on the lake that they landed in.
        name: the address, or the block of landing.yml.
        limit: offsets of each partition that were read at most.
    """
    counts = {
        (row.topic, row.partition): row["count"]
        for row in spark.table("landing.message").groupBy("topic", "partition").count().collect()
    }
    ranges = fetched.plan.ranges
    out.say(
        f"{name}: read {counted(fetched.message_count, 'message')} "
        f"of {counted(fetched.topic_count, 'topic')}, "
        f"{counted(fetched.partition_count, 'partition')}"
    )
    columns = ("topic", "partition", "from", "to", "messages", "not read")
    rows = [
        (
            one.topic,
            one.partition,
            *(("-", "-") if one.end == one.start else (f"{one.start:,}", f"{one.end - 1:,}")),
            f"{counts.get((one.topic, one.partition), 0):,}",
            f"{one.log_end - one.end:,}",
        )
        for one in ranges[:SHOWN_PARTITIONS]
    ]
    show_rows(columns, rows, columns[1:])
    for sentence in fetched_sentences(name, fetched, counts, limit):
        out.say(sentence)
    out.print()


def fetched_sentences(
    name: str, fetched: "KafkaLanded", counts: Mapping[tuple[str, int], int], limit: int
) -> list[str]:
    """What the table of the partitions does not say."""
    ranges = fetched.plan.ranges
    said = []
    more = ranges[SHOWN_PARTITIONS:]
    if more:
        said.append(
            f"and {counted(len(more), 'partition')} more, with "
            + counted(sum(counts.get((one.topic, one.partition), 0) for one in more), "message")
        )
    silent = fetched.plan.offset_count - fetched.message_count
    if silent:
        said.append(
            f"{name}: {counted(silent, 'offset')} without a message: "
            "Kafka's transactions take them up, or compaction has removed their messages"
        )
    cut_off = cut_off_sentence(name, ranges, limit)
    return [*said, *([cut_off] if cut_off else []), *fetched.sentences(name)]


def cut_off_sentence(name: str, ranges: tuple[Range, ...], limit: int) -> str | None:
    """Say that partitions have more than the limit, and what reads all.

    >>> cut_off_sentence("k", (Range("t", "id", 0, 0, 5, 0, 9), Range("u", "id", 0, 0, 2, 0, 2)), 5)
    'k: 1 of 2 partitions has more than the first 5 offsets, which were read; --limit 9 reads all'
    """
    cut_off = Plan(ranges).cut_off
    if not cut_off:
        return None
    largest = max(one.log_end - one.start for one in cut_off)
    has = chosen(len(cut_off), "has", "have")
    return (
        f"{name}: {len(cut_off):,} of {counted(len(ranges), 'partition')} {has} more than the "
        f"first {limit:,} offsets, which were read; --limit {largest} reads all"
    )
