"""What a kill before or after a statement leaves of a lake: its folder, while Java stands still.

A kill (SIGKILL) takes nothing from the disk that was written, and nothing is written behind it. So
a copy that is made while the process is stopped (SIGSTOP) is what the kill leaves, and one run
shows hundreds of kills.
"""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dbt.cli.main as dbt_cli
from lake import Lake

from dbt_debezium.spark.session import spark_session

STATEMENT_EVENTS = frozenset({"SQLQuery", "SQLQueryStatus"})
"""What dbt says before and after each statement."""


@contextmanager
def at_each_moment(act: Callable[[int], None]) -> Iterator[None]:
    """Have something done before and after each statement of dbt's, counted from 1."""
    seen = 0
    runner = dbt_cli.dbtRunner

    def listen(event: Any) -> None:
        nonlocal seen
        if event.info.name in STATEMENT_EVENTS:
            seen += 1
            act(seen)

    class Listened(runner):  # type: ignore[misc,valid-type] # all else is as in any run
        def __init__(self, callbacks: list[Callable[[Any], None]]) -> None:
            super().__init__(callbacks=[*callbacks, listen])

    dbt_cli.dbtRunner = Listened  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        dbt_cli.dbtRunner = runner  # type: ignore[misc]


def images_of_run(lake: Lake, folder: Path, every: int, first: int) -> list[Path]:
    """Run, and leave an image of the lake at each moment that is `first` or a step behind it."""
    java = lake.spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    images: list[Path] = []

    def take(moment: int) -> None:
        if moment % every == first % every:
            with stopped(java):
                images.append(Path(shutil.copytree(lake.folder / "lake", folder / f"{moment:04}")))

    with at_each_moment(take):
        assert lake.build(command="run"), lake.lines
    return images


@contextmanager
def stopped(process: int) -> Iterator[None]:
    """No thread of a process runs in a `with` block."""
    os.kill(process, signal.SIGSTOP)
    try:
        while not all(state(task) == "T" for task in Path(f"/proc/{process}/task").iterdir()):
            time.sleep(0.001)
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def state(task: Path) -> str:
    return (task / "stat").read_text().rpartition(") ")[2][0]


def restore(lake: Lake, image: Path) -> None:
    """Put an image in the place of the lake, and look at it with a Spark that has seen nothing."""
    lake.spark.stop()
    shutil.rmtree(lake.folder / "lake")
    image.rename(lake.folder / "lake")
    lake.spark = spark_session("local")
