"""A container is killed in the middle of a run: one of its name continues at once, others wait."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from arrivals import expected_cuts, landings
from lake import Lake, open_lake
from test_crash import EVENTFUL, captured, check_published, whole_log
from test_run_every import COMMAND

from dbt_debezium.lease.row import read_row
from dbt_debezium.lease.sentences import free_at, shown

LONGEST_RUN_SECONDS = 300


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """Its profile names the catalog, so that each container has a folder of its own beside it."""
    with open_lake(tmp_path, captured({"a"})) as opened:
        profiles = opened.project / "profiles.yml"
        folder = "{{ env_var('DBT_DEBEZIUM_LAKE', 'lake') }}"
        assert folder in profiles.read_text()
        profiles.write_text(profiles.read_text().replace(folder, str(tmp_path / "lake")))
        yield opened


@contextmanager
def container(lake: Lake, name: str, disk: str) -> Iterator["subprocess.Popen[str]"]:
    """`run` of a machine of this name, whose disk is new. It does not outlive the block."""
    folder = str(lake.folder / disk)
    process = subprocess.Popen(
        [COMMAND, "run"],
        cwd=lake.project,
        env={**os.environ, "DBT_DEBEZIUM_MACHINE": name, "DBT_DEBEZIUM_LAKE": folder},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def ended(lake: Lake, name: str, disk: str) -> tuple[int, str]:
    """Let a container run to its end; its exit code, and what it said."""
    with container(lake, name, disk) as process:
        said, _ = process.communicate(timeout=LONGEST_RUN_SECONDS)
        return process.returncode, said


def wait_for_candidate(lake: Lake) -> None:
    """Wait until a run has opened a cut that is not published."""
    newest = "select max(cut_id) from build.cut"
    before = lake.rows(newest)
    give_up_at = time.monotonic() + LONGEST_RUN_SECONDS
    while lake.rows(newest) == before:
        assert time.monotonic() < give_up_at
        time.sleep(0.2)


@pytest.mark.slow
@pytest.mark.fault(74)
def test_a_container_that_is_killed_in_a_run_continues_at_once_under_its_name_alone(
    lake: Lake,
) -> None:
    history, arrival = whole_log()
    parts = landings(arrival, 2, EVENTFUL)
    first, last = (cut.commit_number for cut in expected_cuts(history, parts))
    lake.land_arrivals("part_0", parts[:1])
    assert lake.build(command="run"), lake.lines
    assert check_published(lake, history, "before") == first
    lake.land_arrivals("part_1", parts[1:])
    with container(lake, "shop-0", "killed") as process:
        wait_for_candidate(lake)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert check_published(lake, history, "killed") == first < last
    seen = read_row(lake.spark)
    assert seen is not None
    assert seen.row is not None
    assert seen.row.machine == "named shop-0"

    code, said = ended(lake, "shop-1", "another")
    assert code == 2, said
    assert f"lake: another run holds its lease ({seen.row.holder}, dbt-debezium run, since " in said
    assert f"wait for it to end, or if it is dead, until {shown(free_at(seen.row))}" in said
    assert check_published(lake, history, "refused") == first

    code, said = ended(lake, "shop-0", "restarted")
    assert code == 0, said
    # No other machine could have taken the lease until now.
    assert datetime.now(UTC) < free_at(seen.row)
    assert check_published(lake, history, "restarted") == last
