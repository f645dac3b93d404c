"""Ten kills of landings, and ten of rounds, in one lake each: it ends as one that nobody killed."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from arrivals import expected_cuts, slices
from figures import record
from lake import Lake, open_lake
from test_crash import SOURCE, captured, check_published, whole_log
from test_run_every import COMMAND, Process, bring, environment_of

from dbt_debezium.scaffold.captured import CapturedTable

KILLS = 10
PARTS = 2 * KILLS
"""Of a log whose landings are killed: some end before the kill. The last parts land together."""
SEED = 41
SLOWEST_COMMAND_SECONDS = 300
STARTED = 0.4
"""This share of a landing is the start of Java, which says little."""
Bring = Callable[[int], int]
MODELLED = {"a", "c", "nopk"}
"""Tables of the log: two with a key and one without. All are truncated."""
OF_RUNS = {"cut_id", "landing_id", "landed_at", "published_at"}
"""Columns that say which run wrote a row."""


def few_tables() -> list[CapturedTable]:
    """Because their models are built twice for each kill."""
    return [table for table in captured() if table.table in MODELLED]


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with open_lake(tmp_path, few_tables()) as opened:
        yield opened


def moments(seconds: float, begin: float = 0.0) -> list[float]:
    """Random seconds for the kills of work that takes so long, one in each tenth of it."""
    chance = random.Random(SEED)
    shares = [(number + chance.random()) / KILLS for number in range(KILLS)]
    chance.shuffle(shares)
    return [seconds * (begin + share * (1 - begin)) for share in shares]


def start(lake: Lake, *arguments: str | Path) -> "subprocess.Popen[bytes]":
    """A command in a process group of its own."""
    return subprocess.Popen(
        [COMMAND, *arguments],
        cwd=lake.project,
        env=environment_of(lake),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def finish(lake: Lake, *arguments: str | Path) -> float:
    """Run a command to its end. Returns its seconds."""
    began = time.monotonic()
    process = start(lake, *arguments)
    _, said = process.communicate(timeout=SLOWEST_COMMAND_SECONDS)
    assert process.returncode == 0, said.decode()
    return time.monotonic() - began


def kill_landings(lake: Lake, source: Sequence[str | Path], bring: Bring) -> int:
    """Kill the landing of one part after the other, and start it again.

    Args:
        source: arguments of `land`.
        bring: lets a part appear and returns how many messages there are by then.

    Returns:
        After how many of the kills the messages had landed.
    """
    bring(0)
    finish(lake, "land", *source)
    count = bring(1)
    kill_after = moments(finish(lake, "land", *source), STARTED)
    number = landed_count = 0
    while kill_after:
        number += 1
        before, count = count, bring(1 + number)
        process = start(lake, "land", *source)
        with suppress(subprocess.TimeoutExpired):
            process.wait(kill_after[-1])
        is_killed = process.poll() is None
        if is_killed:
            kill_after.pop()
            os.killpg(process.pid, signal.SIGKILL)
        else:
            # The machine is less busy than it was.
            kill_after = [0.9 * seconds for seconds in kill_after]
        process.communicate()
        seen = messages(lake)
        assert seen in {before, count}
        landed_count += is_killed and seen == count
        told = "killed" if is_killed else "it ended before the kill"
        print(f"part {number}: {told}; {before} messages, then {seen} of {count}", flush=True)
        finish(lake, "land", *source)
        assert messages(lake) == count
    for rest in range(2 + number, PARTS):
        count = bring(rest)
    finish(lake, "land", *source)
    assert messages(lake) == count
    return landed_count


def messages(lake: Lake) -> int:
    """How many have landed, none of them twice."""
    ((count, places),) = lake.rows(
        "select count(*), count(distinct topic, partition, `offset`) from landing.message"
    )
    assert count == places
    assert isinstance(count, int)
    return count


def digest(lake: Lake, query: str) -> object:
    """How many rows a query has, and a hash of them without what says which run wrote them."""
    columns = lake.spark.sql(query).columns
    shown = ", ".join(f"`{one}`" for one in columns if one not in OF_RUNS)
    return lake.rows(
        "select count(*), sha2(concat_ws('\n', sort_array(collect_list(line))), 256) "
        f"from (select to_json(struct({shown})) as line from ({query}))"
    )


def digests_of_tables(lake: Lake) -> dict[str, object]:
    """Of each table that readers see, and of what became of each message."""
    newest = "(select max(cut_id) from build.message_count)"
    counts = f"select * from build.message_count where cut_id = {newest}"
    return {"message_count": digest(lake, counts)} | {
        str(view): digest(lake, f"select * from public.`{view}`")
        for _, view, _ in lake.rows("show views in public")
    }


def check_counted(lake: Lake) -> None:
    """That the outcomes add up to what has landed."""
    assert lake.counted() == messages(lake)


def check_as_undisturbed(
    lake: Lake, source: Sequence[str | Path], *, is_built: bool = False
) -> int:
    """That a lake holds what one holds that landed everything at once.

    Args:
        source: arguments of `land`.
        is_built: whether to build the other lake too, and to compare all tables.

    Returns:
        How many tables were compared.
    """
    landed = "select * from landing.message"
    killed = digest(lake, landed), digests_of_tables(lake) if is_built else {}
    lake.spark.stop()
    with open_lake(lake.folder / "undisturbed", lake.tables) as other:
        finish(other, "land", *source)
        if is_built:
            assert other.build(), other.lines
        assert killed == (digest(other, landed), digests_of_tables(other) if is_built else {})
    return 1 + len(killed[1])


@pytest.mark.proof
def test_ten_kills_of_landings_lose_nothing(lake: Lake) -> None:
    _, arrival = whole_log()
    parts = slices(arrival, PARTS - 1)
    dump = lake.folder / "dump"
    dump.mkdir()

    def appear(number: int) -> int:
        bring(dump, parts[number], number)
        return sum(len(part.messages) for part in parts[: number + 1])

    landed = kill_landings(lake, [dump], appear)
    check_as_undisturbed(lake, [dump])
    record(
        "A landing of files that is killed (SIGKILL) loses nothing and lands nothing twice",
        f"{KILLS} kills, {landed} of them after the messages had landed: every message is there, "
        "once",
        seed=SEED,
    )


@pytest.mark.proof
def test_ten_kills_of_rounds_lose_nothing_and_publish_nothing_half(lake: Lake) -> None:
    history, arrival = whole_log()
    parts = slices(arrival, KILLS + 2)
    expected = [cut.commit_number for cut in expected_cuts(history, parts)]
    dump = lake.folder / "dump"
    dump.mkdir()
    in_time = 0
    rounds = Process(lake, dump)
    try:
        for number in (0, 1):
            bring(dump, parts[number], number)
            began = time.monotonic()
            rounds.wait_for("published")
        kill_after = moments(time.monotonic() - began)
        for number, seconds in enumerate(kill_after, 2):
            bring(dump, parts[number], number)
            time.sleep(seconds)
            rounds.kill()
            seen = check_published(lake, history, f"killed_{number}")
            assert seen in {expected[number - 1], expected[number]}
            in_time += seen == expected[number - 1]
            rounds = Process(lake, dump)
            rounds.wait_for("published", "no_news")
            assert lake.cuts()[SOURCE]["commit_number"] == expected[number]
            assert messages(lake) == sum(len(part.messages) for part in parts[: number + 1])
            check_counted(lake)
            print(f"part {number}: killed after {seconds:.1f} s at commit {seen}", flush=True)
        bring(dump, parts[-1], len(parts) - 1)
        rounds.wait_for("published")
        assert rounds.ask_to_end()[0] == 0
    finally:
        rounds.kill()
    assert check_published(lake, history, "ended") == expected[-1]
    check_counted(lake)
    tables = check_as_undisturbed(lake, [dump], is_built=True)
    assert in_time >= KILLS // 2
    record(
        "A round of `run --every` that is killed (SIGKILL) loses nothing and publishes no half",
        f"{KILLS} kills, {in_time} of them before it published: 0 wrong, {tables} tables as in a "
        "lake that nobody killed",
        seed=SEED,
    )
