"""The command of `run --on-change`: called after a round in which something began or ended."""

import json
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from typing import Final

import msgspec

from dbt_debezium.errors import DebeziumError
from dbt_debezium.replaced_file import write
from dbt_debezium.watching.problems import (
    KINDS_OF_LAKE,
    Change,
    Key,
    Problem,
    after,
    changes_of,
    problems_of,
)
from dbt_debezium.watching.watch import Seen
from dbt_debezium.writers.terminal import json_text, one_line

NAME: Final = "on_change.json"
"""In the lake: the problems that the command knows, so that a restart repeats no call."""
LONGEST_SECONDS: Final = 30
"""After that the command is ended, and called again in the next round."""
SHOWN_OUTPUT: Final = 200
"""Characters of what a failed command has written."""


class OnChange:
    """Calls a command once for all changes of a round, with JSON on its standard input.

    Names of sources and tables come from the data. A call for each would let whoever can make names
    keep the rounds waiting.
    """

    def __init__(self, command: str, memory: Path) -> None:
        """Know the command.

        Args:
            command: a program and its arguments, quoted as in a shell. No shell runs it.
            memory: the file of the problems that the command knows.

        Raises:
            DebeziumError: the command is none, or its program is not there.
        """
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise DebeziumError(
                f"run: --on-change: {command!r} is no command ({error}); quote it as in a shell"
            ) from error
        if not self._command:
            raise DebeziumError(
                "run: --on-change: the command is empty; name a program, as --on-change ./alert.sh"
            )
        if shutil.which(self._command[0]) is None:
            raise DebeziumError(
                f"run: --on-change: {self._command[0]} is no program that is there and may be run; "
                "name one, as --on-change ./alert.sh"
            )
        self._memory = memory
        self._known = _read(memory)

    def write(self, seen: Seen) -> str | None:
        """Call the command for what has changed since it was last called.

        Raises:
            DebeziumError: the command failed. The next round calls it for the same changes.
        """
        if seen.health is None:
            return None
        known = self._known
        if seen.found is None:
            # Nobody knows whether what the lake held is over.
            known = {key: one for key, one in known.items() if key.kind not in KINDS_OF_LAKE}
        changes = changes_of(known, problems_of(seen.found, seen.health))
        if changes:
            self._call(message_of(changes, seen.lake))
            self._known = after(self._known, changes)
            write(self._memory, json_text(msgspec.to_builtins([*self._known.values()])), "run")
        return None

    def _call(self, message: dict[str, object]) -> None:
        # From a file, so that a command which does not read it keeps nobody waiting.
        with TemporaryFile() as given:
            given.write(f"{json_text(message)}\n".encode())
            given.seek(0)
            try:
                process = subprocess.Popen(
                    self._command,
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise self._failed(f"cannot be started ({error.strerror})") from error
        output = _Output(process)
        try:
            process.wait(LONGEST_SECONDS)
        except subprocess.TimeoutExpired as error:
            # What it has started ends with it.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise self._failed(f"has not ended within {LONGEST_SECONDS} seconds") from error
        if process.returncode:
            said = output.text()
            raise self._failed(f"ended with {process.returncode}{': ' if said else ''}{said}")

    def _failed(self, why: str) -> DebeziumError:
        return DebeziumError(
            f"run: --on-change: {self._command[0]} {why}; it is called again in the next round"
        )


class _Output:
    """The first of what a command writes. The rest is read too, else the command would wait.

    Another process that it has started may write on when it has ended.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._pipe = process.stdout
        self._first = b""
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._pipe is not None
        with self._pipe as pipe:
            self._first = pipe.read(4 * SHOWN_OUTPUT)
            while pipe.read(1 << 16):
                pass

    def text(self) -> str:
        self._reader.join(1)
        return " ".join(self._first.decode(errors="replace").split())[:SHOWN_OUTPUT]


def message_of(changes: Sequence[Change], lake: str) -> dict[str, object]:
    """What stands on the command's standard input; `docs/watching.md` lists the fields."""
    return {
        "lake": lake,
        "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "changes": [
            {
                "event": change.event,
                "kind": change.problem.key.kind,
                "source": change.problem.key.source or None,
                "what": change.problem.key.what or None,
                "size": change.problem.size,
                "sentence": one_line(change.problem.sentence),
            }
            for change in changes
        ],
    }


def _read(memory: Path) -> dict[Key, Problem]:
    """The problems that the command knows; none where no file says so."""
    try:
        known: Sequence[Problem] = msgspec.convert(json.loads(memory.read_bytes()), list[Problem])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise DebeziumError(
            f"run: {memory} cannot be read ({error}); remove it, and what is wrong is reported "
            "again"
        ) from error
    return {one.key: one for one in known}
