"""What asks for a blocking snapshot (S7), as `int_blocking_snapshot` finds it. No Spark."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dbt_debezium.flat import Flat


class Asked(NamedTuple):
    """One blocking snapshot."""

    place: str
    """Of its reads."""
    previous: str | None
    """The commit that its reads name."""
    transaction_id: str | None
    """The first transaction of a stream, if that asked for it and names no commit."""
    followed: str | None
    """The commit behind which it stands, where the reads show it."""


def asked(reads: Mapping[str, Sequence[Flat]], changes: Iterable[Flat]) -> dict[str, Asked]:
    """Those among the snapshots of a source, by the place of their reads."""
    signals = [one for one in changes if is_signal(one)]
    found = {}
    for place, some in reads.items():
        previous = _highest(one.previous_commit_position for one in some)
        first_read_at = min(one.committed_at_micros or 0 for one in some)
        first = [
            one.transaction_id
            for one in signals
            if one.previous_commit_position is None
            and one.event_position == place
            and first_read_at > (one.committed_at_micros or 0)
        ]
        if previous is None and not first:
            continue
        opened = min(
            (
                one.event_position or ""
                for one in signals
                if previous is not None and one.previous_commit_position == previous
            ),
            default=None,
        )
        is_between = previous is not None and place <= previous
        follows = is_between and (opened is None or opened > place)
        transaction_id = first[0] if first else None
        found[place] = Asked(place, previous, transaction_id, previous if follows else None)
    return found


def unanswered(snapshots: Iterable[Asked], changes: Iterable[Flat]) -> set[str]:
    """Transactions with a signal that no snapshot answers.

    None stands behind it and before the next signal, and there are fewer snapshots behind it than
    signals from it on.
    """
    signals = {
        one.transaction_id or "": one.previous_commit_position or ""
        for one in changes
        if is_signal(one)
    }
    known = [(one.previous or "", one.followed is not None, one.place) for one in snapshots]
    lacking = set()
    for transaction_id, at in signals.items():
        later = [(other, place) for other, place in signals.items() if place > at]
        behind = [one for one in known if one[0] >= at and not (one[0] == at and one[1])]
        first_later = min((place for _, place in later), default=None)
        answers = bool(behind) and (
            (first_later is not None and min(behind)[0] < first_later)
            or len({one[2] for one in behind}) > len(later)
        )
        if not answers:
            lacking.add(transaction_id)
    return lacking


def is_signal(change: Flat) -> bool:
    if change.signal_type != "execute-snapshot":
        return False
    kind = json.loads(change.signal_data or "{}").get("type") or ""
    return str(kind).lower() == "blocking"


def _highest(positions: Iterable[str | None]) -> str | None:
    return max((at for at in positions if at is not None), default=None)
