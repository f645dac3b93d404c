"""Counts, durations and sizes, as people read them."""

from typing import Final

UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
"""Seconds of each."""
SIZES: Final = ("bytes", "kB", "MB", "GB", "TB", "PB")
"""Each a thousand of the one before."""


def counted(number: int, one: str, more: str | None = None) -> str:
    """A number with what is counted.

    Args:
        number: how many.
        one: the words for one of them.
        more: those for none or several; by default those for one, and an s.

    >>> counted(1, "file"), counted(1_200, "file")
    ('1 file', '1,200 files')
    >>> counted(1, "table is", "tables are"), counted(0, "table is", "tables are")
    ('1 table is', '0 tables are')
    """
    return f"{number:,} {chosen(number, one, more)}"


def chosen(number: int, one: str, more: str | None = None) -> str:
    """The words that go with a number; arguments as in `counted`.

    >>> chosen(1, "has", "have"), chosen(2, "has", "have"), chosen(2, "row")
    ('has', 'have', 'rows')
    """
    if number == 1:
        return one
    return f"{one}s" if more is None else more


def duration(seconds: float) -> str:
    """A duration in the largest unit of which there are two, so that rounding loses little.

    >>> [duration(seconds) for seconds in (0, 1.9, 119, 125, 7_300, 86_400, 200_000)]
    ['0 seconds', '1 second', '119 seconds', '2 minutes', '2 hours', '24 hours', '2 days']
    """
    size, unit = next((one for one in UNITS if seconds >= 2 * one[0]), UNITS[-1])
    return counted(int(seconds // size), unit)


def size(number: int) -> str:
    """Bytes in a unit of which there are less than a thousand.

    >>> [size(number) for number in (0, 1, 999, 1_000, 12_345, 999_999, 7 * 10**12)]
    ['0 bytes', '1 byte', '999 bytes', '1.0 kB', '12 kB', '1.0 MB', '7.0 TB']
    """
    if number < 1_000:
        return counted(number, "byte")
    power, shown = 0, float(number)
    # 999.5 would be shown as 1000.
    while shown >= 999.5 and power < len(SIZES) - 1:
        power, shown = power + 1, shown / 1_000
    return f"{shown:.{0 if shown >= 9.95 else 1}f} {SIZES[power]}"
