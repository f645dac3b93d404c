"""The files of the dbt package, which the repository has at its top and a wheel in one folder.

`setup.py` reads this module before anything is installed, so it imports nothing of ours.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

NAME: Final = "dbt_debezium"
"""Of the package, for dbt."""
CARRIED: Final = "dbt_package"
"""The folder of a wheel that has them, beside this module."""
PACKAGE: Final = (
    "dbt_project.yml",
    "macros/**/*.sql",
    "macros/*.yml",
    "models/_columns.md",
    "models/_groups.yml",
    "models/landing/**/*.*",
    "models/staging/**/*.*",
    "models/transactions/**/*.*",
    "tests/*.sql",
    "tests/*.yml",
    "tests/generic/*.sql",
)
"""What a project takes as a package. The example is not of it."""
EXAMPLE: Final = (
    "models/shop/**/*.*",
    "models/marts/**/*.*",
    "tests/shop/*.*",
    "tests/data/shop_basic/events.jsonl.gz",
)
"""What `dbt-debezium demo` needs beside them: the example, and its recorded change log."""
FIRST: Final = ("profiles.yml", "seeds/*.csv", "seeds/*.yml")
"""What a new project begins with, and then has as its own."""
PAGES: Final = (
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE"),
    *("docs/*.md", "docs/*.svg", "docs/decisions/*.md", "docs/prometheus/*.*"),
)
"""What sentences refer to, and what these pages link to; a wheel has them too."""


def package_dir() -> Path:
    """The folder that has the files: in a wheel one of its own, else the repository."""
    carried = Path(__file__).parent / CARRIED
    return carried if carried.is_dir() else Path(__file__).resolve().parents[2]


def package_files(folder: Path, patterns: Sequence[str] = PACKAGE) -> Iterator[Path]:
    """The files that patterns name, from the folder."""
    for pattern in patterns:
        for file in sorted(folder.glob(pattern)):
            yield file.relative_to(folder)
