"""The files of a new dbt project that uses the package."""

import os
import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Final

import yaml

from dbt_debezium.errors import DebeziumError
from dbt_debezium.package import empty_seeds, read_settings, write_files
from dbt_debezium.package_entry import entry_files
from dbt_debezium.package_files import NAME, package_dir, package_files

TEMPLATES: Final = Path(__file__).parent / "project_template"
CI, HOOKS = ".github/workflows/dbt.yml", ".pre-commit-config.yaml"
KEPT: Final = frozenset(map(Path, (".gitignore", "README.md", CI, HOOKS)))
"""What a repository may have before it has a project."""
TAKEN: Final = frozenset({NAME, "dbt", "dbt_spark"})
"""Names of packages that each project has."""


def write_new_project(folder: Path) -> list[Path]:
    """Write a project whose name is that of its folder.

    Args:
        folder: of the project, which may be there.

    Returns:
        The files that it wrote, from the folder. A README and a .gitignore stay as they are.

    Raises:
        DebeziumError: the name is none for dbt, a file is there already, or none can be written.
    """
    name = folder.resolve().name
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name in TAKEN:
        raise DebeziumError(
            f"init: '{name}' cannot be the name of a dbt project; name a folder with letters, "
            f"digits and underscores, other than {', '.join(sorted(TAKEN))}"
        )
    begun_with = _files(name)
    there = {file for file in begun_with if os.path.lexists(folder / file)}
    files = {file: text for file, text in begun_with.items() if file not in KEPT & there}
    folders = {folder / above for file in files for above in file.parents}
    in_the_way = [folder / file for file in sorted(there - KEPT)]
    in_the_way += [one for one in sorted(folders) if os.path.lexists(one) and not one.is_dir()]
    if in_the_way:
        raise DebeziumError(
            f"init: {in_the_way[0]} is there already, and init writes over no file; name a new "
            "folder, or add the package to that project by hand (docs/own-project.md)"
        )
    try:
        write_files(folder, files)
    except OSError as error:
        raise DebeziumError(
            f"init: {error.filename or folder} cannot be written ({error.strerror}); name a folder "
            "that can be made"
        ) from error
    return [*files]


def _files(name: str) -> Mapping[Path, bytes]:
    """What a project of that name begins with, by path."""
    words = {"name": name, "version": version("dbt-debezium")}

    def filled(template: str) -> str:
        return Template((TEMPLATES / template).read_text(encoding="utf-8")).substitute(words)

    package = package_dir()
    of_seeds = {"seeds": {name: read_settings(package)["seeds"][NAME]}}
    texts = {
        ".gitignore": filled("gitignore"),
        "README.md": filled("README.md"),
        "dbt_project.yml": filled("dbt_project.yml") + yaml.safe_dump(of_seeds, sort_keys=False),
        "profiles.yml": filled("profiles.yml"),
        "landing.example.yml": filled("landing.example.yml"),
        "macros/.gitkeep": "",
        "models/marts/orders_by_status.sql": filled("mart.sql"),
        CI: filled("ci.yml"),
        HOOKS: filled("pre-commit.yml"),
    }
    as_they_are = package_files(package, ["seeds/*.yml"])
    return {
        **{Path(file): text.encode() for file, text in texts.items()},
        **{file: (package / file).read_bytes() for file in as_they_are},
        **empty_seeds(),
        **entry_files(),
    }
