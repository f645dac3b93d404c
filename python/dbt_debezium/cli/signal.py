"""`dbt-debezium signal`."""

from collections.abc import Sequence
from typing import Literal

import click

from dbt_debezium.cli.console import examples
from dbt_debezium.errors import DebeziumError


@click.command(
    short_help="Have a table read again.",
    epilog=examples(
        "dbt-debezium signal public.orders --table public.debezium_signal",
        "dbt-debezium signal public.orders --type blocking --kafka shop",
    ),
)
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@click.option("--stop", is_flag=True, help="Stop reading; without a TABLE, whatever is being read.")
@click.option(
    "--type",
    "snapshot_type",
    type=click.Choice(["incremental", "blocking"]),
    default="incremental",
    show_default=True,
    help="Beside the stream in chunks, or instead of it at once.",
)
@click.option(
    "--condition",
    "conditions",
    multiple=True,
    metavar="TABLE:CONDITION",
    help="Rows of a TABLE to read, for example 'public.orders:total > 10'.",
)
@click.option("--surrogate-key", metavar="COLUMN", help="Cut chunks by this unique column.")
@click.option(
    "--connector", default="postgresql", show_default=True, help="Debezium's name of the connector."
)
@click.option(
    "--table",
    "signal_table",
    metavar="NAME",
    help="The connector's signal.data.collection; its case is kept.",
)
@click.option("--kafka", "prefix", metavar="PREFIX", help="Print a record for this topic.prefix.")
@click.option("--id", "signal_id", metavar="ID", help="The signal's id; a new one by default.")
def signal(
    tables: Sequence[str],
    stop: bool,
    snapshot_type: Literal["incremental", "blocking"],
    conditions: Sequence[str],
    surrogate_key: str | None,
    connector: str,
    signal_table: str | None,
    prefix: str | None,
    signal_id: str | None,
) -> None:
    """Print the signal that has a connector read each TABLE again.

    With --table it is SQL for the source database, with --kafka a JSON line with topic, key and
    value. A signal in a table is proved by its place in the log, one through Kafka is not.
    """
    from uuid import uuid4

    from dbt_debezium.signals import Signal, parse_conditions

    if bool(signal_table) == bool(prefix):
        named = "both are" if prefix else "neither is"
        raise DebeziumError(
            f"signal: of --table and --kafka {named} named; "
            "name one, for example --table public.debezium_signal"
        )
    made = Signal(
        signal_id or f"dbt-debezium-{uuid4()}",
        tables,
        is_stop=stop,
        snapshot_type=snapshot_type,
        conditions=parse_conditions(conditions),
        surrogate_key=surrogate_key,
    )
    made.check(connector)
    click.echo(made.kafka_record(prefix) if prefix else made.sql(connector, signal_table or ""))
