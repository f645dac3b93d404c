"""What operators have decided about what waits (S16)."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from dbt_debezium.judge.marks import Decision

Decided: TypeAlias = Literal["release", "discard", "new_epoch"] | None
"""`release`: publish it as it has arrived. `discard`: go on without it. `new_epoch`: publish it
although nothing shows what it follows. None: nobody has decided."""


class Decisions:
    """The latest one on each transaction and snapshot."""

    def __init__(self, marks: Iterable[Decision]) -> None:
        self._decided = {(one.transaction_id, one.snapshot_position): one.decision for one in marks}

    def on_transaction(self, transaction_id: str) -> Decided:
        return self._decided.get((transaction_id, None))

    def on_snapshot(self, position: str) -> Decided:
        return self._decided.get((None, position))


def settles(decided: Decided) -> bool:
    """Whether nothing needs to be proved any more.

    >>> settles("discard"), settles("new_epoch"), settles(None)
    (True, False, False)
    """
    return decided in ("release", "discard")
