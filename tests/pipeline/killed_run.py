"""Two runs in one process: one to its end, then one that kills the process, as a power cut would.

python killed_run.py MOMENT PART

Moments are before and after each SQL statement that dbt sends, counted from 1 in the second run,
which lands PART first. Between the runs it prints a line and waits for one.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import dbt.cli.main as dbt_cli

from dbt_debezium.cli import main

STATEMENT_EVENTS = frozenset({"SQLQuery", "SQLQueryStatus"})


def kill_at(moment: int) -> None:
    """Have the next run of dbt end this process and its JVM at a moment."""
    seen = 0

    def listen(event: Any) -> None:
        nonlocal seen
        seen += event.info.name in STATEMENT_EVENTS
        if seen == moment:
            os.killpg(os.getpgrp(), signal.SIGKILL)

    class Killing(dbt_cli.dbtRunner):
        def __init__(self, callbacks: list[Callable[[Any], None]]) -> None:
            super().__init__(callbacks=[*callbacks, listen])

    dbt_cli.dbtRunner = Killing  # type: ignore[misc] # all else is as in any run


if __name__ == "__main__":
    main(["run"], standalone_mode=False)
    print("ended", flush=True)
    sys.stdin.readline()
    kill_at(int(sys.argv[1]))
    main(["run", sys.argv[2]], standalone_mode=False)
