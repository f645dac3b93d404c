"""What the row of a verdict shows of its transaction or snapshot, beside the verdict itself."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from dbt_debezium.evidence.facts import Stretch
from dbt_debezium.evidence.places import most
from dbt_debezium.evidence.source import SourceEvidence
from dbt_debezium.evidence.transactions import Transaction
from dbt_debezium.judge import Verdict, marks
from dbt_debezium.judge.snapshot import has_last_read
from dbt_debezium.judge.transaction import has_every_number, has_surplus
from dbt_debezium.messages.topic_names import table_suffix
from dbt_debezium.reasons.hold_reason import HoldReason


class Miscounted(NamedTuple):
    """A table of which another number of changes has landed than was sent."""

    data_collection: str
    expected_count: int | None
    """By END; None of a snapshot, whose reads nothing counts."""
    received_count: int


class Counts:
    """What is noted of transactions while the judge reads them."""

    def __init__(self) -> None:
        self.miscounted: dict[str, list[Miscounted]] = defaultdict(list)
        """Of transactions with END."""
        self.renumbered: set[str] = set()
        """Transactions whose numbers show no order."""

    def noted(self, links: Iterable[marks.Link]) -> Iterator[marks.Link]:
        """The same links, each noted as it goes by."""
        for link in links:
            if isinstance(link, marks.Counted):
                self._note(link)
            yield link

    def _note(self, link: marks.Counted) -> None:
        if has_surplus(link) or not has_every_number(link):
            self.renumbered.add(link.transaction_id)
        for table in link.tables if link.has_end else ():
            expected, received = table.expected_count, table.received_count
            if expected != received:
                found = Miscounted(table.data_collection, expected, received)
                self.miscounted[link.transaction_id].append(found)


class Shown:
    """Columns of the rows of verdicts, by their names in `UnitVerdict`."""

    def __init__(self, evidence: SourceEvidence, facts: marks.Facts, counts: Counts) -> None:
        self._evidence, self._facts, self._counts = evidence, facts, counts
        self._nameless = {
            (*one.key, one.offset) for one in evidence.facts.controls if one.kind == "nameless"
        }

    def of(self, verdict: Verdict) -> dict[str, Any]:
        """The columns of a verdict; of a message its time."""
        name = verdict.transaction_id
        if name is not None:
            found = self._of_transaction(self._evidence.sent[name], name)
        elif verdict.read_position is None:
            return {"committed_at": verdict.committed_at}
        else:
            found = self._of_snapshot(verdict.read_position, verdict)
        if verdict.outcome == "hold":
            found["held_reason"] = self._reason(verdict, found["miscounted_tables"])
        return found

    def _of_transaction(self, one: Transaction, name: str) -> dict[str, Any]:
        behind = most(one.previous, one.last)
        if self._evidence.is_ordered_by_end:
            behind = self._evidence.ends.order_of(one)
        return {
            "committed_at": one.ended_at or one.marked_at or one.committed_at or None,
            "log_order": one.position or one.commit_position or behind,
            "event_count": one.event_count,
            "miscounted_tables": tuple(self._counts.miscounted.get(name, ())),
            "has_reset_counters": one.is_uncounted or name in self._counts.renumbered,
        }

    def _of_snapshot(self, at: str, verdict: Verdict) -> dict[str, Any]:
        reads = self._evidence.reads.get(at, [])
        is_lacking = verdict.reason == "snapshot_incomplete"
        return {
            "committed_at": max((one.last_at for one in reads), default=None),
            "log_order": verdict.position,
            "event_count": sum(one.new_count for one in reads),
            "miscounted_tables": (
                tuple(sorted(self._lacking_tables(at, verdict, reads))) if is_lacking else ()
            ),
        }

    def _lacking_tables(
        self, at: str, verdict: Verdict, reads: Sequence[Stretch]
    ) -> Iterator[Miscounted]:
        """Tables that lack reads, and those of which nothing has landed."""
        topics: dict[str, set[str]] = defaultdict(set)
        for one in reads:
            topics[one.data_collection or ""].add(one.topic)
        position = at if at in self._evidence.asked else verdict.position
        for table in self._facts.snapshot_tables:
            name = table.data_collection
            lacks = not has_last_read(table) or not topics[name].isdisjoint(verdict.lacking_topics)
            if table.snapshot_position == position and lacks:
                yield Miscounted(name, None, table.read_count)
        for name in verdict.lacking_tables:
            yield Miscounted(name, None, 0)

    def _reason(self, verdict: Verdict, miscounted: Sequence[Miscounted]) -> HoldReason | None:
        """Why a link waits. Events may be missing because a message cannot be read; one that names
        no transaction may be of any."""
        if verdict.reason != "missing_events":
            return verdict.reason
        suffixes = tuple(table_suffix(one.data_collection) for one in miscounted)
        may_be_lost = any(
            at[0].endswith(suffixes)
            and at not in self._nameless
            and one.transaction_id in (None, verdict.transaction_id)
            for at, one in self._evidence.unread.items()
        )
        return "quarantined_event" if may_be_lost else verdict.reason
