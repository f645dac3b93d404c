"""The chain of commits of one source (S14): links in, verdicts out."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dbt_debezium.judge.decisions import Decided
from dbt_debezium.judge.evidence import Evidence
from dbt_debezium.judge.holds import Holds, Reasons
from dbt_debezium.judge.horizon import shown
from dbt_debezium.judge.marks import (
    AnyTransaction,
    BlockingSnapshot,
    Counted,
    Link,
    Message,
    Snapshot,
    Truncate,
    Uncounted,
)
from dbt_debezium.judge.places import place_in
from dbt_debezium.judge.predecessor import Predecessor
from dbt_debezium.judge.transaction import linking_offsets
from dbt_debezium.judge.verdicts import ChainEnd, LinkKind, Proof, Verdict
from dbt_debezium.reasons.hold_reason import HoldReason


class Chain:
    """Commits as long as each link is whole and follows the one before; holds from there on."""

    def __init__(self, evidence: Evidence, end: ChainEnd) -> None:
        self._evidence = evidence
        self._start = self._end = end
        self._holds = Holds(evidence, end)
        self._predecessor = Predecessor(end, evidence)
        """The link before the next one, published or held. Each link is judged as if all before it
        were published, so that its own faults are reported."""
        self._held_by: LinkKind | None = None
        """What waits before the next link: a snapshot, else a transaction."""

    def verdicts(self, links: Iterable[Link]) -> Iterator[Verdict]:
        """Judge links, which come in the order of `marks`."""
        return shown(self._judged(links))

    def _judged(self, links: Iterable[Link]) -> Iterator[Verdict]:
        for link in links:
            match link:
                case Message():
                    if self._predecessor.add_message(link) and self._held_by is None:
                        at = link.committed_at
                        yield Verdict("passed", "message", link.position, committed_at=at)
                case BlockingSnapshot():
                    yield self._judge_blocking(link)
                case Snapshot():
                    yield self._judge_snapshot(link)
                case _:
                    if not self._is_published(link.position):
                        yield self._judge_transaction(link)

    def _is_published(self, position: str | None) -> bool:
        """Whether a transaction is, by its position: it comes before a snapshot at the same one."""
        passed = self._start.passed
        return passed is not None and position is not None and position <= passed

    def _judge_snapshot(self, snapshot: Snapshot) -> Verdict:
        """A snapshot that is whole needs no predecessor, because it replaces all tables (S5).

        One that is discarded replaces nothing, so it waits for what comes before it.
        """
        position = snapshot.position
        decided = self._evidence.decisions.on_snapshot(position)
        link = Verdict("commit", "initial_snapshot", position, read_position=snapshot.place)
        newest = self._start.newest_position
        if newest is not None and position < newest:
            return self._judge_late(link, decided)
        reason = self._evidence.snapshot_hold_reason(position)
        if decided == "discard":
            reason = self._follows_held()
        end = replace(
            self._predecessor.end,
            position=None,
            snapshot_position=position,
            position_before=self._predecessor.end.position,
            has_discarded_snapshot=decided == "discard",
        ).reaching(place_in(position))
        if reason is not None:
            return self._waiting_snapshot(link, position, reason, end)
        self._held_by = None
        self._move_to(end)
        return self._commit(link, decided)

    def _judge_late(self, link: Verdict, decided: Decided) -> Verdict:
        """A snapshot before what is published: its rows were never under the changes that
        readers see (S17). It is no commit any more. The chain stands until an operator discards it,
        or a later snapshot has its rows."""
        if decided == "discard":
            return replace(link, outcome="discarded", chain_end=self._end)
        if self._evidence.is_replaced(link.position or ""):
            return replace(link, outcome="superseded")
        self._held_by = link.kind
        return replace(link, outcome="hold", reason="late_snapshot")

    def _judge_blocking(self, snapshot: BlockingSnapshot) -> Verdict:
        """A commit after a transaction. The next transaction names that transaction (S7)."""
        at = snapshot.snapshot_position
        decided = self._evidence.decisions.on_snapshot(at)
        link = Verdict("commit", "blocking_snapshot", snapshot.position, read_position=at)
        reason = _first(self._holds.of_blocking(snapshot, self._follows_held(), decided))
        if reason is not None:
            return self._waiting_snapshot(link, at, reason)
        return self._commit(replace(link, committed_at=snapshot.committed_at), decided)

    def _judge_transaction(self, transaction: AnyTransaction) -> Verdict:
        """A BEGIN that stays alone where no TRUNCATE can be missing is that of DDL: no commit."""
        link = Verdict("commit", "transaction", transaction.position, transaction.transaction_id)
        decided = self._evidence.decisions.on_transaction(transaction.transaction_id)
        follows_held = self._follows_held()
        reasons = self._holds.of_transaction(transaction, self._predecessor, follows_held, decided)
        reason = _first(reasons)
        end = self._end_behind(transaction)
        if reason is not None:
            return self._waiting(link, reason, end, is_superseded=self._is_superseded(transaction))
        self._move_to(end)
        if isinstance(transaction, Truncate) and not transaction.has_landed and decided is None:
            return replace(link, outcome="passed")
        link = replace(link, committed_at=transaction.committed_at)
        return self._commit(link, decided, transaction.proof)

    def _end_behind(self, transaction: AnyTransaction) -> ChainEnd:
        """Where the chain would end with a transaction."""
        end = replace(self._predecessor.end, position=transaction.position)
        if isinstance(transaction, Uncounted):
            return end.reaching(transaction.compared_place)
        end = end.reaching(transaction.last_place)
        if isinstance(transaction, Counted):
            traits = self._evidence.facts.traits
            offsets = linking_offsets(transaction, traits) if traits else ()
            if offsets or (traits and traits.names_predecessor):
                end = replace(end, end_offsets=offsets)
        return end.numbered(transaction.log_number)

    def _is_superseded(self, transaction: AnyTransaction) -> bool:
        """Whether a snapshot has what waits. What has no position comes after all that has one,
        and so after the newest snapshot; one before its changes has not seen them."""
        if transaction.position is not None:
            return self._evidence.is_superseded(transaction.position)
        assert not isinstance(transaction, Truncate)  # its position is known
        last = (
            transaction.last_place if isinstance(transaction, Counted) else transaction.last_change
        )
        at = self._end.snapshot_position
        return (
            _is_before(transaction.previous_position, at)
            and not _is_before(at, last)
            and not self._end.has_discarded_snapshot
        )

    def _follows_held(self) -> HoldReason | None:
        """Why everything after a link that waits does, too; None before there is one."""
        match self._held_by:
            case "transaction":
                return "follows_held_transaction"
            case None:
                return None
            case _:
                return "follows_held_snapshot"

    def _commit(self, link: Verdict, decided: Decided, proof: Proof = "counted") -> Verdict:
        """The chain has moved on to a link. What an operator has discarded is no commit."""
        if decided == "discard":
            return replace(link, outcome="discarded", chain_end=self._end)
        self._end = replace(self._end, commit_number=self._end.commit_number + 1)
        return replace(link, outcome="commit", chain_end=self._end, proof=proof)

    def _move_to(self, end: ChainEnd) -> None:
        self._end = replace(end, commit_number=self._end.commit_number)
        self._go_on_from(end)

    def _go_on_from(self, end: ChainEnd) -> None:
        """The next link is judged as if the chain had moved on to one, which waits perhaps."""
        self._predecessor = Predecessor(end, self._evidence)

    def _waiting(
        self, link: Verdict, reason: HoldReason, end: ChainEnd | None, *, is_superseded: bool
    ) -> Verdict:
        """A link waits, or a later snapshot has it.

        Args:
            link: that waits.
            reason: why it waits.
            end: where the chain would end with it; None of a blocking snapshot, which nothing
                names.
            is_superseded: whether a snapshot has it.
        """
        if link.position is not None:
            if end is not None:
                self._go_on_from(end)
            if self._held_by is None or (
                link.kind != "transaction" and not reason.startswith("follows_held")
            ):
                self._held_by = link.kind
        if is_superseded:
            return replace(link, outcome="superseded")
        return replace(link, outcome="hold", reason=reason)

    def _waiting_snapshot(
        self, link: Verdict, at: str, reason: HoldReason, end: ChainEnd | None = None
    ) -> Verdict:
        """Likewise a snapshot, which facts know by its place in the chain or that of its reads."""
        is_superseded = self._evidence.is_superseded(link.position or "")
        verdict = self._waiting(link, reason, end, is_superseded=is_superseded)
        if verdict.reason != "snapshot_incomplete":
            return verdict
        topics, tables = self._evidence.lacking(at)
        return replace(verdict, lacking_topics=topics, lacking_tables=tables)


def _first(reasons: Reasons) -> HoldReason | None:
    return next((one for one in reasons if one is not None), None)


def _is_before(position: str | None, other: str | None) -> bool:
    """Whether both are known, and one is before the other."""
    return position is not None and other is not None and position < other
