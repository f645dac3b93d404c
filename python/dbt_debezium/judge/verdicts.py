"""What the judge says of each link of a chain."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

LinkKind = Literal["transaction", "initial_snapshot"]
HoldReason = Literal[
    "contradicting_events",
    "follows_held_snapshot",
    "follows_held_transaction",
    "key_change_torn",
    "missing_events",
    "missing_predecessor",
    "missing_reads",
    "no_commit_position",
    "no_end",
    "no_transaction",
    "too_many_events",
    "unproven_reads",
    "unproven_restart",
]
"""Names in `dbt_debezium.reasons.HELD`, which says what each means and what to do about it."""


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """Where the chain of commits ends: all that lasts from run to run, stored with the cut."""

    commit_number: int = 0
    """Of the newest commit; 0 before the first."""
    position: str | None = None
    """Of the newest transaction; None where nothing follows the snapshot yet."""
    snapshot_position: str | None = None
    """Of the newest initial snapshot."""
    end_offsets: tuple[int, ...] = ()
    """Of the END of the newest transaction in the transaction topic's one partition; several where
    a restart sent it again. They stay where a snapshot follows."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A link that readers may see, as each one before it."""

    kind: LinkKind
    position: str
    transaction_id: str | None
    """None for a snapshot."""
    chain_end: ChainEnd
    """With this commit."""
    proof: str = "counted"


@dataclass(frozen=True, slots=True)
class Hold:
    """A link that waits."""

    kind: LinkKind
    position: str | None
    """None where nothing that has landed tells it."""
    transaction_id: str | None
    reason: HoldReason


@dataclass(frozen=True, slots=True)
class Superseded:
    """A link that waited, and is in a later snapshot that is whole (S5)."""

    kind: LinkKind
    position: str
    transaction_id: str | None


Verdict: TypeAlias = Commit | Hold | Superseded
