"""The chain of commits of one source (S14): links in, verdicts out."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from dbt_debezium.errors import DebeziumError
from dbt_debezium.judge.decisions import Decided, settles
from dbt_debezium.judge.evidence import Evidence
from dbt_debezium.judge.marks import Link, Message, Snapshot, TransactionMark, Truncate, Uncounted
from dbt_debezium.judge.predecessor import Predecessor
from dbt_debezium.judge.transaction import Transaction, log_number
from dbt_debezium.judge.uncounted import uncounted_hold_reason
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
        self._predecessor = Predecessor(end, evidence)
        self._held_by: LinkKind | None = None
        """What the first link is that waits, and that all links behind it wait for."""

    def verdicts(self, links: Iterable[Link]) -> Iterator[Verdict]:
        """Judge links, which come in the order of `marks`."""
        for _, marks in groupby(links, key=_identity):
            match first := next(marks):
                case Message():
                    if not self._is_published(first.position):
                        self._predecessor.add_message(first)
                case Snapshot():
                    # An older one is in the newest that is published.
                    if first.position > (self._end.snapshot_position or ""):
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
                f"{self._end.position or self._end.snapshot_position}; expected reads to land "
                "before anything that follows them is published"
            )
        reason = self._evidence.snapshot_hold_reason(position)
        if reason is not None:
            return self._waiting("initial_snapshot", position, None, reason)
        self._held_by = None
        end = replace(self._end, position=None, snapshot_position=position)
        decided = self._evidence.decisions.on_snapshot(position)
        return self._commit("initial_snapshot", None, end.reaching(snapshot.place), decided)

    def _judge_transaction(self, transaction: Transaction) -> Verdict:
        position, transaction_id = transaction.position, transaction.transaction_id
        traits, partitions = self._evidence.traits, self._evidence.partitions
        if traits is None:
            return self._waiting("transaction", position, transaction_id, "no_transaction")
        decided = self._evidence.decisions.on_transaction(transaction_id)
        reason: HoldReason | None
        if settles(decided) and position is not None:
            reason = self._follows_held()
        else:
            reason = (
                self._refused("counted")
                or transaction.hold_reason(traits, partitions)
                or self._follows_held()
                or self._lacks_snapshot(decided)
                or self._predecessor.hold_reason(transaction, traits, decided)
                or self._lacks_row(transaction_id)
            )
        if reason is not None:
            return self._waiting("transaction", position, transaction_id, reason)
        offsets = transaction.end_offsets(traits)
        if not offsets and not traits.names_predecessor:
            offsets = self._end.end_offsets
        end = replace(self._end, position=position, end_offsets=offsets)
        end = end.reaching(transaction.last_place).numbered(transaction.log_number)
        return self._commit("transaction", transaction_id, end, decided)

    def _judge_truncate(self, truncate: Truncate) -> Iterator[Verdict]:
        """A BEGIN that stays alone where no TRUNCATE can be missing is that of DDL: no commit."""
        position, transaction_id = truncate.position, truncate.transaction_id
        decided = self._evidence.decisions.on_transaction(transaction_id)
        reason = self._follows_held()
        if reason is None and not settles(decided):
            reason = self._lacks_snapshot(decided) or self._predecessor.truncate_hold_reason(
                truncate, decided
            )
        if reason is not None:
            yield self._waiting("transaction", position, transaction_id, reason)
            return
        number = log_number(truncate.log, truncate.log_number)
        end = replace(self._end, position=position).numbered(number)
        if truncate.has_landed or decided is not None:
            yield self._commit("transaction", transaction_id, end.reaching(truncate.place), decided)
        else:
            self._move_to(end)

    def _judge_uncounted(self, transaction: Uncounted) -> Verdict:
        position, transaction_id = transaction.position, transaction.transaction_id
        traits = self._evidence.traits
        assert traits is not None  # a change has landed, which shows the connector
        decided = self._evidence.decisions.on_transaction(transaction_id)
        reason: HoldReason | None
        if settles(decided) and position is not None:
            reason = self._follows_held()
        else:
            reason = (
                self._refused(transaction.proof)
                or uncounted_hold_reason(transaction, self._evidence.partitions, self._start)
                or self._follows_held()
                or self._lacks_snapshot(decided)
                or self._predecessor.uncounted_hold_reason(transaction, traits, decided)
                or self._lacks_row(transaction_id)
            )
        if reason is not None:
            return self._waiting("transaction", position, transaction_id, reason)
        end = replace(self._end, position=position)
        if not traits.names_predecessor:
            end = end.reaching(transaction.last_place)
        return self._commit("transaction", transaction_id, end, decided, transaction.proof)

    def _refused(self, proof: Proof) -> HoldReason | None:
        return "refused_proof" if proof in self._evidence.source.refused_proofs else None

    def _follows_held(self) -> HoldReason | None:
        """Why everything behind the first link that waits does, too; None before there is one."""
        match self._held_by:
            case "transaction":
                return "follows_held_transaction"
            case "initial_snapshot":
                return "follows_held_snapshot"
            case None:
                return None

    def _lacks_snapshot(self, decided: Decided) -> HoldReason | None:
        """Why the first transaction waits: nothing shows that no snapshot stands before it (S4)."""
        is_first = self._end.position is None and self._end.snapshot_position is None
        may_hide = is_first and self._evidence.partitions.may_hide_a_snapshot()
        return "quarantined_event" if may_hide and decided is None else None

    def _lacks_row(self, transaction_id: str) -> HoldReason | None:
        return "missing_row" if transaction_id in self._evidence.missing_rows else None

    def _commit(
        self,
        kind: LinkKind,
        transaction_id: str | None,
        end: ChainEnd,
        decided: Decided,
        proof: Proof = "counted",
    ) -> Commit | Discarded:
        """Move the chain on. What an operator has discarded is no commit."""
        number = end.commit_number + (decided != "discard")
        self._move_to(replace(end, commit_number=number))
        position = end.position or end.snapshot_position
        assert position is not None
        if decided == "discard":
            return Discarded(kind, position, transaction_id, self._end)
        return Commit(kind, position, transaction_id, self._end, proof)

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


def _identity(link: Link) -> tuple[str | None, str, str | None]:
    """Marks of one transaction are one link."""
    if isinstance(link, Message | Snapshot):
        return link.position, link.kind, None
    return link.position, "transaction", link.transaction_id
