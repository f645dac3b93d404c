"""Why does a link wait? Its own changes are asked first, then what it follows."""

from collections.abc import Iterator

from dbt_debezium.judge.decisions import Decided, settles
from dbt_debezium.judge.evidence import Evidence
from dbt_debezium.judge.marks import BlockingSnapshot, Truncate, Uncounted
from dbt_debezium.judge.predecessor import Predecessor
from dbt_debezium.judge.transaction import Transaction
from dbt_debezium.judge.uncounted import uncounted_hold_reason
from dbt_debezium.judge.verdicts import ChainEnd, Proof
from dbt_debezium.reasons.hold_reason import HoldReason

Reasons = Iterator[HoldReason | None]
"""Each is asked for only where those before it are None."""


class Holds:
    """Reasons to hold links of one source."""

    def __init__(self, evidence: Evidence, start: ChainEnd) -> None:
        self._evidence = evidence
        self._start = start

    def of_transaction(
        self,
        transaction: Transaction,
        predecessor: Predecessor,
        follows_held: HoldReason | None,
        decided: Decided,
    ) -> Reasons:
        """Of one that END counts.

        Args:
            transaction: all of its marks.
            predecessor: the link in front of it, which waits perhaps.
            follows_held: why it waits for what comes before it.
            decided: on it.
        """
        traits = self._evidence.traits
        if traits is None:
            yield "no_transaction"
            return
        must_be_proved = not settles(decided) or transaction.position is None
        if must_be_proved:
            yield self._refused("counted")
            yield transaction.hold_reason(traits, self._evidence.partitions, self._evidence.unread)
            assert transaction.position is not None  # else it waits for that
            before = predecessor.in_stream_of(transaction.position)
            yield before.hold_reason(transaction, traits, decided)
            # END counts changes of no table of which nothing could be read.
            may_be = self._evidence.unread.may_be_a_snapshot_of_a_table
            yield self._lacks_snapshot(predecessor, decided, may_be)
            yield self._lacks_row(transaction.transaction_id)
        yield follows_held

    def of_uncounted(
        self,
        transaction: Uncounted,
        predecessor: Predecessor,
        follows_held: HoldReason | None,
        decided: Decided,
    ) -> Reasons:
        """Of one that nothing counts (S15)."""
        traits = self._evidence.traits
        assert traits is not None  # a change has landed, which shows the connector
        must_be_proved = not settles(decided) or transaction.position is None
        if must_be_proved:
            yield self._refused(transaction.proof)
            yield uncounted_hold_reason(transaction, self._evidence, self._start)
            assert transaction.position is not None  # else it waits for that
            before = predecessor.in_stream_of(transaction.position)
            yield before.uncounted_hold_reason(transaction, traits, decided)
            may_be = self._evidence.unread.may_be_a_snapshot
            yield self._lacks_snapshot(predecessor, decided, may_be)
            yield self._lacks_row(transaction.transaction_id)
        yield follows_held

    def of_truncate(
        self,
        truncate: Truncate,
        predecessor: Predecessor,
        follows_held: HoldReason | None,
        decided: Decided,
    ) -> Reasons:
        """Of a TRUNCATE without END (S8)."""
        if not settles(decided):
            yield predecessor.truncate_hold_reason(truncate, decided)
            may_be = self._evidence.unread.may_be_a_snapshot
            yield self._lacks_snapshot(predecessor, decided, may_be)
        yield follows_held

    def of_blocking(
        self, snapshot: BlockingSnapshot, follows_held: HoldReason | None, decided: Decided
    ) -> Reasons:
        """Of a blocking snapshot (S7)."""
        yield self._evidence.snapshot_hold_reason(snapshot.snapshot_position)
        if not snapshot.has_signal and not settles(decided):
            yield "missing_signal"
        yield follows_held

    def _refused(self, proof: Proof) -> HoldReason | None:
        return "refused_proof" if proof in self._evidence.facts.refused_proofs else None

    def _lacks_snapshot(
        self, predecessor: Predecessor, decided: Decided, may_be_a_snapshot: bool
    ) -> HoldReason | None:
        """Why the first transaction waits: nothing shows that no snapshot stands before it (S4)."""
        if predecessor.end != ChainEnd() or decided is not None:
            return None
        return "quarantined_event" if may_be_a_snapshot else None

    def _lacks_row(self, transaction_id: str) -> HoldReason | None:
        return "missing_row" if transaction_id in self._evidence.facts.missing_rows else None
