"""A file that is replaced as a whole, such as a page."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dbt_debezium.errors import DebeziumError


def check_place(file: Path, where: str = "report") -> None:
    """Refuse a place before there is anything for it.

    Args:
        file: the place.
        where: begins the sentence of an error.

    Raises:
        DebeziumError: it cannot be written, or is a folder or a device.
    """
    with _unfinished(file, where) as (_, unfinished):
        unfinished.touch()


def write(file: Path, text: str, where: str = "report") -> None:
    """Write a file as a whole: who reads it sees the one before, or this one.

    Raises:
        DebeziumError: it cannot be written, or is a folder or a device.
    """
    with _unfinished(file, where) as (place, unfinished):
        # A folder's name may be no UTF-8.
        unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")
        unfinished.replace(place)


@contextmanager
def _unfinished(file: Path, where: str) -> Iterator[tuple[Path, Path]]:
    """The file behind links, and one beside it that does not stay."""
    # A link stays one.
    place = file.resolve()
    if place.exists() and not place.is_file():
        raise DebeziumError(f"{where}: {file} is no file; name one that may be replaced")
    unfinished = place.with_name(f"_{place.name}.{os.getpid()}")
    try:
        try:
            yield place, unfinished
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise DebeziumError(
            f"{where}: {file} cannot be written ({error.strerror}); name a file in a folder that "
            "is there and can be written"
        ) from error
