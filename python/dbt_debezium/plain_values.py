"""Values that JSON has not, as values that it has."""

import base64
import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID


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
