"""The folder that an embedded Spark spills into, which only its user can read.

Spark, Java and Python's workers would write to /tmp. What they spill are rows, and Spark makes some
of these folders readable for everybody. A killed process leaves its folder, and the next one
removes it.
"""

import fcntl
import os
import shutil
import stat
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from dbt_debezium.errors import DebeziumError

LOCK: Final = ".lock"
"""How the file beside a folder ends that a living process keeps locked."""

_locks: list[int] = []
"""Of this process. The kernel takes them back when it ends, however it ends."""


@cache
def spark_temp() -> Path:
    """The folder of this process. The first call makes it, and removes what others have left.

    Raises:
        DebeziumError: somebody else's folder is in its place, or it cannot be written.
    """
    root = Path(tempfile.gettempdir()) / f"dbt-debezium-{os.getuid()}"
    try:
        _make_root(root)
        remove_left(root)
        while True:
            descriptor, name = tempfile.mkstemp(suffix=LOCK, dir=root)
            lock = Path(name)
            if _is_locked(descriptor, lock):
                break
        _locks.append(descriptor)
        folder = lock.with_suffix("")
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise DebeziumError(
            f"spark: {root} cannot be written ({error.strerror}); set TMPDIR to a folder that can"
        ) from error
    return folder


def remove_left(root: Path) -> None:
    """Remove the folders of processes that have ended.

    Args:
        root: the folder that they are in.
    """
    for lock in root.glob(f"*{LOCK}"):
        try:
            descriptor = os.open(lock, os.O_RDWR)
        except FileNotFoundError:
            # Another process is removing it.
            continue
        if _is_locked(descriptor, lock):
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink()
        os.close(descriptor)


def _is_locked(descriptor: int, lock: Path) -> bool:
    """Whether this process has taken a lock, and its file is still there."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(descriptor).st_ino == lock.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False


def _make_root(root: Path) -> None:
    """Make the folder of a user, in one that others may write to.

    Raises:
        DebeziumError: somebody else has made it, or a link.
    """
    root.mkdir(mode=0o700, exist_ok=True)
    found = root.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise DebeziumError(
            f"spark: {root} belongs to somebody else; set TMPDIR to a folder of your own"
        )
    if found.st_mode & 0o077:
        root.chmod(0o700)
