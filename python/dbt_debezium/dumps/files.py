"""Files that may be dumps: which they are, and their bytes, hashed and decompressed on the way."""

import hashlib
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from dbt_debezium.errors import DebeziumError, NothingThereError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SUFFIXES = (".json", ".jsonl", ".ndjson", ".txt", ".log", ".out", ".parquet", ".avro", ".bin")
LONGEST_LINE = 128 * 1024 * 1024
"""In bytes. Kafka's own limit is 1 MB unless it was raised. A driver of 2 GB landed one line of
100 MB, and died of two of 62 MB at once; one of 5 GB landed two of 126 MB."""
PROGRESS_STEP = 1024 * 1024
CHUNK = 256 * 1024
HEAD = 4096
SAID_BY_TOOL = re.compile(rb"% |%[0-7]\||\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] [A-Z]+ ")
"""How a line begins that kcat, librdkafka or Kafka's tools say about themselves, if their two
outputs went into one file, as through a terminal of `docker exec -t` or `kubectl exec -t`."""

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

SINK_FILE = re.compile(
    r"(?P<topic>[A-Za-z0-9._-]+)\+(?P<partition>\d+)\+(?P<offset>\d+)"
    r"(?P<view>\.keys|\.headers)?\.[A-Za-z0-9.]+"
)
"""How Kafka Connect's object-store sinks name a file: topic, partition, offset of its first line.
Keys and headers lie in files beside it, if the sink was told to store them."""

TOPIC = re.compile(r"[A-Za-z0-9._-]+")

OnBytes = Callable[[int], None]
"""Called with the number of bytes of the file read since the last call."""


def find_files(path: Path) -> list[Path]:
    """The file itself, or the files in the folder and in those below it, by path.

    Names that begin with `_` or `.` are somebody's work in progress, as for Spark, unless they are
    those of a sink: Debezium's heartbeats begin with `_`, too. Where no name is one that dumps
    usually have, all files count, so that something can be said about them. Links that lead out of
    the folder are not followed, because whoever fills it may not be who may read what they name.

    Raises:
        DebeziumError: the path does not exist, or holds no file.
    """
    if path.is_file():
        return [path]
    if path.exists() and not path.is_dir():
        raise DebeziumError(f"{path}: a pipe or device; write the dump to a file, and name that")
    if not path.is_dir():
        raise does_not_exist(path)
    files = _candidates(path)
    if not files:
        for link in links_out(path):
            raise NothingThereError(leads_out_sentence(link, path))
        raise NothingThereError(
            f"{path}: holds no messages; name a dump of topics, "
            "for example of `kcat -C -b <broker> -t <topic> -e -J`"
        )
    return [file for file in files if _has_known_name(file)] or files


def find_others(path: Path) -> list[Path]:
    """The files that `find_files` leaves out because dumps are usually not named so."""
    if path.is_file():
        return []
    files = _candidates(path)
    known = [file for file in files if _has_known_name(file)]
    return [file for file in files if file not in set(known)] if known else []


def _candidates(folder: Path) -> list[Path]:
    return [file for file in _files_below(folder) if _may_be_a_dump(file, folder)]


def links_out(folder: Path) -> list[Path]:
    """The links in a folder, and in those below it, that lead out of it and are not hidden."""
    if folder.is_file():
        return []
    return [
        one
        for one in _entries_below(folder)
        if _leads_out(one, folder) and not one.name.startswith((".", "_"))
    ]


def leads_out_sentence(link: Path, folder: Path) -> str:
    return f"{link}: a link that leads out of {folder}, and is not read; name what it leads to"


def _leads_out(path: Path, folder: Path) -> bool:
    return path.is_symlink() and not path.resolve().is_relative_to(folder.resolve())


def _files_below(folder: Path) -> Iterator[Path]:
    entries = _entries_below(folder)
    return (one for one in entries if not one.is_dir() and not _leads_out(one, folder))


def _entries_below(folder: Path) -> Iterator[Path]:
    """Files, and links to folders elsewhere."""
    seen: set[str] = set()
    for parent, folders, names in os.walk(folder, followlinks=True):
        # A link can lead back up.
        place = os.path.realpath(parent)
        if place in seen:
            folders.clear()
            continue
        seen.add(place)
        visible = sorted(name for name in folders if not name.startswith("."))
        folders[:] = [name for name in visible if not _leads_out(Path(parent, name), folder)]
        for name in sorted({*names, *visible} - {*folders}):
            yield Path(parent, name)


def _may_be_a_dump(file: Path, folder: Path) -> bool:
    if sink := SINK_FILE.fullmatch(file.name):
        return sink["view"] is None and file.is_file()
    parts = file.relative_to(folder).parts
    return not any(part.startswith(("_", ".")) for part in parts) and file.is_file()


def _has_known_name(file: Path) -> bool:
    return file.name.lower().removesuffix(".gz").endswith(SUFFIXES) or bool(
        SINK_FILE.fullmatch(file.name)
    )


