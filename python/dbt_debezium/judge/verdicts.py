"""What the judge says of each link of a chain."""

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from dbt_debezium.reasons.hold_reason import HoldReason

Outcome: TypeAlias = Literal["commit", "hold", "superseded", "discarded", "passed"]
"""`commit`: readers may see it, as each one before it. `hold`: it waits. `superseded`: it waited,
and is in a later snapshot that is whole (S5). `discarded`: by an operator, so it is no commit, but
others may follow it (S16). `passed`: it is no commit but DDL, or a message outside of
transactions."""
SETTLING: Final = frozenset({"commit", "discarded", "superseded"})
"""Outcomes after which no later run judges a link again."""
LinkKind = Literal["transaction", "initial_snapshot", "blocking_snapshot", "message"]
Proof = Literal["counted", "watermark", "none"]


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """Where the chain of commits ends: all that the judge needs of earlier runs."""

    commit_number: int = 0
    """Of the newest commit; 0 before the first."""
    position: str | None = None
    """Of the newest transaction; None where nothing follows the snapshot yet."""
    snapshot_position: str | None = None
    """Of the newest initial snapshot."""
    end_offsets: tuple[int, ...] = (-1,)
    """Of the END of the newest transaction in the transaction topic's one partition; several where
    a restart sent it again, -1 before the first, none where an operator has accepted a transaction
    that may never get an END. A snapshot does not change them."""
    log_numbers: tuple[tuple[str, int], ...] = ()
    """Of each log that numbers transactions, the newest number in the chain."""
    reached_place: str | None = None
    """The highest place of a change or snapshot in the chain, where END does not count all."""
    position_before: str | None = None
    """Of the newest transaction before that snapshot."""
    has_discarded_snapshot: bool = False
    """Whether the newest initial snapshot was discarded, so that it has replaced nothing."""

    @property
    def newest_position(self) -> str | None:
        """Of the newest transaction, else of the snapshot that nothing follows yet."""
        return self.position or self.snapshot_position

    @property
    def passed(self) -> str | None:
        """Up to where transactions are published: all of the newest one and what is in the newest
        snapshot. Nothing shows it after a snapshot that was discarded."""
        if self.position is None and self.has_discarded_snapshot:
            return None
        return self.newest_position

    def reaching(self, place: str | None) -> "ChainEnd":
        """The end with what stands at a place."""
        reached = max(filter(None, (self.reached_place, place)), default=None)
        return replace(self, reached_place=reached)

    def numbered(self, number: tuple[str, int] | None) -> "ChainEnd":
        """The end with what a log numbers so.

        >>> ChainEnd(log_numbers=(("a", 1),)).numbered(("a", 2)).log_numbers
        (('a', 2),)
        """
        if number is None:
            return self
        numbers = {**dict(self.log_numbers), number[0]: number[1]}
        return replace(self, log_numbers=tuple(sorted(numbers.items())))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a link of the chain."""

    outcome: Outcome
    kind: LinkKind
    position: str | None
    """None of what waits, where nothing that has landed tells it."""
    transaction_id: str | None = None
    """None of a snapshot and of a message."""
    chain_end: ChainEnd | None = None
    """With a commit, or with what is discarded; None of others."""
    proof: Proof | None = None
    """Of a commit."""
    committed_at: int | None = None
    """In microseconds, by the source's clock, where a mark says it."""
    read_position: str | None = None
    """Of a snapshot that of its reads, as its mark has it. Several can stand at one position."""
    reason: HoldReason | None = None
    """Why it waits."""
    lacking_topics: tuple[str, ...] = ()
    """Of a snapshot with `snapshot_incomplete`: topics that have landed and may lack reads."""
    lacking_tables: tuple[str, ...] = ()
    """Likewise: tables of which nothing has landed."""

    @property
    def is_settled(self) -> bool:
        """Whether no later run judges the link again."""
        return self.outcome in SETTLING
