"""SIGTERM and SIGINT end the rounds after the current one."""

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

STEP_SECONDS: Final = 0.2
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class Stopping:
    """Notes SIGTERM and SIGINT. A second one of a kind ends the process as usual.

    That leaves nothing half-published, but the next run repeats what this one has begun.
    """

    def __init__(self, on_first: Callable[[], None] = lambda: None) -> None:
        self.is_asked_for = False
        self._on_first = on_first

    def listen(self) -> None:
        """Take the signals; again after Spark has started, which takes SIGINT for itself."""
        if not self.is_asked_for:
            for number in SIGNALS:
                signal.signal(number, self._note)

    def wait(self, seconds: float) -> None:
        """Sleep so long, or until a signal comes."""
        # threading.Event is not safe here: its lock may be held when the signal comes.
        until = time.monotonic() + seconds
        while not self.is_asked_for and (rest := until - time.monotonic()) > 0:
            time.sleep(min(rest, STEP_SECONDS))

    def _note(self, number: int, _: FrameType | None) -> None:
        self.is_asked_for = True
        signal.signal(number, signal.default_int_handler)
        self._on_first()
