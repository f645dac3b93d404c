"""How far readers are behind what has landed, from entries of a report."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from dbt_debezium.ages import moment_of
from dbt_debezium.status.acceptances import accepted_count, open_flags
from dbt_debezium.status.holds import holds_of

KEPT_HOLDS: Final = 5
"""Sources of which a mark has the oldest hold, because catalogs limit the size of properties."""


class Hold(msgspec.Struct, frozen=True):
    """What a source holds first."""

    source: str
    transaction_id: str
    reason: str
    since: datetime
    """When the oldest held transaction was committed, by the source's clock; if that is not known
    or later than now, when a run first met it. UTC."""


def holds_of_report(report: Iterable[Mapping[str, Any]], now: datetime) -> list[Hold]:
    """The first hold of each source that holds something, the oldest first.

    Args:
        report: the result of `cut_report`.
        now: UTC.
    """
    found = []
    for entry in report:
        if entry["held"]:
            first = holds_of(entry["held"]).causes[0].first[0]
            moments = [moment_of(one["committed_at"]) for one in entry["held"]]
            since = min([now, *(moment for moment in moments if moment)])
            found.append(Hold(entry["source"], first["transaction_id"], first["reason"], since))
    return sorted(found, key=lambda hold: hold.since)


def still_held(before: Sequence[Hold], now: Sequence[Hold]) -> list[Hold]:
    """The holds of now; what was held before is held since then."""
    since = {(one.source, one.transaction_id): one.since for one in before}
    found = [
        msgspec.structs.replace(
            one, since=min(one.since, since.get((one.source, one.transaction_id), one.since))
        )
        for one in now
    ]
    return sorted(found, key=lambda hold: hold.since)


def sources_of(report: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What a supervisor needs to know of each source.

    Args:
        report: the result of `cut_report`.
    """
    return [_source_of(entry) for entry in report]


def _source_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    held = entry["held"]
    texts = [entry["committed_at"], *(one["committed_at"] for one in held)]
    published = moment_of(entry["committed_at"])
    newest = max((moment for text in texts if (moment := moment_of(text))), default=None)
    first = holds_of(held).causes[0].first[0] if held else None
    return {
        "source": entry["source"],
        "commit_number": entry["commit_number"],
        "committed_at": entry["committed_at"],
        "newest_landed_at": newest and newest.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        # By the source's clock alone, so that it may differ from ours.
        "commits_behind_seconds": (
            (newest - published).total_seconds() if newest and published else None
        ),
        "held": len({one["transaction_id"] for one in held}),
        "oldest_held": first
        and {name: first[name] for name in ("transaction_id", "reason", "committed_at")},
        "quarantined": entry["counts"]["quarantined"],
        "flagged": len({one["table"] for one in open_flags(entry)}),
        "accepted": accepted_count([entry]),
    }
