"""Random histories, landed in parts: readers see the largest state that can be proven, row for row.

`h00042` is a source like any other, so thousands of histories share each run.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from histories.differences import differences, failing
from histories.files import write_expected, write_landings
from histories.history import History, make_histories
from histories.knobs import ALL_RULES, FIRST_RULES, Profile
from histories.messages import messages
from histories.plan import AUDIT, TABLES
from lake import Lake, open_lake, tables_of

from dbt_debezium.scaffold import Group

SEED = 1
NOT_INGESTED = f"{{not_ingested_tables: [public.{AUDIT}]}}"


@contextmanager
def histories_lake(folder: Path, histories: Iterable[History]) -> Iterator[Lake]:
    """A lake with the models of the tables that all histories share."""
    texts = [message for history in histories for _, message in messages(history.plan)]
    tables = [table for table in tables_of(texts, [Group("h*", "bank")]) if table.table in TABLES]
    assert {table.model_name for table in tables} == TABLES.keys()
    with open_lake(folder, tables) as lake:
        yield lake


def check_histories(folder: Path, histories: list[History]) -> None:
    """Land, build and compare, one landing after the other."""
    write_expected(folder / "expected", histories)
    with histories_lake(folder, histories[:100]) as lake:
        for landing, path in enumerate(write_landings(folder / "dump", histories)):
            if any(path.iterdir()):
                lake.land(path)
            assert lake.build("--vars", NOT_INGESTED), lake.lines
            found = differences(lake.spark, folder / "expected", landing)
            shown = Counter(history.cuts[landing] is not None for history in histories)
            print(f"landing {landing}: {shown[True]} of {len(histories)} histories show something")
            assert [str(one) for one in found] == [], failing(found)


def test_two_hundred_histories_show_the_largest_provable_state(tmp_path: Path) -> None:
    check_histories(tmp_path, list(make_histories(SEED, range(200), FIRST_RULES)))


@pytest.mark.proof
@pytest.mark.parametrize("profile", [FIRST_RULES, ALL_RULES], ids=["first_rules", "all_rules"])
def test_ten_thousand_histories_show_the_largest_provable_state(
    tmp_path: Path, profile: Profile
) -> None:
    check_histories(tmp_path, list(make_histories(SEED, range(10_000), profile)))
