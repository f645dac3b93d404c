"""A mistake in a rule does not go unseen: histories show it, or a test of the build does.

Survivors are listed in `SURVIVORS` with the reason, and nothing else may survive.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from figures import record
from histories.differences import differences
from histories.files import write_expected, write_landings
from histories.history import make_histories
from histories.knobs import ALL_RULES
from lake import REPOSITORY, open_lake
from mutants import FLATTENER, MODELS, Mutant
from test_histories import NOT_INGESTED, SEED, bank_tables

SURVIVORS: dict[str, str] = {}
"""Mistakes that change nothing, with the reason."""
ENOUGH = 0.95


@pytest.mark.parametrize("mutant", [*MODELS, *FLATTENER], ids=str)
def test_a_mistake_stands_where_it_is_said_to(mutant: Mutant) -> None:
    assert mutant.applied(REPOSITORY) != (REPOSITORY / mutant.path).read_text()


@pytest.mark.proof
def test_mistakes_in_models_are_found(tmp_path: Path) -> None:
    cases = list(make_histories(SEED, range(400), ALL_RULES))
    write_expected(tmp_path / "expected", cases)
    last = 3
    survived: list[str] = []
    with open_lake(tmp_path, bank_tables()) as lake:
        for path in write_landings(tmp_path / "dump", cases):
            lake.land(path)

        def seen(command: str) -> set[str]:
            """The sources that are not as expected; the command when it did not end well."""
            if not lake.build("--full-refresh", "--vars", NOT_INGESTED, command=command):
                return {command}
            return {one.source for one in differences(lake.spark, tmp_path / "expected", last)}

        # What one landing after the other has shown stays; all at once may show less.
        usual = seen("build")
        assert "build" not in usual
        assert len(usual) < len(cases) / 20
        for mutant in MODELS:
            file = lake.project / mutant.path
            right = file.read_text()
            file.write_text(mutant.applied(lake.project))
            # Most show themselves in rows, which spares the tests.
            is_found = any(seen(command) - usual for command in ("run", "build"))
            file.write_text(right)
            print(f"{'found' if is_found else 'SURVIVED'}: {mutant}", flush=True)
            if not is_found:
                survived.append(str(mutant))
    check("models", survived, len(MODELS))


@pytest.mark.proof
def test_mistakes_in_the_flattener_are_found(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "python", tmp_path / "python")
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    for folder in ("docs", "models", "macros", "tests/data"):
        (tmp_path / folder).parent.mkdir(exist_ok=True)
        (tmp_path / folder).symlink_to(REPOSITORY / folder)
    survived = []
    for mutant in FLATTENER:
        file = tmp_path / mutant.path
        right = file.read_text()
        file.write_text(mutant.applied(tmp_path))
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "python"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path / "python")},
            capture_output=True,
            check=False,
        )
        file.write_text(right)
        print(f"{'found' if ended.returncode else 'SURVIVED'}: {mutant}", flush=True)
        if not ended.returncode:
            survived.append(str(mutant))
    check("flattener", survived, len(FLATTENER))


def check(place: str, survived: list[str], count: int) -> None:
    assert len(survived) <= (1 - ENOUGH) * count, survived
    assert survived == [one for one in survived if one in SURVIVORS]
    record(
        f"Mistakes drawn from the rules are found ({place})",
        f"{count - len(survived)} of {count}"
        + "".join(f"; survived: {one} ({SURVIVORS[one]})" for one in survived),
    )
