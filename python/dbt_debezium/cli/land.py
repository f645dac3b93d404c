"""`dbt-debezium land`."""

import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from dbt_debezium.cli.console import (
    check_kafka_options,
    enter_project,
    examples,
    from_anywhere,
    log,
    out,
    registry_option,
    topics_option,
    working,
)
from dbt_debezium.home import lake_dir, make_private, project_dir
from dbt_debezium.kafka import SCHEME
from dbt_debezium.message_tables import SCHEME as TABLES

if TYPE_CHECKING:
    from dbt_debezium.rounds.sources import Landing, Source


@click.command(
    short_help="Append new messages to the lake.",
    epilog=examples(
        "kcat -C -J -e -t shop.public.orders > orders.jsonl",
        "dbt-debezium land orders.jsonl",
        "dbt-debezium land dumps/",
        "dbt-debezium land kafka://localhost:9092 --topics 'shop[.].*'",
        "dbt-debezium land table://lake.raw.kafka",
    ),
)
@click.argument("source", required=False)
@topics_option
@registry_option
@click.option("--target", help="A target of profiles.yml.")
def land(source: str | None, topics: str | None, registry: str | None, target: str | None) -> None:
    """Append new messages of SOURCE to landing.message.

    SOURCE is a dump of topics, a file or folder, or kafka://host:port, or table://catalog.schema.table
    with the columns of Spark's Kafka source. Without SOURCE, all blocks of landing.yml are landed.
    Landing the same again adds only what is new.

    The form of a dump is recognised: what kcat, rpk, kafka-console-consumer, Spark and Kafka
    Connect's object-store sinks write, plain or gzip.
    """
    from dbt_debezium.lease import Lease
    from dbt_debezium.spark.session import spark_session

    check_kafka_options(source, topics, registry)
    if source:
        source = from_anywhere(source)
    enter_project()
    messages = source_of(source, topics, registry, target=target)
    make_private(lake_dir())
    command = " ".join(("dbt-debezium land", *([source] if source else [])))
    with Lease(lake_dir(), command), working("looking for messages") as status:
        if messages.look({}, status.update):
            status.update("starting Spark")
            landing = messages.land(spark_session(target), status.update).checked()
        else:
            landing = messages.unlanded()
    for line in (*landing.lines, *landing.notes):
        out.say(line)
    end_if_failed(landing)


def end_if_failed(landing: "Landing") -> None:
    """Name what could not be landed beside the rest; the exit code says it, too."""
    for failure in landing.failures:
        log.say(failure)
    if landing.failures:
        sys.exit(2)


def source_of(
    source: str | None,
    topics: str | None = None,
    registry: str | None = None,
    target: str | None = None,
    may_be_empty: bool = False,
) -> "Source":
    """What a path, an address of Kafka, or landing.yml names.

    Args:
        source: None for landing.yml.
        topics: a pattern, with an address.
        registry: the address of a schema registry, with an address.
        target: a target of profiles.yml, whose catalog a path lands in.
        may_be_empty: whether messages may come into a folder later.

    Raises:
        DebeziumError: it is not there, or cannot be read.
    """
    from dbt_debezium.dumps import refuse_early
    from dbt_debezium.dumps.files import does_not_exist
    from dbt_debezium.kafka.landing_file import KafkaBlock, block_of_address, read_landing_file
    from dbt_debezium.landing.inbox import local_path, open_inbox
    from dbt_debezium.message_tables.block import TableBlock, block_of_table
    from dbt_debezium.project_settings import read_settings
    from dbt_debezium.rounds.sources import KafkaSource, PathSource, SeveralSources, TableSource
    from dbt_debezium.spark.targets import catalog_of_target

    def kafka(blocks: dict[str, KafkaBlock]) -> KafkaSource:
        settings = read_settings(project_dir())
        return KafkaSource(blocks, timedelta(seconds=settings.quiet_partition_seconds))

    if source is None:
        blocks = read_landing_file(project_dir())
        tables = {name: one for name, one in blocks.items() if isinstance(one, TableBlock)}
        topics_of = {name: one for name, one in blocks.items() if isinstance(one, KafkaBlock)}
        found: list[Source] = []
        if topics_of:
            found.append(kafka(topics_of))
        if tables:
            found.append(TableSource(tables))
        return SeveralSources(found)
    if source.startswith(TABLES):
        return TableSource({source: block_of_table(source)})
    if source.startswith(SCHEME):
        return kafka({source: block_of_address(source, topics or ".*", registry)})
    path = local_path(source)
    if not path.exists():
        raise does_not_exist(path)
    catalog = catalog_of_target(target)
    # A name that was mistyped must not make a lake.
    if not may_be_empty and not open_inbox(catalog).exists():
        refuse_early(path)
    return PathSource(path, catalog, may_be_empty)
