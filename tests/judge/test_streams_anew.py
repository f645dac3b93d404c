"""Streams of PostgreSQL that end anywhere and begin anew show only states that were. No Spark.

The streams are those of tests/pipeline/streams_anew.py: slots and offsets are lost, restarts stand
in first transactions, and half of the sources have no transaction metadata. No law says what can
be proved of them; what the database held is known.
"""

from collections.abc import Iterator, Sequence

import pytest
from histories import replay
from histories.history import History, make_streams
from histories.knobs import ANEW_RULES
from histories.plan import AUDIT, Entry, Row
from random_streams import State, advance, state_of
from readers import Readers
from replay import landings
from streams_anew import FAILED_ONCE, states_of
from test_histories import SEED

from dbt_debezium.judge import Verdict


class HistoryReaders(Readers):
    """They see of each commit what has landed of it, as the history's own replay applies it."""

    def __init__(self, history: History) -> None:
        super().__init__(history.plan.name, [f"public.{AUDIT}"])
        self.plan = history.plan
        self.landing = 0
        self._state = replay.State()

    @property
    def state(self) -> State:
        tables = self._state.rows()
        return state_of({name: _repeated(some) for name, some in tables.items()})

    def apply(self, commit: Verdict) -> None:
        landed = [one for one in self.plan.entries if _has_landed(one, self.landing)]
        if commit.kind == "initial_snapshot":
            self._state = replay.State()
            epoch = next(
                number
                for number, one in enumerate(self.plan.epochs)
                if one.snapshot_lsn == int(commit.position)
            )
            reads = [one for one in landed if one.transaction is None and one.epoch == epoch]
            events = set()
        else:
            number = next(
                number
                for number, one in enumerate(self.plan.transactions)
                if str(one.id) == commit.transaction_id
            )
            of_it = [one for one in landed if one.transaction == number]
            reads = [one for one in of_it if one.kind == "window_read"]
            events = {one.event for one in of_it if one.kind == "event"}
        for one in reads:
            if one.row is not None and one.kind != "garbage":
                self._state.put(one.topic, one.row)
        for at in sorted(at for at in events if at is not None):
            self._state.apply(self.plan.transactions[number].events[at])


def _repeated(rows: Sequence[tuple[Row, int]]) -> list[Row]:
    known = [{name: one for name, one in row.items() if one is not None} for row, _ in rows]
    return [row for row, (_, count) in zip(known, rows, strict=True) for _ in range(count)]


def _has_landed(entry: Entry, landing: int) -> bool:
    return entry.landing is not None and entry.landing <= landing


def differences(history: History) -> Iterator[str]:
    """What is wrong after each landing."""
    name, states = history.plan.name, states_of(history)
    readers, reached = HistoryReaders(history), {name: 0}
    for landing, landed in enumerate(landings(history)):
        readers.landing = landing
        readers.see(landed)
        for line in advance(name, states, readers.state, reached):
            yield f"{name}, landing {landing}: {line}"


def all_differences(numbers: Sequence[int]) -> list[str]:
    histories = (make_streams(SEED, number, ANEW_RULES) for number in numbers)
    return [line for history in histories for line in differences(history)]


def test_a_stream_that_begins_anew_shows_only_states_that_were() -> None:
    assert all_differences([*range(80), *FAILED_ONCE]) == []


@pytest.mark.proof
def test_two_thousand_streams_that_begin_anew_show_only_states_that_were() -> None:
    assert all_differences(range(2_000)) == []
