"""Files of snapshots that are removed. Only those in the folders of their table go.

The metadata of a table can name any file, as one that somebody has added from elsewhere.
"""

from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.maintenance.places import Places
from dbt_debezium.maintenance.tables import LakeTable
from dbt_debezium.spark.java_methods import as_function, java, method

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUEUE: Final = "java.util.concurrent.ConcurrentLinkedQueue"


class RemovedFiles:
    """Takes the names of files from Iceberg, and removes them together."""

    def __init__(self, spark: "SparkSession", table: LakeTable, places: Places) -> None:
        self._jvm = java(spark)
        self._table = table
        self._places = places
        self._named: Any = self._jvm.java.util.concurrent.ConcurrentLinkedQueue()
        self.left_count = 0
        """Files that stay, because they are elsewhere."""

    @property
    def consumer(self) -> Any:
        """What Iceberg calls for each file: from any of its threads."""
        add = method(self._jvm, QUEUE, "add", "(Ljava/lang/Object;)Z")
        return as_function(self._jvm, add.bindTo(self._named), "java.util.function.Consumer")

    def remove(self) -> None:
        """Remove the files that have been named."""
        files = str(self._jvm.java.lang.String.join("\n", self._named)).split("\n")
        # A name with a line break would pass as two.
        is_whole = len(files) == self._named.size()
        inside = {one: self._is_inside(one) for one in {file.rpartition("/")[0] for file in files}}
        for file in files:
            if is_whole and not inside[file.rpartition("/")[0]]:
                self._named.remove(file)
                self.left_count += 1
        if is_whole:
            self._delete()
        else:
            self.left_count = self._named.size()
        self._named.clear()

    def _is_inside(self, folder: str) -> bool:
        return self._places.has(self._table.name, folder)

    def _delete(self) -> None:
        io = self._table.iceberg.io()
        bulk = self._jvm.java.lang.Class.forName("org.apache.iceberg.io.SupportsBulkOperations")
        if bulk.isInstance(io):
            io.deleteFiles(self._named)
            return
        for file in self._named.toArray():
            io.deleteFile(file)
