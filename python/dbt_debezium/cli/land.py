"""`dbt-debezium land`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from dbt_debezium.cli.console import (
    check_kafka_options,
    enter_project,
    examples,
    from_anywhere,
    out,
    registry_option,
    topics_option,
    working,
)
from dbt_debezium.home import lake_dir, make_private, project_dir
from dbt_debezium.kafka import SCHEME

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt_debezium.kafka.landing_file import KafkaBlock


@click.command(
    epilog=examples(
        "kcat -C -J -e -t shop.public.orders > orders.jsonl",
        "dbt-debezium land orders.jsonl",
        "dbt-debezium land dumps/",
        "dbt-debezium land kafka://localhost:9092 --topics 'shop[.].*'",
    )
)
@click.argument("source", required=False)
@topics_option
@registry_option
@click.option("--target", help="A target of profiles.yml.")
def land(source: str | None, topics: str | None, registry: str | None, target: str | None) -> None:
    """Append new messages of SOURCE to landing.message.

    SOURCE is a dump of topics, a file or folder, or kafka://host:port. Without SOURCE, all blocks
    of landing.yml are landed. Landing the same again adds only what is new.

    The form of a dump is recognised: what kcat, rpk, kafka-console-consumer, Spark and Kafka
    Connect's object-store sinks write, plain or gzip.
    """
    from dbt_debezium.session import spark_session

    check_kafka_options(source, topics, registry)
    if source and not source.startswith(SCHEME):
        source = from_anywhere(source)
    enter_project()
    land_source(source, lambda: spark_session(target), topics, registry)


def land_source(
    source: str | None,
    start_spark: "Callable[[], SparkSession]",
    topics: str | None = None,
    registry: str | None = None,
) -> None:
    """Land a path, an address of Kafka, or what landing.yml names; say what landed."""
    from dbt_debezium.kafka.landing_file import block_of_address, read_landing_file

    if source and not source.startswith(SCHEME):
        land_path(source, start_spark)
    elif source:
        block = block_of_address(source, topics or ".*", registry)
        land_blocks({source: block}, start_spark)
    else:
        land_blocks(read_landing_file(project_dir()), start_spark)


def land_blocks(blocks: "dict[str, KafkaBlock]", start_spark: "Callable[[], SparkSession]") -> None:
    """Land from Kafka, with progress, and say of each block what landed and what is to be done."""
    from dbt_debezium.kafka.land import land_kafka
    from dbt_debezium.kafka.landing_file import client_options, registry_of
    from dbt_debezium.lease import Lease

    for name, block in blocks.items():
        client_options(name, block)  # refuses before Spark starts
        registry_of(name, block)
    make_private(lake_dir())
    lines = []
    with Lease(lake_dir(), "dbt-debezium land"), working("starting Spark") as status:
        spark = start_spark()
        for name, block in blocks.items():
            status.update(f"{name}: asking {block.bootstrap_servers} for its topics")

            def tell(done: int, total: int, name: str = name) -> None:
                status.update(f"{name}: landed {done:,} of {total:,} offsets")

            landed = land_kafka(spark, name, block, tell)
            lines.append(
                f"{name}: landed {landed.message_count:,} messages of {landed.topic_count} topics, "
                f"{landed.partition_count} partitions"
            )
            lines += landed.sentences(name)
    for line in lines:
        out.print(Text(line), soft_wrap=True)


def land_path(source: str | Path, start_spark: "Callable[[], SparkSession]") -> None:
    """Land, with progress, and say what landed."""
    from dbt_debezium.dumps import refuse_early
    from dbt_debezium.landing import land as land_messages
    from dbt_debezium.landing import local_path
    from dbt_debezium.lease import Lease

    refuse_early(local_path(source))
    with Lease(lake_dir(), f"dbt-debezium land {source}"), working("starting Spark") as status:
        spark = start_spark()

        def tell(step: str, done: int, total: int) -> None:
            share = f" {done * 100 // total} %" if total else ""
            status.update(f"{'checking' if step == 'check' else 'landing'} {source}{share}")

        landed = land_messages(spark, source, tell)
    files = "file" if landed.file_count == 1 else "files"
    out.print(f"landed {landed.message_count:,} messages of {landed.file_count} new {files}")
    for skipped in landed.skipped_files:
        out.print(Text(f"skipped {skipped}"), soft_wrap=True)
