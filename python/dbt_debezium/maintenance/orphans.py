"""Files that no table knows: what was being written when a run was killed."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dbt_debezium.maintenance.tables import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST: Final = timedelta(days=3)
"""A younger file may be one that a run is writing, on this machine or another."""
VIEW: Final = "dbt_debezium_files"


def remove_orphans(spark: "SparkSession", table: LakeTable, *, dry_run: bool) -> int:
    """Remove files in the folder of a table that none of its snapshots names; how many there were.

    Args:
        spark: a session on the lake.
        table: the table.
        dry_run: only count them.
    """
    before = datetime.now(UTC) - OLDEST
    call = (
        f"call system.remove_orphan_files(table => '{table.name}', dry_run => {dry_run}, "
        f"older_than => timestamp '{before:%Y-%m-%d %H:%M:%S} UTC'"
    )
    location = str(table.iceberg.location())
    if ":" in location:
        # By the table's own client: Hadoop, which Iceberg would ask, may not know the store.
        return len(spark.sql(f"{call}, prefix_listing => true)").collect())
    # Iceberg's listing gives whole paths, and files of a lake with a relative path would all seem
    # unknown to it.
    rows = list(_files(Path(location), before))
    if not rows:
        return 0
    columns = "file_path string, last_modified timestamp"
    spark.createDataFrame(rows, columns).createOrReplaceTempView(VIEW)
    try:
        return len(spark.sql(f"{call}, file_list_view => '{VIEW}')").collect())
    finally:
        spark.catalog.dropTempView(VIEW)


def _files(folder: Path, before: datetime) -> Iterator[tuple[str, datetime]]:
    for path, _, names in os.walk(folder):
        for name in names:
            file = Path(path) / name
            changed = datetime.fromtimestamp(file.stat().st_mtime, UTC)
            # Hadoop keeps checksums beside files, which go with them.
            if changed < before and not name.endswith(".crc"):
                yield str(file), changed
