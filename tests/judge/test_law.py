"""The judge shows what the law says, landing by landing, on random histories. No Spark."""

from collections.abc import Sequence

import pytest
from histories.history import Case, make_history
from histories.knobs import PROFILES
from replay import compared

SEED = 1
QUICK = {
    "first_rules": 100,
    "all_rules": 200,
    "sqlserver": 100,
    "db2": 100,
    "mysql": 150,
    "cdl": 50,
    "spread_cdl": 50,
}
FULL = {
    "first_rules": 2_000,
    "all_rules": 10_000,
    "sqlserver": 2_000,
    "db2": 2_000,
    "mysql": 2_000,
    "cdl": 2_000,
    "spread_cdl": 2_000,
}


def differences(case: Case) -> list[str]:
    """Each landing after which the judge shows another commit than the law."""
    return [
        f"{case.plan.name}, landing {landing}: got {got}, law {law}"
        for landing, got, law in compared(case)
        if got != law
    ]


def all_differences(profile: str, numbers: Sequence[int]) -> list[str]:
    histories = (make_history(SEED, number, PROFILES[profile]) for number in numbers)
    return [one for history in histories for one in differences(history)]


@pytest.mark.parametrize(("profile", "count"), QUICK.items())
def test_the_judge_shows_what_the_law_says(profile: str, count: int) -> None:
    assert all_differences(profile, range(count)) == []


@pytest.mark.proof
@pytest.mark.parametrize(("profile", "count"), FULL.items())
def test_the_judge_shows_what_the_law_says_of_all(profile: str, count: int) -> None:
    assert all_differences(profile, range(count)) == []
