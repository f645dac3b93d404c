"""The file that says how the rounds are doing.

It is replaced as a whole when the rounds begin, after each round, and when they end.
"""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from dbt_debezium.errors import DebeziumError
from dbt_debezium.rounds.loop import Told

NAME: Final = "health.json"


class Health:
    """Writes the file.

    Raises:
        DebeziumError: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._said: dict[str, Any] = {
            "state": "starting",
            "pid": os.getpid(),
            "started_at": _text(datetime.now(UTC)),
            "round": 0,
            "last_round_at": None,
            "next_round_at": None,
            "last_published_at": None,
            "up_to_date_at": None,
            "seconds_behind": None,
            "failed_rounds": 0,
            "last_error": None,
            "last_error_at": None,
            "sources": [],
        }
        self._up_to_date_at: datetime | None = None
        try:
            self._write()
        except OSError as error:
            raise DebeziumError(
                f"run: {path} cannot be written ({error.strerror}); "
                "name a file that can be with --health-file"
            ) from error

    @property
    def said(self) -> Mapping[str, Any]:
        """What the file says, or would say if it could be written."""
        return self._said

    def round(self, told: Told) -> str | None:
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
            # Everything sent before the round began is published or held.
            self._up_to_date_at = told.began_at
            said["up_to_date_at"] = _text(told.began_at)
        if told.outcome and told.outcome.kind == "published":
            said["last_published_at"] = _text(now)
            said["sources"] = sources_of(told.outcome.report)
        if self._up_to_date_at:
            said["seconds_behind"] = round((now - self._up_to_date_at).total_seconds(), 1)
        try:
            self._write()
        except OSError as error:
            return (
                f"run: {self._path} cannot be written ({error.strerror}), so it still shows an "
                "earlier round; make room, or name another file with --health-file"
            )
        return None

    def ended(self) -> None:
        """Note that no round follows, if the file can be written."""
        self._said["state"], self._said["next_round_at"] = "ended", None
        with suppress(OSError):
            self._write()

    def _write(self) -> None:
        unfinished = self._path.with_name(f"_{self._path.name}")
        unfinished.write_text(json.dumps(self._said, ensure_ascii=False, indent=1) + "\n")
        unfinished.replace(self._path)


def sources_of(report: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The part of `cut_report` that a supervisor needs, one entry per source."""
    return [
        {
            "source": entry["source"],
            "commit_number": entry["commit_number"],
            "committed_at": entry["committed_at"],
            "held": len({one["transaction_id"] for one in entry["held"]}),
            "quarantined": entry["counts"]["quarantined"],
        }
        for entry in report
    ]


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
