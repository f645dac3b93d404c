"""Why does a link wait? Its own changes are asked first, then what it follows."""

from collections.abc import Iterator

from dbt_debezium.judge.decisions import Decided, settles
from dbt_debezium.judge.evidence import Evidence
from dbt_debezium.judge.marks import AnyTransaction, BlockingSnapshot, Counted, Truncate, Uncounted
from dbt_debezium.judge.predecessor import Predecessor
from dbt_debezium.judge.traits import Traits
from dbt_debezium.judge.transaction import counted_hold_reason
from dbt_debezium.judge.uncounted import uncounted_hold_reason
from dbt_debezium.judge.verdicts import ChainEnd
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
        transaction: AnyTransaction,
        predecessor: Predecessor,
        follows_held: HoldReason | None,
        decided: Decided,
    ) -> Reasons:
        """Of a transaction.

        Args:
            transaction: counted by END, or not (S15), or a TRUNCATE without END (S8).
            predecessor: the link before it, which waits perhaps.
            follows_held: why it waits for what comes before it.
            decided: on it.
        """
        traits = self._evidence.facts.traits
        if traits is None:  # nothing shows whose the markers are (S0)
            yield "no_transaction"
            return
        must_be_proved = not settles(decided) or transaction.position is None
        if must_be_proved:
            is_refused = transaction.proof in self._evidence.facts.refused_proofs
            yield "refused_proof" if is_refused else None
            yield self._incomplete(transaction, traits)
            assert transaction.position is not None  # else it waits for that
            before = predecessor.in_stream_of(transaction.position)
            yield before.hold_reason(transaction, traits, decided)
            # Nothing may show that no snapshot stands before the first transaction (S4).
            if predecessor.end == ChainEnd() and decided is None:
                yield "quarantined_event" if self._may_follow_a_snapshot(transaction) else None
            yield self._evidence.facts.failed.get(transaction.transaction_id)
        yield follows_held

    def of_blocking(
        self, snapshot: BlockingSnapshot, follows_held: HoldReason | None, decided: Decided
    ) -> Reasons:
        """Of a blocking snapshot (S7)."""
        yield self._evidence.snapshot_hold_reason(snapshot.snapshot_position)
        if not snapshot.has_signal and not settles(decided):
            yield "missing_signal"
        yield follows_held

    def _incomplete(self, transaction: AnyTransaction, traits: Traits) -> HoldReason | None:
        """Why changes of it may be missing. A TRUNCATE without END is one change."""
        evidence = self._evidence
        match transaction:
            case Counted():
                return counted_hold_reason(transaction, traits, evidence)
            case Uncounted():
                return uncounted_hold_reason(transaction, evidence, self._start)
            case Truncate():
                return None

    def _may_follow_a_snapshot(self, transaction: AnyTransaction) -> bool:
        """Whether a message that cannot be read may be of a snapshot. END counts changes of no
        table of which nothing could be read."""
        unread = self._evidence.unread
        if isinstance(transaction, Counted):
            return unread.may_be_a_snapshot_of_a_table
        return unread.may_be_a_snapshot