def folder_columns(path: Path) -> dict[str, str | int]:
    """The columns that Spark's `partitionBy` has put into the names of folders.

    >>> folder_columns(Path("dump/topic=shop.public.orders/partition=2/part-0.json"))
    {'topic': 'shop.public.orders', 'partition': 2}
    """
    columns: dict[str, str | int] = {}
    for part in path.parent.parts:
        name, _, value = part.partition("=")
        if name == "topic" and TOPIC.fullmatch(value):
            columns[name] = value
        elif name == "partition" and value.isdecimal():
            columns[name] = int(value)
    return columns


def file_hash(path: Path) -> str:
    """The SHA-256 of the file's bytes.

    Raises:
        DebeziumError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise cannot_be_read(path, error) from error


def does_not_exist(path: Path) -> DebeziumError:
    return DebeziumError(f"{path}: does not exist; name a dump of topics, a file or a folder")


def cannot_be_read(path: Path, error: OSError) -> DebeziumError:
    return DebeziumError(
        f"{path}: cannot be read ({error.strerror or error}); "
        "make it readable, or name another path"
    )


class Source:
    """One pass over a file, which tells what its bytes were."""

    def __init__(self, path: Path, on_bytes: OnBytes | None = None) -> None:
        self.path = path
        self.on_bytes = on_bytes
        self._sha256: str | None = None

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that are not blank, with their numbers and without their ends.

        A line feed ends a line, and nothing else; overlong lines come cut off.

        Raises:
            DebeziumError: the file cannot be read, or is compressed and damaged.
        """
        with _opened(self.path, self.on_bytes) as (hashed, text, _):
            if text.peek(3).startswith(BYTE_ORDER_MARK):
                text.read(3)
            number = 0
            while line := text.readline(LONGEST_LINE + 1):
                number += 1
                stripped = line.rstrip(b"\r\n")
                if stripped and not stripped.isspace():
                    yield number, stripped
        self._sha256 = hashed.sha256

    def tell_all(self) -> None:
        """Count the file as read, by a reader that did not go through its lines."""
        if self.on_bytes:
            self.on_bytes(self.path.stat().st_size)

    def sha256(self) -> str:
        """Of the bytes that were read, if all lines were; else of the file as it is now."""
        return self._sha256 or file_hash(self.path)


def beginning(path: Path) -> tuple[bytes, bytes, bool]:
    """The first bytes of a file, its first line with text, and whether it is compressed.

    Raises:
        DebeziumError: the file cannot be read, or is compressed and damaged.
    """
    with _opened(path) as (_, text, is_gzip):
        start = text.peek(HEAD)[:HEAD].removeprefix(BYTE_ORDER_MARK)
        line = b""
        # In what is no text, a line can be as long as the file.
        if b"\0" not in start:
            while read := text.readline(LONGEST_LINE):
                line = read.removeprefix(BYTE_ORDER_MARK).rstrip()
                if line and not SAID_BY_TOOL.match(line):
                    break
    return start, line, is_gzip


@contextmanager
def _opened(
    path: Path, on_bytes: OnBytes | None = None
) -> Iterator[tuple["_Hashed", io.BufferedReader, bool]]:
    """The file as it is on the disk, what it holds, and whether that is compressed."""
    try:
        with path.open("rb") as file:
            is_gzip = file.read(2) == GZIP_MAGIC
            file.seek(0)
            hashed = _Hashed(file, on_bytes)
            content: io.RawIOBase = hashed
            if is_gzip:
                content = _Gunzipped(io.BufferedReader(hashed, CHUNK))
            yield hashed, io.BufferedReader(content, CHUNK), is_gzip
    except (EOFError, zlib.error) as error:
        raise DebeziumError(
            f"{path}: damaged gzip file ({error}); write or copy it again"
        ) from error
    except OSError as error:
        raise cannot_be_read(path, error) from error


class _Hashed(io.RawIOBase):
    """A file that is hashed while it is read: the hash is of the very bytes that were read."""

    def __init__(self, file: BinaryIO, on_bytes: OnBytes | None) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self._on_bytes = on_bytes
        self._untold = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        chunk = self._file.read(len(view))
        view[: len(chunk)] = chunk
        self._hash.update(chunk)
        self._untold += len(chunk)
        if self._on_bytes and (self._untold >= PROGRESS_STEP or (not chunk and self._untold)):
            self._on_bytes(self._untold)
            self._untold = 0
        return len(chunk)

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


class _Gunzipped(io.RawIOBase):
    """What a gzip file holds. Zeros after its end are damage, not padding."""

    def __init__(self, file: io.BufferedIOBase) -> None:
        self._file = file
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        text = b""
        while not text:
            if self._member.eof:
                chunk = self._member.unused_data or self._file.read(CHUNK)
                if not chunk:
                    return 0
                self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            else:
                chunk = self._member.unconsumed_tail or self._file.read(CHUNK)
            text = self._member.decompress(chunk, len(view))
            if not (chunk or text or self._member.eof):
                raise EOFError("it ends in the middle")
        view[: len(text)] = text
        return len(text)
