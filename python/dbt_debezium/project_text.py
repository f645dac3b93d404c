"""Files that people write, as text."""

from pathlib import Path

from dbt_debezium.errors import DebeziumError


def text_of(path: Path) -> str:
    """A file's text.

    Raises:
        OSError: it cannot be read.
        DebeziumError: it is no text in UTF-8. Nothing of it is said, since it may be a secret.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DebeziumError(f"{path}: is not UTF-8 at byte {error.start}; save it so") from None
