"""What Spark's Java says on standard error, without what it says at each start."""

import os
import threading
from collections.abc import Mapping
from typing import Any, Final

KNOWN: Final = (b"WARNING: Using incubator modules: jdk.incubator.vector",)
"""Lines that each start of Spark 4.1 has and that nobody can do anything about.

Spark adds the module to Java's options itself, and Java has no switch for the line.
"""


def start_java(settings: Mapping[str, Any]) -> None:
    """Start the Java of this process's first session, as PySpark would, but for known lines.

    Args:
        settings: those that Spark starts with.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql.utils import to_str

    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    conf = SparkConf()
    for name, value in settings.items():
        conf.set(name, to_str(value) or "")
    reading, writing = os.pipe()
    # Java writes as long as it runs, also after this function has failed.
    threading.Thread(target=relay, args=(reading,), name="java-output", daemon=True).start()
    try:
        gateway = launch_gateway(conf, {"stderr": writing})  # type: ignore[no-untyped-call]
        SparkContext._ensure_initialized(gateway=gateway)
    finally:
        os.close(writing)


def relay(reading: int) -> None:
    """Write each line of a pipe to standard error, unless it is a known one."""
    with os.fdopen(reading, "rb") as lines:
        for line in lines:
            if line.rstrip() not in KNOWN:
                write(line)


def write(line: bytes) -> None:
    """Write to standard error, as a process that has inherited it does."""
    try:
        os.write(2, line)
    except OSError:
        # Nobody reads it any more, and Java must not wait for that.
        return
