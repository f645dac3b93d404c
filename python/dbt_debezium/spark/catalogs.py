"""Which catalog a target or a session writes to, by the settings that name it. No Spark."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.home import lake_dir

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REMOTE: Final = "spark.remote"
"""The address of a server of Spark Connect."""
DEFAULT_CATALOG: Final = "spark.sql.defaultCatalog"
CATALOGS: Final = "spark.sql.catalog."
NAMED: Final = "dbt_debezium.settings"
"""Among the settings of a target: which target of the package has the others."""
SQLITE: Final = "jdbc:sqlite:"
LOCK_SECONDS: Final = 5.0
"""SQLite refuses readers for the instant of a commit."""
NAMING: Final = ("type", "catalog-impl", "uri", "warehouse", "glue.id")
"""Settings of a catalog that say which one it is."""


def catalog_of(settings: Mapping[str, Any]) -> dict[str, str]:
    """What names the default catalog of some settings of Spark.

    >>> catalog_of({"spark.sql.defaultCatalog": "lake", "spark.sql.catalog.lake.uri": "http://a"})
    {'name': 'lake', 'uri': 'http://a'}
    """
    name = str(settings.get(DEFAULT_CATALOG) or "spark_catalog")
    if remote := settings.get(REMOTE):
        # Only the server knows more of its catalog.
        return {"name": name, "remote": without_parameters(str(remote))}
    named = {key: str(settings.get(f"{CATALOGS}{name}.{key}") or "") for key in NAMING}
    return {"name": name} | {key: value for key, value in named.items() if value}


def without_parameters(address: str) -> str:
    """An address of Spark Connect without what follows it, such as a token.

    >>> without_parameters("sc://host:15002/;token=abc;use_ssl=true")
    'sc://host:15002'
    """
    return address.partition(";")[0].rstrip("/")


def catalog_of_session(spark: "SparkSession") -> dict[str, str]:
    """What names the catalog that a session writes to."""
    name = spark.conf.get(DEFAULT_CATALOG, "spark_catalog")
    keys = [f"{CATALOGS}{name}.{key}" for key in NAMING]
    return catalog_of({DEFAULT_CATALOG: name} | {key: spark.conf.get(key, "") for key in keys})


def inbox_folder(catalog: Mapping[str, str]) -> Path:
    """Where what waits to land in a catalog lies; another catalog knows nothing of it."""
    lake = lake_dir().absolute()
    if catalog.get("uri") == f"jdbc:sqlite:{lake}/catalog.db":
        return lake / "inbox"
    parts = "\n".join(f"{key}={value}" for key, value in sorted(catalog.items()))
    return lake / f"inbox-{hashlib.sha256(parts.encode()).hexdigest()[:12]}"
