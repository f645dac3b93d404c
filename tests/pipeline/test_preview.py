"""`preview` on real captures, whole and cut off at random, shows states of the database."""

from pathlib import Path

import pytest
from arrivals import Arrival, make_arrival, write_arrivals
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
from dbt_debezium.scaffold import Group

REPLAYS = ("all", "tail", None, None)
"""Half of the arrivals hold messages that a restarted connector sent again."""


def arrivals_of(name: str, prefix: str, count: int) -> list[Arrival]:
    messages = read_messages(capture(name))
    return [
        make_arrival(messages, seed, f"{prefix}_{seed:04d}", replay=REPLAYS[seed % len(REPLAYS)])
        for seed in range(count)
    ]


def preview_of(folder: Path, shops: int, truncates: int) -> tuple[Path, dict[str, list[Arrival]]]:
    """Preview both captures whole and many arrivals of each in one run, and export all."""
    arrivals = {
        "shop_basic": arrivals_of("shop_basic", "some_shop", shops),
        "truncate": arrivals_of("truncate", "some_trunc", truncates),
    }
    dump = folder / "dump"
    write_arrivals(dump, [one for some in arrivals.values() for one in some])
    for name in arrivals:
        (dump / f"{name}.jsonl.gz").symlink_to(capture(name))
    groups = [Group("*shop*", "some_shop"), Group("*trunc*", "some_trunc")]
    with previewed(dump, groups) as built:
        export(built.spark, built.tables, folder / "export")
    return folder / "export", arrivals


def check_arrivals(export_directory: Path, name: str, arrivals: list[Arrival]) -> None:
    history = History(read_messages(capture(name)))
    assert compare_arrivals(export_directory, history, arrivals) == []


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[Arrival]]]:
    return preview_of(tmp_path_factory.mktemp("preview"), shops=12, truncates=8)


@pytest.mark.parametrize(("name", "source"), [("shop_basic", "shop"), ("truncate", "trunc")])
def test_a_whole_capture_gives_the_tables_of_the_database(
    some: tuple[Path, dict[str, list[Arrival]]], name: str, source: str
) -> None:
    directory, _ = some
    assert compare_export_with_database(directory, source, read_expected(DATA / name)) == []


@pytest.mark.fault(16, 17)
@pytest.mark.parametrize("name", ["shop_basic", "truncate"])
def test_an_arrival_shows_the_largest_provable_state_and_loses_no_message(
    some: tuple[Path, dict[str, list[Arrival]]], name: str
) -> None:
    directory, arrivals = some
    check_arrivals(directory, name, arrivals[name])


@pytest.mark.proof
def test_two_hundred_arrivals_show_the_largest_provable_state(tmp_path: Path) -> None:
    directory, arrivals = preview_of(tmp_path, shops=200, truncates=100)
    for name, some_arrivals in arrivals.items():
        check_arrivals(directory, name, some_arrivals)
        record(
            f"Random arrivals of the capture {name} show the largest provable state",
            f"{len(some_arrivals)} arrivals: 0 wrong, 0 not the largest, 0 lost",
        )
