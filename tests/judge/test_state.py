"""A run knows its state, what has landed since and what is open, and says what the law says.

Histories and scenarios land anew in other parts: each partition by itself, with a tenth late, in
any order, and message by message. No Spark.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from histories.history import Case, judged, make_history
from histories.knobs import PROFILES
from histories.law import TracelessError
from replay import Shown, compared
from scenario import play, read_scenario
from splits import SPLITS, relanded

SEED = 1
QUICK = 6
FULL = 360
IN_ORDER = ("cut", "each")
"""Splits in which each partition lands in order. The law takes that for granted; in others it may
know more than what has landed shows, until all has."""


def differences(case: Case, split: str) -> list[str]:
    """Each landing after which readers see another commit than the law has; ahead of it, where
    partitions land in any order, or another one at the end."""
    found = []
    for landing, got, law in compared(case):
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


SCENARIOS = sorted((Path(__file__).parent / "scenarios").glob("S*.md"))
DIFFERS: Final = {
    "S04-a-table-of-a-released-transaction": "nothing showed the table before its END landed",
    "S04-a-table-that-has-not-landed": "likewise",
    "S04-an-unreadable-message-may-be-a-read": "it landed behind what it may have been",
    "S04-an-unreadable-message-may-be-the-first-read": "likewise",
    "S16-the-first-transaction": "likewise",
    "S18-a-gap-in-a-partition": "likewise",
    "S05-a-second-snapshot-without-changes-between": "reads landed behind what follows them",
    "S05-mariadb-a-snapshot-behind-a-truncate": "likewise, and a TRUNCATE before the next BEGIN",
    "S05-sqlserver-a-snapshot-where-the-newest-commit-ends": "likewise",
    "S05-a-snapshot-where-the-newest-commit-ends": "likewise",
    "S05-mysql-a-second-snapshot-on-another-server": "likewise",
    "S05-mysql-two-snapshots-of-two-servers-in-one-run": "likewise",
    "S05-mysql-a-table-without-reads-after-a-failover": "likewise",
    "S05-mysql-another-replica-with-the-same-id": "likewise",
    "S05-mysql-a-snapshot-behind-what-changes-nothing": "likewise",
    "S05-a-gap-in-front-of-a-change-at-the-place-of-a-snapshot": "likewise",
    "S17-mysql-another-replica-in-a-table-without-reads": "likewise",
    "S17-mysql-another-server-in-a-table-without-reads": "nothing showed the other server",
    "S04-a-snapshot-and-an-end-without-place": "the snapshot has seen what ends later",
    "S07-a-message-behind-the-reads": "reads landed before the signal that asks for them",
    "S08-a-truncate-of-several-domains": "likewise",
    "S05-a-stream-of-another-connector-from-an-older-slot": "the snapshot was published first",
    "S05-oracle-a-snapshot-and-changes-without-a-place": "likewise",
    "S14-a-second-partition-of-markers-behind-a-snapshot": "likewise",
    "S17-mysql-a-copy-behind-the-snapshot-that-has-seen-it": "likewise",
    "S05-a-later-snapshot-reads-no-signals": "likewise",
    "S05-a-failover-behind-a-snapshot": "likewise, and the run fails on what it takes for late",
    "S08-a-table-that-is-dropped-without-gtid": "the statement landed behind what follows it",
    "S08-two-tables-swap-their-names": "a landing ended inside of the statement",
    "S13-an-id-that-a-connector-gives-out-again": "the END with another time landed later",
    "S08-a-truncate-of-another-server": "nothing showed the second log",
    "S13-a-restart-without-an-overlap": "the second BEGIN landed later",
    "S13-an-overlap-without-a-restart": "likewise",
    "S13-an-end-whose-sum-is-wrong": "the contradicting message landed later",
    "S13-changes-without-a-place": "likewise",
    "S13-copies-that-differ": "likewise",
    "S13-copies-with-another-row": "likewise",
    "S13-copies-with-another-row-and-numbers": "likewise",
    "S13-more-changes-than-end-counts": "likewise",
    "S16-mysql-a-snapshot-behind-a-released-transaction": "the snapshot landed in front of END",
    "S05-mysql-a-later-snapshot-has-reads-in-each-partition": "likewise",
    "S05-mysql-a-snapshot-of-another-server": "likewise",
    "S17-a-snapshot-that-lands-too-late": "it lands late in the scenario, too",
    "S16-a-discarded-snapshot-hides-nothing": "it was published before the decision",
    "S17-an-end-behind-the-snapshot-that-has-seen-it": "as S15-a-snapshot-reads-again",
    "S13-the-larger-of-two-ends-is-right": "the second END landed later",
    "S18-a-gap-that-closes": "nothing showed the other partition",
    "S15-a-snapshot-reads-again": "a run behind the snapshot proves more than the one with it",
    "S15-a-window-that-nothing-counts": "nothing showed the other partition",
    "S15-what-all-partitions-have-left": "likewise",
    "S22-a-transaction-that-lands-behind-a-later-one": "likewise",
    "S15-transaction-metadata-is-switched-on-again": "what was committed before landed later",
    "S17-mysql-a-transaction-behind-reads-of-an-older-snapshot": "as S15-a-snapshot-reads-again",
    "S17-mysql-a-transaction-without-end-behind-older-reads": "as S15-a-snapshot-reads-again",
    "S05-a-snapshot-replaces-what-was-never-landed": "as S15-a-snapshot-reads-again",
    "S05-mysql-a-snapshot-replaces-what-was-never-landed": "likewise",
    "S07-an-initial-snapshot-behind-a-signal": "END landed behind the snapshot",
    "S08-an-unreadable-message-before-the-first-commit": "the first of its partition landed later",
}
"""Scenarios whose verdict depends on what had landed before, and why. Where evidence against a
transaction lands behind its commit, the commit stays (P5)."""


QUICK_SEEDS: Final = {"each": (0,), "cut": (0,), "any": (0,)}
FULL_SEEDS: Final = {split: range(12) for split in SPLITS}


def differing(path: Path, seeds: Mapping[str, Iterable[int]]) -> list[tuple[str, int]]:
    """Splits of a scenario in which something else is settled, or held at the end."""
    scenario = read_scenario(path)
    return [
        (split, seed)
        for split, some in seeds.items()
        for seed in some
        if any(_settled(got) != _settled(want) for _, got, want in play(scenario, split, seed))
    ]


@pytest.mark.parametrize(
    "path", [one for one in SCENARIOS if one.stem not in DIFFERS], ids=lambda path: path.stem
)
def test_a_scenario_ends_the_same_however_its_messages_land(path: Path) -> None:
    assert differing(path, QUICK_SEEDS) == []


@pytest.mark.proof
@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_ends_the_same_however_often_it_lands(path: Path) -> None:
    assert bool(differing(path, FULL_SEEDS)) == (path.stem in DIFFERS)


def _settled(lines: Sequence[str]) -> list[str]:
    """Lines of verdicts in any order, without the numbers of commits."""
    return sorted(re.sub(r"^commit \d+", "commit", one) for one in lines if one != "nothing new")
