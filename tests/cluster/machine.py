"""A machine that uses the catalog and the store: a process for each command, or one for several."""

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import IO

DBT, COMMAND = (Path(sys.executable).with_name(name) for name in ("dbt", "dbt-debezium"))
SECONDS = 900
"""Of one command, also on a machine that does much else."""
COMMANDS = """
import json, pickle, sys
from pathlib import Path
from click.testing import CliRunner
from dbt_debezium.cli import main
from dbt_debezium.export import export
from dbt_debezium.spark.session import spark_session

for line in sys.stdin:
    name, *arguments = json.loads(line)
    if name == "export":
        tables, folder = map(Path, arguments)
        export(spark_session(), pickle.loads(tables.read_bytes()), folder)
        print(json.dumps([0, ""]), flush=True)
        continue
    ended = CliRunner().invoke(main, [name, *arguments])
    said = ended.output if ended.exit_code else ended.stdout or ended.output
    print(json.dumps([ended.exit_code, said]), flush=True)
"""
"""Commands as they come; `export` writes the tables of a pickle into a folder."""


def wait_until(is_there: Callable[[], bool]) -> None:
    """Wait for something that a command does."""
    end = time.monotonic() + SECONDS
    while not is_there():
        assert time.monotonic() < end
        time.sleep(0.02)


@dataclass(slots=True)
class Machine:
    """One that uses the servers, with a lake folder of its own."""

    folder: Path
    """Where its lake folder is."""
    environment: Mapping[str, str]
    """Names its servers."""
    project: Path
    name: str

    def start(
        self,
        *command: object,
        output: "int | IO[str]" = subprocess.PIPE,
        environment: Mapping[str, str] | None = None,
    ) -> "subprocess.Popen[str]":
        lake = {"DBT_DEBEZIUM_LAKE": str(self.folder / self.name), "DBT_TARGET": "prod"}
        return subprocess.Popen(
            [str(part) for part in command],
            cwd=self.project,
            env={**self.environment, **lake, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def says(self, *command: object, code: int = 0, **environment: str) -> str:
        """Run a command to its end."""
        with self.start(*command, environment=environment) as started:
            said, _ = started.communicate(timeout=SECONDS)
        assert started.returncode == code, said
        return said


class Commands:
    """Commands of a machine in one process, so that Spark starts once."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._answers: Queue[tuple[int, str]] = Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        """Take answers; lines of Spark's own log come between them."""
        assert self._process.stdout is not None
        lines = []
        for line in self._process.stdout:
            lines.append(line)
            if re.match(r"\[\d, ", line):
                code, said = json.loads(line)
                self._answers.put((code, said))
                lines = []
        self._answers.put((-1, "".join(lines)))

    def kill(self) -> None:
        """End the process."""
        self._process.kill()
        self._listener.join()

    def begin(self, *command: object) -> None:
        """Start a command, and wait for nothing."""
        assert self._process.stdin is not None
        print(json.dumps([str(part) for part in command]), file=self._process.stdin, flush=True)

    @property
    def has_ended(self) -> bool:
        """Whether the command has an answer."""
        return not self._answers.empty()

    def end(self) -> tuple[int, str]:
        """The exit code of the command, and what it said; -1 where the process has ended."""
        return self._answers.get(timeout=SECONDS)

    def says(self, *command: object, code: int = 0) -> str:
        """Run a command to its end."""
        self.begin(*command)
        ended, said = self.end()
        assert ended == code, said
        return said


@contextmanager
def commands(machine: Machine) -> Iterator[Commands]:
    """A process of a machine for commands; it ends with the block."""
    with machine.start(sys.executable, "-c", COMMANDS) as process:
        started = Commands(process)
        try:
            yield started
        finally:
            started.kill()
