"""What the judge shows of recorded change logs, whole and cut off anywhere. No Spark.

The captures, arrivals and oracles are those of tests/pipeline (test_captures.py, test_mysql.py,
test_mariadb.py), which publish them with Spark.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import oracle
import pytest
from arrivals import Arrival, Replay, make_arrival
from binlog_captures import some_arrivals, spread_truncates
from captured_servers import MARIADB, MYSQL
from landed import Landed, flattened
from mysql_oracle import MysqlHistory
from mysql_oracle import expected_cut as expected_mysql_cut
from oracle import ExpectedCut, History, Message
from runs import Runs
from test_captures import STATES_ONLY, WHOLE, messages_of
from test_mysql import history_without_gtids, messages_without_gtids, spread_messages

REPLAYS: tuple[Replay | None, ...] = ("tail", None, "crash", None)
"""Half of the arrivals hold messages that a restarted connector sent again."""
LARGEST = [name for name in WHOLE if name not in STATES_ONLY]
"""Of these the oracle knows the largest cut."""


def landed_from(messages: Sequence[Message]) -> list[Landed]:
    return [flattened(message) for message in messages]


def difference(arrival: Arrival, expected: ExpectedCut) -> Iterator[str]:
    runs = Runs(arrival.prefix)
    runs.run(landed_from(arrival.messages))
    commits = [one for one in runs.verdicts if one.outcome == "commit"]
    got = (runs.end.commit_number, commits[-1].transaction_id if commits else None)
    if got != (expected.commit_number, expected.transaction_id):
        held = [one for one in runs.verdicts if one.outcome == "hold"][:2]
        wanted = (expected.commit_number, expected.transaction_id)
        yield f"{arrival.prefix}: shows {got}, expected {wanted}, holds {held}"


@pytest.mark.parametrize("name", WHOLE)
def test_a_capture_is_published_to_its_end(name: str) -> None:
    runs = Runs(name)
    runs.settings = replace(runs.settings, reaches_the_end=True)
    runs.run(landed_from(messages_of(name)))
    assert [one for one in runs.verdicts if one.outcome == "hold"] == []
    assert runs.end.commit_number == WHOLE[name]


def postgresql_differences(name: str, count: int) -> list[str]:
    messages = messages_of(name)
    history = History(messages)
    found = []
    for seed in range(count):
        replay = REPLAYS[seed % len(REPLAYS)]
        arrival = make_arrival(messages, seed, f"{name}_{seed:04d}", replay=replay)
        expected = oracle.expected_cut(history, arrival.places, arrival.messages)
        found += difference(arrival, expected)
    return found


@pytest.mark.parametrize("name", LARGEST)
def test_an_arrival_of_postgresql_shows_the_largest_state(name: str) -> None:
    assert postgresql_differences(name, 4) == []


@pytest.mark.proof
@pytest.mark.parametrize("name", LARGEST)
def test_a_hundred_arrivals_of_postgresql_show_the_largest_state(name: str) -> None:
    assert postgresql_differences(name, 100) == []


def commits_reached(name: str, count: int) -> list[int]:
    """How many commits each arrival shows; of each all changes have landed."""
    messages = messages_of(name)
    history = History(messages)
    reached = []
    for seed in range(count):
        arrival = make_arrival(messages, seed, f"{name}_{seed:04d}")
        runs = Runs(arrival.prefix)
        runs.run(landed_from(arrival.messages))
        commits = history.commits[: runs.end.commit_number]
        assert {*arrival.places} >= {at for one in commits for at in one.change_places}
        reached.append(len(commits))
    return reached


def test_an_arrival_shows_no_commit_of_which_a_change_is_missing() -> None:
    assert max(commits_reached(STATES_ONLY[0], 10)) > 0


@pytest.mark.proof
@pytest.mark.parametrize("name", STATES_ONLY)
def test_no_arrival_shows_a_commit_of_which_a_change_is_missing(name: str) -> None:
    assert max(commits_reached(name, 100)) > 0


@cache
def servers() -> dict[str, tuple[MysqlHistory, list[Message], str]]:
    """By name the history of a server, its change log, and its source there."""
    return {
        "some_gtid": (MYSQL.history, spread_messages(), MYSQL.source),
        "some_file": (history_without_gtids(), messages_without_gtids(), MYSQL.source),
        "some_domain": (MARIADB.history, spread_truncates(MARIADB.messages), MARIADB.source),
    }


def binlog_differences(name: str, count: int) -> list[str]:
    history, messages, source = servers()[name]
    return [
        line
        for arrival in some_arrivals(name, messages, count, source)
        for line in difference(
            arrival, expected_mysql_cut(history, arrival.places, arrival.messages)
        )
    ]


@pytest.mark.parametrize("name", ["some_gtid", "some_file", "some_domain"])
def test_an_arrival_of_a_binary_log_shows_the_largest_state(name: str) -> None:
    assert binlog_differences(name, 3) == []


@pytest.mark.proof
@pytest.mark.parametrize("name", ["some_gtid", "some_file", "some_domain"])
def test_a_hundred_arrivals_of_a_binary_log_show_the_largest_state(name: str) -> None:
    assert binlog_differences(name, 100) == []
