"""Nearly every small change of the judge shows in a scenario or in a random source. No Spark."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import pytest
import test_default_settings
import test_operators
import test_random_streams
import test_streams_anew
from histories.history import make_history, make_streams
from histories.knobs import ANEW_RULES, PROFILES
from judge_mutants import Case, is_killed, mutants, said
from replay import landings, runs_of
from runs import Runs
from scenario import play, read_scenario
from test_decisions import draw_operators
from test_defaults import SEED, draw

SCENARIOS = sorted((Path(__file__).parent / "scenarios").glob("S*.md"))
COUNT = 60
"""Of each kind of random source."""
LEAST_COUNT = 200
LEAST_KILLED = 0.97


def sources() -> Iterator[Iterable[object]]:
    """Each judges a source run by run, the shortest first."""
    yield from (play(read_scenario(path)) for path in SCENARIOS)
    for profile in PROFILES.values():
        for number in range(COUNT):
            history = make_history(1, number, profile)
            yield map(runs_of(history.plan).run, landings(history))
    for source in test_random_streams.draw_all(range(2 * COUNT)):
        yield test_random_streams.differences(source)
    for number in range(COUNT):
        drawn = draw(Random(f"{SEED} {number}"), number)
        yield test_default_settings.differences(*drawn)
    for operator in draw_operators(range(COUNT), test_operators.PARTS):
        yield test_operators.differences(operator)
    for number in range(COUNT):
        yield test_streams_anew.differences(make_streams(1, number, ANEW_RULES))


def cases(monkeypatch: pytest.MonkeyPatch) -> list[Case]:
    """What the judge is given in every run of these sources."""
    found: dict[Case, None] = {}
    run = Runs.run

    def noted(runs: Runs, *what: object) -> object:
        try:
            return run(runs, *what)  # type: ignore[arg-type] # as it was called
        finally:
            found[Case(tuple(runs.marks), runs.start, said(runs.marks, runs.start))] = None

    monkeypatch.setattr(Runs, "run", noted)
    for source in sources():
        for _ in source:
            pass
    return [*found]


@pytest.mark.proof
def test_nearly_every_mutant_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = cases(monkeypatch)
    count, survivors = 0, []
    for mutant in mutants():
        count += 1
        if not is_killed(mutant, known):
            survivors.append(f"{mutant.module}:{mutant.line}: {mutant.changed}")
    print(f"{count} mutants, {len(known)} runs, {len(survivors)} survive:", *survivors, sep="\n")
    assert count >= LEAST_COUNT
    assert 1 - len(survivors) / count >= LEAST_KILLED
