"""Commands of a process of its own, with their exit codes and all that it writes."""

import json

GIVE = """
import json, sys
from click.testing import CliRunner
from dbt_debezium.cli import main

for command in json.loads(sys.argv[1]):
    ended = CliRunner().invoke(main, command)
    print("answer: " + json.dumps([ended.exit_code, ended.output]), flush=True)
"""
"""Gives the commands of its argument, which is JSON."""


def answers(given: list[list[str]], said: str) -> dict[str, tuple[int, str]]:
    """Exit code and output of each command, by its words.

    Args:
        said: what the process has written.
    """
    lines = [one for one in said.splitlines() if one.startswith("answer: ")]
    found = [json.loads(one.removeprefix("answer: ")) for one in lines]
    return {
        " ".join(words): (code, output) for words, (code, output) in zip(given, found, strict=True)
    }
