"""What the health file of `run --every` says."""

from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from dbt_debezium.errors import DebeziumError
from dbt_debezium.page.ages import age_of, shown_age

LATE_SECONDS: Final = 300
"""How late a round may be: the one before it may still work."""


class RoundsHealth(msgspec.Struct, frozen=True):
    """The file, see docs/rounds.md. Its instants are UTC."""

    state: str
    round: int
    last_round_at: str | None
    next_round_at: str | None
    last_published_at: str | None
    up_to_date_at: str | None
    failed_rounds: int
    last_error: str | None
    last_error_at: str | None


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


def shown_ages(health: RoundsHealth, now: datetime) -> list[tuple[str, str]]:
    """The instants that the file has, by what they are."""
    found = (
        ("latest round began", age_of(health.last_round_at, now)),
        ("up to date at", age_of(health.up_to_date_at, now)),
        ("last published", age_of(health.last_published_at, now)),
        ("latest error at", age_of(health.last_error_at, now)),
    )
    return [(name, shown) for name, shown in found if shown]


def round_problems(health: RoundsHealth, now: datetime) -> list[str]:
    """What is wrong with the rounds, a sentence each."""
    if health.state == "failing":
        rounds = "round has" if health.failed_rounds == 1 else f"{health.failed_rounds} rounds have"
        return [f"rounds: the last {rounds} failed: {health.last_error}"]
    if health.state == "ended":
        return [
            "rounds: `dbt-debezium run --every` has ended, so nothing new is published; start it "
            "again, or `dbt-debezium run`"
        ]
    due = health.next_round_at and datetime.fromisoformat(health.next_round_at)
    late = (now - due).total_seconds() if due else 0
    if late > LATE_SECONDS:
        return [
            f"rounds: one was due {shown_age(late)} and has not ended; "
            "look whether `dbt-debezium run --every` still runs"
        ]
    return []
