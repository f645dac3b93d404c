"""The folder between a dump and the table: the messages of each dump that is to be landed.

An entry is a file of one JSON line per message, whatever form the dump had. It is named by the
hash of the dump, and emptied once its messages have landed. The empty entry stays, so that this
machine knows the dump again without Spark; what has landed is known to the catalog. No Spark.
"""

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from dbt_debezium.dumps import (
    Dump,
    file_hash,
    find_files,
    none_is_a_dump,
    overlooked,
    placed_hash,
    read_dump,
    why_skipped,
)
from dbt_debezium.dumps.files import OnBytes
from dbt_debezium.dumps.sink_files import misplaced
from dbt_debezium.errors import DebeziumError
from dbt_debezium.spark.catalogs import inbox_folder

OnProgress = Callable[[str, int, int], None]
"""Called with the step, how much is done, and of how much: 'check' in bytes, 'land' in messages."""


class Inbox:
    """The entries, and what is being written to become one.

    Messages are copied: a writer who appends to his file in place must not change what was
    checked.
    """

    # Listing costs little: 5,000 entries add 0.1 CPU-s to a landing.

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._unfinished: dict[str, Path] = {}

    def exists(self) -> bool:
        return self.folder.is_dir()

    def knows(self, identity: str) -> bool:
        """Whether this dump has landed, or waits to be."""
        return identity in self._unfinished or self._entry(identity).exists()

    def has_unread(self) -> bool:
        """Whether an entry may not have landed."""
        return any(entry.stat().st_size for entry in self._entries())

    def write(self, path: Path, on_bytes: OnBytes) -> Dump:
        """Read a file; its messages become an entry with the next `keep`, if all of it is messages.

        Raises:
            DebeziumError: it cannot be read, or the lake cannot take it.
        """
        # Spark does not read names that begin with `_`.
        unfinished = self.folder / f"_{len(self._unfinished)}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with unfinished.open("wb") as file:
                dump = read_dump(path, file.write, on_bytes)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            remedy = "the file must be readable, and the lake writable"
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                remedy = "the lake needs room for its messages until they have landed, uncompressed"
            raise DebeziumError(
                f"{path}: cannot be copied to {self.folder} ({error.strerror}); {remedy}"
            ) from error
        if dump.message_count and dump.refusal is None:
            self._unfinished[dump.identity] = unfinished
        else:
            unfinished.unlink()
        return dump

    def keep(self) -> None:
        """Make entries of all that was written."""
        for identity, file in self._unfinished.items():
            file.rename(self.folder / f"{identity}.jsonl")
        self._unfinished.clear()

    def waiting(self) -> set[str]:
        """The dumps whose messages lie here; the catalog knows whether they have landed."""
        return {_identity(one) for one in self._entries() if one.stat().st_size}

    def paths(self, identities: Iterable[str]) -> list[Path]:
        """The files with the messages of dumps that wait."""
        return [self._entry(one) for one in identities]

    def empty(self, identities: Iterable[str]) -> None:
        """Forget the messages of dumps that have landed, but not their names."""
        for one in identities:
            os.truncate(self._entry(one), 0)

    def clean(self) -> None:
        """Remove what was written and not kept, now or by a landing that was killed."""
        self._unfinished.clear()
        if self.exists():
            for file in self.folder.glob("_*"):
                if file.is_dir():
                    shutil.rmtree(file)
                else:
                    file.unlink()

    def _entry(self, identity: str) -> Path:
        """The file of a dump."""
        return self.folder / f"{identity}.jsonl"

    def _entries(self) -> list[os.DirEntry[str]]:
        if not self.exists():
            return []
        with os.scandir(self.folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(("_", "."))]


def _identity(entry: os.DirEntry[str]) -> str:
    return entry.name.partition(".")[0]


def local_path(path: str | Path) -> Path:
    """A path of this machine.

    Raises:
        DebeziumError: it names another kind of place.
    """
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", str(path))
    if scheme:
        raise DebeziumError(
            f"land: {scheme[1]}:// is not read yet; name a file or a folder with a dump of topics"
        )
    return Path(path).expanduser()


def open_inbox(catalog: Mapping[str, str]) -> Inbox:
    """The inbox of a catalog (`catalogs.catalog_of`), in the lake of this environment.

    What has landed in one catalog has not landed in another.
    """
    return Inbox(inbox_folder(catalog))


def take(
    path: Path,
    inbox: Inbox,
    on_progress: OnProgress | None = None,
    hash_of: Callable[[Path], str] = file_hash,
) -> tuple[list[Dump], tuple[str, ...]]:
    """Read the new dumps at the path into the inbox, all or none of them.

    Args:
        hash_of: the SHA-256 of a file, by which it is known again.

    Returns:
        The new dumps, and a sentence for each file that is none.

    Raises:
        DebeziumError: the path is not what can be read, or a line of a dump is not a message.
    """
    inbox.clean()
    try:
        dumps, skipped = _written(path, inbox, on_progress, hash_of)
        inbox.keep()
    finally:
        inbox.clean()
    return dumps, skipped


def _written(
    path: Path, inbox: Inbox, on_progress: OnProgress | None, hash_of: Callable[[Path], str]
) -> tuple[list[Dump], tuple[str, ...]]:
    files = find_files(path)
    total = sum(file.stat().st_size for file in files)
    done = 0
    dumps: list[Dump] = []
    skipped: list[str] = []
    is_known = False

    def tell(byte_count: int) -> None:
        nonlocal done
        done += byte_count
        if on_progress:
            on_progress("check", done, total)

    for file in files:
        # Hashing costs a fiftieth of reading, and most files of a folder have landed before.
        sha256 = hash_of(file)
        if inbox.knows(sha256) or inbox.knows(placed_hash(file, sha256)):
            is_known = True
            tell(file.stat().st_size)
            continue
        dump = inbox.write(file, tell)
        if dump.refusal is not None and (dump.is_dump or file == path):
            raise dump.refusal
        if dump.refusal is not None or not dump.message_count:
            skipped.append(why_skipped(dump))
        elif dump.sha256 == sha256:
            dumps.append(dump)
        else:
            raise DebeziumError(f"{file}: changed while it was read; land it when it is written")
    placed = {dump.path: dump.message_count for dump in dumps if dump.is_placed_by_name}
    if refusal := misplaced(files, placed):
        raise refusal
    others = overlooked(path)
    if not dumps and not is_known:
        raise none_is_a_dump(path, others[:1] or skipped)
    return dumps, (*others, *skipped)
