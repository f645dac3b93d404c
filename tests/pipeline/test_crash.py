"""A run that is killed anywhere shows readers nothing of what it did, and the next run is right."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from arrivals import Arrival, expected_cuts, landings, make_arrival
from compare import compare_cut, compare_export
from figures import record
from images import images_of_run, restore
from lake import Lake, capture, open_lake, tables_of
from oracle import History, read_messages

from dbt_debezium.scaffold.captured import CapturedTable, Group

SOURCE = "run_killed"
SLOWEST_RUN_SECONDS = 60
EVERY = (3, 3, 4, 4)
"""Of a lake's first run, its second and so on one of so many moments at statements is looked at.

The first run has about 270, each later one about half of it.
"""
LEAST_KILLS = 30
"""In each of these runs: without moments nothing would be shown."""
EVENTFUL = 30624
"""A seed: each of five parts brings a commit, and of two the first does."""


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """A lake that this process reads; what is killed in earnest is a process of its own."""
    with open_lake(tmp_path, captured()) as opened:
        yield opened


def captured(only: Collection[str] = ()) -> list[CapturedTable]:
    """Tables of the log."""
    tables = tables_of(read_messages(capture("truncate")), [Group("trunc", "all")], only=only)
    for table in tables:
        table.sources[:] = ["run_*"]
    return tables


def start_run(lake: Lake) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [Path(sys.executable).with_name("dbt-debezium"), "run"],
        cwd=lake.project,
        env={**os.environ, "DBT_DEBEZIUM_LAKE": str(lake.folder / "lake")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def check_published(lake: Lake, history: History, name: str) -> int:
    """That readers see a state of the database, in all tables of the lake. Returns its commit."""
    cut = lake.cuts().get(SOURCE) or {}
    commit_number = int(cut.get("commit_number") or 0)
    if commit_number:
        modelled = [table.table for table in lake.tables]
        assert compare_export(lake.export(name), SOURCE, history, commit_number, modelled) == []
        return commit_number
    # A first run makes one table after the other.
    made = set()
    if ("public",) in lake.rows("show schemas"):
        made = {view for _, view, _ in lake.rows("show views in public")}
    for table in lake.tables:
        if table.model_name in made:
            assert lake.rows(f"select * from public.`{table.model_name}`") == []
    return 0


def kill_runs(lake: Lake, kills: int) -> None:
    """Land a log in parts; from the second on, kill a part's run at a random moment.

    After every second one, and the last, a run ends.
    """
    chance = random.Random(EVENTFUL)
    history, arrival = whole_log()
    parts = landings(arrival, kills + 1, EVENTFUL)
    expected = expected_cuts(history, parts)
    published = 0
    for number, part in enumerate(parts):
        lake.land_arrivals(f"part_{number}", [part])
        if number:
            killed = start_run(lake)
            # A kill in the first seconds hits the start of Java, which says little.
            time.sleep(chance.uniform(8, SLOWEST_RUN_SECONDS * 0.6))
            os.killpg(killed.pid, signal.SIGKILL)
            killed.wait()
            seen = check_published(lake, history, f"killed_{number}")
            assert seen in {published, expected[number].commit_number}
            published = seen
        if number % 2 == 0 or number == kills:
            assert lake.build(command="run"), lake.lines
            published = check_published(lake, history, f"whole_{number}")
            assert compare_cut(lake.cuts().get(SOURCE), expected[number], SOURCE) == []


def whole_log() -> tuple[History, Arrival]:
    """What the database did, and all that was sent of it."""
    messages = read_messages(capture("truncate"))
    return History(messages), make_arrival(messages, 5, SOURCE, mode="whole")


def look_at_kills(lake: Lake, shard: int) -> int:
    """Land a log in parts, and of one part's run look at what kills would leave.

    Args:
        lake: a new one.
        shard: how many runs there are before, so that the first of them builds all tables.

    Returns:
        How many kills these were.
    """
    history, arrival = whole_log()
    parts = landings(arrival, len(EVERY) + 1, EVENTFUL)
    expected = expected_cuts(history, parts)[shard]
    published = 0
    for number, part in enumerate(parts[: shard + 1]):
        if number:
            assert lake.build(command="run"), lake.lines
            published = check_published(lake, history, f"before_{number}")
        lake.land_arrivals(f"part_{number}", [part])
    images = images_of_run(lake, lake.folder / "images", EVERY[shard], first=shard)
    assert check_published(lake, history, "undisturbed") == expected.commit_number > published
    for image in images:
        restore(lake, image)
        seen = check_published(lake, history, f"killed_{image.name}")
        print(f"killed at {image.name}: commit {published}, then {seen}", flush=True)
        assert seen in {published, expected.commit_number}
        assert lake.build(command="run"), lake.lines
        assert compare_cut(lake.cuts().get(SOURCE), expected, SOURCE) == []
        assert check_published(lake, history, f"whole_{image.name}") == expected.commit_number
    return len(images)


@pytest.mark.proof
def test_ten_kills_show_nothing_and_the_next_run_is_right(lake: Lake) -> None:
    kill_runs(lake, kills=10)
    record(
        "A run that is killed (SIGKILL) shows nothing of what it did, and the next is right",
        "10 kills at random moments: 0 half published, 0 wrong afterwards",
        seed=EVENTFUL,
    )


@pytest.mark.proof
@pytest.mark.parametrize("shard", range(len(EVERY)))
def test_a_kill_before_or_after_any_statement_shows_nothing(lake: Lake, shard: int) -> None:
    kills = look_at_kills(lake, shard)
    assert kills >= LEAST_KILLS
    record(
        "What a kill before or after a statement leaves shows nothing of what the run did, and the "
        f"next is right (part {shard + 1} of {len(EVERY)})",
        f"{kills} kills, at one of {EVERY[shard]} moments: 0 half published, 0 wrong afterwards",
        seed=EVENTFUL,
    )
