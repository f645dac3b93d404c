"""`run --every` publishes what comes, and nothing that happens to its process loses anything."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from arrivals import Arrival, expected_cuts, landings, write_arrivals
from lake import Lake, open_lake
from test_crash import SOURCE, captured, check_published, whole_log

from dbt_debezium.rounds.catalog import CatalogFile, CatalogOfSession

BAD_DUMP = '{"topic":"a","partition":0,"offset":0,"key":null,"payload":"{}"}\nnonsense\n'
SLOWEST_ROUND_SECONDS = 300
KILLED_AFTER = (1, 8)
"""Seconds, before a round can have published."""
SEED = 19
"""Each of two parts of the log brings commits."""
COMMAND = Path(sys.executable).with_name("dbt-debezium")


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """A lake that this process reads; rounds are of a process of their own."""
    with open_lake(tmp_path, captured({"a", "nopk"})) as opened:
        yield opened


def family(pid: int) -> list[int]:
    """A process and all below it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    below = [one for child in children for one in family(int(child))]
    return [pid, *below]


def megabytes(pid: int) -> int:
    """Resident memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1000


class Process:
    """`run --every 1s --json --report` on a folder, in a process group of its own."""

    def __init__(self, lake: Lake, dump: Path) -> None:
        self._process = subprocess.Popen(
            [COMMAND, "run", "--every", "1s", "--json", "--report", page(lake), dump],
            cwd=lake.project,
            env=environment_of(lake),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def wait_for(self, *outcomes: str) -> dict[str, Any]:
        """The next round that ended so."""
        assert self._process.stdout
        began = time.monotonic()
        for line in self._process.stdout:
            told: dict[str, Any] = json.loads(line)
            if told["outcome"] in outcomes:
                return told
            assert time.monotonic() - began < SLOWEST_ROUND_SECONDS, told
        raise AssertionError(f"the process ended with {self._process.wait()}")

    def ask_to_end(self) -> tuple[int, dict[str, Any]]:
        """Send SIGTERM to the process alone, as a supervisor does.

        Returns:
            Its exit code, and its last round; empty where none has ended since one was waited for.
        """
        self._process.terminate()
        said, _ = self._process.communicate(timeout=SLOWEST_ROUND_SECONDS)
        lines = said.splitlines()
        return self._process.returncode, json.loads(lines[-1]) if lines else {}

    def wait_for_java(self) -> None:
        """Wait until a round has started Spark."""
        give_up_at = time.monotonic() + SLOWEST_ROUND_SECONDS
        while len(family(self._process.pid)) == 1:
            assert time.monotonic() < give_up_at
            time.sleep(0.05)

    def kill_java(self) -> None:
        """Kill the largest process below it, as the kernel does when memory runs out."""
        _, *below = family(self._process.pid)
        os.kill(max(below, key=megabytes), signal.SIGKILL)

    def kill(self) -> None:
        """Kill it with its Java process, if it has not ended."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


@contextmanager
def repeated(lake: Lake, dump: Path) -> Iterator[Process]:
    """The rounds of one process, which does not outlive the block."""
    process = Process(lake, dump)
    try:
        yield process
    finally:
        process.kill()


def environment_of(lake: Lake, **more: str) -> dict[str, str]:
    return {**os.environ, "DBT_DEBEZIUM_LAKE": str(lake.folder / "lake"), **more}


def page(lake: Lake) -> Path:
    """The page that rounds keep."""
    return lake.folder / "lake.html"


def check_page(lake: Lake, commit_number: int, *said: str) -> None:
    """That the page shows what is published, and how the rounds are."""
    text = page(lake).read_text()
    assert f"Readers see commit {commit_number:,} of " in text
    assert "; newest commit " in text
    assert [one for one in said if one not in text] == []


def bring(dump: Path, part: Arrival, number: int) -> None:
    """Let a file appear at once."""
    (written,) = write_arrivals(dump.parent / f"written_{number}", [part])
    written.rename(dump / f"part_{number}.jsonl.gz")


def wait_for_landing(lake: Lake) -> None:
    """Wait until a round has begun to land what was brought."""
    inbox = lake.folder / "lake" / "inbox"
    give_up_at = time.monotonic() + SLOWEST_ROUND_SECONDS
    while not any(size_of(entry) for entry in inbox.glob("*.jsonl")):
        assert time.monotonic() < give_up_at
        time.sleep(0.05)


def size_of(file: Path) -> int:
    """Its bytes; none once it is gone."""
    with suppress(FileNotFoundError):
        return file.stat().st_size
    return 0


