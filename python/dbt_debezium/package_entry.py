"""The entry of packages.yml that names the dbt package, which dbt 1.12 compares with what is there.

`dbt deps` installs the folder that the entry names, and the next command puts the package of the
installed version into its place (docs/decisions/0024).
"""

import contextlib
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import yaml

from dbt_debezium.errors import DebeziumError
from dbt_debezium.yaml_loader import LOADER

FOLDER: Final = "dbt_debezium_package"
"""Of a project: what `dbt deps` installs, in git so that it works before any command."""
PACKAGES: Final = "packages.yml"
NAMING: Final = (PACKAGES, "dependencies.yml")
"""The files in which dbt looks for entries."""
LINE: Final = f"- local: {FOLDER}"
TEMPLATE: Final = Path(__file__).parent / "project_template" / "package_entry.yml"
ELSEWHERE: Final = re.compile(r"(?:^|[/:])dbt[-_]debezium(?:[.]git|[.]tar[.]gz)?/*$")
"""What an entry names that is our repository, or a package of ours in a registry."""


def entry_files() -> Mapping[Path, bytes]:
    """What names the package, by its path in a project."""
    return {
        Path(PACKAGES): f"packages:\n  {LINE}\n".encode(),
        Path(FOLDER, "dbt_project.yml"): TEMPLATE.read_bytes(),
    }


def missing_files(project: Path) -> Mapping[Path, bytes]:
    """What of it a project lacks, as one has that an earlier version began.

    Raises:
        DebeziumError: packages.yml is the project's own and does not name the package, which this
            dbt needs.
    """
    entries = [*_entries(project)]
    if not any(Path(str(entry.get("local", ""))) == Path(FOLDER) for entry in entries):
        if not is_compared():
            return {}
        # Nobody but its owner writes into a file that is there.
        if entries or (project / PACKAGES).exists():
            raise DebeziumError(
                f"project: {PACKAGES} does not name the dbt package, and dbt {version('dbt-core')} "
                f"compares both; add `{LINE}` to it, and run `dbt deps`"
            )
    return {file: text for file, text in entry_files().items() if not (project / file).exists()}


def is_compared() -> bool:
    """Whether there is a dbt, and it refuses packages that packages.yml does not name."""
    with contextlib.suppress(PackageNotFoundError):
        major, minor = version("dbt-core").split(".")[:2]
        return (int(major), int(minor)) >= (1, 12)
    return False


def check_entries(project: Path, is_user: bool) -> None:
    """Refuse a project that takes the package in a way in which dbt does not find it.

    Args:
        project: its folder.
        is_user: whether it names the package's macros in macro-paths.

    Raises:
        DebeziumError: packages.yml names the repository, or only packages.yml names the package.
    """
    for entry in _entries(project):
        for kind in ("git", "package", "tarball"):
            if ELSEWHERE.search(named := str(entry.get(kind, ""))):
                raise DebeziumError(
                    f"project: {PACKAGES} names {named}, which brings our example and not the "
                    f"functions in Python; write `{LINE}` in place of that entry, remove "
                    "dbt_packages, and follow 'A dbt project that is there' (docs/own-project.md)"
                )
        if Path(str(entry.get("local", ""))) == Path(FOLDER) and not is_user:
            raise DebeziumError(
                f"project: {PACKAGES} names {FOLDER}, and macro-paths of dbt_project.yml does not; "
                "add the lines of 'A dbt project that is there' (docs/own-project.md)"
            )


def _entries(project: Path) -> Iterator[dict[str, Any]]:
    """The packages that a project names; none where a file cannot be read, which dbt says."""
    for name in NAMING:
        with contextlib.suppress(OSError, ValueError, yaml.YAMLError):
            read = yaml.load((project / name).read_text(encoding="utf-8"), Loader=LOADER)
            named = read.get("packages") if isinstance(read, dict) else None
            yield from (entry for entry in named or [] if isinstance(entry, dict))
