"""A mistake in a rule does not go unseen: histories show it, or a test of the build or of faults.

Survivors are listed in `SURVIVORS` with the reason, and nothing else may survive.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from figures import record
from histories.differences import differences
from histories.files import write_expected, write_landings
from histories.history import Case, make_histories
from histories.knobs import ALL_RULES
from lake import REPOSITORY, open_lake
from mutants import FLATTENER, MODELS, Mutant
from test_histories import (
    FAILED_ONCE,
    SEED,
    bank_tables,
    other_histories,
    permutations,
    regressions,
    settings,
)

SURVIVORS: dict[str, str] = {}
"""Mistakes that change nothing, with the reason."""
ENOUGH = 0.95
LANDINGS = 4
PARTS = 4
FAULTS = "tests/pipeline/test_faults.py"


@pytest.mark.parametrize("mutant", [*MODELS, *FLATTENER], ids=str)
def test_a_mistake_stands_where_it_is_said_to(mutant: Mutant) -> None:
    assert mutant.applied(REPOSITORY) != (REPOSITORY / mutant.path).read_text()


def test_few_mistakes_may_survive() -> None:
    assert SURVIVORS.keys() <= set(map(str, MODELS + FLATTENER))
    assert len(SURVIVORS) <= (1 - ENOUGH) * len(MODELS)


def landed_until(case: Case, landing: int) -> Case:
    """A case of which nothing lands behind a landing: what is missing must be seen to be."""
    entries = [
        replace(
            entry,
            landing=None if entry.landing is None or entry.landing > landing else entry.landing,
            again=None if entry.again is None or entry.again > landing else entry.again,
        )
        for entry in case.plan.entries
    ]
    plan = replace(
        case.plan, entries=entries, landing_count=min(landing + 1, case.plan.landing_count)
    )
    return Case(plan, case.cuts[: landing + 1])


def half_landed_cases() -> list[Case]:
    """Of every connector, some whole and others without their last landings."""
    cases = [
        *make_histories(SEED, range(300), ALL_RULES),
        *permutations(10),
        *(case for some in other_histories(40).values() for case in some),
        *(case for rules, numbers in FAILED_ONCE for case in make_histories(SEED, numbers, rules)),
        *regressions(),
    ]
    return [landed_until(case, at % LANDINGS) for at, case in enumerate(cases)]


@pytest.mark.proof
@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_mistakes_in_models_are_found(tmp_path: Path, part: int) -> None:
    """In parts, which can be run side by side, and of which an interruption loses one."""
    mistakes = MODELS[part - 1 :: PARTS]
    cases = half_landed_cases()
    write_expected(tmp_path / "expected", cases)
    with open_lake(tmp_path, bank_tables()) as lake:
        lake.add_version_tests()
        for path in write_landings(tmp_path / "dump", cases):
            lake.land(path)

        def seen(command: str) -> set[str]:
            """The sources that are not as expected; the command when it did not end well."""
            if not lake.build("--full-refresh", "--vars", settings(cases), command=command):
                check_is_valid("\n".join(lake.lines))
                return {command}
            return {
                one.source for one in differences(lake.spark, tmp_path / "expected", LANDINGS - 1)
            }

        # What one landing after the other has shown stays; all at once may show less.
        usual = seen("build")
        assert "build" not in usual
        assert len(usual) < len(cases) / 20

        def is_seen(command: str) -> bool:
            return bool(seen(command) - usual)

        # Most show themselves in rows, and of the others most in faults, which spares the tests.
        unseen = survivors(lake.project, mistakes, lambda: is_seen("run"))
        copy = copied_repository(tmp_path)
        assert not fails(copy, FAULTS)
        unseen = survivors(copy, unseen, lambda: fails(copy, FAULTS))
        unseen = survivors(lake.project, unseen, lambda: is_seen("build"))
    check(f"models, part {part} of {PARTS}", unseen, len(mistakes))


def copied_repository(folder: Path) -> Path:
    """The repository's own files, to make mistakes in."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout
    copy = folder / "repository"
    for name in filter(None, names.split("\0")):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, copy / name)
    (copy / "jars").symlink_to(REPOSITORY / "jars")
    return copy


def fails(copy: Path, tests: str) -> bool:
    """Whether a test of a copy of the repository fails."""
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", tests],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    check_is_valid(ended.stdout)
    return ended.returncode != 0


def check_is_valid(output: str) -> None:
    """A mistake that Spark or dbt refuse to run shows nothing of the tests."""
    refused = re.search(r"PARSE_SYNTAX|UNRESOLVED_|DATATYPE_|WRONG_NUM|Compilation Error", output)
    assert not refused, output


def survivors(place: Path, mutants: Sequence[Mutant], is_found: Callable[[], bool]) -> list[Mutant]:
    """Mistakes that are not found when they are made in a copy of the project."""
    survived = []
    for mutant in mutants:
        file = place / mutant.path
        right = file.read_text()
        file.write_text(mutant.applied(place))
        found = is_found()
        file.write_text(right)
        print(f"{'found' if found else 'not yet found'}: {mutant}", flush=True)
        if not found:
            survived.append(mutant)
    return survived


@pytest.mark.proof
def test_mistakes_in_the_flattener_are_found(tmp_path: Path) -> None:
    copy = copied_repository(tmp_path)
    assert not fails(copy, "python")
    check("flattener", survivors(copy, FLATTENER, lambda: fails(copy, "python")), len(FLATTENER))


def check(place: str, survived: Sequence[Mutant], count: int) -> None:
    names = [str(mutant) for mutant in survived]
    assert [name for name in names if name not in SURVIVORS] == []
    record(
        f"Mistakes drawn from the rules are found ({place})",
        f"{count - len(names)} of {count}"
        + "".join(f"; survived: {name} ({SURVIVORS[name]})" for name in names),
    )
