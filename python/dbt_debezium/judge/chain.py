"""The chain of commits of one source (S14): links in, verdicts out."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from dbt_debezium.errors import DebeziumError
from dbt_debezium.judge.decisions import Decided
from dbt_debezium.judge.evidence import Evidence
from dbt_debezium.judge.holds import Holds, Reasons
from dbt_debezium.judge.horizon import Passed, shown
from dbt_debezium.judge.marks import (
    BlockingSnapshot,
    Link,
    Message,
    Snapshot,
    TransactionMark,
    Truncate,
    Uncounted,
)
from dbt_debezium.judge.predecessor import Predecessor
from dbt_debezium.judge.transaction import Transaction, log_number
from dbt_debezium.judge.verdicts import (
    ChainEnd,
    Commit,
    Discarded,
    Hold,
    HoldReason,
    LinkKind,
    Proof,
    Superseded,
    Verdict,
)


class Chain:
    """Commits as long as each link is whole and follows the one before; holds from there on."""

    def __init__(self, evidence: Evidence, end: ChainEnd) -> None:
        self._evidence = evidence
        self._start = self._end = end
        self._holds = Holds(evidence, end)
        self._predecessor = Predecessor(end, evidence)
        self._held_by: LinkKind | None = None
        """What the first link is that waits, and that all links behind it wait for."""

    def verdicts(self, links: Iterable[Link]) -> Iterator[Verdict]:
        """Judge links, which come in the order of `marks`."""
        return shown(self._judged(links))

    def _judged(self, links: Iterable[Link]) -> Iterator[Verdict | Passed]:
        for _, marks in groupby(links, key=_identity):
            match first := next(marks):
                case Message():
                    if self._predecessor.add_message(first):
                        yield Passed(first.position, first.committed_at)
                case BlockingSnapshot():
                    yield self._judge_blocking(first)
                case Snapshot():
                    yield self._judge_snapshot(first)
                case Truncate():
                    if not self._is_published(first.position):
                        yield from self._judge_truncate(first)
                case Uncounted():
                    if not self._is_published(first.position):
                        yield self._judge_uncounted(first)
                case _:
                    rest = (mark for mark in marks if isinstance(mark, TransactionMark))
                    transaction = Transaction([first, *rest])
                    if not self._is_published(transaction.position):
                        yield self._judge_transaction(transaction)
                    elif transaction.position == self._end.position:
                        self._add_end_offsets(transaction)

    def _is_published(self, position: str | None) -> bool:
        newest = self._end.position or self._end.snapshot_position
        return newest is not None and position is not None and position <= newest

    def _judge_snapshot(self, snapshot: Snapshot) -> Verdict:
        """A snapshot that is whole needs no predecessor, because it replaces all tables (S5).

        Raises:
            DebeziumError: later commits are published without it (S17).
        """
        position = snapshot.position
        if self._is_published(position):
            raise DebeziumError(
                f"judge: a snapshot at {position} has landed behind the published commit at "
                f"{self._end.position}; expected reads to land "
                "before anything that follows them is published"
            )
        reason = self._evidence.snapshot_hold_reason(position)
        if reason is not None:
            return self._waiting("initial_snapshot", position, None, reason)
        self._held_by = None
        end = replace(self._end, position=None, snapshot_position=position)
        self._move_to(end.reaching(snapshot.place))
        return self._commit("initial_snapshot", position, None, decided=self._on_snapshot(position))

    def _judge_blocking(self, snapshot: BlockingSnapshot) -> Verdict:
        """It is a commit behind a transaction, which the next one follows all the same (S7)."""
        decided = self._on_snapshot(snapshot.snapshot_position)
        reason = _first(self._holds.of_blocking(snapshot, self._follows_held(), decided))
        if reason is not None:
            return self._waiting("blocking_snapshot", snapshot.position, None, reason)
        at = snapshot.committed_at
        return self._commit(
            "blocking_snapshot", snapshot.position, None, decided=decided, committed_at=at
        )

    def _judge_transaction(self, transaction: Transaction) -> Verdict:
        position, transaction_id = transaction.position, transaction.transaction_id
        decided = self._evidence.decisions.on_transaction(transaction_id)
        follows_held = self._follows_held()
        reasons = self._holds.of_transaction(transaction, self._predecessor, follows_held, decided)
        reason, traits = _first(reasons), self._evidence.traits
        if reason is not None:
            return self._waiting("transaction", position, transaction_id, reason)
        assert position is not None  # else it has no END, or that has no position
        assert traits is not None  # else nothing shows whose it is
        offsets = transaction.end_offsets(traits)
        if not offsets and not traits.names_predecessor:
            offsets = self._end.end_offsets
        end = replace(self._end, position=position, end_offsets=offsets)
        self._move_to(end.reaching(transaction.last_place).numbered(transaction.log_number))
        at = transaction.committed_at
        return self._commit("transaction", position, transaction_id, decided, committed_at=at)

    def _judge_truncate(self, truncate: Truncate) -> Iterator[Verdict]:
        """A BEGIN that stays alone where no TRUNCATE can be missing is that of DDL: no commit."""
        position, transaction_id = truncate.position, truncate.transaction_id
        decided = self._evidence.decisions.on_transaction(transaction_id)
        follows_held = self._follows_held()
        reasons = self._holds.of_truncate(truncate, self._predecessor, follows_held, decided)
        reason = _first(reasons)
        if reason is not None:
            yield self._waiting("transaction", position, transaction_id, reason)
            return
        number = log_number(truncate.log, truncate.log_number)
        end = replace(self._end, position=position).numbered(number)
        self._move_to(end.reaching(truncate.place) if truncate.has_landed else end)
        if truncate.has_landed or decided is not None:
            yield self._commit("transaction", position, transaction_id, decided)

    def _judge_uncounted(self, transaction: Uncounted) -> Verdict:
        position, transaction_id = transaction.position, transaction.transaction_id
        decided = self._evidence.decisions.on_transaction(transaction_id)
        follows_held = self._follows_held()
        reasons = self._holds.of_uncounted(transaction, self._predecessor, follows_held, decided)
        reason = _first(reasons)
        if reason is not None:
            return self._waiting("transaction", position, transaction_id, reason)
        end = replace(self._end, position=position).reaching(transaction.last_place)
        self._move_to(end)
        assert position is not None  # else nothing shows that it is complete
        proof, at = transaction.proof, transaction.committed_at
        return self._commit("transaction", position, transaction_id, decided, proof, at)

    def _on_snapshot(self, position: str) -> Decided:
        return self._evidence.decisions.on_snapshot(position)

    def _follows_held(self) -> HoldReason | None:
        """Why everything behind the first link that waits does, too; None before there is one."""
        match self._held_by:
            case "transaction":
                return "follows_held_transaction"
            case "initial_snapshot" | "blocking_snapshot":
                return "follows_held_snapshot"
            case None:
                return None

    def _commit(
        self,
        kind: LinkKind,
        position: str,
        transaction_id: str | None,
        decided: Decided,
        proof: Proof = "counted",
        committed_at: int | None = None,
    ) -> Commit | Discarded:
        """The chain has moved on to a link. What an operator has discarded is no commit."""
        if decided == "discard":
            return Discarded(kind, position, transaction_id, self._end, committed_at)
        self._end = replace(self._end, commit_number=self._end.commit_number + 1)
        return Commit(kind, position, transaction_id, self._end, proof, committed_at)

    def _move_to(self, end: ChainEnd) -> None:
        self._end = end
        self._predecessor = Predecessor(end, self._evidence)

    def _waiting(
        self,
        kind: LinkKind,
        position: str | None,
        transaction_id: str | None,
        reason: HoldReason,
    ) -> Hold | Superseded:
        if position is not None:
            self._held_by = self._held_by or kind
            if self._evidence.is_superseded(position):
                return Superseded(kind, position, transaction_id)
        return Hold(kind, position, transaction_id, reason)

    def _add_end_offsets(self, transaction: Transaction) -> None:
        """The END of the newest transaction may have come again since it was published."""
        traits = self._evidence.traits
        offsets = transaction.end_offsets(traits) if traits else ()
        known = sorted({*self._end.end_offsets, *offsets})
        self._move_to(replace(self._end, end_offsets=tuple(known)))


def _first(reasons: Reasons) -> HoldReason | None:
    return next((one for one in reasons if one is not None), None)


def _identity(link: Link) -> tuple[str | None, str, str | None]:
    """Marks of one transaction are one link."""
    if isinstance(link, Message | Snapshot):
        return link.position, link.kind, None
    if isinstance(link, BlockingSnapshot):
        return link.position, link.kind, link.snapshot_position
    return link.position, "transaction", link.transaction_id
