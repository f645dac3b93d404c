"""Where transactions of PostgreSQL stand: END says it, or the next one names it (S15)."""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from dbt_debezium.evidence.places import most
from dbt_debezium.evidence.transactions import Transaction
from dbt_debezium.judge.places import EVERYWHERE, UNKNOWN_END, behind, epoch_of


def place(
    transactions: Iterable[Transaction],
    start: str | None,
    settled_until: str | None,
    *,
    reaches_the_end: bool,
) -> None:
    """Set the position of each transaction, and what stands around it.

    END says it. Without END, the next transaction names it, if nothing counts this one or an
    operator has decided on it. One that END should count has no position, unless the stream broke
    off inside it: then it stands after the commit that it names, or after its own changes if it
    names none, and holds the new stream. What is sent after an epoch says nothing of its last
    transaction, but nothing follows that.

    Args:
        transactions: those that are not settled.
        start: where the chain ends.
        settled_until: where the newest settled END stands. After what is older comes a settled
            transaction, so nothing shows where it ended.
        reaches_the_end: whether all that was sent has landed.
    """
    sent = sorted(transactions, key=_order)
    for _, epoch in groupby(sent, key=lambda one: epoch_of(one.name)):
        _follow_each_other([*epoch], settled_until)
    for one, following in pairwise(sent):
        one.is_last_of_epoch = epoch_of(one.name) != epoch_of(following.name)
    are_mixed = any(_begins_inside_another(one, start, settled_until) for one in sent)
    for one in sent:
        one.position = one.end_position
        if one.position is None and (one.is_uncounted or one.is_decided) and not are_mixed:
            one.position = _end(one, is_last=reaches_the_end or one.is_last_of_epoch)
        one.has_known_end = one.position is not None
        if one.position is None:
            one.position = _place_without_end(one)


def _follow_each_other(sent: Sequence[Transaction], settled_until: str | None) -> None:
    """Tell each what stands before it, and what comes after it in its stream."""
    for one, following in pairwise(sent):
        if not following.has_changes:
            # It names nothing, so what nothing counts has no end before it.
            one.following = "" if one.is_uncounted else None
        elif _order(one)[0] >= (settled_until or ""):
            one.following = following.previous or ""
    highest = None
    for one in sent:
        one.older, highest = highest, most(highest, one.last)


def _order(one: Transaction) -> tuple[str, str]:
    return one.previous or one.first or one.end_position or "", one.last or ""


def _begins_inside_another(one: Transaction, start: str | None, settled_until: str | None) -> bool:
    """Whether a new stream began to write before the old one ended. What comes after such a
    transaction may be of the old stream, and names no end of the new one."""
    if not one.has_changes or one.previous is not None:
        return False
    is_older = (one.first or EVERYWHERE) < (settled_until or "")
    return is_older or (one.following or EVERYWHERE) <= (most(one.last, start) or "")


def _end(one: Transaction, *, is_last: bool) -> str | None:
    """Where a transaction ended whose END has not landed."""
    behind = most(one.last, one.previous)
    if behind is None:
        return None
    if one.following is not None and one.following > behind:
        return one.following
    return f"{behind}{UNKNOWN_END}" if is_last and one.following is None else None


def _place_without_end(one: Transaction) -> str | None:
    """A placeholder that holds what follows, or the place of one that an operator has accepted."""
    is_broken_off = one.following is not None and one.following in ("", one.previous)
    if one.last is None or not (one.is_decided or is_broken_off):
        return None
    return behind(one.last) if one.previous is None else behind(one.previous, one.last)
