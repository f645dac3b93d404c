"""What a command is doing: a line that changes, or now and then a line where no line can."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from rich.console import Console
from rich.status import Status
from rich.text import Text

PAUSE: Final = 10.0
"""Seconds between two lines of a log, and before the first."""


class Steps(Protocol):
    """Says what is being done."""

    def update(self, status: str) -> None:
        """The next step."""

    def stop(self) -> None:
        """Nothing is being done any more, but answered."""


class LoggedSteps:
    """Steps in a log, as of CI: at most one in ten seconds, so that what is quick says nothing.

    >>> import sys
    >>> times = iter([0.0, 3.0, 12.0, 15.0, 23.0])
    >>> steps = LoggedSteps(Console(file=sys.stdout), lambda: next(times))
    >>> for number in range(4):
    ...     steps.update(f"{number} of 4")
    1 of 4
    3 of 4
    """

    def __init__(self, log: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self.log = log
        self.clock = clock
        self.told_at = clock()

    def update(self, status: str) -> None:
        now = self.clock()
        if now - self.told_at >= PAUSE:
            self.told_at = now
            self.log.print(Text(status), soft_wrap=True)

    def stop(self) -> None:
        """A log keeps what it has."""


class ShownSteps:
    """Steps in one line of a terminal, which changes."""

    def __init__(self, line: Status) -> None:
        self.line = line

    def update(self, status: str) -> None:
        # A name such as [red] is no style.
        self.line.update(Text(status))

    def stop(self) -> None:
        self.line.stop()


@contextmanager
def working(log: Console, step: str) -> Iterator[Steps]:
    """Say what is being done until the block ends.

    Args:
        log: where to; of a terminal one line changes.
        step: the first step.
    """
    if not log.is_terminal:
        yield LoggedSteps(log)
        return
    with log.status(Text(step)) as status:
        yield ShownSteps(status)
