"""Gives our commands in one process.

As a script, it takes them as arguments and gives one after another. Java then starts in the current
folder, which is where a relative path of a lake begins.
"""

import shlex
import sys

from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from dbt_debezium.cli import main


def give(command: str) -> Result:
    """Run one of our commands, which must end well."""
    name, *arguments = shlex.split(command)
    assert name == "dbt-debezium", command
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, (command, result.output)
    return result


def stop_spark() -> None:
    """End the session, as the end of a command's process does."""
    if session := SparkSession.getActiveSession():
        session.stop()


if __name__ == "__main__":
    for one in sys.argv[1:]:
        give(one)
