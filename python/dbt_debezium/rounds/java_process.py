"""Continuing after the Java process that Spark runs in has ended, or a session of Spark Connect."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from dbt_debezium.spark.remote import has_lost_session


class JavaEndedError(Exception):
    """A round failed, and Spark's Java process or session is gone."""

    def __init__(self, failures: int, pause: float) -> None:
        super().__init__(failures, pause)
        self.failures = failures
        self.pause = pause


def has_ended() -> bool:
    """Whether Spark has started in this process and is dead, most often because memory ran out.

    It may have died while it started, before there was a session. A server of Spark Connect also
    ends sessions that it was not asked anything for an hour.
    """
    from pyspark import SparkContext

    if has_lost_session():
        return True

    gateway: Any = SparkContext._gateway
    if gateway is None:
        return False
    if gateway.proc is not None and gateway.proc.poll() is not None:
        return True
    context: Any = SparkContext._active_spark_context
    if context is None:
        return False
    try:
        return bool(context._jsc.sc().isStopped())
    except Exception:  # whatever py4j raises: there is no answer
        return True


def start_again(folder: Path, environment: Mapping[str, str]) -> NoReturn:
    """Begin this command anew in this process: a session of Spark cannot be started twice.

    The process id stays, so a supervisor notices nothing. All that a round needs is in the lake.
    """
    os.chdir(folder)
    os.environ.update(environment)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
