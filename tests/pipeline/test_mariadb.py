"""A MariaDB server's change log, whole and cut off at random, shows states of the server."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from arrivals import Arrival, renamed, write_arrivals
from binlog_captures import (
    Difference,
    Version,
    arrival_differences,
    as_of,
    by_name,
    data_tables,
    differences,
    known_differences,
    of_data,
    read_moments,
    some_arrivals,
    spread_truncates,
    versions,
)
from compare import check_counts, read_cuts, table_differences
from figures import record
from lake import capture
from mysql_oracle import MysqlHistory
from oracle import Message, Row, Table, read_messages, rows_of

from dbt_debezium.export import export
from dbt_debezium.preview import previewed
from dbt_debezium.scaffold import Group

NAME = "mariadb_shop"
SOURCE = "mar"

DIFFERENCES = (
    # RENAME COLUMN, DROP COLUMN: rows change and nothing is sent.
    Difference(21, 25, "t1", "id=4, w=a", "id=4, v=a"),
    Difference(21, 25, "t1", "id=5, w=b", "id=5, v=b"),
    Difference(21, 25, "t1", "id=6, w=c", "id=6, v=c"),
    Difference(22, 25, "t1", "id=7, w=u", "id=7, n=7, w=u"),
    # RENAME TABLE: rows stay under the name that they were sent with.
    Difference(23, 25, "t1", "id=9, w=renamed", None),
    Difference(23, 28, "t1_new", None, "id=9, w=renamed"),
    # DROP TABLE removes rows and sends nothing; there were two of this one.
    Difference(24, 25, "nopk", None, "a=9, b=new"),
    Difference(24, 25, "nopk", None, "a=9, b=new"),
)
"""All that DDL did without an event."""


def number_of(gtid: str) -> int:
    return int(gtid.rpartition("-")[2])


@cache
def messages() -> list[Message]:
    return read_messages(capture(NAME))


@cache
def history() -> MysqlHistory:
    return MysqlHistory(messages())


@cache
def cuts() -> list[dict[str, Any]]:
    """The moments, each with the number of its last commit."""
    return [
        {**cut, "commit": history().last_commit(number_of(cut["cut"]["gtid"]))}
        for cut in read_moments(NAME)
    ]


@pytest.fixture(scope="module", autouse=True)
def values_as_they_were_sent() -> Iterator[None]:
    """The oracle knows values as the messages have them, without the types that the topic tells."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dbt_debezium.tables.announced_type", lambda *_: None)
        yield


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Row, dict[Table, list[Version]]]:
    """The entry of `cut.json`, and every version of every row."""
    folder = tmp_path_factory.mktemp("mariadb")
    with previewed(capture(NAME), settings={"landing_reaches_the_end": True}) as built:
        export(built.spark, built.tables, folder)
        histories = {
            (table.schema or "", table.table): versions(built.spark, table)
            for table in built.tables
        }
    return read_cuts(folder)[SOURCE], histories


def test_the_oracle_says_what_the_server_said() -> None:
    assert len(cuts()) == 28
    for cut in cuts():
        state = history().state(cut["commit"])
        assert differences(cut, by_name(rows_of(state))) == known_differences(cut, DIFFERENCES), (
            cut["cut"]
        )


def test_a_change_log_is_published_to_its_end(
    whole: tuple[Row, dict[Table, list[Version]]],
) -> None:
    entry, _ = whole
    assert (entry["held"], entry["quarantined"]) == ([], [])
    assert entry["commit_number"] == len(history().commits) == cuts()[-1]["commit"]
    assert (entry["transaction_id"], entry["proof"]) == (cuts()[-1]["cut"]["gtid"], "counted")
    assert check_counts(entry, len(messages())) == []


def test_each_moment_of_the_history_is_one_of_the_server(
    whole: tuple[Row, dict[Table, list[Version]]],
) -> None:
    _, histories = whole
    for cut in cuts():
        found = as_of(histories, cut["commit"])
        known = known_differences(cut, DIFFERENCES)
        assert of_data(differences(cut, by_name(found))) == of_data(known), cut["cut"]


def test_each_commit_of_the_history_is_one_of_the_server(
    whole: tuple[Row, dict[Table, list[Version]]],
) -> None:
    _, histories = whole
    for number in range(len(history().commits) + 1):
        expected = data_tables(rows_of(history().state(number)))
        found = data_tables(as_of(histories, number))
        assert table_differences(f"commit {number}", expected, found) == []


# --- arrivals ----------------------------------------------------------------------------------


def moment_arrivals() -> list[Arrival]:
    """What had been sent at each moment: all of its transactions and none of the next."""
    begins = [
        (at, number_of(value["id"]))
        for at, message in enumerate(messages())
        if (value := json.loads(message["value"] or "{}")).get("status") == "BEGIN"
    ]
    arrivals = []
    for cut in cuts():
        last = number_of(cut["cut"]["gtid"])
        end = min((at for at, number in begins if number > last), default=len(messages()))
        prefix = f"some_moment_{cut['cut']['cut'][:3]}"
        sent = [renamed(message, SOURCE, prefix) for message in messages()[:end]]
        arrivals.append(Arrival(prefix, sent, list(range(end))))
    return arrivals


def check_arrivals(folder: Path, arrivals: list[Arrival]) -> None:
    """Publish arrivals in one run, and compare what each proves."""
    write_arrivals(folder / "dump", arrivals)
    with previewed(folder / "dump", [Group("some_*", "some")]) as built:
        export(built.spark, built.tables, folder / "export")
    published = read_cuts(folder / "export")
    found: list[str] = []
    for arrival in arrivals:
        entry = published.get(arrival.prefix, {})
        found += arrival_differences(folder / "export", arrival, entry, history())
    assert found == []


def test_an_arrival_shows_the_largest_provable_state(tmp_path: Path) -> None:
    sent = spread_truncates(messages())
    check_arrivals(tmp_path, moment_arrivals() + some_arrivals("some_gtid", sent, 12, SOURCE))


@pytest.mark.proof
def test_a_hundred_arrivals_show_the_largest_provable_state(tmp_path: Path) -> None:
    sent = spread_truncates(messages())
    check_arrivals(tmp_path, some_arrivals("some_gtid", sent, 100, SOURCE))
    record(
        f"Random arrivals of the capture {NAME} show the largest provable state",
        "100 arrivals: 0 wrong, 0 not the largest, 0 lost",
    )
