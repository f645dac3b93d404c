"""A catalog in a file that is gone or empty beside a full warehouse, and the other way round.

SQLite makes the file again, and Spark an empty lake in it: what was published would be gone for
readers, all of it would land once more, and maintenance would delete the files of every table.
"""

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from dbt_debezium.errors import CannotWorkError
from dbt_debezium.spark.catalogs import LOCK_SECONDS, SQLITE, catalog_of

DATA: Final = "*/*/data/**/*.parquet"
"""Of a table, below the warehouse and the folder of its schema. A new table has none."""
BUSY: Final = "ask again, because another process is writing it"
KILLED: Final = "its writer was killed; ask Spark with --engine spark, which mends it"
REMEDIES: Final = {
    "BUSY": BUSY,
    "LOCKED": BUSY,
    "READONLY_ROLLBACK": KILLED,
    "READONLY_RECOVERY": KILLED,
    "READONLY": "let this user write it",
    "CANTOPEN": "let this user open it, and its folder",
    "FULL": "make room where it lies",
    "IOERR": "look at the disk that it lies on",
}
"""By SQLite's name of an error that says nothing of the file's content."""
DAMAGED: Final = "name a readable catalog in profiles.yml, or move a damaged one away"


def remedy_of(error: str) -> str:
    """What helps against an error of SQLite, by its name.

    >>> remedy_of("[SQLITE_BUSY] The database file is locked (database is locked)")
    'ask again, because another process is writing it'
    >>> remedy_of("SQLITE_NOTADB")
    'name a readable catalog in profiles.yml, or move a damaged one away'
    """
    name, *_ = [*re.findall("SQLITE_([A-Z_]+)", error), ""]
    return REMEDIES.get(name) or REMEDIES.get(name.partition("_")[0], DAMAGED)


def check_catalog_file(settings: Mapping[str, Any]) -> None:
    """Refuse half of a lake.

    Args:
        settings: of a target's Spark, completed.

    Raises:
        CannotWorkError: the catalog is a file that knows no table, and tables have files; or it
            knows tables, and their folder is gone.
    """
    catalog = catalog_of(settings)
    uri, warehouse = catalog.get("uri", ""), Path(catalog.get("warehouse", ""))
    if not uri.startswith(SQLITE) or not warehouse.is_absolute():
        return
    file = Path(uri.removeprefix(SQLITE).partition("?")[0])
    known = _metadata_files(file, catalog["name"])
    if known == [] and next(warehouse.glob(DATA), None) is not None:
        state = "names no table" if file.is_file() and file.stat().st_size else "is empty"
        raise CannotWorkError(
            f"catalog: {file} {state if file.is_file() else 'is gone'}, and {warehouse} holds "
            "files of tables; put the file back from a backup, or move that folder away to begin "
            "with an empty lake"
        )
    # Tables of an earlier warehouse may lie elsewhere.
    if known and not warehouse.is_dir() and not any(map(Path.is_file, known)):
        raise CannotWorkError(
            f"lake: {warehouse} is gone, and with it the files of all {len(known):,} tables that "
            f"{file} names; put the folder back, or move the file away to begin with an empty lake"
        )


def _metadata_files(file: Path, catalog: str) -> list[Path] | None:
    """Those of the tables and views that the file knows; None where it cannot be read now."""
    if not file.is_file():
        return []
    try:
        address = f"{file.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, LOCK_SECONDS, uri=True)) as connection:
            query = "select metadata_location from iceberg_tables where catalog_name = ?"
            is_new = not connection.execute(
                "select 1 from sqlite_master where name = 'iceberg_tables'"
            ).fetchone()
            rows = [] if is_new else connection.execute(query, (catalog,)).fetchall()
            return [Path(str(one).removeprefix("file:")) for (one,) in rows]
    except sqlite3.Error:
        # Whoever opens it says why.
        return None
