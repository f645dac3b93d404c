"""What CDL's form proves of a transaction, of which nothing counts the changes (S15, S22).

A transaction is shown when every partition in which a change landed holds one behind the last
change of the transaction that landed. With `watermark` all is in one partition, in the order of
commits, and places are those of first copies; else they are LSNs, which are in the order of commits
as no two transactions are open at once. What cannot be read may be any change: no partition goes on
behind such a message, and nothing does where one is all that landed of a partition.
"""

from collections import defaultdict
from collections.abc import Sequence

from histories.plan import TABLES, Entry, Plan


class CdlArrived:
    """What has landed of a source of CDL: each entry with its offset, in the order of sending."""

    def __init__(self, plan: Plan, entries: Sequence[tuple[Entry, int]]) -> None:
        self.plan = plan
        self.lasts: dict[int, int] = {}
        """The last place of a transaction that landed."""
        self.received: dict[int, set[int]] = defaultdict(set)
        furthest: dict[tuple[str, int], int] = defaultdict(lambda: -1)
        readable: dict[tuple[str, int], int] = {}
        for entry, offset in entries:
            partition = (entry.topic, entry.partition)
            if entry.kind == "garbage" and entry.topic not in ("transaction", "message"):
                readable.setdefault(partition, furthest.get(partition, -1))
            if entry.kind != "event" or entry.transaction is None or entry.event is None:
                continue
            number = entry.transaction
            place = plan.transactions[number].events[entry.event].lsn
            if plan.proof == "watermark":
                if entry.event in self.received[number]:
                    continue
                place = offset
            furthest[partition] = max(furthest[partition], place)
            self.lasts[number] = max(self.lasts.get(number, -1), place)
            self.received[number].add(entry.event)
        self.low = min([*furthest.values(), *readable.values()], default=-1)

    def is_shown(self, number: int) -> bool:
        """Whether a transaction of which something landed is below what all have passed."""
        return self.lasts[number] < self.low

    def is_whole(self, number: int) -> bool:
        """Whether each change of a table landed."""
        events = self.plan.transactions[number].events
        return self.received[number] == {at for at, e in enumerate(events) if e.table in TABLES}


def commit_position(plan: Plan, number: int) -> str:
    """Where a transaction was committed: its last LSN, or its last place."""
    transaction = plan.transactions[number]
    if plan.proof == "none":
        return str(max(e.lsn for e in transaction.events if e.table in TABLES))
    known: dict[int, int] = {}
    for entry, offset in zip(plan.entries, plan.offsets(), strict=True):
        if entry.kind == "event" and entry.transaction == number and entry.event is not None:
            known.setdefault(entry.event, offset)
    return str(max(known.values()))
