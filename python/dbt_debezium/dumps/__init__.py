"""Dumps of Kafka topics, in the forms that tools write them, as messages. No Spark.

Each form is a module with a `FORM`. They are tried in order; the first that recognises how a file
begins reads it.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from dbt_debezium.dumps import (
    avro,
    console_consumer,
    event_hubs,
    exports,
    json_objects,
    parquet,
    sink_files,
    unreadable,
)
from dbt_debezium.dumps.files import (
    SUFFIXES,
    OnBytes,
    Source,
    beginning,
    file_hash,
    find_files,
    find_others,
    folder_columns,
    leads_out_sentence,
    links_out,
)
from dbt_debezium.dumps.form import COMMAND, BadLine, Form, Head
from dbt_debezium.errors import DebeziumError, NothingThereError

__all__ = [
    "Dump",
    "file_hash",
    "find_files",
    "none_is_a_dump",
    "overlooked",
    "placed_hash",
    "read_dump",
    "refuse_early",
    "why_skipped",
]

FORMS = (
    parquet.FORM,
    avro.FORM,
    console_consumer.FORM,
    sink_files.FORM,
    json_objects.FORM,
    exports.FORM,
)

FEW = 200
SMALL = 16 * 1024 * 1024
"""Files, and bytes of them, that are read in less time than Spark takes to start."""

TRUNCATED = "Input data was truncated"
"""What msgspec says of JSON that ends in the middle."""
STOPPED = (
    "it ends in the middle, because the dump was stopped or is still being written: let it end, or "
    "delete what begins there"
)

ALWAYS_TAKEN: Final = 1 << 30
MOST_TIMES: Final = 1_000
"""How many bytes a message may have for each of its file. Compressed ones of real topics have some
dozens; of columns of nulls a file of kilobytes could fill a disk."""
GROWS: Final = (
    f"its messages have over {MOST_TIMES:,} times the size of the file; if they are what you "
    "dumped, write them as JSON lines, uncompressed"
)

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Dump:
    """What one pass over a file gave."""

    path: Path
    sha256: str
    """Of the content."""
    is_placed_by_name: bool
    message_count: int
    refusal: DebeziumError | None
    """The sentence that refuses the file; None when all of it is messages."""
    is_dump: bool
    """Whether it is one, even if it is refused. A folder may hold other files, too."""

    @property
    def identity(self) -> str:
        """What no other messages have: the hash of the content, and of the name if it counts."""
        return placed_hash(self.path, self.sha256) if self.is_placed_by_name else self.sha256


def placed_hash(path: Path, sha256: str) -> str:
    """The identity of a file whose name says where its messages come from.

    A sink's name says it alike in every folder.
    """
    name = (
        sink_files.place_of(path)
        or folder_columns(path)
        or event_hubs.place_of(path)
        or console_consumer.topic_of(path)
    )
    return hashlib.sha256(f"{sha256} {name}".encode(errors="surrogateescape")).hexdigest()


def read_dump(
    path: Path, write: Callable[[bytes], object], on_bytes: OnBytes | None = None
) -> Dump:
    """Read a file, and write each message as a line of JSON.

    What was written of a file that is refused is of no use.

    Args:
        on_bytes: called with the number of bytes of the file read since the last call.

    Raises:
        DebeziumError: the file cannot be read, or is damaged.
    """
    head = Head(path, *beginning(path))
    form = next((form for form in FORMS if form.recognises(head)), None)
    if form is None and (what := unreadable.binary(head)):
        return Dump(path, "", False, 0, DebeziumError(f"{path}: {what}"), is_dump=False)
    is_dump = _looks_like_a_dump(head)
    dump = _read(form or json_objects.FORM, Source(path, on_bytes), write, is_dump)
    if not dump.is_dump and (what := unreadable.text(head)):
        is_dump = unreadable.is_values_only(head)
        return replace(dump, refusal=DebeziumError(f"{path}: {what}"), is_dump=is_dump)
    return dump


def refuse_early(path: Path) -> None:
    """Refuse what can be refused before Spark starts.

    Raises:
        DebeziumError: the path holds no file, or a small dump that cannot be read.
    """
    files = find_files(path)
    if len(files) > FEW or sum(file.stat().st_size for file in files) > SMALL:
        return
    dumps = [read_dump(file, len) for file in files]
    for dump in dumps:
        if dump.refusal is not None and (dump.is_dump or dump.path == path):
            raise dump.refusal
    if not any(dump.message_count for dump in dumps):
        raise none_is_a_dump(path, overlooked(path)[:1] or [why_skipped(dump) for dump in dumps])


def overlooked(path: Path) -> list[str]:
    """A sentence for each file of a folder that looks like a dump and is not read as one."""
    return [
        *(leads_out_sentence(link, path) for link in links_out(path)),
        *_misnamed(path),
    ]


def _misnamed(path: Path) -> list[str]:
    return [
        f"{file}: looks like a dump, but its name ends in none of {', '.join(SUFFIXES)}; rename it"
        for file in find_others(path)
        if _begins_like_a_dump(file)
    ]


def _begins_like_a_dump(file: Path) -> bool:
    try:
        return _looks_like_a_dump(Head(file, *beginning(file)))
    except DebeziumError:  # a file that nobody has named refuses nothing
        return False


def _looks_like_a_dump(head: Head) -> bool:
    # An object over several lines, or an array, may be anything.
    may_be_anything = head.first_line == b"{" or exports.begins_array(head)
    return not may_be_anything and any(form.recognises(head) for form in FORMS)


def why_skipped(dump: Dump) -> str:
    """The sentence for a file that holds no message."""
    return str(dump.refusal or f"{dump.path}: empty; {COMMAND}")


def none_is_a_dump(path: Path, skipped: Sequence[str]) -> DebeziumError:
    """The sentence for a path whose files hold no message."""
    if len(skipped) == 1:
        return NothingThereError(skipped[0])
    return NothingThereError(
        f"{path}: none of {len(skipped)} files is a dump; the first: {skipped[0]}"
    )


def _read(form: Form, source: Source, write: Callable[[bytes], object], is_dump: bool) -> Dump:
    path = source.path
    message_count = 0
    room = max(ALWAYS_TAKEN, MOST_TIMES * path.stat().st_size)
    refusal: DebeziumError | None = None
    for message in form.read(source):
        if isinstance(message, BadLine):
            refusal = refusal or DebeziumError(
                f"{path}:{message.number}: not a message ({message.why}); "
                + (STOPPED if message.why == TRUNCATED else form.wanted)
            )
        else:
            message_count += 1
            if refusal is None:
                line = _encode(message) + b"\n"
                room -= len(line)
                write(line)
                if room < 0:
                    refusal = DebeziumError(f"{path}: {GROWS}")
        if refusal is not None and (is_dump or message_count):
            return Dump(path, "", False, message_count, refusal, is_dump=True)
    if refusal is not None:
        return Dump(path, "", False, 0, refusal, is_dump=False)
    is_dump = is_dump or message_count > 0
    return Dump(path, source.sha256(), form.is_placed_by_name(path), message_count, None, is_dump)
