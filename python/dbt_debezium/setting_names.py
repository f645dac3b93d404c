"""Names of settings: dbt ignores a misspelt one among the vars of dbt_project.yml."""

import difflib
import re
from pathlib import Path

from dbt_debezium.errors import DebeziumError
from dbt_debezium.package_files import NAME
from dbt_debezium.session import own_settings

READ = re.compile(r"""\bvar\(\s*['"](\w+)['"]""")
FOLDERS = ("macros", "models", "tests", "snapshots", "analyses", "dbt_packages")
LIKENESS = 0.88
"""How much of two names is the same, from 0 to 1: what differs by a slip has more."""


def check_setting_names(project: Path) -> None:
    """Refuse settings that nothing reads and that are nearly one that is read.

    Other names may be those of packages, or of models that are not there yet.

    Args:
        project: folder with dbt_project.yml, models and macros.

    Raises:
        DebeziumError: names are misspelt, or stand where commands do not look; one sentence says
            of each what would be right.
    """
    settings = own_settings(project)
    if isinstance(settings.get(NAME), dict):
        raise DebeziumError(
            f"dbt_project.yml: '{NAME}' in vars has settings of its own, which the project's "
            "models and commands do not see; write them into vars itself"
        )
    names = settings.keys()
    files = [path for folder in FOLDERS for path in (project / folder).rglob("*.sql")]
    read = {name for path in files for name in READ.findall(path.read_text(encoding="utf-8"))}
    problems = []
    for name in sorted(names - read):
        if near := difflib.get_close_matches(name, read, 1, LIKENESS):
            right = f"'{near[0]}' is" + (", and stands there too" if near[0] in names else "")
            problems.append(f"dbt_project.yml: '{name}' is not a setting; {right}")
    if problems:
        raise DebeziumError(*problems)
