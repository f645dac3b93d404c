"""Is a transaction complete whose changes nothing counts? (S15)"""

from dbt_debezium.judge.marks import Uncounted
from dbt_debezium.judge.partitions import Partitions
from dbt_debezium.judge.verdicts import ChainEnd, HoldReason


def uncounted_hold_reason(
    transaction: Uncounted, partitions: Partitions, start: ChainEnd
) -> HoldReason | None:
    """Why changes of it may be missing; None where all partitions have left it.

    Args:
        transaction: with what has landed of it.
        partitions: of its source.
        start: where the chain ended before this run.
    """
    if (
        transaction.position is not None
        and transaction.has_known_end
        and partitions.can_be_read_to(transaction.last_place, start)
        and partitions.have_left(transaction.last_place)
    ):
        return "key_change_torn" if transaction.has_torn_key else None
    return "above_low_water"
