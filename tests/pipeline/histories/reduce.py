"""A history with parts taken out, which is a lawful history again.

A mark names a part of the whole history, so that any set of marks can be taken out together.
"""

from collections import defaultdict
from dataclasses import replace
from typing import TypeAlias

from histories.plan import Entry, Plan, Transaction

Mark: TypeAlias = tuple[str | int, ...]
"""epoch n; transaction n; event n, m; entry n; topic name (one partition); landing n (lands with
the one before); lost (all lands); again (no delivery twice)."""
Marks: TypeAlias = frozenset[Mark]


def marks_of(plan: Plan) -> list[Mark]:
    """All that can be taken out, the largest first."""
    streamed = [number for epoch in plan.epochs for number in epoch.chain]
    marks: list[Mark] = [("lost",), ("again",)]
    if len(plan.epochs) > 1:
        marks += [("epoch", number) for number in range(len(plan.epochs))]
    marks += [("transaction", number) for number in streamed]
    marks += [("landing", number) for number in range(1, plan.landing_count)]
    marks += [("topic", topic) for topic in sorted({e.topic for e in plan.entries if e.partition})]
    marks += [
        ("event", number, at)
        for number in streamed
        for at, event in enumerate(plan.transactions[number].events)
        if event.old_key is None
    ]
    seen: set[object] = set()
    for at, entry in enumerate(plan.entries):
        what = (entry.kind, entry.epoch, entry.transaction, entry.event, entry.counted_from)
        if (
            entry.kind in ("heartbeat", "garbage", "tombstone", "window_read")
            or entry.marker == "true"
            or (entry.transaction is not None and what in seen)
        ):
            marks.append(("entry", at))
        seen.add(what)
    return marks


def size(plan: Plan) -> tuple[int, int, int]:
    """What a smaller history has less of."""
    return (
        len(plan.entries),
        len({(entry.topic, entry.partition) for entry in plan.entries}),
        len({entry.landing for entry in plan.entries} | {entry.again for entry in plan.entries}),
    )


def reduced(plan: Plan, marks: Marks, name: str) -> Plan:
    """The history without the marked parts, under another name."""
    epochs = [at for at in range(len(plan.epochs)) if ("epoch", at) not in marks]
    chains = [
        [at for at in plan.epochs[number].chain if ("transaction", at) not in marks]
        for number in epochs
    ]
    kept = [at for chain in chains for at in chain]
    events = {at: _kept_events(plan.transactions[at], at, marks) for at in kept}
    numbers = {at: number for number, at in enumerate(kept)}
    entries = [
        _renumbered(entry, epochs.index(entry.epoch), numbers, events, marks, plan.landing_count)
        for at, entry in enumerate(plan.entries)
        if ("entry", at) not in marks and _stays(entry, epochs, events)
    ]
    _close_holes(entries)
    return replace(
        plan,
        name=name,
        transactions=[
            replace(
                plan.transactions[at],
                events=[plan.transactions[at].events[event] for event in events[at]],
            )
            for at in kept
        ],
        epochs=[
            replace(
                plan.epochs[number],
                chain=[numbers[at] for at in chain],
                torn=None if (torn := plan.epochs[number].torn) is None else numbers.get(torn),
            )
            for number, chain in zip(epochs, chains, strict=True)
        ],
        entries=entries,
        landing_count=plan.landing_count - sum(mark[0] == "landing" for mark in marks),
    )


def _close_holes(entries: list[Entry]) -> None:
    """What follows in a partition does not land before what it follows."""
    reached: dict[tuple[str, int], int | None] = {}
    for entry in entries:
        place = (entry.topic, entry.partition)
        latest = reached.get(place, 0)
        if latest is None or entry.landing is None:
            entry.landing = entry.again = None
        else:
            entry.landing = max(latest, entry.landing)
            if entry.again is not None:
                entry.again = max(entry.again, entry.landing)
        reached[place] = entry.landing


def _kept_events(transaction: Transaction, number: int, marks: Marks) -> list[int]:
    kept = []
    for at, event in enumerate(transaction.events):
        # The create of a key change goes with its delete.
        first = at - 1 if event.old_key is not None else at
        if ("event", number, first) not in marks:
            kept.append(at)
    return kept


def _stays(entry: Entry, epochs: list[int], events: dict[int, list[int]]) -> bool:
    if entry.epoch not in epochs:
        return False
    if entry.transaction is None:
        return True
    if entry.transaction not in events:
        return False
    return entry.event is None or entry.event in events[entry.transaction]


def _renumbered(
    entry: Entry,
    epoch: int,
    numbers: dict[int, int],
    events: dict[int, list[int]],
    marks: Marks,
    landing_count: int,
) -> Entry:
    merged = sorted(int(mark[1]) for mark in marks if mark[0] == "landing")
    moved: dict[int | None, int | None] = defaultdict(lambda: None)
    for landing in range(landing_count):
        moved[landing] = landing - sum(other <= landing for other in merged)
    if ("lost",) in marks:
        moved[None] = moved[landing_count - 1]
    changed = replace(
        entry,
        epoch=epoch,
        landing=moved[entry.landing],
        again=None if entry.again is None or ("again",) in marks else moved[entry.again],
        partition=0 if ("topic", entry.topic) in marks else entry.partition,
    )
    if entry.transaction is not None:
        kept = events[entry.transaction]
        changed.transaction = numbers[entry.transaction]
        changed.counted_from = sum(at < entry.counted_from for at in kept)
        if entry.event is not None:
            changed.event = kept.index(entry.event)
    return changed
