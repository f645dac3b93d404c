"""Rounds, one after the other, until somebody ends them or they can never work."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

from dbt_debezium.errors import CannotWorkError
from dbt_debezium.rounds.round import Outcome

LONGEST_PAUSE: Final = 300.0
"""Seconds between two tries; more where rounds are further apart."""


@dataclass(frozen=True, slots=True)
class Told:
    """One round, as it is reported."""

    number: int
    began_at: datetime
    """UTC."""
    seconds: float
    outcome: Outcome | None
    """None if the round raised an error."""
    error: str | None
    """Why the round failed, or a block of landing.yml; None if none did."""
    failures: int
    """How many rounds in a row have failed."""
    pause: float
    """Seconds until the next one."""


class Stop(Protocol):
    """See `stopping.Stopping`."""

    is_asked_for: bool

    def wait(self, seconds: float) -> None:
        """Sleep, at most until it is asked for."""


def run_rounds(
    run: Callable[[], Outcome],
    every: float,
    stop: Stop,
    tell: Callable[[Told], None],
    sentence: Callable[[Exception], str],
    failures: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Begin a round every so many seconds, or when the one before is done.

    Args:
        run: one round.
        every: seconds between the begins of two rounds.
        tell: called after each round.
        sentence: what is to be said of an error.
        failures: how many rounds in a row failed before the first one.

    Raises:
        CannotWorkError: a round can never work.
    """
    number = 0
    while not stop.is_asked_for:
        number += 1
        began, began_at = clock(), datetime.now(UTC)
        outcome, error = None, None
        try:
            outcome = run()
        except CannotWorkError:
            raise
        except Exception as caught:
            error = sentence(caught)
        # Where only some blocks could not be landed, the others keep their pace.
        has_worked = outcome is not None and outcome.kind != "failed"
        if outcome and outcome.kind == "failed":
            error = outcome.lines[0] if outcome.lines else "dbt build: failed"
        elif outcome and outcome.landing.failures:
            error = "; ".join(outcome.landing.failures)
        failures = failures + 1 if error else 0
        seconds = clock() - began
        pause = max(0.0, pause_of(every, 0 if has_worked else failures) - seconds)
        tell(Told(number, began_at, seconds, outcome, error, failures, pause))
        # Writing a page takes time too.
        stop.wait(max(0.0, pause - (clock() - began - seconds)))


def pause_of(every: float, failures: int) -> float:
    """Seconds from the begin of a round to that of the next: twice as many with each failure.

    >>> [pause_of(30, failures) for failures in (0, 1, 2, 3, 9)]
    [30, 60, 120, 240, 300.0]
    >>> pause_of(3600, 2)
    3600
    """
    # A number of days would not fit a float.
    longer: float = every * 2 ** min(failures, 20)
    return min(longer, max(every, LONGEST_PAUSE))
