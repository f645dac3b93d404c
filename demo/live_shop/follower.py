"""What each round of the demo shows, compared with the database."""

import time
from typing import TYPE_CHECKING, Final

from dbt_debezium.rounds.loop import Told
from dbt_debezium.rounds.stopping import STEP_SECONDS
from live_shop.commit_log import CommitLog, differences
from live_shop.lake_rows import SOURCE, Seen, read_tables
from live_shop.latency import Latency
from live_shop.screen import Screen
from live_shop.story import Story

if TYPE_CHECKING:
    from dbt_debezium.rounds.round import Round

DRAIN_SECONDS: Final = 300
"""How long the tables may take to catch up once the shop is closed."""
FAILURES: Final = 5
"""So many rounds in a row may fail."""


class Follower:
    """Starts the story after the first cut, and ends the rounds when the story is over.

    Args:
        rounds: what it reports.
        log: what the database held after each commit.
    """

    def __init__(self, rounds: "Round", log: CommitLog, screen: Screen, story: Story) -> None:
        self._rounds, self._log, self._screen, self._story = rounds, log, screen, story
        self._published_at = 0.0
        self._caught_up_at: float | None = None
        self._closed_at: float | None = None
        self._newest: str | None = None
        self.latency = Latency()
        self.cuts: set[str] = set()
        """The newest transaction of each published cut that has been compared."""
        self.wrong_count = 0
        """Cuts that are not what the database held."""
        self.is_asked_for = False
        rounds.tell = screen.doing
        rounds.say = self._say

    def tell(self, told: Told) -> None:
        """Report a round; part of `follow`.

        Raises:
            KeyboardInterrupt: a second signal has ended it, which dbt takes for a failure.
        """
        if told.error and self._story.is_hurried():
            raise KeyboardInterrupt
        if told.error:
            self._screen.event("tables", f"a round failed, and is tried again: {told.error}", "red")
        elif told.outcome and told.outcome.kind == "published":
            self._compare(told)
            if self.cuts and not self._story.has_begun():
                self._caught_up_at = time.time()
                self._story.start()
        self._story.round_done(told)
        self.is_asked_for = self._is_over() or told.failures >= FAILURES

    def read(self) -> Seen:
        """What readers see now."""
        return read_tables(self._rounds.start_spark(), self._log.columns)

    def wait(self, seconds: float) -> None:
        """Part of `follow`."""
        until = time.monotonic() + seconds
        while not self.is_asked_for and (rest := until - time.monotonic()) > 0:
            time.sleep(min(rest, STEP_SECONDS))

    def _say(self, line: str) -> None:
        """A run says what it has published as soon as readers see it."""
        if line.startswith(f"{SOURCE}: "):
            self._published_at = time.time()

    def _compare(self, told: Told) -> None:
        seen = self.read()
        newest = self._newest = seen.transaction_id
        if newest:
            self._measure(newest)
            is_equal = not differences(self._log.rows_at(newest), seen.rows)
            self.cuts.add(newest)
            self.wrong_count += not is_equal
            at = self._log.position(newest)
            count = sum(rows.total() for rows in seen.rows.values())
            late = f"; {at.seconds_behind:.0f} s behind" if at.shown < at.committed else ""
            self._screen.event(
                "tables",
                f"show {at.shown} of {at.committed} transactions: {count:,} rows,"
                f" {'equal' if is_equal else 'NOT equal'} to the database at that commit{late}",
                "" if is_equal else "bold red",
            )
        for note in told.outcome.notes if told.outcome else ():
            if " held" in note:
                what, *_ = note.removeprefix(f"{SOURCE}: ").split("; ")
                self._screen.event("held", what)

    def _measure(self, newest: str) -> None:
        """Note how late transactions are that were committed after the first round."""
        if self._caught_up_at:
            committed = self._log.committed_at(newest)
            after = {one: at for one, at in committed.items() if at > self._caught_up_at}
            self.latency.published(self._published_at, after)

    def _is_over(self) -> bool:
        """Whether the shop is closed, and the tables show its last transaction."""
        if not self._story.is_over.is_set():
            return False
        self._closed_at = self._closed_at or time.monotonic()
        is_late = time.monotonic() - self._closed_at > DRAIN_SECONDS
        return self._newest == self._log.newest() or is_late
