"""Every capture ends as its database did; cut off, it shows a state it had.

Of PostgreSQL: snapshots of each kind, connectors that crashed, values that were not sent, and every
replica identity, which no generator could make up. Of MySQL and MariaDB: a server's whole log, of
which each commit is compared.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from arrivals import Arrival, Replay, make_arrival, renamed, source_name, write_arrivals
from binlog_captures import (
    Version,
    as_of,
    by_name,
    data_tables,
    differences,
    known_differences,
    of_data,
    versions,
)
from captured_servers import MARIADB, MYSQL, Server
from compare import (
    check_counts,
    compare_arrivals,
    compare_export_with_database,
    count_of_source,
    read_cuts,
    read_expected,
    read_tables,
    table_differences,
)
from figures import record
from lake import DATA, capture
from oracle import History, Message, Table, read_messages, rows_of

from dbt_debezium.export import export
from dbt_debezium.preview import previewed
from dbt_debezium.scaffold.captured import Group

pytestmark = pytest.mark.slow

WHOLE = {
    "initial_snapshot": 373,
    "incremental_snapshot": 855,
    "incremental_window": 14,
    "restart_dup": 92,
    "restart_mid_tx": 6,
    "v307_restart_mid_tx": 6,
    "replica_identity": 75,
    "toast": 17,
}
"""Commits of each capture."""

UNDETERMINED = {"replica_identity": "public.ri_index_other", "toast": "public.docs_idx"}
"""Tables that the message key does not tell: REPLICA IDENTITY USING INDEX beside a primary key."""

STATES_ONLY = ("v307_restart_mid_tx", "incremental_snapshot")
"""Captures whose largest cuts the oracle does not know: one has a transaction that only S13 (ii)
proves, the other a blocking snapshot (S7)."""


def messages_of(name: str) -> list[Message]:
    """A capture under its own name: several were made by connectors called the same."""
    messages = read_messages(capture(name))
    old = source_name(messages)
    return [renamed(message, old, name) for message in messages]


SERVERS = (MYSQL, MARIADB)

each_server = pytest.mark.parametrize("server", SERVERS, ids=lambda one: one.name)


@dataclass(frozen=True, slots=True)
class Whole:
    """What one run has published of all captures."""

    export: Path
    histories: dict[str, dict[Table, list[Version]]]
    """Of each server, every version of every row."""


@pytest.fixture(scope="module")
def published(values_as_they_were_sent: None, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("captures")
    arrivals = [
        Arrival(name, found, list(range(len(found))))
        for name in WHOLE
        for found in [messages_of(name)]
    ]
    write_arrivals(folder / "dump", arrivals)
    for server in SERVERS:
        shutil.copy(capture(server.name), folder / "dump" / f"{server.name}.jsonl.gz")
    with previewed(folder / "dump", settings={"landing_reaches_the_end": True}) as built:
        export(built.spark, built.tables, folder / "export")
        histories = {
            server.name: {
                (table.schema or "", table.table): versions(built.spark, table)
                for table in built.tables
                if table.facts.source == server.source
            }
            for server in SERVERS
        }
    return Whole(folder / "export", histories)


@pytest.fixture(scope="module")
def whole(published: Whole) -> Path:
    return published.export


@pytest.mark.fault(16, 21, 51)
@pytest.mark.parametrize("name", WHOLE)
def test_a_capture_is_published_to_its_end(whole: Path, name: str) -> None:
    entry = read_cuts(whole)[name]
    assert (entry["commit_number"], entry["held"], entry["quarantined"]) == (WHOLE[name], [], [])
    assert entry["proof"] == "counted"
    assert check_counts(entry, count_of_source(messages_of(name))) == []


@pytest.mark.fault(21, 51)
@pytest.mark.parametrize("name", sorted(WHOLE.keys() - {"toast"}))
def test_a_capture_ends_as_its_database(whole: Path, name: str) -> None:
    differences = compare_export_with_database(whole, name, read_expected(DATA / name))
    known = UNDETERMINED.get(name, "nothing")
    assert [line for line in differences if f" {known}:" not in line] == []


@pytest.mark.parametrize("name", WHOLE)
def test_a_table_that_the_message_key_does_not_tell_is_flagged_and_no_other(
    whole: Path, name: str
) -> None:
    flags = read_cuts(whole)[name]["flags"]
    flagged = [flag["table"] for flag in flags if flag["flag"] == "identity_not_in_key"]
    assert flagged == [table for table in [UNDETERMINED.get(name)] if table]


COLUMNS = ("id", "title", "n", "body", "meta", "js", "vc", "x", "num", "ct", "nn", "nums", "bigs")
"""Columns whose text in PostgreSQL is that of the message, but for the braces of arrays."""


@pytest.mark.fault(71)
@pytest.mark.parametrize("table", ["docs", "docs_full"])
def test_values_that_were_not_sent_are_those_of_the_row_before(whole: Path, table: str) -> None:
    expected = read_expected(DATA / "toast").tables["public", table]
    found = read_tables(whole, "toast")["public", table]
    assert sorted(map(plain, found)) == sorted(map(plain, expected))
    text = (whole / "toast" / f"public.{table}.jsonl").read_text()
    assert "unavailable" not in text


def plain(row: Mapping[str, Any]) -> list[str]:
    def text(value: Any) -> str:
        shown = json.dumps(value) if isinstance(value, list) else str(value)
        return shown.translate(str.maketrans("[]", "{}", " ")).strip('"')

    return [text(row[name]) for name in COLUMNS]


@each_server
def test_the_oracle_says_what_the_server_said(server: Server) -> None:
    assert len(server.moments) >= 25
    for moment in server.moments:
        found = by_name(rows_of(server.history.state(moment["commit"])))
        known = known_differences(moment, server.differences)
        assert differences(moment, found) == known, moment["cut"]


def test_the_last_moment_is_the_end() -> None:
    expected = read_expected(DATA / MYSQL.name).tables
    assert {name: rows for (_, name), rows in expected.items()} == MYSQL.moments[-1]["tables"]


@each_server
def test_a_change_log_is_published_to_its_end(whole: Path, server: Server) -> None:
    entry = read_cuts(whole)[server.source]
    last = server.history.commits[-1]
    assert (entry["held"], entry["quarantined"]) == ([], [])
    assert entry["commit_number"] == len(server.history.commits) == server.moments[-1]["commit"]
    assert last.number == server.moments[-1]["number"]
    assert (entry["transaction_id"], entry["proof"]) == (last.transaction_id, "counted")
    assert check_counts(entry, len(server.messages)) == []


@each_server
def test_each_moment_of_the_history_is_one_of_the_server(published: Whole, server: Server) -> None:
    histories = published.histories[server.name]
    for moment in server.moments:
        found = by_name(as_of(histories, moment["commit"]))
        known = known_differences(moment, server.differences)
        assert of_data(differences(moment, found)) == of_data(known), moment["cut"]


@each_server
def test_each_commit_of_the_history_is_one_of_the_server(published: Whole, server: Server) -> None:
    histories = published.histories[server.name]
    for number in range(len(server.history.commits) + 1):
        expected = data_tables(rows_of(server.history.state(number)))
        found = data_tables(as_of(histories, number))
        assert table_differences(f"commit {number}", expected, found) == []


@pytest.mark.proof
def test_a_hundred_arrivals_show_the_largest_provable_state(tmp_path: Path) -> None:
    """All captures in one run: each arrival is a source of its own."""
    replays: tuple[Replay | None, ...] = ("tail", None, "crash", None)
    captures = {name: messages_of(name) for name in WHOLE}
    arrivals = {
        name: [
            make_arrival(messages, seed, f"{name}_{seed:04d}", replay=replays[seed % len(replays)])
            for seed in range(100)
        ]
        for name, messages in captures.items()
    }
    write_arrivals(tmp_path / "dump", [one for some in arrivals.values() for one in some])
    groups = [Group(f"{name}_*", name) for name in WHOLE]
    with previewed(tmp_path / "dump", groups) as built:
        export(built.spark, built.tables, tmp_path / "export")
    found = {
        name: compare_arrivals(
            tmp_path / "export",
            History(captures[name]),
            some,
            undetermined=UNDETERMINED.get(name),
            knows_the_largest=name not in STATES_ONLY,
        )
        for name, some in arrivals.items()
    }
    assert {name: some for name, some in found.items() if some} == {}
    for name, some in arrivals.items():
        largest = "" if name in STATES_ONLY else ", 0 not the largest"
        record(
            f"Random arrivals of the capture {name} show the largest provable state",
            f"{len(some)} arrivals: 0 wrong{largest}, 0 lost",
        )
