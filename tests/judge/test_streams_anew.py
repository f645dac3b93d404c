"""Streams of PostgreSQL that end anywhere and begin anew show only states that were. No Spark.

The streams are those of tests/pipeline/streams_anew.py: slots and offsets are lost, restarts stand
in first transactions, and half of the sources have no transaction metadata. No law says what can
be proved of them; what the database held is known.
"""

from collections.abc import Iterator, Sequence

import pytest
from histories.history import History, make_streams
from histories.knobs import ANEW_RULES
from histories.plan import AUDIT
from random_streams import advance
from readers import Readers
from replay import landings
from streams_anew import FAILED_ONCE, states_of
from test_histories import SEED


def differences(history: History) -> Iterator[str]:
    """What is wrong after each landing."""
    name, states = history.plan.name, states_of(history)
    readers, reached = Readers(name, [f"public.{AUDIT}"]), {name: 0}
    for landing, landed in enumerate(landings(history)):
        readers.see(landed)
        for line in advance(name, states, readers.state, reached):
            yield f"{name}, landing {landing}: {line}"


def all_differences(numbers: Sequence[int]) -> list[str]:
    histories = (make_streams(SEED, number, ANEW_RULES) for number in numbers)
    return [line for history in histories for line in differences(history)]


def test_a_stream_that_begins_anew_shows_only_states_that_were() -> None:
    assert all_differences([*range(150), *FAILED_ONCE]) == []


@pytest.mark.proof
def test_two_thousand_streams_that_begin_anew_show_only_states_that_were() -> None:
    assert all_differences(range(2_000)) == []
