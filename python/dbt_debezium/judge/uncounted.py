"""Is a transaction complete whose changes nothing counts? (S15)"""

from dbt_debezium.judge.evidence import Evidence
from dbt_debezium.judge.marks import Uncounted
from dbt_debezium.judge.partitions import Partitions
from dbt_debezium.judge.places import PAST_ALL
from dbt_debezium.judge.verdicts import ChainEnd
from dbt_debezium.reasons.hold_reason import HoldReason


def uncounted_hold_reason(
    transaction: Uncounted, evidence: Evidence, start: ChainEnd
) -> HoldReason | None:
    """Why changes of it may be missing; None where all partitions have left it.

    Args:
        transaction: with what has landed of it.
        evidence: of its source.
        start: where the chain ended before this run.
    """
    if (
        transaction.has_known_end
        and not evidence.unread.may_be_before(transaction.compared_place, start)
        and _is_left(transaction, evidence.partitions)
    ):
        return "incomplete_key_change" if transaction.has_torn_key else None
    has_boundary = not transaction.is_group or transaction.boundary_place is not None
    return "awaiting_watermark" if has_boundary else "transaction_end_unknown"


def _is_left(transaction: Uncounted, partitions: Partitions) -> bool:
    """Whether all partitions have passed it."""
    if transaction.is_group:
        return partitions.have_reached(transaction.boundary_place or PAST_ALL)
    return partitions.have_left(transaction.compared_place)
