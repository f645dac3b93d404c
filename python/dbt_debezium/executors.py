"""What the executors of a cluster are asked before anything is built on them."""

import re
import sys
from typing import TYPE_CHECKING

from dbt_debezium.errors import DebeziumError, is_of_spark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import SparkSession


def executor_versions(spark: "SparkSession") -> list[str]:
    """The versions of Python that executors run.

    Raises:
        DebeziumError: they have no Python that reads messages.
    """
    from dbt_debezium.session import innermost

    context = spark.sparkContext
    count = context.defaultParallelism
    try:
        return sorted(set(context.parallelize(range(count), count).mapPartitions(_look).collect()))
    except Exception as error:
        if not is_of_spark(error):
            raise
        wanted = f"{sys.version_info[0]}.{sys.version_info[1]}"
        why = _python_error(str(error)) or innermost(error)
        raise DebeziumError(
            f"executors: {context.pythonExec} cannot run there ({why}); they need Python {wanted}, "
            "as the driver has, and PYSPARK_PYTHON says what it is called"
        ) from error


def _look(_: "Iterable[int]") -> "Iterator[str]":
    """Executors import what reads messages, and with it what it needs."""
    from dbt_debezium import flatten  # noqa: F401

    yield ".".join(map(str, sys.version_info[:3]))


def _python_error(message: str) -> str | None:
    """What Python says at the end of a traceback, or why a worker did not start.

    >>> _python_error("failed: Traceback:\\n  File a\\nImportError: No module b\\n\\n\\tat c")
    'ImportError: No module b'
    """
    if known := re.search(r"Cannot run program [^\n]*|\[PYTHON_VERSION_MISMATCH\][^\n]*", message):
        return known[0].strip()
    found = re.findall(r"^(?:[\w.]+: )?(?:[\w.]*(?:Error|Exception): .+)$", message, re.MULTILINE)
    return found[-1].strip() if found else None
