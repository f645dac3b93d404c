"""What the health file of `run --every` says."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from dbt_debezium.ages import shown_age, shown_time, with_age
from dbt_debezium.errors import DebeziumError
from dbt_debezium.rounds.history import Rounds

Instant = Annotated[datetime, msgspec.Meta(tz=True)]

SHOWN_SECONDS: Final = 0.05
"""Shorter stages are left out."""
LATE_SECONDS: Final = 300
"""How long after its time a round may be without a word: it may still be working."""


class OldestHeld(msgspec.Struct, frozen=True):
    """The transaction that holds readers back."""

    source: str
    transaction_id: str
    reason: str
    since: Instant


class RoundsHealth(msgspec.Struct, frozen=True):
    """The file, see docs/rounds.md. Its instants are UTC."""

    state: str
    round: int
    last_round_at: Instant | None
    next_round_at: Instant | None
    last_published_at: Instant | None
    up_to_date_at: Instant | None
    readers_behind_seconds: float
    oldest_held: OldestHeld | None
    failed_rounds: int
    last_error: str | None
    last_error_at: Instant | None


def read_health(file: Path) -> RoundsHealth | None:
    """The health file; None where there is none.

    Raises:
        DebeziumError: it cannot be read.
    """
    try:
        return msgspec.json.decode(file.read_bytes(), type=RoundsHealth)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise DebeziumError(
            f"report: {file} cannot be read as a health file ({error}); name the one that "
            "`dbt-debezium run --every` writes with --health-file"
        ) from error


def health_of(said: Mapping[str, Any]) -> RoundsHealth:
    """What the file says, in the process that writes it."""
    return msgspec.convert(said, RoundsHealth)


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
        rounds = "round has" if health.failed_rounds == 1 else f"{health.failed_rounds} rounds have"
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
