"""The process that Spark's Python workers are forked from (`spark.python.daemon.module`).

Each worker would import our functions for itself. And each task looks for new modules, for which
Python reads the directory of every zip it has imported from: Spark puts its own package on the path
as one, and that took a second of CPU for each task, where the package is installed anyway.
"""

import contextlib
import sys

if __name__ == "__main__":
    sys.path[:] = [path for path in sys.path if not path.endswith(".zip")]
    sys.path_importer_cache.clear()

    from pyspark import daemon

    # What is made for another Python says so here; the worker says which one it should be.
    with contextlib.suppress(ImportError):
        from dbt_debezium.functions import (  # noqa: F401 # for the workers
            flatten,
            judge,
            lake_topics,
            origins,
        )

    daemon.manager()  # type: ignore[no-untyped-call] # Spark's own
