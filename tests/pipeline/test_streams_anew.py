"""Streams of PostgreSQL that end anywhere and begin anew: readers see only states that were.

Slots and offsets are lost, restarts stand in first transactions, and half of the sources have no
transaction metadata. What can be proven is not known here: what the database held is.
"""

from collections.abc import Iterable
from pathlib import Path

import pytest
from compare import check_counts
from figures import record
from histories.files import write_landings
from histories.history import History, make_streams
from histories.knobs import ANEW_RULES
from histories.plan import TABLES
from lake import open_lake
from random_streams import State, advance, state_of
from test_histories import SEED, bank_tables, settings
from test_random_landings import shown_states

FAILED_ONCE = (113, 318, 626, 1_823)
"""Sources that showed a second stream, and not all of what the first one broke off in."""


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


def landed_count(history: History, landings: int) -> int:
    """How many messages the first landings bring, each delivery for itself."""
    return sum(
        landing is not None and landing < landings
        for entry in history.plan.entries
        for landing in (entry.landing, entry.again)
    )


def check_streams(folder: Path, numbers: Iterable[int], landings_per_run: int = 1) -> int:
    """That no promise is broken after any run; all land in lock-step, in a new lake.

    Returns:
        how many landings there were.
    """
    histories = [make_streams(SEED, number, ANEW_RULES) for number in numbers]
    states = {one.plan.name: states_of(one) for one in histories}
    reached = dict.fromkeys(states, 0)
    wrong: list[str] = []
    with open_lake(folder, bank_tables()) as lake:
        paths = write_landings(folder / "dump", histories)
        for landing, path in enumerate(paths, start=1):
            if any(path.iterdir()):
                lake.land(path)
            if landing % landings_per_run:
                continue
            assert lake.build("--vars", settings(histories), command="run"), lake.lines
            shown = shown_states(lake)
            for name, known in states.items():
                found = advance(name, known, shown.get(name, {}), reached)
                wrong += [f"{name} after landing {landing}: {line}" for line in found]
            # Garbage may name another source, so only the sum is known.
            counted = 0
            for cut in lake.cuts().values():
                counted += cut["counts"]["landed"]
                wrong += check_counts(cut, cut["counts"]["landed"])
            if counted != (landed := sum(landed_count(one, landing) for one in histories)):
                wrong.append(f"landing {landing}: counts {counted} messages, {landed} landed")
            some = sum(place > 0 for place in reached.values())
            print(f"landing {landing}: {some} of {len(histories)} sources show something")
    assert wrong == [], "\n".join(wrong)
    assert some > len(histories) / 2
    return len(paths)


@pytest.mark.fault(20, 26)
def test_readers_see_only_states_that_were_however_often_a_stream_begins_anew(
    tmp_path: Path,
) -> None:
    check_streams(tmp_path, [*range(60), *FAILED_ONCE], landings_per_run=2)


@pytest.mark.proof
def test_two_thousand_sources_whose_streams_begin_anew(tmp_path: Path) -> None:
    count = 2_000
    landings = check_streams(tmp_path, range(count))
    record(
        "Streams of PostgreSQL that break off and begin anew, with transaction metadata and "
        "without, show only states that the source had",
        f"{count:,} histories in {landings} landings: 0 wrong, 0 lost",
        seed=SEED,
    )
