"""What the values of a column look like, where nothing says how they are encoded (S19).

A look is never acted on: values stay as they were sent. It is a hint for people, about a whole
column, since one value alone says nothing: `20500` may be a day or a count of apples.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dbt_debezium.reasons import PREVIEWS, Command

DECIMALS: Final = "decimal.handling.mode=string"
TIMES: Final = "time.precision.mode=isostring"


@dataclass(frozen=True, slots=True)
class Look:
    """One way in which values can be encoded."""

    name: str
    words: str
    """What the values look like."""
    setting: str
    """What at the connector ends it."""
    column_type: str
    """What a history model says to have them decoded."""


BASE64: Final = Look(
    "base64",
    "base64 of a decimal or of bytes",
    DECIMALS,
    "decimal(10,2) from org.apache.kafka.connect.data.Decimal(2)",
)
SCALED: Final = Look(
    "scaled_decimal",
    "a decimal with its scale",
    DECIMALS,
    "string from io.debezium.data.VariableScaleDecimal",
)
DAYS: Final = Look("days", "days since 1970", TIMES, "date from io.debezium.time.Date")
SINCE_1970: Final = tuple(
    Look(
        f"{unit}seconds",
        f"{unit}seconds since 1970",
        TIMES,
        f"timestamp_ntz from io.debezium.time.{name}",
    )
    for unit, name in (
        ("milli", "Timestamp"),
        ("micro", "MicroTimestamp"),
        ("nano", "NanoTimestamp"),
    )
)
LOOKS: Final = {look.name: look for look in (BASE64, SCALED, DAYS, *SINCE_1970)}

ENCODED_TEXT: Final = re.compile(r"[A-Za-z0-9+/]{2,}={0,2}")
SCALED_OBJECT: Final = re.compile(
    r'\{\s*"(?:scale"\s*:\s*-?\d+\s*,\s*"value"\s*:\s*"[A-Za-z0-9+/]+={0,2}'
    r'"|value"\s*:\s*"[A-Za-z0-9+/]+={0,2}"\s*,\s*"scale"\s*:\s*-?\d+)\s*\}'
)
WHOLE_NUMBER: Final = re.compile(r"-?[0-9]{1,19}")
NAME_OF_DAY: Final = re.compile(
    r"(^|_)(on|day|dt|dob|due|from|until|since)(_|$)|date(_|$)|^date|birth|expir|[a-z]Date",
    re.IGNORECASE,
)
NAME_OF_NUMBER: Final = re.compile(
    r"(^|_)(id|no|nr|num|number|count|code|ean|isbn)$", re.IGNORECASE
)
FIRST_DAY: Final = -36_525
LAST_DAY: Final = 73_050
"""From 1870 to 2170."""
FIRST_SECOND: Final = 946_684_800
LAST_SECOND: Final = 2_840_140_800
"""From 2000 to 2060: numbers of other ranges are of other kinds."""
PRECISE_NANOS: Final = 100
"""What databases keep of a second has at most seven digits."""


def look_of(name: str, values: Sequence[str], is_key: bool = False) -> Look | None:
    """What all values of a column look like; None where they look like nothing encoded.

    Args:
        name: the column's, which must be that of a day for numbers to look like days.
        values: its values that are not null, as texts.
        is_key: whether it is of the key. A key's numbers are no times.

    >>> look_of("total", ["AxY=", "/zg="]).words, look_of("at", ["1771200000000000"]).words
    ('base64 of a decimal or of bytes', 'microseconds since 1970')
    >>> look_of("on", ["20500"]).words, look_of("quantity", ["20500"]), look_of("word", ["lamp"])
    ('days since 1970', None, None)
    """
    if not values:
        return None
    if all(SCALED_OBJECT.fullmatch(value) for value in values):
        return SCALED
    if any(value.endswith("=") for value in values) and all(map(is_base64, values)):
        return BASE64
    if is_key or NAME_OF_NUMBER.search(name):
        return None
    if not all(WHOLE_NUMBER.fullmatch(value) for value in values):
        return None
    return time_look(name, [int(value) for value in values])


def time_look(name: str, numbers: Sequence[int]) -> Look | None:
    """What time all numbers look like.

    >>> [time_look("at", [1_771_200_000 * 1000**power]).words for power in (1, 2, 3)]
    ['milliseconds since 1970', 'microseconds since 1970', 'nanoseconds since 1970']
    >>> time_look("order_date", [2024, 2025]), time_look("snowflake", [1_771_200_000_123_456_789])
    (None, None)
    """
    lowest, highest = min(numbers), max(numbers)
    for power, look in enumerate(SINCE_1970, start=1):
        unit = 1000**power
        if FIRST_SECOND * unit <= lowest and highest < LAST_SECOND * unit:
            is_exact = all(number % PRECISE_NANOS == 0 for number in numbers)
            return look if power < len(SINCE_1970) or is_exact else None
    is_year = lowest >= 1800 and highest < 2200
    if NAME_OF_DAY.search(name) and not is_year and max(abs(lowest), abs(highest)) > 366:
        return DAYS if lowest >= FIRST_DAY and highest <= LAST_DAY else None
    return None


def is_base64(text: str) -> bool:
    """Whether the text is what base64 makes of some bytes.

    >>> is_base64("AxY="), is_base64("AxZ="), is_base64("A=")
    (True, False, False)
    """
    if len(text) % 4 or not ENCODED_TEXT.fullmatch(text):
        return False
    return b64encode(b64decode(text)).decode() == text


def encoded_sentences(
    source: str, tables: Mapping[str, Mapping[str, str]], command: Command
) -> list[str]:
    """One sentence for each table with such columns.

    >>> encoded_sentences("shop", {"public.bill": {"on": "days"}}, "preview")[0][:60]
    'shop: public.bill: on looks like days since 1970; no message'
    """
    return [
        f"{source}: {table}: "
        + ", ".join(
            f"{name} looks like {LOOKS[look].words}" for name, look in sorted(looks.items())
        )
        + "; no message says its type, so it is shown as sent: "
        + _remedy(looks, command)
        for table, looks in sorted(tables.items())
    ]


def _remedy(looks: Mapping[str, str], command: Command) -> str:
    settings = " and ".join(sorted({LOOKS[look].setting for look in looks.values()}))
    remedy = f"set value.converter.schemas.enable=true, or {settings}, at the connector"
    if command in PREVIEWS:
        return remedy
    name, look = min(looks.items())
    column = f"'{name}': '{LOOKS[look].column_type}'"
    return f"{remedy}, or say in the history model how it is sent, such as {column}"
