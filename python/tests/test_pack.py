"""The archive for executors has what they import, and the same content gives the same bytes."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from click.testing import CliRunner

from dbt_debezium.cli import main

IMPORTS = """
from pyspark import daemon
from dbt_debezium import flatten, judged_marks, origins, shared_keys
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
