"""Up to which commit may readers see, where a blocking snapshot stands in the chain? (S7)

The snapshot read its rows later than where it stands. Until the source has committed something
after the last read, no state of the chain is one that the source had.
"""

from collections.abc import Iterable, Iterator

from dbt_debezium.judge.verdicts import Verdict


def shown(links: Iterable[Verdict]) -> Iterator[Verdict]:
    """The same verdicts; commits at the end that no state of the source holds wait.

    Args:
        links: in the order of the chain.
    """
    waiting: list[Verdict] = []
    last_read_at: int | None = None
    is_state = True
    position = None
    for link in links:
        # No chain ends between a blocking snapshot, held or not, and what it stands after.
        if is_state and link.position != position:
            yield from waiting
            waiting.clear()
        if link.outcome in ("hold", "superseded"):
            is_state = is_state and link.kind != "blocking_snapshot"
            yield link
            continue
        position, at = link.position, link.committed_at
        waiting.append(link)
        if link.kind == "blocking_snapshot":
            if link.outcome == "commit":
                is_state = False
                last_read_at = at
        else:
            is_state = last_read_at is None or at is None or at > last_read_at
    if is_state:
        yield from waiting
        return
    for one in waiting:
        if one.kind == "transaction" and one.outcome != "passed":
            yield Verdict(
                "hold",
                one.kind,
                one.position,
                one.transaction_id,
                reason="follows_held_snapshot",
            )
