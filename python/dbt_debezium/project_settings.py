"""The settings of a project: what its dbt_project.yml and the package's say in `vars`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from dbt_debezium.errors import DebeziumError
from dbt_debezium.package_files import NAME, package_dir
from dbt_debezium.repeated_keys import repeated_key
from dbt_debezium.settings import Settings, settings_of
from dbt_debezium.yaml_loader import LOADER


def public_schema(project: Path) -> str:
    """The schema that readers use, a setting of dbt_project.yml."""
    return str(project_settings(project)["public_schema"])


def read_settings(project: Path, given: Mapping[str, object] = {}) -> Settings:
    """The settings of a project, checked.

    Args:
        project: its folder.
        given: `--vars`, which count first.

    Raises:
        DebeziumError: as `project_settings` and `settings_of`.
    """
    return settings_of(project_settings(project), given)


def project_settings(project: Path) -> dict[str, Any]:
    """The settings of a project: vars of its dbt_project.yml, and of the package's.

    Raises:
        DebeziumError: a key appears twice, of which dbt reads the last one alone, or vars.yml has
            variables.
    """
    return own_settings(package_dir()) | own_settings(project)


def own_settings(project: Path) -> dict[str, Any]:
    """What dbt_project.yml of one folder says, as `project_settings`.

    Those below the name of the package count first, as dbt has it for the package's models.
    """
    settings = read_vars(project)
    own = settings.get(NAME)
    if not isinstance(own, dict):
        return settings
    return {name: value for name, value in settings.items() if name != NAME} | own


def read_vars(project: Path) -> dict[str, Any]:
    """The vars of dbt_project.yml as they are written.

    Raises:
        DebeziumError: as `project_settings`.
    """
    if (project / "vars.yml").is_file():
        # dbt 1.11 does not read it, and dbt 1.12 reads it in place of those of dbt_project.yml.
        raise DebeziumError(
            f"project: {project / 'vars.yml'} has variables, and commands read those of "
            "dbt_project.yml alone; move them into its vars"
        )
    text = (project / "dbt_project.yml").read_text(encoding="utf-8")
    # dbt's own reader does the same, and takes half a second to import.
    settings: dict[str, Any] = (yaml.load(text, LOADER) or {}).get("vars") or {}
    if repeated := repeated_key(text):
        raise DebeziumError(
            f"dbt_project.yml, line {repeated[1]}: {repeated[0]} appears twice; write it once, "
            "with all that belongs to it"
        )
    return settings
