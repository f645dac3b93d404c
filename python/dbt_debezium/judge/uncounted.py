"""Is a transaction complete whose changes nothing counts? (S15)"""

from dbt_debezium.judge.evidence import Evidence
from dbt_debezium.judge.marks import Uncounted
from dbt_debezium.judge.verdicts import ChainEnd, HoldReason


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
        and not evidence.unread.may_be_before(transaction.last_place, start)
        and evidence.partitions.have_left(transaction.last_place)
    ):
        return "key_change_torn" if transaction.has_torn_key else None
    return "above_low_water"
