"""Nearly every small change of the judge shows in a scenario or against the law. No Spark."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from collector import Landed, collected, flattened
from histories.history import make_history
from histories.knobs import PROFILES
from judge_mutants import Case, mutants, verdicts
from replay import collected_marks, landings
from scenario import Writer, read_scenario

from dbt_debezium.judge.marks import Mark

HERE = Path(__file__).parent
PYTHON = HERE.parents[1] / "python"
HISTORIES = 150
"""Of each profile."""
LEAST_KILLED = 0.9
FORMS = ("__init__.py", "marks.py", "verdicts.py")
"""Modules that decide nothing."""


def scenario_parts(path: Path) -> list[list[Mark]]:
    scenario = read_scenario(path)
    writer = Writer(scenario.connector)
    landed: list[Landed] = []
    parts = []
    for lines, _ in scenario.steps:
        landed += [flattened(message) for line in lines if (message := writer.message(line))]
        in_order = scenario.is_in_order
        parts.append(collected(writer.source, landed, ["public.unlisted"], is_in_order=in_order))
    return parts


def cases() -> list[Case]:
    """Scenarios first, which are short."""
    found = []
    for path in sorted((HERE / "scenarios").glob("S*.md")):
        parts = scenario_parts(path)
        found.append(Case(parts, verdicts(parts, is_verbal=True), True))
    for profile in PROFILES.values():
        for number in range(HISTORIES):
            history = make_history(1, number, profile)
            parts = [collected_marks(history.plan, part) for part in landings(history)]
            found.append(Case(parts, verdicts(parts, is_verbal=False), False))
    return found


@pytest.mark.proof
def test_nearly_every_mutant_is_killed(tmp_path: Path) -> None:
    known = tmp_path / "cases"
    known.write_bytes(pickle.dumps(cases()))
    shutil.copytree(PYTHON / "dbt_debezium", tmp_path / "dbt_debezium")
    paths = os.pathsep.join([str(tmp_path), str(HERE)])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    count, survivors = 0, []
    for module in sorted((tmp_path / "dbt_debezium" / "judge").glob("*.py")):
        if module.name in FORMS:
            continue
        source = module.read_text(encoding="utf-8")
        for mutant in mutants(source):
            module.write_text(mutant.text, encoding="utf-8")
            command = [sys.executable, str(HERE / "judge_mutants.py"), "replay", str(known)]
            run = subprocess.run(command, env=environment, capture_output=True, check=False)
            count += 1
            if run.returncode == 0:
                survivors.append(f"{module.name}:{mutant.line}: {mutant.changed}")
        module.write_text(source, encoding="utf-8")
    print(f"{count} mutants, {len(survivors)} survive:", *survivors, sep="\n")
    assert count >= 200
    assert 1 - len(survivors) / count >= LEAST_KILLED
