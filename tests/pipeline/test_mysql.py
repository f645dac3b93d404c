"""A MySQL server's change log, whole and cut off at random, shows states of the server."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from arrivals import write_arrivals
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
from compare import check_counts, read_cuts, read_expected, table_differences
from figures import record
from lake import DATA, capture
from mysql_oracle import MysqlHistory, database_cuts
from oracle import Message, Row, Table, read_messages, rows_of

from dbt_debezium.export import export
from dbt_debezium.preview import previewed
from dbt_debezium.scaffold import Group

NAME = "mysql_shop"
SOURCE = "msh"

SIGNALS = tuple(
    f'data={{"openWindowTimestamp": "2026-11-21T03:37:34.{nanos}Z"}}, id={uuid}-open, '
    "type=snapshot-window-open"
    for nanos, uuid in (
        ("324908837", "153c9cbc-555a-44ee-9f6d-8c2e7cca9f24"),
        ("336474436", "cf0e1485-8b97-4548-9a26-424d462507b9"),
    )
)


DIFFERENCES = (
    # The converter sends the default for null.
    Difference(9, 25, "ty", "b1=2, id=4", "b1=2, dflt=42, dfs=dflt, id=4"),
    # ADD COLUMN with a default, RENAME COLUMN, DROP COLUMN: rows change and nothing is sent.
    Difference(16, 16, "t1", "id=1, n=7, v=after truncate", "id=1, v=after truncate"),
    Difference(17, 17, "t1", "id=1, n=7, w=after truncate", "id=1, v=after truncate"),
    Difference(17, 17, "t1", "id=2, n=7, w=u", "id=2, n=7, v=u"),
    Difference(18, 18, "t1", "id=1, w=after truncate", "id=1, v=after truncate"),
    Difference(18, 18, "t1", "id=2, w=u", "id=2, n=7, v=u"),
    Difference(18, 18, "t1", "id=3, w=w", "id=3, n=9007199254740993, w=w"),
    # RENAME TABLE: rows stay under the name that they were sent with.
    Difference(19, 19, "t1", None, "id=1, v=after truncate"),
    Difference(19, 19, "t1", None, "id=2, n=7, v=u"),
    Difference(19, 19, "t1", None, "id=3, n=9007199254740993, w=w"),
    Difference(19, 19, "t1", None, "id=4, n=text, w=x"),
    Difference(19, 19, "t1_new", "id=1, w=after truncate", None),
    Difference(19, 19, "t1_new", "id=2, w=u", None),
    Difference(19, 19, "t1_new", "id=3, w=w", None),
    Difference(19, 19, "t1_new", "id=4, n=text, w=x", None),
    Difference(20, 25, "t1_new", None, "id=5, w=renamed"),
    # DROP TABLE removes rows and sends nothing; there were two of this one.
    Difference(21, 25, "nopk", None, "a=5, b=a"),
    Difference(21, 25, "nopk", None, "a=5, b=a"),
    # Rows that the connector put into its signal table while the moment was taken.
    Difference(24, 24, "debezium_signal", SIGNALS[0], None),
    Difference(24, 24, "debezium_signal", SIGNALS[1], None),
)
"""All that DDL did without an event, and two nulls."""


@cache
def messages() -> list[Message]:
    return read_messages(capture(NAME))


@cache
def spread_messages() -> list[Message]:
    return spread_truncates(messages())


@cache
def messages_without_gtids() -> list[Message]:
    """The same as a server without GTIDs sends it: ids are where BEGIN stands in the log."""
    sent = []
    ids: dict[str, str] = {}
    waiting = spread_messages()
    for message in waiting:
        value = json.loads(message["value"] or "{}")
        if gtid := (value.get("transaction") or {}).get("id"):
            place = value["source"]["pos"] - 1
            ids.setdefault(gtid, f"file={value['source']['file']},pos={place}")
    for message in waiting:
        texts = {name: message[name] for name in ("key", "value") if message[name]}
        for name, text in texts.items():
            without = re.sub('"gtid":"[^"]*"', '"gtid":null', text)
            texts[name] = re.sub(
                '(?<="id":")[^"]*:[0-9]+(?=")', lambda found: ids.get(found[0], found[0]), without
            )
        sent.append({**message, **texts})
    return sent


@cache
def history() -> MysqlHistory:
    return MysqlHistory(messages())


@cache
def history_without_gtids() -> MysqlHistory:
    return MysqlHistory(messages_without_gtids())


@cache
def cuts() -> list[dict[str, Any]]:
    return database_cuts(read_moments(NAME))


# --- the whole capture -------------------------------------------------------------------------


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
    folder = tmp_path_factory.mktemp("mysql")
    with previewed(capture(NAME), settings={"landing_reaches_the_end": True}) as built:
        export(built.spark, built.tables, folder)
        histories = {
            (table.schema or "", table.table): versions(built.spark, table)
            for table in built.tables
        }
    return read_cuts(folder)[SOURCE], histories


def test_ids_without_gtids_change_no_state() -> None:
    other = history_without_gtids()
    assert not other.numbers
    assert len(other.commits) == len(history().commits)
    for number in range(0, len(other.commits) + 1, 8):
        assert other.state(number) == history().state(number)


def test_the_oracle_says_what_the_server_said() -> None:
    assert len(cuts()) == 25
    for cut in cuts():
        state = history().state(history().commit_of(cut["transaction_id"]))
        assert differences(cut, by_name(rows_of(state))) == known_differences(cut, DIFFERENCES), (
            cut["cut"]
        )


def test_the_last_moment_is_the_end() -> None:
    expected = read_expected(DATA / NAME).tables
    assert {name: rows for (_, name), rows in expected.items()} == cuts()[-1]["tables"]


def test_a_change_log_is_published_to_its_end(
    whole: tuple[Row, dict[Table, list[Version]]],
) -> None:
    entry, _ = whole
    assert (entry["commit_number"], entry["held"], entry["quarantined"]) == (176, [], [])
    assert (entry["transaction_id"], entry["proof"]) == (cuts()[-1]["transaction_id"], "counted")
    assert check_counts(entry, len(messages())) == []


def test_each_moment_of_the_history_is_one_of_the_server(
    whole: tuple[Row, dict[Table, list[Version]]],
) -> None:
    _, histories = whole
    for cut in cuts():
        found = as_of(histories, history().commit_of(cut["transaction_id"]))
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


def check_arrivals(folder: Path, count: int) -> None:
    """Publish arrivals in one run, half of them without GTIDs, and compare what each proves."""
    found: list[str] = []
    kinds = {
        "some_gtid": (history(), some_arrivals("some_gtid", spread_messages(), count, SOURCE)),
        "some_file": (
            history_without_gtids(),
            some_arrivals("some_file", messages_without_gtids(), count, SOURCE),
        ),
    }
    arrivals = [arrival for _, some in kinds.values() for arrival in some]
    write_arrivals(folder / "dump", arrivals)
    with previewed(folder / "dump", [Group("some_*", "some")]) as built:
        export(built.spark, built.tables, folder / "export")
    published = read_cuts(folder / "export")
    for name, (true_history, some) in kinds.items():
        reached = []
        for arrival in some:
            entry = published.get(arrival.prefix, {})
            reached.append(int(entry.get("commit_number") or 0))
            found += arrival_differences(folder / "export", arrival, entry, true_history)
        print(f"{name}: {len(some)} arrivals, published {sorted(reached)}")
    assert found == []


def test_an_arrival_shows_the_largest_provable_state(tmp_path: Path) -> None:
    check_arrivals(tmp_path, 12)


@pytest.mark.proof
def test_a_hundred_arrivals_show_the_largest_provable_state(tmp_path: Path) -> None:
    check_arrivals(tmp_path, 100)
    record(
        f"Random arrivals of the capture {NAME} show the largest provable state",
        "100 arrivals with GTIDs and 100 without: 0 wrong, 0 not the largest, 0 lost",
    )
