"""What the page says of rounds: their health, and the last of them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from dbt_debezium.ages import shown_age, shown_time, with_age
from dbt_debezium.amounts import chosen
from dbt_debezium.rounds.health import RoundsHealth
from dbt_debezium.rounds.history import Rounds

SHOWN_SECONDS: Final = 0.05
"""Shorter stages are left out."""
LATE_SECONDS: Final = 300
"""How long after its time a round may be without a word: it may still be working."""


def shown_ages(health: RoundsHealth, now: datetime) -> list[tuple[str, str]]:
    """The instants that the file has, by what they are."""
    found = (
        ("latest round began", health.last_round_at),
        ("up to date at", health.up_to_date_at),
        ("last published", health.last_published_at),
        ("latest error at", health.last_error_at),
    )
    return [(name, with_age(moment, now)) for name, moment in found if moment]


def round_problems(health: RoundsHealth, now: datetime) -> list[str]:
    """What is wrong with the rounds, a sentence each."""
    if health.state == "ended":
        return [
            "rounds: `dbt-debezium run --every` has ended, so nothing new is published; start it "
            "again, or `dbt-debezium run`"
        ]
    found = []
    if health.state == "failing":
        rounds = chosen(health.failed_rounds, "round has", f"{health.failed_rounds} rounds have")
        found.append(f"rounds: the last {rounds} failed: {health.last_error}")
    late = (now - health.next_round_at).total_seconds() if health.next_round_at else 0
    if late > LATE_SECONDS:
        found.append(
            f"rounds: one was due {shown_age(late)} and has not ended; "
            "look whether `dbt-debezium run --every` still runs"
        )
    return found


@dataclass(frozen=True, slots=True)
class RoundRow:
    """One of the last rounds that did something, as the template takes it."""

    began: str
    outcome: str
    messages: int
    commits: int
    seconds: float
    stages: str
    """Where its time went, the longest stage first."""


def last_rounds(rounds: Rounds) -> list[RoundRow]:
    """The last rounds that did something, the newest first."""
    return [
        RoundRow(
            shown_time(datetime.fromtimestamp(one.began, UTC)),
            one.outcome,
            one.messages,
            one.commits,
            one.seconds,
            ", ".join(
                f"{name} {seconds:.1f} s"
                for name, seconds in sorted(one.stages.items(), key=lambda each: -each[1])
                if seconds >= SHOWN_SECONDS
            ),
        )
        for one in reversed(rounds.last)
    ]
