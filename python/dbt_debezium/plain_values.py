"""Values that JSON has not, as values that it has."""

import base64
import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from dbt_debezium.writers.terminal import json_text

SHORT: Final = 40
"""Signs of a struct, a list or a map that a table shows."""


def plain(value: Any) -> Any:
    """A value that JSON has: decimals, dates, times and UUIDs as text, bytes as base64."""
    if isinstance(value, Decimal | date | datetime | time | timedelta | UUID):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def value_text(cell: Any) -> str:
    """The text of a value that is not null, as JSON where it has parts.

    >>> [value_text(cell) for cell in ("a", True, b"a", {"a": [1, None]})]
    ['a', 'true', 'YQ==', '{"a": [1, null]}']
    """
    # A row of Spark is a tuple that knows its columns.
    value = plain(cell.asDict(recursive=True) if hasattr(cell, "asDict") else cell)
    if isinstance(value, list | dict | bool):
        return json_text(value)
    return str(value)


def shortened(cell: Any, text: str, size: int = SHORT) -> str:
    """The text of a value, of at most so many signs if the value has parts.

    >>> shortened([1, 2], "[1, 2]", 4), shortened("[1, 2]", "[1, 2]", 4)
    ('[1,…', '[1, 2]')
    """
    is_long = isinstance(cell, tuple | list | dict) and len(text) > size
    return text[: size - 1] + "…" if is_long else text
