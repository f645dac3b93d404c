"""What a command is doing: a line that changes, or now and then a line where no line can."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from rich.console import Console
from rich.text import Text

PAUSE: Final = 10.0
"""Seconds between two lines of a log."""


class Steps(Protocol):
    """Says what is being done."""

    def update(self, status: str) -> None:
        """The next step."""

    def stop(self) -> None:
        """Nothing is being done any more, but answered."""


class LoggedSteps:
    """Steps in a log, as of CI: the first one, and then at most one in ten seconds.

    >>> import sys
    >>> times = iter([0.0, 3.0, 12.0, 15.0, 23.0])
    >>> steps = LoggedSteps(Console(file=sys.stdout), lambda: next(times))
    >>> for step in ("starting", "1 of 4", "2 of 4", "3 of 4", "4 of 4"):
    ...     steps.update(step)
    starting
    2 of 4
    4 of 4
    """

    def __init__(self, log: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self.log = log
        self.clock = clock
        self.told_at: float | None = None

    def update(self, status: str) -> None:
        now = self.clock()
        if self.told_at is None or now - self.told_at >= PAUSE:
            self.told_at = now
            self.log.print(Text(status), soft_wrap=True)

    def stop(self) -> None:
        """A log keeps what it has."""


@contextmanager
def working(log: Console, step: str) -> Iterator[Steps]:
    """Say what is being done until the block ends.

    Args:
        log: where to; of a terminal one line changes.
        step: the first step.
    """
    if not log.is_terminal:
        steps = LoggedSteps(log)
        steps.update(step)
        yield steps
        return
    with log.status(step) as status:
        yield status
