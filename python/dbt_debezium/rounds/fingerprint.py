"""The inputs of a build other than messages: the project's files, options, this package."""

import functools
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

PATHS: Final = {
    "model-paths": ["models"],
    "macro-paths": ["macros"],
    "seed-paths": ["seeds"],
    "test-paths": ["tests"],
    "snapshot-paths": ["snapshots"],
    "analysis-paths": ["analyses"],
    "function-paths": ["functions"],
    "docs-paths": [],
    "packages-install-path": ["dbt_packages"],
}
"""Keys of dbt_project.yml, and dbt's default for each."""
SUFFIXES: Final = frozenset({".sql", ".yml", ".yaml", ".csv", ".md", ".py"})
FILES: Final = "dbt_project.yml", "packages.yml", "dependencies.yml", "vars.yml", "selectors.yml"
PACKAGE: Final = Path(__file__).parents[1]
ENV_VAR: Final = re.compile(rb"env_var\(\s*['\"](\w+)['\"]")
SECRET: Final = "DBT_ENV_SECRET"
OF_MACHINE: Final = ("DBT_DEBEZIUM_", "DBT_PROFILES_DIR", "DBT_TARGET", SECRET)
"""Variables that say where and how to build, not what."""


def fingerprint(project: Path, profiles: Path, options: Sequence[str]) -> str | None:
    """A hash that differs once a file, an option or this package does.

    Args:
        project: folder of the dbt project.
        profiles: profiles.yml.
        options: for dbt.

    Returns:
        None if the files that dbt reads are not known.
    """
    try:
        settings = _yaml(project / "dbt_project.yml")
        folders = [project / name for name in _folders(settings)]
        files = [*_below(folders), *(project / name for name in FILES), profiles]
        contents = {str(file): file.read_bytes() for file in files if file.is_file()}
        hashed = hashlib.sha256(code_hash().encode())
    except (OSError, ValueError, yaml.YAMLError):
        return None
    named: set[str] = set()
    for name, content in contents.items():
        named |= {match.decode() for match in ENV_VAR.findall(content)}
        hashed.update(f"{name}\0{len(content)}\0".encode() + content)
    for name, value in sorted(os.environ.items()):
        if (name in named or name.startswith("DBT_")) and not name.startswith(OF_MACHINE):
            hashed.update(os.fsencode(f"{name}={value}\0"))
    hashed.update(os.fsencode("\0".join(options)))
    return hashed.hexdigest()


def _yaml(path: Path) -> dict[str, Any]:
    loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(loaded, dict):
        raise TypeError(path)
    return loaded


def _folders(settings: dict[str, Any]) -> Iterator[str]:
    for key, usual in PATHS.items():
        value = settings.get(key, usual)
        for name in [value] if isinstance(value, str) else value:
            if "{{" in name:
                raise ValueError(name)
            yield name


def _below(folders: Sequence[Path]) -> Iterator[Path]:
    seen: set[Path] = set()
    for folder in folders:
        for parent, below, names in os.walk(folder, followlinks=True):
            place = Path(parent).resolve()
            if place in seen:
                below.clear()
                continue
            seen.add(place)
            below[:] = sorted(name for name in below if name[0] != "." and name != "__pycache__")
            for name in sorted(names):
                if Path(name).suffix in SUFFIXES:
                    yield Path(parent, name)


@functools.cache
def code_hash() -> str:
    """A hash of this package as this process runs it, even where it is upgraded meanwhile."""
    hashed = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        hashed.update(f"{file.relative_to(PACKAGE)}\0".encode() + file.read_bytes())
    return hashed.hexdigest()
