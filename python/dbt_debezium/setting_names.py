"""Names of settings: dbt ignores a misspelt one in dbt_project.yml and in `--vars`."""

import difflib
import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

from dbt_debezium.errors import DebeziumError
from dbt_debezium.package_files import NAME
from dbt_debezium.project_settings import own_settings, read_vars
from dbt_debezium.project_text import text_of

READ = re.compile(r"""\bvar\(\s*['"](\w+)['"]""")
FOLDERS = ("macros", "models", "tests", "snapshots", "analyses", "dbt_packages")
LIKENESS = 0.88
"""How much of two names is the same, from 0 to 1: what differs by a slip has more."""


OF_MODELS: Final = ("hashed", "public_schema")
"""Settings that models of a project read, which see no vars below the name of the package."""


def check_setting_names(project: Path, given: Collection[str] = ()) -> None:
    """Refuse settings that nothing reads and that are nearly one that is read.

    Other names may be those of packages, or of models that are not there yet.

    Args:
        project: folder with dbt_project.yml, models and macros.
        given: names in `--vars`.

    Raises:
        DebeziumError: names are misspelt, or stand where models do not look; one sentence says
            of each what would be right.
    """
    of_package = read_vars(project).get(NAME)
    problems = [
        f"dbt_project.yml: '{name}' is below '{NAME}' in vars, where models of the project do not "
        "look; write it into vars itself"
        for name in OF_MODELS
        if isinstance(of_package, dict) and name in of_package
    ]
    files = [path for folder in FOLDERS for path in (project / folder).rglob("*.sql")]
    read = {name for path in files for name in READ.findall(text_of(path))}
    for where, names in (("dbt_project.yml", own_settings(project).keys()), ("--vars", {*given})):
        for name in sorted(names - read):
            if near := difflib.get_close_matches(name, read, 1, LIKENESS):
                right = f"'{near[0]}' is" + (", and stands there too" if near[0] in names else "")
                problems.append(f"{where}: '{name}' is not a setting; {right}")
    if problems:
        raise DebeziumError(*problems)
