"""The archive for executors has what they import, and the same content gives the same bytes."""

import errno
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt_debezium.cli import main
from dbt_debezium.errors import DebeziumError
from dbt_debezium.spark import pack as packing

IMPORTS = """
from pyspark import daemon
from dbt_debezium.functions import flatten, judge, lake_topics, origins
"""
"""What Spark's Python workers do."""


def test_the_archive_is_named_by_its_content_and_is_enough_for_a_worker(tmp_path: Path) -> None:
    archives = []
    for name in ("a", "b"):
        packed = CliRunner().invoke(main, ["pack", "--to", str(tmp_path / name)])
        archives.append(Path(packed.output.strip()))
    one, other = archives
    assert one.name == other.name
    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as archive:
        archive.extractall(tmp_path / "executor")
    # -S leaves out the packages of this machine.
    subprocess.run(
        [sys.executable, "-S", "-c", IMPORTS],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "executor")},
        cwd=tmp_path,
        check=True,
    )


def test_an_archive_in_a_new_lake_leaves_it_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path / "lake"))
    monkeypatch.setattr(packing, "PACKED", ("py4j",))
    CliRunner().invoke(main, ["pack"], catch_exceptions=False)
    assert (tmp_path / "lake").stat().st_mode & 0o077 == 0


def test_a_lake_that_cannot_be_made_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path / "file" / "lake"))
    ended = CliRunner().invoke(main, ["pack"])
    assert ended.exit_code == 2
    assert "file/lake cannot be made (Not a directory); set DBT_DEBEZIUM_LAKE" in ended.output


def test_an_archive_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(packing, "PACKED", ("py4j",))
    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(DebeziumError, match=r"pack: .* cannot be written \(No space left"):
        packing.pack(tmp_path)
    assert [*tmp_path.iterdir()] == []
