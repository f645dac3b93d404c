"""Operators decide on what random sources hold: readers see what was decided. No Spark.

Sources and operators are those of tests/pipeline/test_decisions.py, which lands them with Spark.
Half of the sources are of PostgreSQL, of which some have no transaction metadata, and some lose
their slot so that a new stream begins behind a transaction without END.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from landed import flattened
from operators import Operator, places_of
from oracle import Row
from random_streams import advance
from readers import Readers
from test_decisions import PATIENCE, draw_operators
from test_random_streams import SETTINGS

PARTS = 3
RUNS = 20


def cut_of(readers: Readers) -> Row:
    """As `status` shows it. BEGIN and END are of no source before a change tells whose they are."""
    held = [one for one in readers.verdicts if one.outcome == "hold"]
    return {
        "transaction_id": readers.commit and readers.commit.transaction_id,
        "commit_number": readers.end.commit_number,
        "held": [
            {
                "transaction_id": one.transaction_id or f"snapshot {one.position}",
                "reason": one.reason,
            }
            for one in held
            if one.reason != "no_transaction"
        ],
    }


def differences(operator: Operator) -> Iterator[str]:
    """What is wrong after each run, until nothing is left to decide."""
    source, readers, landed = operator.source, Readers(operator.source.name), []
    for run in range(RUNS):
        if run < len(source.parts):
            landed += [flattened(message, SETTINGS) for message in source.parts[run]]
            operator.landed |= places_of(source.parts[run])
        readers.decisions = dict(operator.decisions)
        readers.see(landed)
        cut, shown = cut_of(readers), readers.state
        operator.see(cut)
        reached = {source.name: operator.reached}
        for line in advance(source.name, operator.states(), shown, reached):
            yield f"{source.name}, run {run}: {line}"
        operator.reached = reached[source.name]
        is_last = run + 1 >= len(source.parts)
        patience = 0 if is_last else PATIENCE
        decided = operator.decide(cut, shown) if operator.rng.random() >= patience else {}
        if is_last and not decided:
            break
    following = operator.following(cut, shown)
    waits_for_snapshot = following and following[0].transaction_id is None
    states = operator.states()
    if not waits_for_snapshot and shown not in states[len(states) - 1 - source.is_behind :]:
        held = cut["held"][:2]
        yield f"{source.name} does not show its end: {operator.decisions}, {held}"
    elif not waits_for_snapshot:
        readers.settings = replace(readers.settings, reaches_the_end=True)
        readers.see(landed)
        if readers.state != states[-1] and not source.name.endswith("db2"):
            yield f"{source.name} does not show all that was sent: {operator.decisions}"


def all_differences(numbers: Sequence[int]) -> list[str]:
    operators = draw_operators(numbers, PARTS)
    return [line for operator in operators for line in differences(operator)]


def test_readers_see_what_operators_decide() -> None:
    assert all_differences(range(1, 60)) == []


@pytest.mark.proof
def test_readers_see_what_operators_decide_of_all() -> None:
    assert all_differences(range(1, 540)) == []
