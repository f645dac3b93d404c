"""Reports of rounds: lines for people, JSON for machines."""

from collections.abc import Callable

from dbt_debezium.amounts import counted, duration
from dbt_debezium.rounds.behind import sources_of
from dbt_debezium.rounds.loop import Told
from dbt_debezium.writers.terminal import json_text


class ForPeople:
    """One line for each round with news or a failure, one for the first of those without.

    Notes are printed once, until they change.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._quiet_count = 0
        self._known: set[str] = set()
        self._error: str | None = None

    def round(self, told: Told) -> None:
        """Report a round."""
        outcome = told.outcome
        said = [*(outcome.notes if outcome else ()), *(outcome.landing.notes if outcome else ())]
        lines = outcome.lines if outcome else ()
        new = [one for one in said if one not in self._known and one not in lines]
        if outcome and outcome.kind == "no_news":
            if not self._quiet_count and not told.error:
                self._line(told, f"no news since {outcome.since}")
            self._quiet_count += 1
        elif outcome and outcome.kind != "failed":
            rounds = counted(self._quiet_count, "round")
            quiet = f" (after {rounds} without news)" if self._quiet_count else ""
            landed = outcome.landing.lines if outcome.landing.message_count else ()
            parts = [*landed, *outcome.lines]
            self._line(told, f"{'; '.join(parts)} in {told.seconds:.1f} s{quiet}")
            self._quiet_count = 0
        if told.error:
            again = f"trying again in {duration(told.pause)}"
            if told.error == self._error:
                self._line(told, f"failed as before, {told.failures} times; {again}")
            else:
                self._line(told, f"failed: {told.error} ({again})")
                new = [*(outcome.lines[1:] if outcome and outcome.kind == "failed" else ()), *new]
        if outcome and outcome.kind == "no_news":
            self._known.update(said)
        elif outcome:
            self._known = set(said)
        self._error = told.error
        for one in new:
            self._say(f"          {one}")

    def _line(self, told: Told, text: str) -> None:
        self._say(f"{told.began_at:%H:%M:%S}  {text}")


def for_machines(told: Told) -> str:
    """One JSON object, which `docs/rounds.md` describes."""
    outcome = told.outcome
    said = {
        "round": told.number,
        "began_at": f"{told.began_at:%Y-%m-%dT%H:%M:%SZ}",
        "seconds": round(told.seconds, 3),
        "outcome": outcome.kind if outcome else "failed",
        "landed": outcome.landing.message_count if outcome else 0,
        "lines": [*outcome.landing.lines, *outcome.lines] if outcome else [],
        "notes": [*outcome.landing.notes, *outcome.notes] if outcome else [],
        "sources": sources_of(outcome.report) if outcome else [],
        "error": told.error,
        "failed_rounds": told.failures,
        "pause": round(told.pause, 1),
    }
    return json_text(said)
