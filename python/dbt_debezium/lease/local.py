"""One run at a time on this machine.

A lock of the kernel's (flock) refuses the second run before it starts Spark, and ends with its
process, however that ends: a `kill -9` leaves nothing to clean up. Whoever holds it knows that no
other process of this machine still writes, so the lease of a killed one can be taken at once.
"""

import atexit
import fcntl
import json
import os
import re
import socket
import sys
import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final

from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import lake_dir, make_private

LOCK_NAME: Final = "run.lock"
MACHINE_NAME: Final = "machine"
MACHINE_VARIABLE: Final = "DBT_DEBEZIUM_MACHINE"

_guard = threading.Lock()
_held: dict[Path, "_Hold"] = {}


class _Hold:
    """The open lock file of one lake, and how many leases of this process share it."""

    def __init__(self, descriptor: int, command: str) -> None:
        self.descriptor = descriptor
        self.command = command
        self.lease_count = 0
        self.at_end: Callable[[], None] | None = None


class Lease:
    """The right to write to a lake, from `acquire` until `release`, or for a `with` block.

    Leases of one process share it: the command line takes one, then dbt in the same process.

    Args:
        lake: the lake's folder; it is created when absent.
        command: what runs, for the sentence a second run is refused with; by default this program.
    """

    def __init__(self, lake: Path, command: str | None = None) -> None:
        self._lake = lake
        self._command = command or " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
        self._key: Path | None = None

    def acquire(self) -> "Lease":
        """Take the lease, or fail at once.

        Raises:
            DebeziumError: another process holds it, or the lock file cannot be written.
        """
        if self._key is not None:
            raise RuntimeError("this lease is held already; make another one")
        key = self._lake.resolve()
        with _guard:
            hold = _held.get(key)
            if hold is None:
                hold = _held[key] = _Hold(_lock(self._lake, self._command), self._command)
            hold.lease_count += 1
        self._key = key
        return self

    def release(self) -> None:
        """Give the lease back; without effect when it is not held."""
        if self._key is None:
            return
        with _guard:
            hold = _held[self._key]
            hold.lease_count -= 1
            if hold.lease_count == 0:
                if hold.at_end:
                    hold.at_end()
                del _held[self._key]
                # The file stays: removing it would let a third run lock a file that is gone.
                os.ftruncate(hold.descriptor, 0)
                os.close(hold.descriptor)
        self._key = None

    def __enter__(self) -> "Lease":
        return self.acquire()

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()


def acquire(command: str | None = None) -> Lease:
    """Take the lease on the lake of this environment; at the latest, the process's end releases it.

    Raises:
        DebeziumError: another process holds it, or the lock file cannot be written.
    """
    lease = Lease(lake_dir(), command).acquire()
    atexit.register(lease.release)
    return lease


def command_of(lake: Path) -> str:
    """The command that holds the lease of this process on a lake.

    Raises:
        RuntimeError: none does.
    """
    hold = _held.get(lake.resolve())
    if hold is None:
        raise RuntimeError(f"{lake}: no lease is held; take one before writing")
    return hold.command


def at_end(lake: Path, action: Callable[[], None]) -> None:
    """Have something done when the last lease of this process on a lake is released."""
    _held[lake.resolve()].at_end = action


def machine_of(lake: Path) -> str:
    """Names the lock file: two processes with one name cannot both hold the lease.

    An image of a container may carry the file, so the host's name belongs to it. Whoever restarts
    containers names the machine, and so a new container takes the lease of its dead predecessor at
    once. If two of one name work all the same, the one that took the lease first loses it.

    Raises:
        DebeziumError: the name has other signs than letters, digits, dots, dashes and underscores.
    """
    if named := os.environ.get(MACHINE_VARIABLE):
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", named):
            raise DebeziumError(
                f"lake: {MACHINE_VARIABLE} is {named!r}; name the machine with up to 100 letters, "
                "digits, dots, dashes and underscores, such as dbt-debezium-0"
            )
        return f"named {named}"
    path = lake / MACHINE_NAME
    try:
        number = path.read_text()
    except FileNotFoundError:
        number = uuid.uuid4().hex
        path.write_text(number)
    return f"{number}@{socket.gethostname()}"


def _lock(lake: Path, command: str) -> int:
    path = lake / LOCK_NAME
    try:
        make_private(lake)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise DebeziumError(
            f"lake: {path} cannot be written ({error.strerror}); "
            "set DBT_DEBEZIUM_LAKE to a folder that can be"
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        held_by = _holder(descriptor)
        os.close(descriptor)
        raise DebeziumError(
            f"lake: another run holds {path} ({held_by}); wait for it to end or stop it"
        ) from error
    holder = {
        "pid": os.getpid(),
        "command": command,
        "started_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(holder).encode(), 0)
    return descriptor


def _holder(descriptor: int) -> str:
    """Who holds the lock; its file is empty for an instant after the lock was taken."""
    try:
        holder = json.loads(os.pread(descriptor, 65536, 0))
        return f"pid {holder['pid']}, {holder['command']}, since {holder['started_at']}"
    except (ValueError, KeyError, TypeError):
        return "just started"
