"""Random histories, landed in parts: readers see the largest state that can be proven, row for row.

`h00042` is a source like any other, so thousands of histories share each run.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from figures import record
from histories.differences import Difference, differences, failing
from histories.files import write_expected, write_landings
from histories.history import (
    Case,
    History,
    judged,
    make_histories,
    make_history,
    make_streams,
    permuted,
)
from histories.knobs import ALL_RULES, ANEW_RULES, DB2_RULES, FIRST_RULES, PROFILES
from histories.messages import messages
from histories.plan import AUDIT, TABLES
from histories.shrink import read_plan
from lake import DATA, Lake, open_lake, tables_of
from streams_anew import FAILED_ONCE as STREAMS_FAILED_ONCE
from streams_anew import Streams, wrong_counts

from dbt_debezium.scaffold.captured import CapturedTable, Group

pytestmark = pytest.mark.slow

SEED = 1
PERMUTATIONS = 5
CONNECTORS = {
    "sqlserver": "SQL Server",
    "db2": "Db2",
    "mysql": "MySQL",
    "cdl": "Huawei CDL (one partition)",
    "spread_cdl": "Huawei CDL (many partitions)",
}
"""The name of each other connector, by its profile's."""
FAILED_ONCE = (
    # Garbage behind reads of a later snapshot; garbage in another partition of the markers; a
    # tombstone alone behind reads; an END that came again behind the next one; a new stream whose
    # first transaction began before the old one ended; a message that names itself where a commit
    # ended.
    (ALL_RULES, [1_709, 8_750, 7_553, 3_805, 3_134, 2_670]),
    # Logical messages, BEGIN and END before any change of a row; a partition with nothing but a
    # tombstone; the same, behind a restart.
    (ALL_RULES, [229, 901, 414, 629, 2_600, 4_045, 1_630]),
    (FIRST_RULES, [2_592]),
    # A first END that names a database before any change; a BEGIN again of one without changes.
    (DB2_RULES, [20_699, 21_572]),
)


def settings(cases: Sequence[Case]) -> str:
    """What a project must say of the sources."""
    sources = {f"{one.plan.name}.*": one.plan.name for one in cases if "1.0" in one.plan.versions}
    return json.dumps(
        {
            "not_ingested_tables": [f"public.{AUDIT}"],
            "watermark_sources": ["h*w"],
            "cdl_sources": sources,
        }
    )


def bank_tables() -> list[CapturedTable]:
    """The tables of every history."""
    # Models need columns: enough histories to have seen a row of each table.
    some = make_histories(SEED, range(20), ALL_RULES)
    texts = [message for one in some for _, message in messages(one.plan)]
    tables = [table for table in tables_of(texts, [Group("h*", "bank")]) if table.table in TABLES]
    assert {table.model_name for table in tables} == TABLES.keys()
    return tables


def built_landings(
    folder: Path, cases: Sequence[Case], tests_all: bool = True
) -> Iterator[tuple[Lake, int]]:
    """Land and build all cases in lock-step, in a new lake.

    Args:
        folder: for the lake, its project and the dump.
        cases: what lands.
        tests_all: whether the project's own tests run after every landing, not only the last.
    """
    names = [case.plan.name for case in cases]
    assert len({*names}) == len(names), "two histories have one name"
    with open_lake(folder, bank_tables()) as lake:
        lake.add_version_tests()
        paths = write_landings(folder / "dump", cases)
        for landing, path in enumerate(paths):
            if any(path.iterdir()):
                lake.land(path)
            command = "build" if tests_all or path == paths[-1] else "run"
            assert lake.build("--vars", settings(cases), command=command), lake.lines
            yield lake, landing


def found_differences(
    folder: Path, cases: Sequence[Case], tests_all: bool = True
) -> Iterator[list[Difference]]:
    """What is wrong after each landing."""
    write_expected(folder / "expected", cases)
    for lake, landing in built_landings(folder, cases, tests_all):
        shown = sum(case.cuts[min(landing, len(case.cuts) - 1)] is not None for case in cases)
        print(f"landing {landing}: {shown} of {len(cases)} sources show something")
        yield differences(lake.spark, folder / "expected", landing)


def check_cases(folder: Path, cases: Sequence[Case], tests_all: bool = True) -> None:
    for found in found_differences(folder, cases, tests_all):
        assert [str(one) for one in found] == [], failing(found)


def other_histories(count: int) -> dict[str, list[History]]:
    """Histories in the form of each other connector, of which positions and ids are alike."""
    return {
        name: list(make_histories(SEED, range(10_000 * at, 10_000 * at + count), PROFILES[profile]))
        for at, (profile, name) in enumerate(CONNECTORS.items(), start=1)
    }


