"""The dbt package in a project of somebody else: a copy that is always of this version."""

import contextlib
import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from dbt_debezium.errors import DebeziumError
from dbt_debezium.package_entry import PACKAGES, check_entries, missing_files
from dbt_debezium.package_files import NAME, package_dir, package_files
from dbt_debezium.yaml_loader import LOADER

READ_BY_DBT: Final = ("macros", "models", "tests")
SUFFIXES: Final = frozenset({".sql", ".yml", ".md"})
"""What a copy has no other files of than those of its version."""


def uses_package(project: Path) -> bool:
    """Whether a dbt project names the package's macros in `macro-paths`.

    Its models call them, and dbt finds macros of another package by their full name alone.
    """
    paths = read_settings(project).get("macro-paths")
    named = paths if isinstance(paths, list) else []
    return _folder(project) / "macros" in {Path(str(path)) for path in named}


def refresh(project: Path) -> bool:
    """Make the package's copy in a project what this version has.

    dbt reads every folder of packages that has a dbt_project.yml, so the copy needs no
    `dbt deps`, and nobody has to keep two versions together (docs/decisions/0024).

    Returns:
        Whether packages.yml is new, which a dbt that is running has read already.

    Raises:
        DebeziumError: it cannot be written, something else is in its place, or packages.yml of the
            project does not name the package as it must.
    """
    check_entries(project, is_user=True)
    copy = project / _folder(project)
    _check_place(copy)
    missing = missing_files(project)
    try:
        write_files(project, missing)
        for link in [copy, *copy.rglob("*")]:
            if link.is_symlink():
                # What it leads to is not ours to write to.
                link.unlink()
        write_files(copy, contents())
        for folder in READ_BY_DBT:
            for path in sorted((copy / folder).rglob("*"), reverse=True):
                if path.is_dir():
                    if not any(path.iterdir()):
                        path.rmdir()
                elif path.suffix in SUFFIXES and path.relative_to(copy) not in contents():
                    # Another process may have been faster.
                    path.unlink(missing_ok=True)
    except OSError as error:
        raise DebeziumError(
            f"project: {error.filename or copy} cannot be written ({error.strerror}); every "
            "command keeps the dbt package there, so let it write to that folder"
        ) from error
    return Path(PACKAGES) in missing


@functools.cache
def contents() -> Mapping[Path, bytes]:
    """The package as this process found it, even where it is upgraded meanwhile."""
    folder = package_dir()
    return {file: (folder / file).read_bytes() for file in package_files(folder)}


def _check_place(copy: Path) -> None:
    """Refuse to write over what is no copy.

    Raises:
        DebeziumError: there is a file, or a folder with something else.
    """
    if "{{" in str(copy):
        raise DebeziumError(
            f"project: packages-install-path leads to {copy}, and commands do not render Jinja; "
            "write the folder itself"
        )
    for folder in (copy.parent, copy):
        if folder.exists() and not folder.is_dir():
            raise DebeziumError(
                f"project: {folder} is a file; remove it, as every command keeps the dbt package "
                "in a folder of that name"
            )
    if copy.is_symlink() or not copy.is_dir() or not any(copy.iterdir()):
        return
    if read_settings(copy).get("name") != NAME or (copy / ".git").exists():
        raise DebeziumError(
            f"project: {copy} is no copy of the dbt package, and commands keep that there; move it "
            "away, or name another folder in packages-install-path"
        )


def write_files(folder: Path, files: Mapping[Path, bytes]) -> None:
    """Write files, each at once, but for those that are the same there.

    Args:
        folder: where to.
        files: contents by path, from the folder.
    """
    for file, content in files.items():
        path = folder / file
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            written = path.with_name(f".{path.name}.{os.getpid()}")
            written.write_bytes(content)
            written.replace(path)


def empty_seeds() -> Mapping[Path, bytes]:
    """The package's seeds without rows: those of the repository say nothing of others."""
    folder = package_dir()
    return {
        file: (folder / file).read_bytes().splitlines(keepends=True)[0]
        for file in package_files(folder, ["seeds/*.csv"])
    }


def read_settings(project: Path) -> dict[str, Any]:
    """dbt_project.yml as it is written; empty where it cannot be read, which dbt then says."""
    with contextlib.suppress(OSError, ValueError, yaml.YAMLError):
        text = (project / "dbt_project.yml").read_text(encoding="utf-8")
        read = yaml.load(text, Loader=LOADER)
        if isinstance(read, dict):
            return read
    return {}


def _folder(project: Path) -> Path:
    """Of the copy, from the project."""
    return Path(str(read_settings(project).get("packages-install-path", "dbt_packages")), NAME)
