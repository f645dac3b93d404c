"""One run at a time per lake.

Two runs that write one Iceberg table at once fail half way, in the one that comes second. A lock of
the kernel's (flock) refuses the second run before it starts, and ends with its process, however
that ends: a `kill -9` leaves nothing to clean up.
"""

import contextlib
import fcntl
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import lake_dir, make_private

LOCK_NAME = "run.lock"
JVM_LOCK_NAME = "jvm.lock"
JVM_WAIT_SECONDS = 60.0

_guard = threading.Lock()
_held: dict[Path, "_Hold"] = {}
_held_by_jvm: set[Path] = set()


class _Hold:
    """The open lock file of one lake, and how many leases of this process share it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.lease_count = 0


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
                hold = _held[key] = _Hold(_lock(self._lake, self._command))
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
    """Take the lease on the lake of this environment; the end of the process releases it.

    Raises:
        DebeziumError: another process holds it, or the lock file cannot be written.
    """
    return Lease(lake_dir(), command).acquire()


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


@contextlib.contextmanager
def jvm_lease(jvm: Any, lake: Path, wait_seconds: float = JVM_WAIT_SECONDS) -> Iterator[None]:
    """Let no other JVM write to the lake during a `with` block.

    The JVM of a killed run outlives it by half a second or more, and could commit once more after
    the next run has looked. A lock of the JVM's own ends when it does, so waiting for the lock is
    waiting for its end.

    Args:
        jvm: py4j's view of the JVM, `spark._jvm`; None over Spark Connect, where there is nothing
            to hold.
        wait_seconds: how long another JVM may take to end.

    Raises:
        DebeziumError: another JVM is still there after the wait.
    """
    key = lake.resolve()
    if jvm is None or key in _held_by_jvm:
        yield
        return
    # Closing the channel, or the end of the JVM, releases the lock.
    channel = jvm.java.io.RandomAccessFile(str(key / JVM_LOCK_NAME), "rw").getChannel()
    try:
        give_up_at = time.monotonic() + wait_seconds
        while channel.tryLock() is None:
            if time.monotonic() > give_up_at:
                raise DebeziumError(
                    f"lake: the Java process of a killed run still holds {lake / JVM_LOCK_NAME} "
                    f"after {wait_seconds:.0f} s; end that process"
                )
            time.sleep(0.1)
        _held_by_jvm.add(key)
        try:
            yield
        finally:
            _held_by_jvm.discard(key)
    finally:
        # After Ctrl-C in Spark the connection to the JVM may be gone, and the lock with it.
        with contextlib.suppress(Exception):
            channel.close()
