"""What rounds have done: the last ones one by one, and a month of them in spans of ten minutes."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from dbt_debezium.errors import DebeziumError
from dbt_debezium.replaced_file import write

if TYPE_CHECKING:
    from dbt_debezium.rounds.loop import Told

NAME: Final = "rounds.json"
"""In the lake, so that the plots of the page survive a restart."""
SPAN_SECONDS: Final = 600
KEPT_SECONDS: Final = 30 * 86_400
KEPT_ROUNDS: Final = 12
WRITE_SECONDS: Final = 30
"""How often the file is written at most; a killed process loses as much."""


class Span(msgspec.Struct):
    """Ten minutes of rounds."""

    began: int
    """Seconds since 1970, a multiple of SPAN_SECONDS."""
    rounds: int = 0
    failed: int = 0
    messages: int = 0
    """Landed."""
    commits: int = 0
    """Published, of all sources."""
    held: int = 0
    """The most that waited after a round."""
    behind: float = 0.0
    """The most seconds that readers were behind after a round."""


class LastRound(msgspec.Struct, frozen=True):
    """One round."""

    number: int
    began: int
    """Seconds since 1970."""
    seconds: float
    outcome: str
    messages: int
    commits: int
    stages: dict[str, float]
    """Seconds by stage; the rest is between them."""


class Rounds(msgspec.Struct):
    """What the file has."""

    spans: list[Span] = []
    last: list[LastRound] = []

    def since(self, moment: float) -> list[Span]:
        """Spans that began at a moment or later, seconds since 1970; the oldest first."""
        return [span for span in self.spans if span.began >= moment]


class Stages:
    """Measures the stages of a round by the steps that it reports."""

    NAMES: Final = (
        ("looking for news", "look"),
        ("starting Spark", "land"),
        ("starting dbt", "build"),
        ("looking at what is held", "report"),
    )

    def __init__(self) -> None:
        self._spent: dict[str, float] = {}
        self._current: str | None = None
        self._since = time.monotonic()

    def step(self, text: str) -> None:
        """Note that a step begins. One that has no name of its own belongs to the stage before."""
        for begin, name in self.NAMES:
            if text.startswith(begin):
                self._end()
                self._current = name

    def _end(self) -> None:
        now = time.monotonic()
        if self._current:
            spent = self._spent.get(self._current, 0.0) + now - self._since
            self._spent[self._current] = spent
        self._since = now

    def taken(self) -> dict[str, float]:
        """Seconds by stage since the last call."""
        self._end()
        found, self._spent, self._current = self._spent, {}, None
        return {name: round(seconds, 2) for name, seconds in found.items()}


class RoundsFile:
    """Keeps the history of rounds in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.rounds = read_rounds(file)
        self.stages = Stages()
        self._commits: dict[str, int] = {}
        self._written_at = -float(WRITE_SECONDS)

    def round(self, told: "Told", health: Mapping[str, Any]) -> str | None:
        """Note a round; a sentence if the file cannot be written.

        Args:
            told: the round.
            health: what the health file says after it.
        """
        outcome = told.outcome
        began = int(told.began_at.timestamp())
        messages = outcome.landing.message_count if outcome else 0
        commits = self._new_commits(health["sources"])
        span = self._span(began)
        span.rounds += 1
        span.failed += bool(told.error)
        span.messages += messages
        span.commits += commits
        span.held = max(span.held, sum(one["held"] for one in health["sources"]))
        span.behind = max(span.behind, health["readers_behind_seconds"] or 0.0)
        kind = "failed" if told.error or outcome is None else outcome.kind
        stages = self.stages.taken()
        if kind != "no_news":
            last = LastRound(
                told.number, began, round(told.seconds, 2), kind, messages, commits, stages
            )
            self.rounds.last = [*self.rounds.last, last][-KEPT_ROUNDS:]
        if time.monotonic() - self._written_at < WRITE_SECONDS:
            return None
        return self.write()

    def write(self) -> str | None:
        """Write the file; a sentence if it cannot be written."""
        try:
            write(self._file, msgspec.json.encode(self.rounds).decode(), "run")
        except DebeziumError as error:
            return str(error)
        self._written_at = time.monotonic()
        return None

    def _span(self, began: int) -> Span:
        start = began - began % SPAN_SECONDS
        spans = self.rounds.spans
        if not spans or spans[-1].began != start:
            kept = [span for span in spans if start - KEPT_SECONDS < span.began < start]
            self.rounds.spans = spans = [*kept, Span(start)]
        return spans[-1]

    def _new_commits(self, sources: Sequence[Mapping[str, Any]]) -> int:
        """How many commits are new since the round before; in the first round none is."""
        now: dict[str, int] = {one["source"]: one["commit_number"] for one in sources}
        new = sum(
            max(0, number - self._commits.get(source, number)) for source, number in now.items()
        )
        self._commits = now
        return new


def read_rounds(file: Path) -> Rounds:
    """The history of rounds; empty if there is none, or a file that something else has written."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Rounds)
    except (OSError, msgspec.MsgspecError):
        return Rounds()
