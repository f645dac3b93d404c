"""A server of Spark Connect on loopback, whose catalog is a file of SQLite."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from dbt_debezium.home import jars_dir
from local_chain.server import HOST, free_port, listens, running

SPARK = Path(pyspark.__file__).parent
# What stands on docs/cluster.md, and what keeps it small and on loopback.
DEFAULTS = """
spark.master local[2]
spark.driver.memory 1500m
spark.driver.host 127.0.0.1
spark.driver.bindAddress 127.0.0.1
spark.driver.extraClassPath {jars}/*
spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m
spark.connect.grpc.binding.address 127.0.0.1
spark.connect.grpc.binding.port {port}
spark.ui.enabled false
spark.python.daemon.module dbt_debezium.worker_daemon
spark.sql.extensions org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions
spark.sql.catalogImplementation in-memory
spark.sql.shuffle.partitions 4
spark.sql.warehouse.dir {folder}/spark
spark.sql.catalog.lake org.apache.iceberg.spark.SparkCatalog
spark.sql.catalog.lake.type jdbc
spark.sql.catalog.lake.uri jdbc:sqlite:{folder}/catalog.db
spark.sql.catalog.lake.jdbc.schema-version V1
spark.sql.catalog.lake.warehouse {folder}/warehouse
"""


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """Start it; it ends with the block.

    Args:
        folder: an empty one.

    Returns:
        Its address.
    """
    port = free_port()
    (folder / "spark-defaults.conf").write_text(
        DEFAULTS.format(jars=jars_dir().absolute(), port=port, folder=folder)
    )
    command: list[str | Path] = [
        *("env", "-C", folder, f"SPARK_HOME={SPARK}", f"SPARK_CONF_DIR={folder}"),
        *(f"SPARK_LOCAL_IP={HOST}", f"PYSPARK_PYTHON={sys.executable}"),
        *(SPARK / "bin" / "spark-submit", "--class"),
        *("org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
    ]
    with running(command, folder / "server.log", lambda: listens(port)):
        yield f"sc://{HOST}:{port}"
