"""Where transactions of PostgreSQL stand in the chain, as `int_transaction` places them. No Spark.

END tells it. Without one, the next transaction that has landed names where it ended (S15), or an
operator has decided on it (S16), or it holds what a new stream sends behind it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dbt_debezium.flat import Flat


@dataclass(slots=True)
class Placed:
    """One transaction, with what places it."""

    transaction_id: str
    end_position: str | None
    changes: Sequence[Flat]
    is_settled: bool
    """Whether an operator has released or discarded it."""
    older_position: str | None = None
    following: str | None = None
    """What the next one names, empty for none; None where the next has no changes."""
    position: str | None = None
    has_known_end: bool = True
    """Whether it ended there."""

    @property
    def is_uncounted(self) -> bool:
        has_block = all(flat.total_order is not None for flat in self.changes)
        return bool(self.changes) and not has_block and self.end_position is None

    @property
    def named(self) -> str | None:
        """The commit that its changes name first."""
        return _least(flat.previous_commit_position for flat in self.changes)

    @property
    def previous(self) -> str | None:
        """The commit before its own. Behind a restart inside the first transaction of a stream
        changes name the last one before the restart, which is none (Debezium 3.6.3)."""
        named = self.named
        nameless = _highest(
            flat.event_position for flat in self.changes if flat.previous_commit_position is None
        )
        naming = _least(
            flat.event_position
            for flat in self.changes
            if flat.previous_commit_position is not None
        )
        if named is None or nameless is None or naming is None or self.first is None:
            return named
        return None if self.first <= named <= nameless and naming > named else named

    @property
    def first(self) -> str | None:
        return _least(flat.event_position for flat in self.changes)

    @property
    def last(self) -> str | None:
        return _highest(flat.event_position for flat in self.changes)

    @property
    def order(self) -> tuple[str, str]:
        return self.previous or self.first or self.end_position or "", self.last or ""


def placed(
    changes: Mapping[str, Sequence[Flat]],
    ends: Mapping[str, str | None],
    settled: Iterable[str],
    start: str | None,
    *,
    reaches_the_end: bool,
) -> dict[str, Placed]:
    """Each transaction by its id.

    Args:
        changes: of each one, what has landed and is not published.
        ends: the position of each END; None for one of which only BEGIN has landed.
        settled: ids that operators have released or discarded.
        start: where the chain ends.
        reaches_the_end: whether all that was sent has landed.
    """
    ids = changes.keys() | ends.keys()
    decided = {*settled}
    some = [Placed(one, ends.get(one), changes.get(one, ()), one in decided) for one in ids]
    some.sort(key=lambda one: one.order)
    for one, following in pairwise(some):
        one.following = (following.previous or "") if following.changes else None
    highest = None
    for one in some:
        one.older_position = highest
        highest = _highest((highest, one.last))
    are_mixed = any(_begins_inside(one, start) for one in some)
    for one in some:
        one.position = end = _end(one, are_mixed=are_mixed, reaches_the_end=reaches_the_end)
        one.has_known_end = end is not None
        if end is None:
            one.position = _place_without_end(one)
    return {one.transaction_id: one for one in some}


def _begins_inside(one: Placed, start: str | None) -> bool:
    """Whether a new stream begins with what is older than what another one has sent."""
    if not one.is_uncounted or one.previous is not None:
        return False
    first, older, following = one.first or "", one.older_position, one.following or None
    is_older = older is not None and first <= older
    return is_older or (following is not None and following <= (_highest((one.last, start)) or ""))


def _end(one: Placed, *, are_mixed: bool, reaches_the_end: bool) -> str | None:
    """Where it ended."""
    if one.end_position is not None or not (one.is_uncounted or one.is_settled):
        return one.end_position
    behind = _highest((one.last, one.previous))
    if are_mixed or behind is None:
        return None
    if one.following is not None and one.following > behind:
        return one.following
    return f"{behind}+end" if reaches_the_end and one.following is None else None


def _place_without_end(one: Placed) -> str | None:
    """Where it holds what follows it, or is accepted."""
    is_broken_off = one.following is not None and one.following in ("", one.previous)
    if one.last is None or not (one.is_settled or is_broken_off):
        return None
    return f"{one.last}+" if one.previous is None else f"{one.previous}+{one.last}"


def _least(positions: Iterable[str | None]) -> str | None:
    return min((at for at in positions if at is not None), default=None)


def _highest(positions: Iterable[str | None]) -> str | None:
    return max((at for at in positions if at is not None), default=None)
