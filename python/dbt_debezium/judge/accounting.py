"""May a TRUNCATE be missing before a commit, where no END counts it? (S8)

In MySQL a TRUNCATE is a statement outside of transactions. Either the log numbers every transaction
and statement, and each number up to the commit is known; or every partition has come to the place
where the commit begins, and no message that cannot be read stands in between.
"""

from collections.abc import Iterable

from dbt_debezium.judge.marks import LogRange
from dbt_debezium.judge.verdicts import ChainEnd


class Log:
    """The numbers of a source's logs that have landed."""

    def __init__(self, ranges: Iterable[LogRange], *, has_others: bool = False) -> None:
        """Take the numbers in.

        Args:
            ranges: of all logs.
            has_others: whether another log numbers transactions, too. Then numbers prove nothing.
        """
        self._ranges = [] if has_others else list(ranges)

    def runs_to(self, number: tuple[str, int] | None, end: ChainEnd) -> bool:
        """Whether each number is known from the newest one in the chain to that of a commit.

        Where none is in the chain yet, from 1 on: a snapshot does not say what it holds.

        >>> log = Log([LogRange("a", 1, 7)])
        >>> log.runs_to(("a", 7), ChainEnd()), log.runs_to(("a", 9), ChainEnd())
        (True, False)
        """
        if number is None:
            return False
        name, last = number
        first = dict(end.log_numbers).get(name, 0) + 1
        return any(
            one.log == name and one.first_number <= first and last <= one.last_number
            for one in self._ranges
        )

    def runs_on_to(self, number: tuple[str, int] | None, end: ChainEnd) -> bool:
        """Likewise, and a number of the same log is in the chain."""
        return (
            number is not None and number[0] in dict(end.log_numbers) and self.runs_to(number, end)
        )
