"""Operators who decide on what comes next in a random source, and what its tables hold then.

An operator knows the source's log: which transaction comes next, and in which one the slot was
lost.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from oracle import Message, Row
from random_streams import GARBAGE, Source, State, Step, state_of
from streams import Change

Place = tuple[str, int]
"""Of a change: its transaction, and where it stands in it."""


def places_of(messages: Iterable[Message]) -> set[Place]:
    """Where the changes among these messages stand."""
    places = set()
    for message in messages:
        if message["value"] in (None, GARBAGE):
            continue
        value = json.loads(message["value"])
        source, block = value.get("source", {}), value.get("transaction")
        if source.get("connector") == "postgresql":
            places.add((str(source["txId"]), source["lsn"]))
        elif block:
            places.add((block["id"], block["total_order"]))
    return places


def apply(rows: dict[str, list[Row]], change: Change) -> None:
    """As a table does that may have lost changes before."""
    some = rows[change.table]
    if change.op == "t":
        some.clear()
    else:
        some[:] = [row for row in some if {"id": row["id"]} != change.key]
    if change.after:
        some.append(change.after)


@dataclass(slots=True)
class Operator:
    """Of one source."""

    source: Source
    rng: Random
    landed: set[Place] = field(default_factory=set)
    decisions: dict[str, str] = field(default_factory=dict)
    """Of each transaction the latest one."""
    taken: dict[str, set[int]] = field(default_factory=dict)
    """Of each transaction that a run has released or discarded, which changes are shown."""
    reached: int = 0
    """The step that readers see."""

    def states(self) -> list[State | None]:
        """What readers may see after each step; None where it needs a decision first.

        That is the transaction in which the slot was lost, and the new stream that follows it.
        """
        states: list[State | None] = []
        rows: dict[str, list[Row]] = defaultdict(list)
        is_broken = was_broken = False
        for step in self.source.steps:
            if step.transaction_id is None:
                rows = defaultdict(list, {name: list(some) for name, some in step.state.items()})
            taken = self.taken.get(step.transaction_id or "")
            for place, change in zip(step.places, step.changes, strict=True):
                if taken is None or place in taken:
                    apply(rows, change)
            starts = step.sent_count is not None or was_broken
            is_broken |= starts and step.transaction_id not in self.decisions
            was_broken = step.sent_count is not None
            states.append(None if is_broken else state_of(rows))
        return states

    def following(self, cut: Row, shown: State) -> list[Step]:
        """The steps behind the cut."""
        steps, states = self.source.steps, self.states()
        ids = [step.transaction_id for step in steps]
        at = 0
        if cut["transaction_id"]:
            at = ids.index(cut["transaction_id"])
        elif cut["commit_number"]:
            at = next(
                at
                for at in range(self.reached, len(ids) - 1)
                if ids[at] is None and ids[at + 1] and states[at] == shown
            )
        # A discarded transaction is no commit.
        return steps[1 + max([at, *map(ids.index, self.taken)]) :]

    def waits(self, following: Sequence[Step], reasons: Mapping[str | None, str]) -> bool:
        """Whether there is nothing to decide on, or more must land first."""
        if not following or following[0].transaction_id not in reasons:
            return True
        reason = reasons[following[0].transaction_id]
        landed = {transaction_id for transaction_id, _ in self.landed}
        known = [step.transaction_id in landed for step in following]
        return (
            # One that seems to come before it is in another place when more has landed.
            reason.startswith("follows")
            or (reason == "no_end" and not known[0])
            or (self.source.is_behind and len(following) == 1)
            # What nothing counts ends where the next one that has landed says (docs/limits.md).
            or (reason == "awaiting_watermark" and not known[1])
        )

    def decide(self, cut: Row, shown: State) -> dict[str, str]:
        """Decide on what is held.

        Args:
            cut: of the source, as `status` shows it.
            shown: what readers see.

        Returns:
            new decisions, by transaction.

        Raises:
            AssertionError: what comes next is held in spite of a decision.
        """
        reasons = {held["transaction_id"]: held["reason"] for held in cut["held"]}
        following = self.following(cut, shown)
        # Of what has no END, and of which no change has landed, nobody knows the place.
        if (
            following
            and not following[0].changes
            and reasons.get(following[0].transaction_id) == "no_end"
        ):
            del following[0]
        if self.waits(following, reasons):
            return {}
        step, reason = following[0], reasons[following[0].transaction_id]
        transaction_id = str(step.transaction_id)
        known = self.decisions.get(transaction_id)
        assert known is None or (known == "new_epoch" and reason != "missing_predecessor"), (
            f"{transaction_id} is held as {reason}, decided {known}"
        )
        decision = self.rng.choice(("release", "discard"))
        decided = {transaction_id: "new_epoch" if reason == "missing_predecessor" else decision}
        if step.sent_count is not None and self.rng.random() < 0.5:
            decided[str(following[1].transaction_id)] = "new_epoch"
        self.decisions |= decided
        return decided

    def see(self, cut: Row) -> None:
        """Note what the last run has taken of what was decided before it."""
        held = {one["transaction_id"] for one in cut["held"]}
        for transaction_id, decision in self.decisions.items():
            if decision != "new_epoch" and transaction_id not in held | self.taken.keys():
                self.taken[transaction_id] = {
                    place
                    for one, place in self.landed
                    if one == transaction_id and decision == "release"
                }
