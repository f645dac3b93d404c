"""The format of a lake's tables, a number in the lake by which older versions are refused."""

from typing import Final

from dbt_debezium.errors import DebeziumError

FORMAT: Final = 2
"""Of the tables that this version writes.

Raise it by one when tables change so that an earlier version would lose, repeat or misread rows.
A new table or column that it ignores is no such change, and most versions bring none. So this is
not the version of the package, by which each release would keep all other machines out.
"""
PROPERTY: Final = "dbt_debezium.format"
"""Of the table MARKED, which each command that writes reads first."""
MARKED: Final = ("landing", "lease")
"""Schema and table."""


class NewerLakeError(DebeziumError):
    """A newer version has written the lake, whose columns may differ. Nothing is written to it."""

    def __init__(self, mark: str) -> None:
        self.what = (
            f"lake: its tables have format {mark}, and this version of dbt-debezium knows formats "
            f"up to {FORMAT}"
        )
        self.remedy = "upgrade dbt-debezium on this machine"
        super().__init__(f"{self.what}; {self.remedy}")


def newer_sentence(mark: str | None) -> str | None:
    """What a command that only reads says of a lake whose mark it does not know, else None.

    >>> newer_sentence("1"), newer_sentence(None)
    (None, None)
    """
    try:
        read_format(mark)
    except NewerLakeError as error:
        return f"{error.what}, so what is read may be wrong; {error.remedy}"
    return None


def read_format(mark: str | None) -> int:
    """The format of a lake by its mark; 0 without one, as of lakes from before there were marks.

    Raises:
        NewerLakeError: it is none that this version knows.

    >>> read_format(None), read_format("1")
    (0, 1)
    """
    if mark is None:
        return 0
    if not mark.isascii() or not mark.isdigit() or int(mark) > FORMAT:
        raise NewerLakeError(mark)
    return int(mark)
