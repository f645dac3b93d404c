"""Which tables and views have folders of their own, so that files in them may be deleted."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.maintenance.table_places import elsewhere, folder_of, is_below, meets, warehouse
from dbt_debezium.maintenance.tables import LakeTable
from dbt_debezium.spark.catalogs import DEFAULT_CATALOG
from dbt_debezium.writers.sql import identifier

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROPERTIES: Final = (
    "write.data.path",
    "write.folder-storage.path",
    "write.metadata.path",
    "write.object-storage.path",
)
"""With these a table has files in other folders than its own."""


@dataclass(slots=True)
class Places:
    """The folders of tables and views."""

    base: str | None
    """The warehouse, as `folder_of` spells it."""
    folders: dict[str, set[str]] = field(default_factory=dict)
    """By name."""

    def fault_of(self, name: str) -> str | None:
        """Why files of a table or view must stay; None if its folders are its own."""
        for folder in sorted(self.folders[name]):
            if self.base is not None and not is_below(folder, self.base):
                return elsewhere(folder, self.base)
            for other, theirs in self.folders.items():
                if other != name and any(meets(folder, one) for one in theirs):
                    return f"its files are in {folder.rstrip('/')}, in or around those of {other}"
        return None

    def has(self, name: str, location: str) -> bool:
        """Whether a folder is one of a table, or in one."""
        folder = folder_of(location)
        return any(folder == one or is_below(folder, one) for one in self.folders[name])


def places_of(spark: "SparkSession", tables: Iterable[LakeTable]) -> Places:
    """Where tables of ours have their files."""
    folders = {table.name: folders_of(table.iceberg) for table in tables}
    anchors = (
        folder_of(str(table.iceberg.location()))
        for table in tables
        if table.name.endswith((".cut", ".message"))
    )
    return Places(warehouse(spark, anchors), folders)


def folders_of(iceberg: Any) -> set[str]:
    """All folders that a table may have files in."""
    properties = iceberg.properties()
    named = [properties.get(name) for name in PROPERTIES]
    metadata = str(iceberg.operations().current().metadataFileLocation()).rpartition("/")[0]
    return {folder_of(str(one)) for one in (iceberg.location(), metadata, *named) if one}


def add_others(spark: "SparkSession", places: Places) -> None:
    """Add the tables of the catalog that are not ours, and all views.

    Raises:
        Py4JError: one cannot be read.
    """
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    manager = spark._jsparkSession.sessionState().catalogManager()
    catalog = manager.catalog(spark.conf.get(DEFAULT_CATALOG)).icebergCatalog()

    def named(schema: str, name: str) -> Any:
        parts = gateway.new_array(jvm.java.lang.String, 2)
        parts[0], parts[1] = schema, name
        return jvm.org.apache.iceberg.catalog.TableIdentifier.of(parts)

    for schema in [row.namespace for row in spark.sql("show schemas").collect()]:
        for row in spark.sql(f"show tables in {identifier(schema)}").collect():
            if (name := f"{schema}.{row.tableName}") not in places.folders:
                table = catalog.loadTable(named(schema, row.tableName))
                places.folders[name] = folders_of(table)
        for row in spark.sql(f"show views in {identifier(schema)}").collect():
            view = catalog.loadView(named(schema, row.viewName))
            places.folders[f"{schema}.{row.viewName}"] = {folder_of(str(view.location()))}
