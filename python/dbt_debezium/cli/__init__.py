"""The command line: a module for each command, which is also a function of its module."""

import sys
import warnings
from typing import Any

import click

from dbt_debezium.cli.demo import demo
from dbt_debezium.cli.diff import diff
from dbt_debezium.cli.doctor import doctor
from dbt_debezium.cli.init import init
from dbt_debezium.cli.jars import jars
from dbt_debezium.cli.land import land
from dbt_debezium.cli.lease import lease
from dbt_debezium.cli.maintain import maintain
from dbt_debezium.cli.pack import pack
from dbt_debezium.cli.preview import preview
from dbt_debezium.cli.problems import known_sentences, print_bug, say_problems
from dbt_debezium.cli.quarantine import quarantine
from dbt_debezium.cli.query import query
from dbt_debezium.cli.report import report
from dbt_debezium.cli.run import run
from dbt_debezium.cli.scaffold import scaffold
from dbt_debezium.cli.signal import signal
from dbt_debezium.cli.status import status
from dbt_debezium.cli.views import views


class Commands(click.Group):
    """Ends a command that cannot continue, with one sentence and exit code 2."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except BrokenPipeError:
            # Nobody reads on: click ends without a word.
            raise
        except Exception as error:
            sentences = known_sentences(error, str(context.invoked_subcommand))
            if sentences is None:
                raise
            say_problems(sentences)
            context.exit(2)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dbt-debezium")
def main() -> None:
    """Rebuild source tables from Debezium change logs; a query never sees half a transaction."""
    warnings.filterwarnings("ignore", module="pyspark")
    sys.excepthook = print_bug


COMMANDS = (
    demo,
    diff,
    doctor,
    init,
    jars,
    land,
    lease,
    maintain,
    pack,
    preview,
    quarantine,
    query,
    report,
    run,
    scaffold,
    signal,
    status,
    views,
)
for command in COMMANDS:
    main.add_command(command)
