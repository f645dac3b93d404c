"""Metadata files of views that a run has made anew.

A run makes the views of the build schema anew, and each leaves behind the metadata file that it
had. Who reads a view asks the catalog for the newest file, so nobody opens an older one.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.maintenance.snapshots import RUN_MILLISECONDS
from dbt_debezium.spark.catalogs import DEFAULT_CATALOG

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUFFIX: Final = ".metadata.json"


@dataclass(frozen=True, slots=True)
class LakeView:
    """One view."""

    name: str
    """`schema.view`."""
    newest_file: str
    """Its metadata."""
    io: Any
    """The `org.apache.iceberg.io.FileIO` of its catalog."""

    @property
    def folder(self) -> str:
        """Where its metadata is."""
        return self.newest_file.rpartition("/")[0]

    def replaced_files(self, now: int) -> Sequence[str]:
        """Its older metadata files, but for one that a reader may just be opening.

        Args:
            now: milliseconds since 1970.
        """
        newest = self.newest_file.rpartition("/")[2]
        files = sorted(
            (changed, path) for path, changed in self._files(self.folder) if path.endswith(SUFFIX)
        )
        # Each was replaced when the next one was written.
        return [
            path
            for (_, path), (replaced, _) in pairwise(files)
            if path.rpartition("/")[2] != newest and replaced < now - RUN_MILLISECONDS
        ]

    def remove(self, path: str) -> None:
        """Remove one of them."""
        if ":" in path:
            self.io.deleteFile(path)
            return
        file = Path(path)
        file.unlink(missing_ok=True)
        # Hadoop keeps checksums beside files.
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)

    def _files(self, folder: str) -> Iterator[tuple[str, int]]:
        # Iceberg's listing of a local folder costs a call of Java for each file and field.
        if ":" not in folder:
            for entry in os.scandir(folder):
                yield entry.path, int(entry.stat().st_mtime * 1000)
            return
        listed = self.io.listPrefix(f"{folder}/").iterator()
        while listed.hasNext():
            one = listed.next()
            yield str(one.location()), int(one.createdAtMillis())


def lake_views(spark: "SparkSession", schema: str, io: Any) -> Iterator[LakeView]:
    """The views of a schema, by name.

    Args:
        spark: a session on the lake.
        schema: the schema that models are built in.
        io: the `org.apache.iceberg.io.FileIO` of a table beside them.
    """
    jvm: Any = spark._jvm
    catalog_name = spark.conf.get(DEFAULT_CATALOG)
    catalogs = spark._jsparkSession.sessionState().catalogManager()
    catalog = catalogs.catalog(catalog_name).icebergCatalog()
    for row in spark.sql(f"show views in {schema}").collect():
        identifier = jvm.org.apache.iceberg.catalog.TableIdentifier.parse(
            f"{schema}.{row.viewName}"
        )
        newest = catalog.loadView(identifier).operations().current().metadataFileLocation()
        if newest is not None:
            yield LakeView(f"{schema}.{row.viewName}", str(newest), io)
