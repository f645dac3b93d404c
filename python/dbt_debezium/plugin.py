"""What dbt gets from this package: checks before a run, one run at a time, and our functions in its session.

dbt imports every top-level module called `dbt_*` and initialises its `plugins` once the profile is read.
"""

import logging
import os
import sys
from typing import Any

from dbt.adapters.spark import session
from dbt.flags import get_flags
from dbt.plugins.manager import dbtPlugin

from dbt_debezium import home, jars, java, lease

BUILDING = {"build", "run", "seed", "retry", "clone", "snapshot"}
"""Commands that change the lake; they wait for nobody and refuse at once when another run is going on."""
READING = {"test", "show", "docs", "generate", "run-operation", "compile", "source", "freshness"}


class DebeziumPlugin(dbtPlugin):
    """Makes plain `dbt build` the whole pipeline."""

    def initialize(self) -> None:
        command = getattr(get_flags(), "WHICH", None)
        if command not in BUILDING | READING:
            return
        java.check_java()
        jars.check_jars()
        home.lake_dir().mkdir(parents=True, exist_ok=True)
        if command in BUILDING:
            lease.acquire(f"dbt {command}")
        register_functions()


def register_functions() -> None:
    """Register our functions in each Spark session that dbt's session method starts, once per session."""
    if hasattr(session.Connection, "_registers_debezium_functions"):
        return
    # Spark's Python workers run `python3` from PATH unless told otherwise.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # It prints 10 to 30 kB, with the whole plan, for each statement that fails; dbt prints the error itself.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    plain_cursor = session.Connection.cursor
    registered: set[int] = set()

    def cursor(connection: Any) -> session.Cursor:
        builder = session.SparkSession.builder
        for parameter, value in connection.server_side_parameters.items():
            builder = builder.config(parameter, value)
        spark = builder.getOrCreate()
        if id(spark) not in registered:
            from dbt_debezium import flatten

            flatten.register(spark)
            registered.add(id(spark))
        return plain_cursor(connection)

    session.Connection.cursor = cursor
    session.Connection._registers_debezium_functions = True
