"""The file that says how the rounds are doing.

It is replaced as a whole when the rounds begin, after each round, and when they end.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from dbt_debezium.errors import DebeziumError
from dbt_debezium.replaced_file import write
from dbt_debezium.rounds.behind import Hold, sources_of, still_held
from dbt_debezium.writers.terminal import json_text

if TYPE_CHECKING:
    from dbt_debezium.rounds.loop import Told

NAME: Final = "health.json"
Instant = Annotated[datetime, msgspec.Meta(tz=True)]


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


class Health:
    """Writes the file.

    Raises:
        DebeziumError: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._started_at = datetime.now(UTC)
        self._said: dict[str, Any] = {
            "state": "starting",
            "pid": os.getpid(),
            "started_at": _text(self._started_at),
            "written_at": None,
            "readers_behind_seconds": 0.0,
            "round": 0,
            "last_round_at": None,
            "next_round_at": None,
            "last_published_at": None,
            "landed_at": None,
            "up_to_date_at": None,
            "oldest_held": None,
            "failed_rounds": 0,
            "last_error": None,
            "last_error_at": None,
            "sources": [],
        }
        self._landed_at: datetime | None = None
        self._holds: Sequence[Hold] = ()
        self._write()

    @property
    def said(self) -> Mapping[str, Any]:
        """What the file says, or would say if it could be written."""
        return self._said

    def read(self) -> RoundsHealth:
        """The same, as who reads the file has it."""
        return msgspec.convert(self._said, RoundsHealth)

    def round(self, told: "Told") -> str | None:
        """Note a round; a sentence if the file cannot be written, as on a full disk."""
        now = datetime.now(UTC)
        said = self._said
        said["round"] = told.number
        said["last_round_at"] = _text(told.began_at)
        said["next_round_at"] = _text(datetime.fromtimestamp(now.timestamp() + told.pause, UTC))
        said["failed_rounds"] = told.failures
        said["state"] = "failing" if told.error else "waiting"
        if told.error:
            said["last_error"], said["last_error_at"] = told.error, _text(now)
        else:
            self._landed_at = told.began_at
            said["landed_at"] = _text(told.began_at)
        if told.outcome and told.outcome.kind == "published":
            said["last_published_at"] = _text(now)
            said["sources"] = sources_of(told.outcome.report)
        if told.outcome and told.outcome.holds is not None:
            self._holds = still_held(self._holds, told.outcome.holds)
        self._note_readers(now)
        try:
            self._write()
        except DebeziumError as error:
            return f"{error}; until then it shows an earlier round"
        return None

    def _note_readers(self, now: datetime) -> None:
        """Note since when readers may lack something: it has not landed, or it is held."""
        said = self._said
        oldest = self._holds[0] if self._holds else None
        said["oldest_held"] = oldest and {
            "source": oldest.source,
            "transaction_id": oldest.transaction_id,
            "reason": oldest.reason,
            "since": _text(oldest.since),
            "seconds": round((now - oldest.since).total_seconds(), 1),
        }
        held_since = [oldest.since] if oldest else []
        if self._landed_at:
            said["up_to_date_at"] = _text(min([self._landed_at, *held_since]))
        behind = now - min([self._landed_at or self._started_at, *held_since])
        said["readers_behind_seconds"] = round(behind.total_seconds(), 1)

    def ended(self) -> None:
        """Note that no round follows, if the file can be written."""
        self._said["state"], self._said["next_round_at"] = "ended", None
        with suppress(DebeziumError):
            self._write()

    def _write(self) -> None:
        self._said["written_at"] = _text(datetime.now(UTC))
        try:
            write(self._path, json_text(self._said, indent=1) + "\n", "run")
        except DebeziumError as error:
            raise DebeziumError(f"{error}; --health-file names it") from error


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
