"""Where things are: the lake, the jars, the dbt project."""

import os
from pathlib import Path


def lake_dir() -> Path:
    """The folder with catalog, warehouse, inbox and checkpoints; relative to the current one."""
    return Path(os.environ.get("DBT_DEBEZIUM_LAKE") or "lake")


def make_private(folder: Path) -> None:
    """Make a folder for its owner alone; one that is there keeps its rights.

    A lake holds what readers must not see: messages as they landed, quarantined ones among them.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def jars_dir() -> Path:
    """The folder with the jars that Spark needs beyond its own."""
    return Path(os.environ.get("DBT_DEBEZIUM_JARS") or "jars")


def project_dir() -> Path:
    """The nearest folder upwards with a dbt_project.yml, else the repository this package is in."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "dbt_project.yml").is_file():
            return folder
    return Path(__file__).resolve().parents[2]
