"""A run knows its state, what has landed since and what is open, and says what the law says.

Histories and scenarios land anew in other parts: each partition by itself, with a tenth late, in
any order, and message by message. No Spark.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import pytest
from histories.history import Case, judged, make_history
from histories.knobs import PROFILES
from histories.law import TracelessError
from replay import Shown, commits, expected, landings, shown
from splits import SPLITS, relanded

SEED = 1
QUICK = 12
FULL = 360
IN_ORDER = ("cut", "each")
"""Splits in which each partition lands in order. The law takes that for granted; in others it may
know more than what has landed shows, until all has."""


def differences(case: Case, split: str) -> list[str]:
    """Each landing after which readers see another commit than the law has; ahead of it, where
    partitions land in any order, or another one at the end."""
    found = []
    newest = None
    parts = commits(case.plan, landings(case))
    for landing, (new, law) in enumerate(zip(parts, expected(case), strict=True)):
        newest = new[-1] if new else newest
        got = shown(case.plan, newest)
        if got is not None and law is not None and law.commit_number is None:
            got = got._replace(commit_number=None)
        is_last = landing + 1 == case.plan.landing_count
        must_equal = split in IN_ORDER or is_last
        if got != law and (must_equal or is_ahead(got, law)):
            found.append(f"{case.plan.name} {split}, landing {landing}: got {got}, law {law}")
    return found


def is_ahead(got: Shown | None, law: Shown | None) -> bool:
    """Whether readers see more than can be proved."""
    if got is None or law is None:
        return law is None
    if got.commit_number is not None and law.commit_number is not None:
        return got.commit_number > law.commit_number
    return (got.commit_position or "") > (law.commit_position or "")


def split_cases(profile: str, numbers: Sequence[int]) -> Iterator[tuple[Case, str]]:
    """Histories in other parts. Where something is missing without a trace, no rule helps."""
    for number in numbers:
        plan = make_history(SEED, number, PROFILES[profile]).plan
        for split in SPLITS:
            with suppress(TracelessError):
                yield judged(relanded(plan, split, f"{profile} {number}")), split


def all_differences(profile: str, numbers: Sequence[int]) -> list[str]:
    return [one for case in split_cases(profile, numbers) for one in differences(*case)]


@pytest.mark.parametrize("profile", PROFILES)
def test_runs_show_what_the_law_says_however_messages_land(profile: str) -> None:
    assert all_differences(profile, range(QUICK)) == []


@pytest.mark.proof
@pytest.mark.parametrize("profile", PROFILES)
def test_ten_thousand_landings_show_what_the_law_says(profile: str) -> None:
    assert all_differences(profile, range(FULL)) == []
