"""What CDL's form proves of a transaction, of which nothing counts the changes (S15, S22).

Positions are LSNs, which are in the order of commits here: no two transactions are open at once. A
transaction is shown when every partition in which a change landed holds one behind the last change
of the transaction that landed. What cannot be read may be any change: no partition goes on behind
such a message, and nothing does where one is all that landed of a partition.
"""

from collections import defaultdict
from collections.abc import Sequence

from histories.plan import TABLES, Entry, Plan


class CdlArrived:
    """What has landed of a source of CDL."""

    def __init__(self, plan: Plan, entries: Sequence[Entry]) -> None:
        self.plan = plan
        self.lasts: dict[int, int] = {}
        """The last LSN of a transaction that landed."""
        self.received: dict[int, set[int]] = defaultdict(set)
        furthest: dict[tuple[str, int], int] = defaultdict(lambda: -1)
        readable: dict[tuple[str, int], int] = {}
        for entry in entries:
            place = (entry.topic, entry.partition)
            if entry.kind == "garbage" and entry.topic not in ("transaction", "message"):
                readable.setdefault(place, furthest.get(place, -1))
            if entry.kind != "event" or entry.transaction is None or entry.event is None:
                continue
            number = entry.transaction
            lsn = plan.transactions[number].events[entry.event].lsn
            furthest[place] = max(furthest[place], lsn)
            self.lasts[number] = max(self.lasts.get(number, -1), lsn)
            self.received[number].add(entry.event)
        self.low = min([*furthest.values(), *readable.values()], default=-1)

    def is_shown(self, number: int) -> bool:
        """Whether a transaction of which something landed is below what all have passed."""
        return self.lasts[number] < self.low

    def is_whole(self, number: int) -> bool:
        """Whether each change of a table landed."""
        events = self.plan.transactions[number].events
        return self.received[number] == {at for at, e in enumerate(events) if e.table in TABLES}
