"""Files of a lake in a folder of this machine, without what Hadoop adds to each of them."""

from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.spark.catalogs import DEFAULT_CATALOG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HADOOP: Final = "spark.hadoop."
NO_TABLE: Final = "dbt_debezium.none"


def use_plain_files(spark: "SparkSession") -> None:
    """Have files of the default catalog written and read as they are. It may be repeated.

    Hadoop writes a sum of each file into a second file. And Iceberg sends all settings of Hadoop to
    the tasks of each scan of a table, 1,116 of them, of which a folder needs none but the site's
    (docs/benchmarks.md).

    Args:
        spark: a session whose executors are in its own process, with an open catalog of Iceberg
            whose tables are in a folder.
    """
    java: Any = spark._jvm
    settings = java.org.apache.hadoop.conf.Configuration(False)
    for name, value in spark.sparkContext.getConf().getAll():
        if name.startswith(HADOOP):
            settings.set(name.removeprefix(HADOOP), value)
    files = java.org.apache.hadoop.fs.FileSystem.getLocal(settings)
    files.setWriteChecksum(False)
    files.setVerifyChecksum(False)
    catalogs = spark._jsparkSession.sessionState().catalogManager()
    catalog = catalogs.catalog(spark.conf.get(DEFAULT_CATALOG))
    # All tables of a catalog share one client for files. Only a table shows it: this one is not
    # made.
    name = java.org.apache.iceberg.catalog.TableIdentifier.parse(NO_TABLE)
    schema = java.org.apache.iceberg.Schema(java.java.util.ArrayList())
    table = catalog.icebergCatalog().buildTable(name, schema).createTransaction().table()
    table.io().setConf(settings)
