"""A cluster: its executors and their archive, and the store that they read."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.doctor.finding import Finding
from dbt_debezium.lease import row
from dbt_debezium.spark.catalogs import CATALOGS, catalog_of_session
from dbt_debezium.spark.executors import executor_versions
from dbt_debezium.spark.remote import has_java
from dbt_debezium.spark.site import is_embedded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE_IO: Final = "org.apache.iceberg.io.ResolvingFileIO"


def cluster_findings(spark: "SparkSession") -> Iterator[Finding]:
    """Of the cluster that a session uses; none of an embedded Spark on files of its machine."""
    if not has_java(spark):
        yield Finding("ok", f"executors: Python {', '.join(executor_versions(spark))}")
        if spark.catalog.tableExists(row.TABLE):
            yield _store_is_read(spark)
        return
    settings = dict(spark.sparkContext.getConf().getAll())
    if not is_embedded(settings):
        yield Finding(
            "ok",
            f"executors: Python {', '.join(executor_versions(spark))} with "
            f"{settings['spark.archives'].rpartition('/')[2]}",
        )
    yield from _store(spark)


def _store_is_read(spark: "SparkSession") -> Finding:
    spark.table(row.TABLE).collect()
    return Finding("ok", f"store: {row.TABLE} is read")


def _store(spark: "SparkSession") -> Iterator[Finding]:
    if spark.catalog.tableExists(row.TABLE):
        yield _store_is_read(spark)
        return
    catalog = catalog_of_session(spark)
    warehouse = catalog.get("warehouse", "")
    if "://" not in warehouse:
        return
    # Nothing has landed, so there is no table whose place could be read.
    jvm: Any = spark._jvm
    prefix = f"{CATALOGS}{catalog['name']}."
    properties = jvm.java.util.HashMap()
    for name, value in spark.conf.getAll.items():
        if name.startswith(prefix):
            properties.put(name.removeprefix(prefix), value)
    io = jvm.org.apache.iceberg.CatalogUtil.loadFileIO(
        properties.getOrDefault("io-impl", FILE_IO), properties, spark._jsc.hadoopConfiguration()
    )
    io.listPrefix(f"{warehouse.rstrip('/')}/").iterator().hasNext()
    yield Finding("ok", f"store: {warehouse} is there")
