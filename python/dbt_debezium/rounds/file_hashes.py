"""Hashes of files that were hashed before and have not changed since."""

import time
from pathlib import Path

from dbt_debezium.dumps import file_hash

SETTLED_NANOS = 2_000_000_000
"""Two writes within a tick of the file system's clock show one time; a tick of FAT is 2 seconds."""

Signature = tuple[int, int, int, int, int]


class FileHashes:
    """Knows a file again by its place on the disk, its size and its times.

    A folder of dumps grows all day, and hashing 100 GB takes minutes.
    """

    def __init__(self) -> None:
        self._known: dict[Path, tuple[Signature, str]] = {}

    def of(self, path: Path) -> str:
        """The SHA-256 of the file's bytes.

        Raises:
            DebeziumError: the file cannot be read.
        """
        before = _signature(path)
        known = self._known.get(path)
        if known and known[0] == before:
            return known[1]
        began_at = time.time_ns()
        sha256 = file_hash(path)
        is_settled = before and began_at - max(before[3:]) > SETTLED_NANOS
        if before and is_settled and before == _signature(path):
            self._known[path] = before, sha256
        return sha256


def _signature(path: Path) -> Signature | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
