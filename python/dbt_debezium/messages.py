"""Dump files of Kafka messages: which files they are, and whether each line is a message. No Spark.

One line is one message, as JSON, in one of two shapes. Spark's Kafka source:
`{"topic", "partition", "offset", "timestamp", "key", "value", "headers"}`, and `kcat -J`:
`{"topic", "partition", "offset", "tstype", "ts", "key", "payload", "headers"}`.
"""

import hashlib
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import msgspec
from msgspec import UNSET, UnsetType

from dbt_debezium.errors import DebeziumError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SUFFIXES = (".json", ".jsonl", ".ndjson")
LONGEST_LINE = 128 * 1024 * 1024
"""In bytes. Kafka's own limit is 1 MB unless it was raised. A driver of 2 GB landed one line of
100 MB, and died of two of 62 MB at once; one of 5 GB landed two of 126 MB."""
PROGRESS_STEP = 1024 * 1024
CHUNK = 256 * 1024

GZIP_MAGIC = b"\x1f\x8b"
WANTED = "a line must be a JSON object with topic, partition, offset, key and value"

# Not beyond what the columns hold; -1 is Kafka's "no timestamp", the upper end is the year 9999.
Int = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Long = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Millis = Annotated[int, msgspec.Meta(ge=-1, le=253_402_300_799_999)]


class _Header(msgspec.Struct):
    key: str
    value: str | None = None


class _Line(msgspec.Struct):
    """Both shapes at once; `_why_not` tells them apart."""

    topic: Annotated[str, msgspec.Meta(min_length=1)]
    partition: Int
    offset: Long
    key: str | None
    value: str | UnsetType | None = UNSET
    payload: str | UnsetType | None = UNSET
    timestamp: Millis | str | None = None
    ts: Millis | None = None
    headers: list[_Header | str | None] | None = None


_decode = msgspec.json.Decoder(_Line).decode


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not a message. Its content is not kept: it may be anybody's data."""

    number: int
    """1-based."""
    why: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What one pass over a file tells."""

    path: Path
    sha256: str
    """Of the file's bytes, as they are on disk."""
    byte_count: int
    is_gzip: bool
    message_count: int
    first_bad_line: BadLine | None

    def refusal(self) -> DebeziumError | None:
        """The sentence that refuses the file; None when each line is a message."""
        bad = self.first_bad_line
        if bad is None:
            return None
        return DebeziumError(f"{self.path}:{bad.number}: not a message ({bad.why}); {WANTED}")


def find_files(path: Path) -> list[Path]:
    """The file itself, or the files directly in the folder that may hold messages, by name.

    Names that begin with `_` or `.` are somebody's work in progress, as for Spark.

    Raises:
        DebeziumError: the path does not exist, or a folder holds no file of a known name.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise DebeziumError(f"{path}: does not exist; name a file or a folder of JSON lines")
    files = sorted(file for file in path.iterdir() if _may_hold_messages(file))
    if not files:
        raise no_messages(path)
    return files


def no_messages(path: Path) -> DebeziumError:
    """The sentence for a path in which there is nothing to land."""
    names = ", ".join(f"*{suffix}" for suffix in SUFFIXES)
    return DebeziumError(
        f"{path}: holds no messages; {WANTED}, in files called {names}, plain or with .gz"
    )


def _may_hold_messages(file: Path) -> bool:
    name = file.name.lower().removesuffix(".gz")
    return name.endswith(SUFFIXES) and not name.startswith(("_", ".")) and file.is_file()


def file_hash(path: Path) -> str:
    """The SHA-256 of the file's bytes.

    Raises:
        DebeziumError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _cannot_be_read(path, error) from error


def check_file(path: Path, on_bytes: Callable[[int], None] | None = None) -> FileFacts:
    """Read the file once: hash it, count its messages, find its first bad line. Blank lines pass.

    Args:
        on_bytes: called with the number of bytes of the file read since the last call.

    Raises:
        DebeziumError: the file cannot be read, or is compressed and damaged.
    """
    message_count = 0
    first_bad_line: BadLine | None = None
    try:
        with path.open("rb") as file:
            is_gzip = file.read(2) == GZIP_MAGIC
            file.seek(0)
            hashed = _Hashed(file, on_bytes)
            raw = io.BufferedReader(hashed, CHUNK)
            lines = io.BufferedReader(_Gunzipped(raw), CHUNK) if is_gzip else raw
            for number, line in enumerate(_lines(lines), start=1):
                if not line.strip():
                    continue
                why = _why_not(line)
                if why is None:
                    message_count += 1
                elif first_bad_line is None:
                    first_bad_line = BadLine(number, why)
    except (EOFError, zlib.error) as error:
        raise DebeziumError(
            f"{path}: damaged gzip file ({error}); write or copy it again"
        ) from error
    except OSError as error:
        raise _cannot_be_read(path, error) from error
    return FileFacts(path, hashed.sha256, hashed.byte_count, is_gzip, message_count, first_bad_line)


def _cannot_be_read(path: Path, error: OSError) -> DebeziumError:
    return DebeziumError(
        f"{path}: cannot be read ({error.strerror or error}); "
        "make it readable, or name another path"
    )


def _lines(file: io.BufferedIOBase) -> Iterator[bytes]:
    """Lines end with a line feed only, as where Spark reads them; overlong ones come cut off."""
    while line := file.readline(LONGEST_LINE + 1):
        yield line


def _why_not(line: bytes) -> str | None:
    """Why the line is not a message, without its content; None when it is one."""
    if len(line) > LONGEST_LINE:
        return f"longer than {LONGEST_LINE} bytes"
    try:
        # As text: msgspec does not look at the bytes of fields it has no use for.
        message = _decode(line.decode())
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start}"
    except msgspec.DecodeError as error:
        return str(error)
    return _why_no_shape(message)


def _why_no_shape(message: _Line) -> str | None:
    if (message.value is UNSET) == (message.payload is UNSET):
        return "needs either value or payload"
    headers = message.headers or []
    if message.payload is UNSET:
        if not all(isinstance(header, _Header) for header in headers):
            return "Expected `object` with key and value - at `$.headers[...]`"
    elif any(isinstance(header, _Header) for header in headers) or None in headers[::2]:
        return "Expected `str` - at `$.headers[...]`"
    elif len(headers) % 2:
        return "Expected key and value in turn - at `$.headers`"
    if isinstance(message.timestamp, str):
        try:
            datetime.fromisoformat(message.timestamp)
        except ValueError:
            return "Expected milliseconds or an ISO 8601 time - at `$.timestamp`"
    return None


class _Hashed(io.RawIOBase):
    """A file that is hashed while it is read: the hash is of the very bytes that were checked."""

    def __init__(self, file: BinaryIO, on_bytes: Callable[[int], None] | None) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self._on_bytes = on_bytes
        self._untold = 0
        self.byte_count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        chunk = self._file.read(len(view))
        view[: len(chunk)] = chunk
        self._hash.update(chunk)
        self.byte_count += len(chunk)
        self._untold += len(chunk)
        if self._on_bytes and (self._untold >= PROGRESS_STEP or (not chunk and self._untold)):
            self._on_bytes(self._untold)
            self._untold = 0
        return len(chunk)

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


class _Gunzipped(io.RawIOBase):
    """What a gzip file holds, read as strictly as Spark does.

    Python's own reader takes zeros after the end for padding; Spark's fails on them.
    """

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
