"""What `make demo-live` prints: one line for each thing that happens, with its time."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.status import Status
from rich.text import Text

STYLES: Final = {"database": "cyan", "tables": "green", "held": "yellow", "connect": "magenta"}


class Screen:
    """Prints from any thread; on a terminal, its last line says what is being done."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None
        self._opened_at: float | None = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the last line for a `with` block."""
        if not self._console.is_terminal:
            yield
            return
        with self._console.status("") as self._status:
            yield
        self._status = None

    def doing(self, step: str) -> None:
        """What is being done."""
        if self._status:
            self._status.update(step)

    def text(self, text: str, style: str = "") -> None:
        """A sentence for the reader."""
        self._console.print(Text(text, style=style), soft_wrap=True)

    @contextmanager
    def step(self, done: str) -> Iterator[None]:
        """Say what was done, and how long it took."""
        self.doing(done)
        began = time.monotonic()
        yield
        self.text(f"   {done} ({time.monotonic() - began:.0f} s)")

    def opens(self) -> None:
        """Count times from here on."""
        self._opened_at = time.monotonic()

    def event(self, who: str, text: str, style: str = "") -> None:
        """A line with its time.

        Args:
            who: database, tables, held or connect.
        """
        seconds = int(time.monotonic() - (self._opened_at or time.monotonic()))
        self._console.print(
            Text(f"   {seconds // 60}:{seconds % 60:02}   "),
            Text(f"{who:<10}", style=STYLES[who]),
            Text(text, style=style),
            sep="",
            soft_wrap=True,
        )
