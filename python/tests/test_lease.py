"""One run at a time per lake."""

import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dbt_debezium.errors import DebeziumError
from dbt_debezium.lease import Lease, acquire, jvm_lease
from dbt_debezium.lease.local import machine_of

HOLDER = """
import sys, time
from pathlib import Path
from dbt_debezium.lease import Lease
Lease(Path(sys.argv[1]), "dbt build").acquire()
print("held", flush=True)
time.sleep(60)
"""


@contextmanager
def another_run(lake: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lease."""
    command = [sys.executable, "-c", HOLDER, str(lake)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.fault(74)
def test_a_second_run_is_refused_at_once_and_told_who_holds_the_lake(tmp_path: Path) -> None:
    with another_run(tmp_path) as holder:
        started_at = time.monotonic()
        with pytest.raises(DebeziumError) as refused:
            Lease(tmp_path).acquire()
        assert time.monotonic() - started_at < 1
    assert re.fullmatch(
        rf"lake: another run holds {re.escape(str(tmp_path))}/run\.lock "
        rf"\(pid {holder.pid}, dbt build, since \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ\); "
        "wait for it to end or stop it",
        str(refused.value),
    )


@pytest.mark.fault(74)
def test_a_killed_run_leaves_nothing_to_clean_up(tmp_path: Path) -> None:
    with another_run(tmp_path) as holder:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    with Lease(tmp_path):
        pass


def test_the_runs_of_one_process_share_the_lease(tmp_path: Path) -> None:
    outer = Lease(tmp_path, "dbt-debezium run").acquire()
    with Lease(tmp_path, "dbt build"):
        pass
    assert another_run_is_refused(tmp_path)
    outer.release()
    outer.release()
    assert not another_run_is_refused(tmp_path)


def test_a_child_process_does_not_keep_the_lease(tmp_path: Path) -> None:
    with Lease(tmp_path):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        assert not another_run_is_refused(tmp_path)
    finally:
        child.kill()
        child.wait()


def test_the_lake_of_the_environment_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path / "new" / "lake"))
    lease = acquire("dbt build")
    assert '"command": "dbt build"' in (tmp_path / "new" / "lake" / "run.lock").read_text()
    lease.release()


@pytest.mark.fault(80)
def test_a_lake_is_private_unless_its_folder_was_there(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o755)
    modes = {}
    for name in ("new", "shared"):
        Lease(tmp_path / name).acquire().release()
        modes[name] = stat.S_IMODE((tmp_path / name).stat().st_mode)
    assert modes == {"new": 0o700, "shared": 0o755}


@pytest.mark.fault(75)
def test_a_lake_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lake").touch()
    with pytest.raises(DebeziumError, match=r"lake cannot be made \(.*\); set DBT_DEBEZ"):
        Lease(tmp_path / "lake").acquire()


class BusyJvm:
    """A JVM in which another process holds the lock for the first tries."""

    def __init__(self, busy_tries: int) -> None:
        self.java = self.io = self
        self.busy_tries = busy_tries
        self.is_open = True

    def RandomAccessFile(self, path: str, mode: str) -> "BusyJvm":  # noqa: N802 - Java's name
        assert (Path(path).name, mode) == ("jvm.lock", "rw")
        return self

    def getChannel(self) -> "BusyJvm":  # noqa: N802 - Java's name
        return self

    def tryLock(self) -> object:  # noqa: N802 - Java's name
        self.busy_tries -= 1
        return None if self.busy_tries >= 0 else self

    def close(self) -> None:
        self.is_open = False


def test_a_run_waits_for_the_java_process_of_a_killed_one(tmp_path: Path) -> None:
    jvm = BusyJvm(busy_tries=2)
    with jvm_lease(jvm, tmp_path), jvm_lease(jvm, tmp_path):
        assert jvm.is_open
    assert not jvm.is_open


def test_a_run_does_not_wait_for_ever_for_the_java_process_of_a_killed_one(
    tmp_path: Path,
) -> None:
    jvm = BusyJvm(busy_tries=99)
    with (
        pytest.raises(DebeziumError, match=r"the Java process of a killed run still holds "),
        jvm_lease(jvm, tmp_path, wait_seconds=0),
    ):
        pass
    assert not jvm.is_open


def another_run_is_refused(lake: Path) -> bool:
    command = [sys.executable, "-c", HOLDER.replace("time.sleep(60)", ""), str(lake)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 1


def test_a_machine_that_is_named_keeps_its_name_whatever_its_disk_and_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert machine_of(tmp_path) != "named shop-0"
    monkeypatch.setenv("DBT_DEBEZIUM_MACHINE", "shop-0")
    monkeypatch.setattr("socket.gethostname", lambda: "a-new-container")
    assert machine_of(tmp_path) == machine_of(tmp_path / "another") == "named shop-0"


@pytest.mark.parametrize("name", ["shop 0", "../shop", "a" * 101, "shöp", "a\n"])
def test_a_name_that_is_none_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_MACHINE", name)
    with pytest.raises(DebeziumError, match=r"^lake: DBT_DEBEZIUM_MACHINE is '.*; name the"):
        machine_of(Path("lake"))
