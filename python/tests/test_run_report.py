"""`run --report` keeps a page. No Spark: nothing has changed since the lake was published."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from dbt_debezium.home import project_dir
from dbt_debezium.rounds.catalog import KEY, CatalogFile
from dbt_debezium.rounds.fingerprint import fingerprint
from dbt_debezium.rounds.news import new_mark

pytest.importorskip("sqlalchemy", reason="`make setup-live` installs what makes small lakes")

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
from small_lake import made_lake, write

COMMAND = Path(sys.executable).with_name("dbt-debezium")
PATIENCE_SECONDS = 60
MESSAGE = '{"topic":"t","partition":0,"offset":0,"key":null,"payload":"{}"}\n'
MESSAGE_SCHEMA = pa.schema([("topic", pa.string()), ("value", pa.binary())])


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A lake that PyIceberg has made, with the mark of a run that published it."""
    folder = tmp_path / "lake"
    folder.mkdir()
    catalog = made_lake(folder)
    catalog.create_namespace("landing")
    write(catalog, "landing.message", [{"topic": "t", "value": b"{}"}] * 1_200, MESSAGE_SCHEMA)
    project = project_dir()
    seen = fingerprint(project, project / "profiles.yml", [])
    assert seen
    mark = new_mark(seen, str(CatalogFile(folder / "catalog.db", "lake", "build").state()), {})
    catalog.update_namespace_properties("build", updates={KEY: msgspec.json.encode(mark).decode()})
    return folder


def without_java(lake: Path) -> dict[str, str]:
    return {**os.environ, "DBT_DEBEZIUM_LAKE": str(lake), "JAVA_HOME": str(lake)}


def run(lake: Path, *options: object) -> tuple[int, str, str]:
    """One run, in a process in which Spark cannot start."""
    command = [COMMAND, "run", *map(str, options)]
    ended = subprocess.run(
        command, env=without_java(lake), capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stdout, ended.stderr


@contextmanager
def rounds(lake: Path, *options: object) -> Iterator[subprocess.Popen[str]]:
    """The rounds of a process, each without news or failed, as there is no Java."""
    command = [COMMAND, "run", "--every", "1s", *map(str, options)]
    with subprocess.Popen(
        command,
        env=without_java(lake),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(is_true: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not is_true():
        assert time.monotonic() < give_up_at
        time.sleep(0.05)


def says(page: Path, text: str) -> Callable[[], bool]:
    return lambda: page.is_file() and text in page.read_text()


def test_a_run_without_news_writes_its_page_and_starts_no_spark(lake: Path) -> None:
    page = lake / "lake.html"
    code, said, log = run(lake, "--report", page)
    assert (code, log) == (0, "")
    assert said.startswith("no news since")
    assert "Nothing is published: 1,200 messages have landed" in page.read_text()


def test_a_run_that_is_refused_writes_its_page_all_the_same(lake: Path) -> None:
    page = lake / "lake.html"
    code, _, log = run(lake, "--build-anyway", "--report", page)
    assert code == 2
    assert "java: JAVA_HOME" in log
    assert "1,200 messages have landed" in page.read_text()


def test_a_page_that_cannot_be_written_is_refused_before_the_first_round(lake: Path) -> None:
    before = sorted(lake.rglob("*"))
    code, said, log = run(lake, "--every", "1s", "--report", lake)
    assert (code, said) == (2, "")
    assert log == f"report: {lake} is no file; name one that may be replaced\n"
    assert sorted(lake.rglob("*")) == before


def test_rounds_keep_the_page_through_failures_until_they_end(lake: Path, tmp_path: Path) -> None:
    dump, page = tmp_path / "dump", tmp_path / "lake.html"
    dump.mkdir()
    with rounds(lake, dump, "--report", page) as process:
        wait_until(says(page, "<dd>waiting</dd>"))
        assert '<meta http-equiv="refresh" content="30">' in page.read_text()
        first = page.read_text()
        wait_until(lambda: page.read_text() != first)
        (dump / "a.jsonl").write_text(MESSAGE)
        wait_until(says(page, "rounds: the last round has failed: "))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    text = page.read_text()
    assert "rounds: `dbt-debezium run --every` has ended" in text
    # The history of rounds has reached the page; nobody loads one again that is over.
    assert "Last rounds with news" in text
    assert "<figcaption>" in text
    assert 'http-equiv="refresh"' not in text


def test_a_page_whose_folder_is_gone_is_said_once_and_the_rounds_continue(
    lake: Path, tmp_path: Path
) -> None:
    page = tmp_path / "pages" / "lake.html"
    page.parent.mkdir()
    health = lake / "health.json"
    with rounds(lake, "--report", page) as process:
        wait_until(page.is_file)
        page.unlink()
        page.parent.rmdir()
        number = msgspec.json.decode(health.read_bytes())["round"]
        wait_until(lambda: msgspec.json.decode(health.read_bytes())["round"] > number + 3)
        process.send_signal(signal.SIGTERM)
        said, log = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert "failed" not in said
    assert log.count(f"report: {page} cannot be written (No such file or directory)") == 1


def test_rounds_keep_metrics_and_call_the_command_of_alerts(lake: Path, tmp_path: Path) -> None:
    dump, metrics, calls = (tmp_path / name for name in ("dump", "lake.prom", "calls"))
    dump.mkdir()
    (dump / "a.jsonl").write_text(MESSAGE)
    command = f"tee -a {shlex.quote(str(calls))}"
    with rounds(lake, dump, "--metrics-file", metrics, "--on-change", command) as process:
        wait_until(says(metrics, "dbt_debezium_failed_rounds 2.0"))
        wait_until(says(calls, '"kind": "rounds_failed"'))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert "dbt_debezium_rounds_running 0.0" in metrics.read_text()
    call = json.loads(calls.read_text().splitlines()[0])
    [change] = call["changes"]
    assert (change["event"], call["lake"]) == ("begins", str(lake))
    assert "rounds have failed: java: JAVA_HOME" in change["sentence"]


@pytest.mark.parametrize(("option", "value"), [("--metrics-port", "9464"), ("--on-change", "true")])
def test_what_needs_rounds_is_refused_without_them(lake: Path, option: str, value: str) -> None:
    code, _, log = run(lake, option, value)
    assert code == 2
    assert log == f"run: {option} goes with --every; say how often, as --every 30s\n"
