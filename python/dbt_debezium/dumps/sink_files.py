"""Files of Kafka Connect's sinks for object stores (S3, GCS, Azure), with a JSON value a line.

The name says where the first line comes from: `shop.public.orders+0+0000000120.json`. The other
lines follow it, but for tombstones, which sinks leave out: behind one an offset is lower than it
was in Kafka, and a gap stands in front of the next file.

A partitioner by time or field can write two files in turns. Then no line but the first has a known
place, which the number of lines shows.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbt_debezium.dumps import json_objects
from dbt_debezium.dumps.files import SINK_FILE, Source
from dbt_debezium.dumps.form import (
    BadLine,
    Form,
    Head,
    Message,
    NotAMessageError,
    checked_json,
    placed,
    text_of,
)
from dbt_debezium.errors import DebeziumError
from dbt_debezium.json_values import json_decoder

_decode_text = json_decoder(str)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the first message of a file stood."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}+{self.partition}+{self.offset}"

    def message(self, index: int, key: str | None, value: str | None) -> Message:
        """The message of a line.

        Raises:
            NotAMessageError: the file's name says a place that Kafka does not have.
        """
        return placed(
            Message(self.topic, self.partition, self.offset + index, key=key, value=value)
        )


def place_of(path: Path) -> Place | None:
    """What the name of a sink's file says; None for another name.

    >>> place_of(Path("shop.public.orders+2+0000000120.json.gz"))
    Place(topic='shop.public.orders', partition=2, offset=120)
    >>> place_of(Path("shop.public.orders.json")) is None
    True
    """
    name = SINK_FILE.fullmatch(path.name)
    return name and Place(name["topic"], int(name["partition"]), int(name["offset"]))


def misplaced(paths: Sequence[Path], counts: Mapping[Path, int]) -> DebeziumError | None:
    """Why the lines of some file did not follow each other in Kafka; None when they did.

    Args:
        paths: all files that lie together.
        counts: the number of messages of those that are looked at.
    """
    starts: dict[tuple[str, int], list[int]] = {}
    for path in paths:
        if place := place_of(path):
            starts.setdefault((place.topic, place.partition), []).append(place.offset)
    for each in starts.values():
        each.sort()
    for path, count in counts.items():
        place = place_of(path)
        if place is None:
            continue
        following = starts[place.topic, place.partition]
        index = bisect_right(following, place.offset)
        gap = following[index] - place.offset - count if index < len(following) else 0
        if gap < 0 or (gap > 0 and _is_by_time_or_field(path)):
            return DebeziumError(
                f"{path}: {count} lines, and offset {following[index]} begins another file, so "
                "the sink wrote both in turns, and the offsets of their lines are unknown; set "
                "partitioner.class=io.confluent.connect.storage.partitioner.DefaultPartitioner"
            )
    return None


def _is_by_time_or_field(path: Path) -> bool:
    """Whether the folder is one of another partitioner than the default."""
    return "=" in path.parent.name and not path.parent.name.startswith("partition=")


def recognises(head: Head) -> bool:
    return (
        place_of(head.path) is not None
        and head.first_line != b""
        and not json_objects.recognises(head)
    )


def read(source: Source) -> Iterator[Message | BadLine]:
    place = place_of(source.path)
    assert place is not None
    number = index = 0
    keys = _Keys(source.path)
    for index, (number, line) in enumerate(source.lines()):
        try:
            yield place.message(index, keys.next(), _text(line))
        except NotAMessageError as error:
            yield BadLine(number, str(error))
    if keys.are_left():
        yield BadLine(number, f"{keys.file} has more lines")


FORM = Form(
    recognises,
    read,
    wanted="a line of a sink's file must be one JSON value: set format.class to JsonFormat",
    is_placed_by_name=lambda path: True,
)


class _Keys:
    """The keys of the messages, a line each, if the sink stored them beside the values as JSON."""

    def __init__(self, path: Path) -> None:
        name, dot, suffix = path.name.partition(".json")
        self.file = path.with_name(f"{name}.keys{dot}{suffix}")
        # A link could lead to any file of this machine.
        is_here = (
            dot and self.file.is_file() and self.file.resolve().parent == path.resolve().parent
        )
        self._lines = Source(self.file).lines() if is_here else None

    def next(self) -> str | None:
        if self._lines is None:
            return None
        _, line = next(self._lines, (0, None))
        if line is None:
            raise NotAMessageError(f"{self.file} has fewer lines")
        return _text(line)

    def are_left(self) -> bool:
        return self._lines is not None and next(self._lines, None) is not None


def _text(line: bytes) -> str | None:
    """The text of a key or value; a text that Connect had as a string is in quotes once more."""
    text = checked_json(text_of(line))
    if text == "null":
        return None
    if text.startswith('"'):
        inner = _decode_text(text)
        return inner if inner.lstrip().startswith("{") else text
    return text
