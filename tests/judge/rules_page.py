"""The page scenarios/RULES.md: of each rule, which module of the judge decides and what shows it.

Run this file to write the page anew.
"""

import re
from collections import defaultdict
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
TOP: Final = HERE.parents[1]
PAGE: Final = HERE / "scenarios" / "RULES.md"
FOLDERS: Final = ("python/dbt_debezium/judge", "python/dbt_debezium/evidence")
RULE: Final = re.compile(r"^\| (S[0-9]+) \| (.+) \|$", re.MULTILINE)
DESCRIBING: Final = ("__init__", "facts", "marks", "verdicts", "known", "narrow")
"""Modules that decide nothing."""
CITED: Final = re.compile(r"\bS[0-9]{1,2}\b")
HEAD: Final = """# Rules, where the judge decides on them, and what shows it

Written by `python tests/judge/rules_page.py` from [rules](../../../docs/rules.md), the modules of
the [judge](../../../python/dbt_debezium/judge/__init__.py) and of its
[evidence](../../../python/dbt_debezium/evidence/__init__.py) that cite a rule, and the scenarios
beside this page. A rule without a module is kept by models.
"""


def rendered() -> str:
    """The whole page."""
    modules: dict[str, list[str]] = defaultdict(list)
    for folder in FOLDERS:
        for path in sorted((TOP / folder).glob("*.py")):
            if path.stem in DESCRIBING:
                continue
            for rule in {*CITED.findall(path.read_text(encoding="utf-8"))}:
                modules[rule].append(f"[{path.stem}](../../../{folder}/{path.name})")
    scenarios: dict[str, list[str]] = defaultdict(list)
    for path in sorted((HERE / "scenarios").glob("S*.md")):
        rule, _, title = path.read_text(encoding="utf-8").split("\n")[0][2:].partition(": ")
        scenarios[rule].append(f"- [{title}]({path.name})")
    rules = RULE.findall((TOP / "docs" / "rules.md").read_text(encoding="utf-8"))
    parts = [HEAD]
    for rule, text in rules:
        if modules[rule] or scenarios[rule]:
            decided = f"Decided in {', '.join(modules[rule])}.\n" if modules[rule] else ""
            parts.append("\n".join([f"## {rule}\n\n{text}\n", decided, *scenarios[rule], ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(rendered(), encoding="utf-8")
