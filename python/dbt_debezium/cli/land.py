"""`dbt-debezium land`."""

from pathlib import Path
from typing import Any

import click
from rich.text import Text

from dbt_debezium.cli.console import enter_project, examples, from_anywhere, out, working
from dbt_debezium.home import lake_dir


@click.command(
    epilog=examples(
        "kcat -C -J -e -t shop.public.orders > orders.jsonl",
        "dbt-debezium land orders.jsonl",
        "dbt-debezium land dumps/",
    )
)
@click.argument("source")
@click.option("--target", help="A target of profiles.yml.")
def land(source: str, target: str | None) -> None:
    """Append new messages of SOURCE, a file or folder with a dump of topics, to landing.message.

    The form of a dump is recognised: what kcat, rpk, kafka-console-consumer, Spark and Kafka
    Connect's object-store sinks write, plain or gzip. Landing the same files again adds nothing.
    """
    from dbt_debezium.session import spark_session

    path = from_anywhere(source)
    enter_project()
    land_path(path, lambda: spark_session(target))


def land_path(source: str | Path, start_spark: Any) -> None:
    """Land, with progress, and say what landed."""
    from dbt_debezium.dumps import find_files
    from dbt_debezium.landing import land as land_messages
    from dbt_debezium.landing import local_path
    from dbt_debezium.lease import Lease

    find_files(local_path(source))
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