def kill_a_round(lake: Lake) -> None:
    """Bring a log in two parts, kill the round of the second, and ask the next one to end.

    Before the kill, a file that cannot be read lies in the folder for a round. The page follows.
    """
    chance = random.Random(SEED)
    history, arrival = whole_log()
    parts = landings(arrival, 2, SEED)
    first, last = (cut.commit_number for cut in expected_cuts(history, parts))
    dump = lake.folder / "dump"
    dump.mkdir()
    health = lake.folder / "lake" / "health.json"
    bring(dump, parts[0], 0)
    with repeated(lake, dump) as rounds:
        told = rounds.wait_for("published")
        assert told["landed"] == len(parts[0].messages)
        check_page(lake, first, "<dd>waiting</dd>")
        rounds.wait_for("no_news")
        check_page(lake, first, "<dd>waiting</dd>")
        (dump / "bad.jsonl").write_text(BAD_DUMP)
        told = rounds.wait_for("failed")
        assert str(dump / "bad.jsonl") in told["error"]
        assert json.loads(health.read_text())["state"] == "failing"
        check_page(lake, first, "<dd>failing</dd>", str(dump / "bad.jsonl"))
        bring(dump, parts[1], 1)
        (dump / "bad.jsonl").unlink()
        wait_for_landing(lake)
        time.sleep(chance.uniform(*KILLED_AFTER))
        rounds.kill()
    assert check_published(lake, history, "killed") == first > 0
    with repeated(lake, dump) as rounds:
        rounds.wait_for_java()
        code, told = rounds.ask_to_end()
    assert (code, told["outcome"]) == (0, "published"), told
    assert json.loads(health.read_text())["state"] == "ended"
    check_page(lake, last, "rounds: `dbt-debezium run --every` has ended")
    assert check_published(lake, history, "ended") == last > first
    count = "select count(*), count(distinct topic, partition, `offset`) from landing.message"
    assert lake.rows(count) == [(len(arrival.messages),) * 2]


@pytest.mark.slow
@pytest.mark.fault(72, 73)
def test_rounds_publish_what_comes_through_a_bad_file_a_kill_and_a_stop(lake: Lake) -> None:
    kill_a_round(lake)
    check_that_no_news_starts_no_spark(lake, lake.folder / "dump")
    check_that_any_session_reads_what_the_file_says(lake)


@pytest.mark.proof
def test_rounds_continue_after_their_java_process_has_ended(lake: Lake) -> None:
    history, arrival = whole_log()
    parts = landings(arrival, 2, SEED)
    expected = [cut.commit_number for cut in expected_cuts(history, parts)]
    dump = lake.folder / "dump"
    dump.mkdir()
    bring(dump, parts[0], 0)
    with repeated(lake, dump) as rounds:
        rounds.wait_for("published")
        rounds.kill_java()
        bring(dump, parts[1], 1)
        told = rounds.wait_for("failed")
        assert told["failed_rounds"] == 1
        rounds.wait_for("published")
        assert check_published(lake, history, "again") == expected[1] > 0
        assert rounds.ask_to_end()[0] == 0


def check_that_any_session_reads_what_the_file_says(lake: Lake) -> None:
    """That catalogs that are no file have the mark too."""
    file = CatalogFile(lake.folder / "lake" / "catalog.db", "lake", "build")
    session = CatalogOfSession(lake.spark, "build")
    assert session.mark() == file.mark() is not None
    before = session.state(), session.landed()
    assert before == (session.state(), session.landed())
    lake.spark.sql("insert into build.cut select * from build.cut")
    assert (session.state() != before[0], session.landed()) == (True, before[1])


def check_that_no_news_starts_no_spark(lake: Lake, dump: Path) -> None:
    """That `run` knows without Java that there is nothing to do, and when there is."""

    def run(*options: str) -> tuple[int, str]:
        ended = subprocess.run(
            [COMMAND, "run", dump, *options],
            cwd=lake.project,
            env=environment_of(lake, JAVA_HOME=str(lake.folder)),
            capture_output=True,
            text=True,
            check=False,
        )
        return ended.returncode, ended.stdout + ended.stderr

    code, said = run()
    assert "no news since the run that published at" in said
    assert code == 0
    builds = (2, "java: JAVA_HOME")
    for options in (["--build-anyway"], ["--full-refresh"], ["--vars", "{refused_holds: []}"]):
        code, said = run(*options)
        assert (code, said[said.index("java:") :][: len(builds[1])]) == builds
    decisions = lake.project / "seeds" / "operator_decision.csv"
    before = decisions.read_text()
    decisions.write_text(f"{before}{SOURCE},7,discard,me,2026-11-26,a test\n")
    assert run()[0] == 2
    decisions.write_text(before)
    assert run()[0] == 0
    lake.spark.sql("delete from landing.message where `offset` = 0")
    assert run()[0] == 2
