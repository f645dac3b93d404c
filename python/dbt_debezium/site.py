"""What a target's settings leave to others: the site's spark-defaults.conf, and what we add.

A setting that the site makes stays as it is, unless profiles.yml names it too.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

SQLITE: Final = "jdbc:sqlite:"
LOOPBACK: Final = {
    # Nobody else calls a driver whose executors are in its own process.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # It would listen on all addresses.
    "spark.ui.enabled": "false",
}


def completed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a target as its session starts with them.

    Settings without a value are left to the site, as those of an environment variable that is not
    there. Paths begin at the root of this machine, because Iceberg writes them into the metadata
    of tables as they are.

    >>> completed({"spark.sql.catalog.lake.warehouse": "s3://lake", "spark.master": "yarn"})
    {'spark.sql.catalog.lake.warehouse': 's3://lake', 'spark.master': 'yarn'}
    """
    named = {name: _absolute(name, one) for name, one in settings.items() if one not in ("", None)}
    site = site_defaults()
    if is_embedded({**site, **named}):
        named.update((name, one) for name, one in LOOPBACK.items() if name not in {*site, *named})
    return named


def is_embedded(settings: Mapping[str, Any]) -> bool:
    """Whether executors are in the driver's own process.

    >>> [is_embedded({"spark.master": one}) for one in ("local[2]", "spark://host:7077")]
    [True, False]
    """
    return bool(re.match(r"local(\[|$)", str(settings.get("spark.master", "local"))))


def site_defaults() -> dict[str, str]:
    """What the site's spark-defaults.conf says; nothing where there is none."""
    folder = site_conf()
    if folder is None or not (folder / "spark-defaults.conf").is_file():
        return {}
    lines = (folder / "spark-defaults.conf").read_text(encoding="utf-8").splitlines()
    found = [re.match(r"\s*([^\s#!=:]+)\s*[=:\s]\s*(.*?)\s*$", line) for line in lines]
    return {one[1]: one[2] for one in found if one}


def site_conf() -> Path | None:
    """The folder that Spark takes its configuration from, if the site has one."""
    if folder := os.environ.get("SPARK_CONF_DIR"):
        return Path(folder)
    home = os.environ.get("SPARK_HOME")
    return Path(home) / "conf" if home and (Path(home) / "conf").is_dir() else None


def _absolute(name: str, value: Any) -> Any:
    scheme, path = "", str(value)
    if name.endswith(".uri") and path.startswith(SQLITE):
        scheme, path = SQLITE, path.removeprefix(SQLITE)
    elif not name.endswith((".warehouse", ".warehouse.dir")) or ":" in path:
        return value
    return f"{scheme}{Path(path).absolute()}"
