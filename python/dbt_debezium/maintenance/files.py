"""Small files become large ones. A run writes some to each table that it adds rows to."""

from typing import TYPE_CHECKING, Final

from dbt_debezium.maintenance.tables import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEWEST_FILES: Final = 5
"""Of one partition, that are worth to be joined."""


def has_small_files(table: LakeTable) -> bool:
    return max(table.data_file_count, table.delete_file_count) >= FEWEST_FILES


def join_files(spark: "SparkSession", table: LakeTable, published_cut_id: int) -> None:
    """Join the small files of a table, in one commit for its rows and one for its deletes.

    Args:
        spark: a session on the lake.
        table: the table.
        published_cut_id: rows of later cuts stay in their own files, because the next run replaces
            them by the file.
    """
    options = f"map('min-input-files', '{FEWEST_FILES}')"
    settled = f"cut_id <= {published_cut_id}" if table.has_column("cut_id") else "true"
    if table.data_file_count >= FEWEST_FILES:
        spark.sql(
            f"call system.rewrite_data_files(table => '{table.name}', where => '{settled}', "
            f"options => {options})"
        ).collect()
    if table.delete_file_count >= FEWEST_FILES:
        spark.sql(
            f"call system.rewrite_position_delete_files(table => '{table.name}', "
            f"options => {options})"
        ).collect()
    table.iceberg.refresh()


def file_count(table: LakeTable) -> int:
    return table.data_file_count + table.delete_file_count
