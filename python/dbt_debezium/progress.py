"""What a command is doing: a line that changes, or now and then a line where no line can."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.status import Status
from rich.text import Text

from dbt_debezium.writers.terminal import one_line

PAUSE = 10.0
"""Seconds between two lines of a log, and before the first."""


class Steps(Protocol):
    """Says what is being done."""

    def update(self, status: str) -> None:
        """The next step."""

    def stop(self) -> None:
        """Nothing is being done any more, but answered."""


class LoggedSteps:
    """Steps in a log, as of CI: one line in ten seconds, so that what is quick says nothing.

    >>> import sys
    >>> times = iter([0.0, 3.0, 12.0, 15.0, 21.0, 23.0, 33.5])
    >>> steps = LoggedSteps(Console(file=sys.stdout), "begin", lambda: next(times))
    >>> for number in range(3):
    ...     steps.update(f"{number} of 3")
    1 of 3
    >>> for _ in range(3):
    ...     steps.tick()
    2 of 3, for 8 s
    2 of 3, for 18 s
    """

    def __init__(
        self,
        log: Console,
        step: str,
        clock: Callable[[], float] = time.monotonic,
        pause: float = PAUSE,
    ) -> None:
        self.log = log
        self.pause = pause
        self.clock = clock
        self.step = step
        self.began_at = self.told_at = clock()
        self.is_done = False

    def update(self, status: str) -> None:
        now = self.clock()
        self.step, self.began_at = status, now
        if now - self.told_at >= self.pause:
            self._tell(now, status)

    def tick(self) -> None:
        """Say that the step still goes on, if nothing was said for a while."""
        now = self.clock()
        if not self.is_done and now - self.told_at >= self.pause:
            self._tell(now, f"{self.step}, for {now - self.began_at:.0f} s")

    def stop(self) -> None:
        """A log keeps what it has."""
        self.is_done = True

    def _tell(self, now: float, line: str) -> None:
        self.told_at = now
        self.log.print(Text(one_line(line)), soft_wrap=True)


class ShownSteps:
    """Steps in one line of a terminal, which changes."""

    def __init__(self, line: Status) -> None:
        self.line = line

    def update(self, status: str) -> None:
        self.line.update(_in_one_line(self.line.console, status))

    def stop(self) -> None:
        self.line.stop()


@contextmanager
def working(log: Console, step: str) -> Iterator[Steps]:
    """Say what is being done until the block ends.

    Args:
        log: where to; of a terminal one line changes.
        step: the first step.
    """
    if log.is_terminal:
        with log.status(_in_one_line(log, step)) as status:
            yield ShownSteps(status)
        return
    steps = LoggedSteps(log, step, pause=PAUSE)
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(PAUSE):
            steps.tick()

    ticking = threading.Thread(target=tick, name="progress", daemon=True)
    ticking.start()
    try:
        yield steps
    finally:
        ended.set()
        ticking.join()


def _in_one_line(log: Console, step: str) -> Text:
    """A step beside the sign that turns: a longer one would break, and move what was printed."""
    text = Text(one_line(step))  # a name such as [red] is no style
    text.truncate(max(log.width - 2, 1), overflow="ellipsis")
    return text
