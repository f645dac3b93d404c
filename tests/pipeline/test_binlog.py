"""The change log of a MySQL or MariaDB server, published whole, shows states of the server."""

import pytest
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
from compare import check_counts, read_cuts, read_expected, table_differences
from lake import DATA, capture
from oracle import Row, Table, rows_of

from dbt_debezium.export import export
from dbt_debezium.preview import previewed

Whole = tuple[Server, Row, dict[Table, list[Version]]]
"""A server, its entry of `cut.json`, and every version of every row."""

each_server = pytest.mark.parametrize("server", [MYSQL, MARIADB], ids=lambda one: one.name)


@pytest.fixture(scope="module", params=[MYSQL, MARIADB], ids=lambda one: one.name)
def whole(
    request: pytest.FixtureRequest,
    values_as_they_were_sent: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Whole:
    server: Server = request.param
    folder = tmp_path_factory.mktemp(server.name)
    with previewed(capture(server.name), settings={"landing_reaches_the_end": True}) as built:
        export(built.spark, built.tables, folder)
        histories = {
            (table.schema or "", table.table): versions(built.spark, table)
            for table in built.tables
        }
    return server, read_cuts(folder)[server.source], histories


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


def test_a_change_log_is_published_to_its_end(whole: Whole) -> None:
    server, entry, _ = whole
    last = server.history.commits[-1]
    assert (entry["held"], entry["quarantined"]) == ([], [])
    assert entry["commit_number"] == len(server.history.commits) == server.moments[-1]["commit"]
    assert last.number == server.moments[-1]["number"]
    assert (entry["transaction_id"], entry["proof"]) == (last.transaction_id, "counted")
    assert check_counts(entry, len(server.messages)) == []


def test_each_moment_of_the_history_is_one_of_the_server(whole: Whole) -> None:
    server, _, histories = whole
    for moment in server.moments:
        found = by_name(as_of(histories, moment["commit"]))
        known = known_differences(moment, server.differences)
        assert of_data(differences(moment, found)) == of_data(known), moment["cut"]


def test_each_commit_of_the_history_is_one_of_the_server(whole: Whole) -> None:
    server, _, histories = whole
    for number in range(len(server.history.commits) + 1):
        expected = data_tables(rows_of(server.history.state(number)))
        found = data_tables(as_of(histories, number))
        assert table_differences(f"commit {number}", expected, found) == []
