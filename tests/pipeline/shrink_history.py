"""Make a failing history small, and keep it as a regression.

    .venv/bin/python tests/pipeline/shrink_history.py SEED NUMBER PROFILE

A batch of reductions is one lake with as many builds as the history has landings.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from histories.differences import failing
from histories.history import Case, make_history
from histories.knobs import PROFILES
from histories.reduce import size
from histories.shrink import shrink, write_plan
from lake import DATA
from test_histories import found_differences


def fails(cases: Sequence[Case]) -> set[str]:
    """The sources that are wrong after some landing."""
    wrong: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="dbt-debezium-") as folder:
        for found in found_differences(Path(folder), cases):
            wrong |= set(failing(found))
    smallest = min((size(case.plan) for case in cases if case.plan.name in wrong), default=None)
    print(f"{len(wrong)} of {len(cases)} reductions fail, the smallest has {smallest}", flush=True)
    return wrong


def main() -> None:
    seed, number, profile = sys.argv[1:]
    history = make_history(int(seed), int(number), PROFILES[profile])
    if not fails([history]):
        sys.exit(f"{history.plan.name} does not fail")
    path = DATA / "regressions" / f"{profile}_{seed}_{number}.json"
    write_plan(path, shrink(history.plan, fails))
    print(path)


if __name__ == "__main__":
    main()
