"""A machine that uses the catalog and the store: commands of its own, or several in one process."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DBT, COMMAND = (Path(sys.executable).with_name(name) for name in ("dbt", "dbt-debezium"))
COMMANDS = """
import json, sys
from click.testing import CliRunner
from dbt_debezium.cli import main

for line in sys.stdin:
    ended = CliRunner().invoke(main, json.loads(line))
    said = ended.output if ended.exit_code else ended.stdout
    print(json.dumps([ended.exit_code, said]), flush=True)
"""
"""Commands in one process, as they come: Spark starts once."""


@dataclass(slots=True)
class Machine:
    """One that uses the servers, with a lake folder of its own."""

    folder: Path
    """Where its lake folder is."""
    environment: Mapping[str, str]
    """Names its servers."""
    project: Path
    name: str

    def start(self, *command: object, **environment: str) -> "subprocess.Popen[str]":
        lake = {"DBT_DEBEZIUM_LAKE": str(self.folder / self.name), "DBT_TARGET": "prod"}
        return subprocess.Popen(
            [str(part) for part in command],
            cwd=self.project,
            env={**self.environment, **lake, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def says(self, *command: object, code: int = 0, **environment: str) -> str:
        """Run a command to its end."""
        with self.start(*command, **environment) as started:
            said, _ = started.communicate(timeout=900)
        assert started.returncode == code, said
        return said


def ended(commands: "subprocess.Popen[str]") -> tuple[int, str]:
    """How the last command ended; lines of Spark's own log come before it."""
    assert commands.stdout is not None
    line = ""
    for line in commands.stdout:
        if re.match(r"\[\d, ", line):
            break
    code, said = json.loads(line)
    return code, str(said)


def answer(commands: "subprocess.Popen[str]", code: int) -> str:
    """What the last command said."""
    found, said = ended(commands)
    assert found == code, said
    return said
