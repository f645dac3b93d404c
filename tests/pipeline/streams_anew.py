"""Streams of PostgreSQL that end anywhere and begin anew: readers see only states that were.

Slots and offsets are lost, restarts stand in first transactions, and half of the sources have no
transaction metadata. What can be proven is not known here: what the database held is.
"""

from collections.abc import Iterator, Sequence

from compare import check_counts
from histories.history import Case, History
from histories.plan import TABLES
from lake import Lake
from random_streams import State, advance, state_of
from test_random_landings import shown_states

FAILED_ONCE = (113, 318, 626, 1_823)
"""Sources that showed a second stream, and not all of what the first one broke off in."""


class Streams:
    """Some of these sources in a lake, and how far each has come."""

    def __init__(self, histories: Sequence[History]) -> None:
        self.states = {one.plan.name: states_of(one) for one in histories}
        self.reached = dict.fromkeys(self.states, 0)

    def wrong(self, lake: Lake) -> Iterator[str]:
        """What is wrong after a run."""
        shown = shown_states(lake)
        for name, known in self.states.items():
            for line in advance(name, known, shown.get(name, {}), self.reached):
                yield f"{name}: {line}"

    @property
    def begun(self) -> int:
        """How many show something."""
        return sum(place > 0 for place in self.reached.values())


def states_of(history: History) -> list[State]:
    """What the database held before each transaction, and at the end; without what is null."""
    return [
        state_of(
            {
                table: [
                    {name: value for name, value in row.items() if value is not None}
                    for row in rows[table]
                ]
                for table in TABLES
            }
        )
        for rows in history.source.rows_before
    ]


def wrong_counts(lake: Lake, cases: Sequence[Case], landings: int) -> Iterator[str]:
    """What does not add up in a lake to which each case has brought its first landings.

    Garbage may name another source, so of what has landed only the sum is known.
    """
    for cut in lake.cuts().values():
        yield from check_counts(cut, cut["counts"]["landed"])
    counted = lake.counted()
    landed = sum(
        landing is not None and landing < landings
        for case in cases
        for entry in case.plan.entries
        for landing in (entry.landing, entry.again)
    )
    if counted != landed:
        yield f"{counted} messages are counted, and {landed} have landed"
