"""Snapshots whose reads are not published: initial, blocking, incremental (S4 to S7)."""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from dbt_debezium.evidence.facts import Control, Stretch, TopicPartition
from dbt_debezium.evidence.places import least, most
from dbt_debezium.evidence.state import Run
from dbt_debezium.evidence.transactions import Transaction
from dbt_debezium.judge.places import EVERYWHERE


class Asked(NamedTuple):
    """What asks for a blocking snapshot."""

    previous: str | None
    """The commit that its reads name."""
    transaction_id: str | None
    """The transaction that asked for it, if its signal stands where the reads do."""
    followed: str | None
    """The commit after which it stands, where the reads show it."""


def reads_of(stretches: Iterable[Stretch]) -> dict[str, list[Stretch]]:
    """The reads of each initial or blocking snapshot, by their place."""
    found: dict[str, list[Stretch]] = defaultdict(list)
    for one in stretches:
        if one.kind == "read":
            found[one.unit_id or ""].append(one)
    return dict(found)


def signals_of(controls: Iterable[Control], sent: Mapping[str, Transaction]) -> list[Control]:
    """Signals that ask for a blocking snapshot, of transactions that are not settled."""
    return [
        one
        for one in controls
        if one.kind == "signal"
        and (asking := sent.get(one.transaction_id or "")) is not None
        and asking.has_changes
    ]


def asked(reads: Mapping[str, Sequence[Stretch]], signals: Sequence[Control]) -> dict[str, Asked]:
    """The blocking ones among snapshots, by the place of their reads (PostgreSQL)."""
    found = {}
    for place, some in reads.items():
        previous = most(*(one.previous for one in some))
        first_read_at = min(one.first_at for one in some)
        # An initial snapshot may stand there too, and is older.
        asking = [
            one.transaction_id
            for one in signals
            if one.position == place and first_read_at > (one.committed_at or 0)
        ]
        if previous is None and not asking:
            continue
        opened = least(*(one.position for one in signals if one.previous == previous))
        is_between = previous is not None and place <= previous
        follows = is_between and (opened is None or opened > place)
        found[place] = Asked(previous, next(iter(asking), None), previous if follows else None)
    return found


def unanswered(signals: Sequence[Control], answers: Iterable[Asked]) -> set[str]:
    """Transactions with a signal that no snapshot answers.

    None stands after it and before the next signal, and there are no more snapshots after it than
    later signals.

    Args:
        signals: that ask for a blocking snapshot.
        answers: blocking snapshots that are not published.
    """
    # Of what names one commit, a snapshot that stands right after that commit is the first.
    asking = {one.transaction_id or "": (one.previous or "", 1) for one in signals}
    known = [(one.previous or "", 2 if one.followed is None else 0) for one in answers]
    last = EVERYWHERE, 0
    lacking = set()
    for name, at in asking.items():
        later = [one for one in asking.values() if one > at]
        behind = [one for one in known if one > at]
        is_next = min(behind, default=last) < min(later, default=last)
        if not is_next and len(behind) <= len(later):
            lacking.add(name)
    return lacking


class Around(NamedTuple):
    """What lies around the reads of a snapshot in a partition, by offset, as `SnapshotPartition`
    has it. Each may be None."""

    first_read: int | None
    last_read: int | None
    older: int | None
    newer: int | None
    first: int | None


def around(
    place: str, seen: str, some: Sequence[Stretch], later: Container[str | None] = ()
) -> Around:
    """What lies before and after the reads of a snapshot in a partition.

    Args:
        place: of the reads.
        seen: the last place in the log of what they have seen.
        some: stretches of the partition. Of one that lies on both sides only its ends are known.
        later: transactions that they have not seen, wherever their changes stand.
    """
    first = min((one.first_offset for one in some), default=None)
    reads = [one for one in some if one.kind == "read" and one.unit_id == place]
    if reads:
        first_read = min(one.first_offset for one in reads)
        last_read = max(one.last_offset for one in reads)
        behind = (
            one.first_offset if one.first_offset > last_read else one.last_offset
            for one in some
            if one.kind != "read" and one.last_offset > last_read
        )
        return Around(
            first_read, last_read, _last_before(first_read, some), min(behind, default=None), first
        )
    placed = [one for one in some if one.kind in ("change", "read")]
    newer = min(
        (
            one.first_offset if (one.first_place or "") > seen else one.last_offset
            for one in placed
            if (one.last_place or "") > seen
        ),
        default=None,
    )
    # A gap in front of these may be reads, too, and one behind them where another connector sends
    # them from an older slot.
    unseen = (one.first_offset for one in placed if one.unit_id in later)
    older = _last_before(least(newer, min(unseen, default=None)), placed)
    return Around(None, None, older, newer, first)


def _last_before(offset: int | None, some: Iterable[Stretch]) -> int | None:
    """The last message before an offset; of all, where that is None."""
    before = (
        one.last_offset if offset is None or one.last_offset < offset else one.first_offset
        for one in some
        if offset is None or one.first_offset < offset
    )
    return max(before, default=None)


def settled_stretches(place: TopicPartition, runs: Iterable[Run]) -> list[Stretch]:
    """What is settled in a partition, a stretch for each run of its offsets."""
    return [
        Stretch(*place, "change", run.settled_first, run.settled_last, run.low, run.high)
        for run in runs
        if run.settled_first is not None and run.settled_last is not None
    ]