def permutations(count: int) -> list[Case]:
    """Histories that differ in nothing but where their messages stand and when they land."""
    bases = make_histories(SEED, range(count), ALL_RULES)
    return [permuted(one, number) for one in bases for number in range(PERMUTATIONS)]


def regressions() -> list[Case]:
    """Histories that once failed."""
    paths = sorted((DATA / "regressions").glob("*.json"))
    return [
        judged(replace(plan, name=f"h9{number:04d}{'w' if plan.proof == 'watermark' else ''}"))
        for number, plan in enumerate(map(read_plan, paths))
    ]


@pytest.mark.fault(15, 16, 17, 20, 22, 24, 26, 37, 38, 39)
def test_a_hundred_histories_show_the_largest_provable_state(tmp_path: Path) -> None:
    """And readers of sixty streams that begin anew, in the same lake, see only states that were."""
    cases = [
        *make_histories(SEED, range(100), ALL_RULES),
        *permutations(10),
        *(case for some in other_histories(20).values() for case in some),
        *(case for rules, numbers in FAILED_ONCE for case in make_histories(SEED, numbers, rules)),
        *regressions(),
        # A BEGIN again of a published transaction, and nothing else of it.
        permuted(make_history(SEED, 193, ALL_RULES), 0),
        # A topic that garbage alone has named lands before anything shows its source.
        permuted(make_history(SEED, 472, ALL_RULES), 1),
    ]
    # A source is named by its number: none of the histories has one of these.
    anew = [
        make_streams(SEED, number, ANEW_RULES)
        for number in (*range(230, 290), *STREAMS_FAILED_ONCE)
    ]
    streams = Streams(anew)
    write_expected(tmp_path / "expected", cases)
    sent = [*cases, *anew]
    for lake, landing in built_landings(tmp_path, sent, tests_all=False):
        found = differences(lake.spark, tmp_path / "expected", landing, streams.states)
        assert [str(one) for one in found] == [], failing(found)
        assert list(streams.wrong(lake)) == []
        assert list(wrong_counts(lake, sent, landing + 1)) == []
    assert streams.begun > len(anew) / 2


@pytest.mark.proof
@pytest.mark.parametrize("profile", ["first_rules", "all_rules"])
def test_ten_thousand_histories_show_the_largest_provable_state(
    tmp_path: Path, profile: str
) -> None:
    cases = list(make_histories(SEED, range(10_000), PROFILES[profile]))
    check_cases(tmp_path, cases)
    landings = max(len(case.cuts) for case in cases)
    name = "PostgreSQL" if profile == "all_rules" else "PostgreSQL with one snapshot at most"
    record(
        f"Random histories of {name} show the database's rows at the largest provable commit",
        f"{len(cases):,} histories in {landings} landings: 0 wrong, 0 not the largest, 0 lost",
        seed=SEED,
    )


@pytest.mark.proof
def test_five_permutations_of_five_hundred_histories(tmp_path: Path) -> None:
    cases = permutations(500)
    check_cases(tmp_path, cases)
    landings = max(len(case.cuts) for case in cases)
    record(
        "Random histories in other partitions and landings, with other copies, show the same",
        f"{PERMUTATIONS} permutations of {len(cases) // PERMUTATIONS} in {landings} landings: "
        "0 wrong, 0 not the largest, 0 lost",
        seed=SEED,
    )


@pytest.mark.proof
def test_two_thousand_histories_of_each_other_connector_in_one_run(tmp_path: Path) -> None:
    """Their LSNs and ids are equal often, and touch no other source."""
    histories = other_histories(2_000)
    cases = [case for some in histories.values() for case in some]
    check_cases(tmp_path, cases)
    landings = max(len(case.cuts) for case in cases)
    for name, some in histories.items():
        record(
            f"Random histories in the form of {name} show the rows at the largest provable commit, "
            "in one run with those of the others",
            f"{len(some):,} histories in {landings} landings: 0 wrong, 0 not the largest, 0 lost",
            seed=SEED,
        )


@pytest.mark.proof
def test_two_thousand_streams_that_begin_anew_show_only_states_that_were(tmp_path: Path) -> None:
    anew = [make_streams(SEED, number, ANEW_RULES) for number in range(2_000)]
    streams = Streams(anew)
    wrong: list[str] = []
    for lake, landing in built_landings(tmp_path, anew, tests_all=False):
        found = [*streams.wrong(lake), *wrong_counts(lake, anew, landing + 1)]
        wrong += [f"landing {landing}: {line}" for line in found]
        print(f"landing {landing}: {streams.begun} of {len(anew)} sources show something")
    assert wrong == []
    assert streams.begun > len(anew) / 2
    record(
        "Streams of PostgreSQL that break off and begin anew, with transaction metadata and "
        "without, show only states that the source had",
        f"{len(anew):,} histories in {landing + 1} landings: 0 wrong, 0 lost",
        seed=SEED,
    )
