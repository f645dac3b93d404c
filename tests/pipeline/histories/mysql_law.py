"""What MySQL's form proves of a commit besides the counts in END, by who knows what is missing.

The transaction topic has one partition, as its order is that of commits. A transaction is *linked*
when the offsets of markers run without a hole from the END before it to its own. A truncate has no
END: the numbers of GTIDs run without a hole from the commit before it, of which the number is
known; or the offsets do, from the END before it to the next one that landed (S8, S14).

It is *accounted for* when no truncate can be missing before it. Either the numbers from the commit
before it are all known (from 1, if none is before it): those of an END, a truncate or a statement
of DDL that landed. Or each partition of a table has come to where its first change stands; and of
one without changes to the first change that landed of the next END's transaction that has some.

A message that cannot be read may be a truncate. It stands behind the last change before it in its
partition, and before the next one there; so by partitions no commit is accounted for of which the
first change stands behind the former, while the last one of the commits before it, or the snapshot,
does not stand at or behind the latter.

A restart inside a transaction sends its BEGIN again: then each partition must hold a change behind
its last one, and of one without changes, to the same as above; and no message that cannot be read
stands before it and behind its changes, or between them.
"""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Final

from histories.gaps import gaps
from histories.mysql_log import is_truncate
from histories.plan import LANDED_TABLES, Entry, Plan

LogPlace = tuple[int, int]
"""Place and row."""

NOWHERE: Final = (-1, -1)
ANYWHERE: Final = (2**63, 0)
CHANGES: Final = ("event", "read", "window_read")


class MysqlArrived:
    """What has landed of a MySQL source."""

    def __init__(self, plan: Plan, partitions: Mapping[tuple[str, int], list[Entry]]) -> None:
        self.plan = plan
        self.numbers: set[int] = set()
        """Of GTIDs that are known."""
        self.firsts: dict[int, LogPlace] = {}
        """Where the first change of a transaction stands that landed."""
        self.lasts: dict[int, LogPlace] = {}
        self.end_offsets: dict[int, int] = {}
        with_changes = [some for some in map(_changes, partitions.values()) if some]
        self._low = min((max(map(self._place, some)) for some in with_changes), default=NOWHERE)
        self._gaps = list(gaps(partitions, self._change_place, NOWHERE, ANYWHERE))

    def count(self, entry: Entry, offset: int) -> None:
        """One entry that landed."""
        number = entry.transaction
        if number is None or entry.kind not in ("event", "end", "ddl"):
            return
        transaction = self.plan.transactions[number]
        if entry.kind == "end":
            self.end_offsets[number] = min(offset, self.end_offsets.get(number, offset))
        if transaction.number is not None and (
            entry.kind in ("end", "ddl") or is_truncate(transaction)
        ):
            self.numbers.add(transaction.number)
        if entry.kind == "event" and entry.topic in LANDED_TABLES:
            place = self._place(entry)
            self.firsts[number] = min(place, self.firsts.get(number, place))
            self.lasts[number] = max(place, self.lasts.get(number, place))

    def is_past(self, number: int) -> bool:
        """Whether each partition is past a transaction."""
        last = self.lasts.get(number, None)
        following = self._following(number)
        return (last is not None and self._low > last) or (
            following is not None and self._low >= following
        )

    def may_lack_a_message(self, number: int) -> bool:
        """Whether a message that cannot be read may be one of the transaction's changes."""
        if number not in self.firsts:
            return False
        return any(
            after <= self.lasts[number] and self.firsts[number] <= before
            for after, before in self._gaps
        )

    def is_accounted_for(self, number: int, before: int | None, reached: LogPlace) -> bool:
        """Whether no truncate can be missing before a commit.

        Args:
            number: the commit.
            before: the GTID's number of the commit before it, where that is known.
            reached: where the last change before it stands.
        """
        first = self.firsts.get(number, self._following(number))
        return self._runs(before or 0, number) or (
            first is not None
            and self._low >= first
            and not any(after < first and reached < until for after, until in self._gaps)
        )

    def is_linked(
        self, number: int, before: int | None, end_offsets: Iterable[int], offsets: Iterable[int]
    ) -> bool:
        """Whether no END is missing between a truncate and the commit before it.

        Args:
            number: the truncate.
            before: as above.
            end_offsets: those of the last transaction before it that has an END.
            offsets: those of the markers that landed, which are in one partition.
        """
        if before is not None and self._runs(before, number):
            return True
        return any(
            {*offsets}.issuperset(range(first + 1, last))
            for first, last in product(end_offsets, self.end_offsets.values())
            if first < last
        )

    def _runs(self, before: int, number: int) -> bool:
        """Whether each number from the one after `before` to the commit's is known."""
        last = self.plan.transactions[number].number
        return last is not None and self.numbers.issuperset(range(before + 1, last + 1))

    def _following(self, number: int) -> LogPlace | None:
        """Where the first change stands of the next END's transaction that has some."""
        if number not in self.end_offsets:
            return None
        ends = sorted(
            (offset, at)
            for at, offset in self.end_offsets.items()
            if offset > self.end_offsets[number] and at in self.firsts
        )
        return self.firsts[ends[0][1]] if ends else None

    def _change_place(self, entry: Entry) -> LogPlace | None:
        return self._place(entry) if entry.kind in CHANGES else None

    def _place(self, entry: Entry) -> LogPlace:
        if entry.transaction is None:
            # A read is as new as the snapshot.
            return self.plan.epochs[entry.epoch].snapshot_lsn or -1, -1
        event = self.plan.transactions[entry.transaction].events[entry.event or 0]
        return event.lsn, event.row


def _changes(entries: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.kind in CHANGES]
