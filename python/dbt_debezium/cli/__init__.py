"""The command line: a module for each command, which is also a function of its module."""

import warnings
from collections.abc import Sequence
from typing import Any

import click
from rich.text import Text

from dbt_debezium.cli.console import log
from dbt_debezium.cli.demo import demo
from dbt_debezium.cli.diff import diff
from dbt_debezium.cli.jars import jars
from dbt_debezium.cli.land import land
from dbt_debezium.cli.preview import preview
from dbt_debezium.cli.query import query
from dbt_debezium.cli.run import run
from dbt_debezium.cli.scaffold import scaffold
from dbt_debezium.cli.signal import signal
from dbt_debezium.cli.status import status
from dbt_debezium.errors import DebeziumError


class Commands(click.Group):
    """Ends a command that cannot go on with one sentence and exit code 2."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except DebeziumError as error:
            log.print(Text(str(error)), soft_wrap=True)
            context.exit(2)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dbt-debezium")
def main() -> None:
    """Rebuild source tables from Debezium change logs; a query never sees half a transaction."""
    warnings.filterwarnings("ignore", module="pyspark")


def unbuilt(name: str, instead: str) -> click.Command:
    """A command that ends with what to do in its place."""

    @click.command(name, context_settings={"ignore_unknown_options": True})
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def command(arguments: Sequence[str]) -> None:
        raise DebeziumError(f"{name}: is not built yet; {instead}")

    command.help = f"Not built yet: {instead}."
    command.short_help = "Not built yet."
    return command


COMMANDS = (
    demo,
    diff,
    jars,
    land,
    preview,
    query,
    run,
    scaffold,
    signal,
    status,
    unbuilt("quarantine", "`dbt-debezium status --json` lists quarantined messages"),
    unbuilt("doctor", "`dbt-debezium status` says what is held and why"),
    unbuilt("maintain", "use Iceberg's rewrite_data_files and expire_snapshots procedures"),
)
for command in COMMANDS:
    main.add_command(command)
