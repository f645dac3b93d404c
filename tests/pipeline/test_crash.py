"""A run that is killed anywhere shows readers nothing of what it did, and the next run is right."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from arrivals import expected_cuts, landings, make_arrival, write_arrivals
from compare import compare_cut, compare_export
from figures import record
from lake import Lake, capture, open_lake, tables_of
from oracle import History, read_messages

from dbt_debezium.scaffold import Group

SOURCE = "run_killed"
SLOWEST_RUN_SECONDS = 60
MOMENTS = 290
"""Before and after each statement of a run; a run has a few more."""
STATEMENT_KILLS = 200
SHARDS = 4
STDERR = "stderr.txt"


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """A lake whose reader is this process; runs are processes of their own."""
    tables = tables_of(read_messages(capture("truncate")), [Group("trunc", "all")])
    for table in tables:
        table.sources[:] = ["run_*"]
    with open_lake(tmp_path, tables) as opened:
        yield opened


def start_run(lake: Lake, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [Path(sys.executable).with_name("dbt-debezium"), "run", *arguments],
        cwd=lake.project,
        env={**os.environ, "DBT_DEBEZIUM_LAKE": str(lake.folder / "lake")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def check_published(lake: Lake, history: History, name: str) -> int:
    """That readers see a state of the database, in all tables. Returns its commit."""
    if not lake.spark.catalog.tableExists("public.c"):
        return 0
    directory = lake.export(name)
    cut = lake.cuts().get(SOURCE) or {}
    commit_number = int(cut.get("commit_number") or 0)
    assert compare_export(directory, SOURCE, history, commit_number) == []
    return commit_number


def kill_runs(lake: Lake, kills: int, seed: int) -> None:
    """Land a log in parts; kill the run of each part at random moments, then let it end."""
    chance = random.Random(seed)
    history = History(read_messages(capture("truncate")))
    parts = landings(make_arrival(history_messages(), 5, SOURCE, mode="whole"), kills, seed)
    expected = expected_cuts(history, parts)
    published = 0
    for number, part in enumerate(parts):
        lake.land_arrivals(f"part_{number}", [part])
        killed = start_run(lake)
        # A kill in the first seconds hits the start of Java, which says little.
        time.sleep(chance.uniform(8, SLOWEST_RUN_SECONDS * 0.6))
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
        seen = check_published(lake, history, f"killed_{number}")
        assert seen in {published, expected[number].commit_number}
        if number % 2 or number == len(parts) - 1:
            assert start_run(lake).wait(10 * SLOWEST_RUN_SECONDS) == 0
            published = check_published(lake, history, f"whole_{number}")
            assert compare_cut(lake.cuts().get(SOURCE), expected[number], SOURCE) == []
        else:
            published = seen


def history_messages() -> list[dict[str, object]]:
    return read_messages(capture("truncate"))


def kill_at_statements(lake: Lake, moments: list[int], seed: int) -> None:
    """Land a log in parts; kill the run of each at a moment, then let a run end.

    Args:
        lake: a new one.
        moments: where the run of each part but the first is killed, see `killed_run.py`.
        seed: of the parts.
    """
    history = History(history_messages())
    arrival = make_arrival(history_messages(), 5, SOURCE, mode="whole")
    parts = landings(arrival, len(moments) + 1, seed)
    expected = expected_cuts(history, parts)
    lake.land_arrivals("part_0", parts[:1])
    for number, moment in enumerate(moments):
        folder = lake.folder / f"part_{number + 1}"
        write_arrivals(folder, [parts[number + 1]])
        with start_killed_run(lake, moment, folder) as process:
            assert process.stdin
            assert process.stdout
            assert "ended\n" in iter(process.stdout.readline, ""), said(lake)
            published = check_published(lake, history, f"whole_{number}")
            assert compare_cut(lake.cuts().get(SOURCE), expected[number], SOURCE) == []
            process.stdin.write("go on\n")
            process.stdin.flush()
            assert process.wait() == -signal.SIGKILL, said(lake)
        seen = check_published(lake, history, f"killed_{number}")
        print(f"killed at {moment}: commit {published}, then {seen}", flush=True)
        assert seen in {published, expected[number + 1].commit_number}
    assert start_run(lake).wait(10 * SLOWEST_RUN_SECONDS) == 0
    assert compare_cut(lake.cuts().get(SOURCE), expected[-1], SOURCE) == []
    assert check_published(lake, history, "last") == len(history.commits)


def start_killed_run(lake: Lake, moment: int, part: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, Path(__file__).with_name("killed_run.py"), str(moment), part],
        cwd=lake.project,
        env={**os.environ, "DBT_DEBEZIUM_LAKE": str(lake.folder / "lake")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=(lake.folder / STDERR).open("w"),
        text=True,
        start_new_session=True,
    )


def said(lake: Lake) -> str:
    return (lake.folder / STDERR).read_text()[-2000:]


@pytest.mark.fault(72, 73)
def test_a_killed_run_shows_nothing_and_the_next_one_is_right(lake: Lake) -> None:
    kill_runs(lake, kills=2, seed=1)


@pytest.mark.proof
def test_ten_kills_show_nothing_and_the_next_run_is_right(lake: Lake) -> None:
    kill_runs(lake, kills=10, seed=2)
    record(
        "A run that is killed (SIGKILL) shows nothing of what it did, and the next is right",
        "10 kills at random moments: 0 half published, 0 wrong afterwards",
        seed=2,
    )


@pytest.mark.proof
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_kill_before_or_after_any_statement_shows_nothing(lake: Lake, shard: int) -> None:
    moments = list(range(1 + shard, MOMENTS, SHARDS * MOMENTS // STATEMENT_KILLS))
    kill_at_statements(lake, moments, seed=shard)
    record(
        "A run that is killed before or after a statement shows nothing of what it did, and the "
        f"next is right (part {shard + 1} of {SHARDS})",
        f"{len(moments)} kills, evenly from statement to statement: 0 half published, 0 wrong "
        "afterwards",
        seed=shard,
    )
