"""The file that the page is written into."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dbt_debezium.errors import DebeziumError


def check_place(file: Path) -> None:
    """Refuse a place before there is a page for it.

    Raises:
        DebeziumError: it cannot be written, or is a folder or a device.
    """
    with _unfinished(file) as (_, unfinished):
        unfinished.touch()


def write(file: Path, text: str) -> None:
    """Write a file as a whole: who reads it sees the page before, or this one.

    Raises:
        DebeziumError: it cannot be written, or is a folder or a device.
    """
    with _unfinished(file) as (place, unfinished):
        # A folder's name may be no UTF-8.
        unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")
        unfinished.replace(place)


@contextmanager
def _unfinished(file: Path) -> Iterator[tuple[Path, Path]]:
    """The file behind links, and one beside it that does not stay."""
    # A link stays one.
    place = file.resolve()
    if place.exists() and not place.is_file():
        raise DebeziumError(f"report: {file} is no file; name one for the page, as lake.html")
    unfinished = place.with_name(f"_{place.name}.{os.getpid()}")
    try:
        try:
            yield place, unfinished
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise DebeziumError(
            f"report: {file} cannot be written ({error.strerror}); name a file in a folder that "
            "is there and can be written"
        ) from error
