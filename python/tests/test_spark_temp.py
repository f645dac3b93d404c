"""What Spark spills is its user's alone, and goes with the process or with the next one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dbt_debezium.errors import DebeziumError
from dbt_debezium.spark.site import private_folders
from dbt_debezium.spark.temp import spark_temp

PROCESS = """
import sys
from dbt_debezium.spark.temp import spark_temp
(spark_temp() / "rows").write_text("secret")
print(spark_temp(), flush=True)
sys.stdin.read()
"""


@contextmanager
def process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that has spilled, and its folder."""
    started = subprocess.Popen(
        [sys.executable, "-c", PROCESS],
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    try:
        yield started, Path(started.stdout.readline().strip())
    finally:
        started.kill()
        started.communicate()


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_its_folders_are_private_whatever_the_umask_is(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with process(tmp_path) as (_, folder):
            assert folder.parent == tmp_path / f"dbt-debezium-{os.getuid()}"
            assert (mode(folder), mode(folder.parent)) == (0o700, 0o700)
    finally:
        os.umask(before)


def test_a_killed_process_leaves_its_folder_to_the_next_one_and_a_living_one_keeps_it(
    tmp_path: Path,
) -> None:
    with process(tmp_path) as (_, living), process(tmp_path) as (killed, left):
        assert (left / "rows").exists()
        killed.kill()
        killed.wait()
        assert (left / "rows").exists()
        with process(tmp_path) as (_, next_one):
            assert next_one not in (living, left)
            assert not left.exists()
            assert (living / "rows").read_text() == "secret"
            assert len([*next_one.parent.glob("*.lock")]) == 2


def test_a_folder_that_others_could_read_becomes_private(tmp_path: Path) -> None:
    root = tmp_path / f"dbt-debezium-{os.getuid()}"
    root.mkdir(mode=0o755)
    with process(tmp_path):
        assert mode(root) == 0o700


@pytest.fixture
def own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    spark_temp.cache_clear()
    yield tmp_path
    spark_temp.cache_clear()


def test_a_link_in_the_place_of_the_folder_is_refused(own_temp: Path) -> None:
    (own_temp / "trap").mkdir()
    (own_temp / f"dbt-debezium-{os.getuid()}").symlink_to(own_temp / "trap")
    with pytest.raises(DebeziumError, match="belongs to somebody else; set TMPDIR to a folder of"):
        spark_temp()
    assert not [*(own_temp / "trap").iterdir()]


def test_a_choice_of_the_site_or_of_the_target_stays(
    own_temp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(spark_temp())
    java = "spark.driver.extraJavaOptions"
    assert private_folders({java: "-Xss4m"}) == {
        "spark.local.dir": folder,
        "spark.executorEnv.TMPDIR": folder,
        java: f'-Xss4m "-Djava.io.tmpdir={folder}"',
    }
    chosen = {"spark.local.dir": "/scratch", java: "-Djava.io.tmpdir=/scratch"}
    assert private_folders(chosen) == {"spark.executorEnv.TMPDIR": folder}
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "/scratch")
    assert "spark.local.dir" not in private_folders({})
