"""`preview` on real captures, whole and cut off at random, shows states of the database.

One run has those of PostgreSQL, of MySQL with GTIDs and without, and of MariaDB.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import test_mariadb
import test_mysql
from arrivals import Arrival, make_arrival, write_arrivals
from binlog_captures import GROUPS, OfHistories, differences_of
from captured_servers import MARIADB
from compare import (
    compare_arrivals,
    compare_export_with_database,
    read_expected,
)
from figures import record
from lake import DATA, capture
from oracle import History, read_messages

from dbt_debezium.export import export
from dbt_debezium.preview import previewed
from dbt_debezium.scaffold.captured import Group

pytestmark = pytest.mark.slow

REPLAYS = ("all", "tail", None, None)
"""Half of the arrivals hold messages that a restarted connector sent again."""


def arrivals_of(name: str, prefix: str, count: int) -> list[Arrival]:
    messages = read_messages(capture(name))
    return [
        make_arrival(messages, seed, f"{prefix}_{seed:04d}", replay=REPLAYS[seed % len(REPLAYS)])
        for seed in range(count)
    ]


@dataclass(frozen=True, slots=True)
class Previewed:
    """What one run has published."""

    export: Path
    arrivals: dict[str, list[Arrival]]
    """By capture."""


def preview_of(
    folder: Path, shops: int, truncates: int, others: Sequence[Arrival] = ()
) -> Previewed:
    """Preview both captures whole and many arrivals of each in one run, and export all."""
    arrivals = {
        "shop_basic": arrivals_of("shop_basic", "some_shop", shops),
        "truncate": arrivals_of("truncate", "some_trunc", truncates),
    }
    dump = folder / "dump"
    write_arrivals(dump, [*(one for some in arrivals.values() for one in some), *others])
    for name in arrivals:
        shutil.copy(capture(name), dump / f"{name}.jsonl.gz")
    groups = [Group("*shop*", "some_shop"), Group("*trunc*", "some_trunc"), *GROUPS]
    with previewed(dump, groups) as built:
        export(built.spark, built.tables, folder / "export")
    return Previewed(folder / "export", arrivals)


def check_arrivals(export_directory: Path, name: str, arrivals: list[Arrival]) -> None:
    history = History(read_messages(capture(name)))
    assert compare_arrivals(export_directory, history, arrivals) == []


@pytest.fixture(scope="module")
def of_servers() -> dict[str, OfHistories]:
    """Arrivals of MySQL and MariaDB, by what test they are of."""
    return {
        "mysql": test_mysql.random_arrivals(12),
        "mariadb": [(MARIADB.history, test_mariadb.random_arrivals(12))],
        "moments of mariadb": [(MARIADB.history, test_mariadb.moment_arrivals())],
    }


@pytest.fixture(scope="module")
def some(
    of_servers: dict[str, OfHistories],
    values_as_they_were_sent: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Previewed:
    others = [one for of in of_servers.values() for _, arrivals in of for one in arrivals]
    return preview_of(tmp_path_factory.mktemp("preview"), shops=12, truncates=8, others=others)


@pytest.mark.parametrize(("name", "source"), [("shop_basic", "shop"), ("truncate", "trunc")])
def test_a_whole_capture_gives_the_tables_of_the_database(
    some: Previewed, name: str, source: str
) -> None:
    assert compare_export_with_database(some.export, source, read_expected(DATA / name)) == []


@pytest.mark.fault(16, 17)
@pytest.mark.parametrize("name", ["shop_basic", "truncate"])
def test_an_arrival_shows_the_largest_provable_state_and_loses_no_message(
    some: Previewed, name: str
) -> None:
    check_arrivals(some.export, name, some.arrivals[name])


@pytest.mark.parametrize("name", ["mysql", "mariadb", "moments of mariadb"])
def test_an_arrival_of_a_binlog_shows_the_largest_provable_state(
    some: Previewed, of_servers: dict[str, OfHistories], name: str
) -> None:
    assert differences_of(some.export, of_servers[name]) == []


@pytest.mark.proof
def test_two_hundred_arrivals_show_the_largest_provable_state(tmp_path: Path) -> None:
    found = preview_of(tmp_path, shops=200, truncates=100)
    for name, some_arrivals in found.arrivals.items():
        check_arrivals(found.export, name, some_arrivals)
        record(
            f"Random arrivals of the capture {name} show the largest provable state",
            f"{len(some_arrivals)} arrivals: 0 wrong, 0 not the largest, 0 lost",
        )
