"""Where things are: the lake, the jars, the dbt project."""

import os
from pathlib import Path
from typing import Final

import yaml

from dbt_debezium.errors import DebeziumError
from dbt_debezium.package import uses_package
from dbt_debezium.package_files import CARRIED, NAME, package_dir
from dbt_debezium.yaml_loader import what_is_wrong

CORE_MODEL: Final = "models/staging/stg_message.sql"
"""What the package itself has, which is a project too."""


def lake_dir() -> Path:
    """The folder with catalog, warehouse, inbox and checkpoints; relative to the current one."""
    return Path(os.environ.get("DBT_DEBEZIUM_LAKE") or "lake")


def make_private(folder: Path) -> None:
    """Make a folder for its owner alone; one that is there keeps its rights.

    A lake holds what readers must not see: messages as they landed, quarantined ones among them.

    Raises:
        DebeziumError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DebeziumError(
            f"lake: {folder} cannot be made ({error.strerror}); "
            "set DBT_DEBEZIUM_LAKE to a folder that can be written"
        ) from error


def jars_dir() -> Path:
    """The folder with the jars that Spark needs beyond its own."""
    return Path(os.environ.get("DBT_DEBEZIUM_JARS") or "jars")


def check_project(project: Path) -> None:
    """Refuse a dbt project without the package, and settings that cannot be read.

    Raises:
        DebeziumError: the package or its settings are not there.
    """
    settings = project / "dbt_project.yml"
    try:
        text = settings.read_text(encoding="utf-8")
        read = yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError) as error:
        why = what_is_wrong(text, error) if isinstance(error, yaml.YAMLError) else error
        raise DebeziumError(f"project: {settings} cannot be read ({why}); correct it") from error
    if not (project / CORE_MODEL).is_file() and not uses_package(project):
        raise DebeziumError(
            f"project: {settings} is of another dbt project, which does not use dbt-debezium; name "
            f"dbt_packages/{NAME}/macros in its macro-paths (docs/own-project.md), or make a "
            "project with `dbt-debezium init my_lake`"
        )
    if not isinstance(read, dict) or not isinstance(read.get("vars", {}), dict):
        raise DebeziumError(f"project: {settings} has no settings; it needs a mapping called vars")


def project_dir() -> Path:
    """The nearest folder upwards with a dbt_project.yml, else that of the package."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "dbt_project.yml").is_file():
            return folder
    return package_dir()


def is_carried(project: Path) -> bool:
    """Whether a folder is the package inside of an installation, where nobody's models are."""
    return project.name == CARRIED and project == package_dir()
