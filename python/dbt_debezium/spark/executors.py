"""What the executors of a cluster are asked before anything is built on them."""

import hashlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_debezium.errors import DebeziumError, innermost, is_of_spark
from dbt_debezium.spark.remote import has_java

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import SparkSession


def executor_versions(spark: "SparkSession") -> list[str]:
    """The versions of Python that executors run.

    Raises:
        DebeziumError: they have no Python that reads messages.
    """
    try:
        return _versions(spark) if has_java(spark) else _remote_versions(spark)
    except Exception as error:
        if not is_of_spark(error):
            raise
        wanted = f"{sys.version_info[0]}.{sys.version_info[1]}"
        if has_java(spark):
            python = spark.sparkContext.pythonExec
            remedy = (
                f"they need Python {wanted}, as the driver has, and PYSPARK_PYTHON says what it "
                "is called"
            )
        else:
            python = "Python"
            remedy = f"the server needs Python {wanted}, as this machine has, with this package"
        why = _python_error(str(error)) or innermost(error)
        raise DebeziumError(f"executors: {python} cannot run there ({why}); {remedy}") from error


def _versions(spark: "SparkSession") -> list[str]:
    context = spark.sparkContext
    count = context.defaultParallelism
    return sorted(set(context.parallelize(range(count), count).mapPartitions(_look).collect()))


def _remote_versions(spark: "SparkSession") -> list[str]:
    """Through Spark Connect, where nobody has sent executors this package."""
    from pyspark.sql.functions import udf

    row = spark.range(1).select(udf(_version_and_package)()).head()
    version, package = str(row[0] if row else "").split()
    if package != package_hash():
        raise DebeziumError(
            "executors: the Python of the server has another dbt-debezium than this machine; "
            "install the same one there, and start the server again"
        )
    return [version]


def _version_and_package() -> str:
    (version,) = _look(())
    return f"{version} {package_hash()}"


def package_hash() -> str:
    """Names the code of this package that reads messages."""
    folder = Path(__file__).parents[1]
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder)
        # The archive of `pack` leaves the command line out.
        if inside.parts[0] != "cli":
            whole.update(f"{inside.as_posix()}\n".encode() + path.read_bytes())
    return whole.hexdigest()[:16]


def _look(_: "Iterable[int]") -> "Iterator[str]":
    """Executors import what reads messages, and with it what it needs."""
    from dbt_debezium.functions import flatten  # noqa: F401

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
