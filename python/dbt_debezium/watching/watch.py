"""What `run` keeps up to date after each round: a page, metrics, and the command of alerts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from dbt_debezium.ages import shown_time
from dbt_debezium.page import page_of
from dbt_debezium.replaced_file import write
from dbt_debezium.rounds.health import RoundsHealth
from dbt_debezium.rounds.history import Rounds
from dbt_debezium.status.lake_status import LakeStatus


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of the lake and of its rounds."""

    lake: str
    """What the lake is called."""
    found: LakeStatus | None = None
    """The latest look at the lake; None before the first one that worked."""
    found_at: datetime | None = None
    unseen: str | None = None
    """Why the lake could not be looked at since then; None if the look is current."""
    health: RoundsHealth | None = None
    """None where no rounds have been."""
    rounds: Rounds | None = None
    """What they have done."""
    refresh_seconds: int | None = None
    """After how long a browser is to load the page again; None: it is not."""


class Output(Protocol):
    """Something that is kept up to date."""

    def write(self, seen: Seen) -> str | None:
        """Write what is known; a sentence if something is older than it should be.

        Raises:
            Exception: it cannot be written.
        """


class PageFile:
    """The page of `report`."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def write(self, seen: Seen) -> str | None:
        if seen.found is None:
            return seen.unseen and f"report: {self._file} is not written: {seen.unseen}"
        problem = None
        if seen.unseen and seen.found_at:
            lake = f"shows the lake of {shown_time(seen.found_at)}"
            problem = f"report: {self._file} {lake}: {seen.unseen}"
        notices = [*seen.found.notices, *([problem] if problem else [])]
        found = replace(seen.found, notices=notices)
        is_over = seen.health is not None and seen.health.state == "ended"
        refresh = None if is_over else seen.refresh_seconds
        now = datetime.now(UTC)
        _, text = page_of(found, seen.health, seen.lake, now, seen.rounds, refresh)
        write(self._file, text)
        return problem


class Watch:
    """Keeps outputs as the lake is, and ends no round: what fails is a sentence.

    The lake is looked at after a round that may have changed it. After the others, what is known
    of it is written again, with its age and with how the rounds are.
    """

    def __init__(
        self,
        lake: str,
        look: Callable[[], LakeStatus],
        health: Callable[[], RoundsHealth | None],
        outputs: Sequence[Output],
        sentence: Callable[[Exception], str],
        rounds: Rounds | None = None,
        refresh_seconds: int | None = None,
    ) -> None:
        """Know what is kept.

        Args:
            lake: what the lake is called.
            look: looks at the lake, which takes seconds.
            health: how the rounds are.
            outputs: what is kept.
            sentence: what is reported of an error.
            rounds: the history of rounds, which those who keep it add to.
            refresh_seconds: after how long a browser is to load the page again.
        """
        self._seen = Seen(lake, rounds=rounds, refresh_seconds=refresh_seconds)
        self._look, self._health, self._sentence = look, health, sentence
        self._outputs = outputs
        self._is_current = False
        self._reported: dict[Output, str | None] = {}

    def write(self, *, may_have_changed: bool = True) -> list[str]:
        """Look at the lake if it may have changed, and write all outputs.

        Returns:
            For each output that is not, or not up to date, the reason, once until it changes.
        """
        self._is_current = self._is_current and not may_have_changed
        if not self._is_current:
            try:
                found = self._look()
            except Exception as error:
                self._seen = replace(self._seen, unseen=self._sentence(error))
            else:
                now = datetime.now(UTC)
                self._seen = replace(self._seen, found=found, found_at=now, unseen=None)
                self._is_current = True
        return self.show()

    def show(self) -> list[str]:
        """Write what is known of the lake, as `write` without a look."""
        new = []
        for output in self._outputs:
            try:
                self._seen = replace(self._seen, health=self._health())
                problem = output.write(self._seen)
            except Exception as error:
                problem = self._sentence(error)
            if problem and problem != self._reported.get(output):
                new.append(problem)
            self._reported[output] = problem
        return new
