"""May a TRUNCATE be missing before a commit, where no END counts it? (S8)

In MySQL a TRUNCATE is a statement outside of transactions. Either the log numbers every transaction
and statement, and each number up to the commit is known; or every partition has come to the place
where the commit begins, and no message that cannot be read stands in between.
"""

from collections.abc import Sequence

from dbt_debezium.judge.marks import LogNumber, LogNumbers
from dbt_debezium.judge.verdicts import ChainEnd


class Log:
    """The numbers of a source's logs that have landed."""

    def __init__(self, numbers: Sequence[LogNumbers]) -> None:
        """Take the numbers in. Those of several logs prove nothing, such as tagged GTIDs: nothing
        shows that none of another log is missing."""
        self._numbers = numbers if len({one.log for one in numbers}) == 1 else ()

    def runs_to(self, number: LogNumber | None, end: ChainEnd) -> bool:
        """Whether each number is known from the newest one in the chain to that of a commit.

        Where none is in the chain yet, from 1 on: a snapshot does not say what it holds.

        >>> log = Log([LogNumbers("a", 1, 7)])
        >>> log.runs_to(("a", 7), ChainEnd()), log.runs_to(("a", 9), ChainEnd())
        (True, False)
        """
        if number is None:
            return False
        name, last = number
        first = dict(end.log_numbers).get(name, 0) + 1
        return any(
            one.log == name and one.first <= first and last <= one.last for one in self._numbers
        )

    def runs_on_to(self, number: LogNumber | None, end: ChainEnd) -> bool:
        """Likewise, and a number of the same log is in the chain."""
        return (
            number is not None and number[0] in dict(end.log_numbers) and self.runs_to(number, end)
        )
