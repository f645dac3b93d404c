"""The command line: a module for each command, which is also a function of its module."""

import sys
import warnings
from importlib import import_module
from typing import Any, Final

import click

from dbt_debezium.cli.problems import known_sentences, print_bug, say_problems

COMMANDS: Final = (
    "demo",
    "diff",
    "doctor",
    "init",
    "jars",
    "land",
    "lease",
    "maintain",
    "pack",
    "preview",
    "quarantine",
    "query",
    "report",
    "run",
    "scaffold",
    "signal",
    "status",
    "views",
)


def imported(name: str) -> click.Command:
    """A command by its name, which is that of its module too."""
    found: click.Command = getattr(import_module(f"{__name__}.{name}"), name)
    return found


class Commands(click.Group):
    """Imports a command when it is asked for: all of them take as long as an answer of one.

    Ends a command that cannot continue, with one sentence and exit code 2.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # For a name that is none, click proposes one of those that it knows.
        for name in [cmd_name] if cmd_name in COMMANDS else COMMANDS:
            self.add_command(imported(name))
        return super().get_command(ctx, cmd_name)

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
