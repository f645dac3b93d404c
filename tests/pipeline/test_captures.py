"""Every capture of a PostgreSQL source ends as its database did; cut off, it shows a state it had.

Snapshots of each kind, connectors that crashed, values that were not sent, and every replica
identity: what no generator could make up.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from arrivals import Arrival, make_arrival, renamed, source_name, write_arrivals
from compare import (
    check_counts,
    compare_export,
    compare_export_with_database,
    read_cuts,
    read_expected,
    read_tables,
)
from figures import record
from lake import DATA, capture
from oracle import History, Message, read_messages

from dbt_debezium.export import export
from dbt_debezium.preview import previewed
from dbt_debezium.scaffold import Group

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

UNDETERMINED = {"replica_identity": "public.ri_index_other"}
"""Tables that the message key does not tell: REPLICA IDENTITY USING INDEX beside a primary key."""

ARRIVING = (
    "initial_snapshot",
    "incremental_snapshot",
    "incremental_window",
    "restart_dup",
    "restart_mid_tx",
    "replica_identity",
)
"""Captures whose every state the oracle knows: it does not fill in values that were not sent."""


def messages_of(name: str) -> list[Message]:
    """A capture under its own name: several were made by connectors called the same."""
    messages = read_messages(capture(name))
    old = source_name(messages)
    return [renamed(message, old, name) for message in messages]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captures")
    arrivals = [
        Arrival(name, found, list(range(len(found))))
        for name in WHOLE
        for found in [messages_of(name)]
    ]
    write_arrivals(folder / "dump", arrivals)
    with previewed(folder / "dump", settings={"landing_reaches_the_end": True}) as built:
        export(built.spark, built.tables, folder / "export")
    return folder / "export"


@pytest.mark.fault(16, 21, 51)
@pytest.mark.parametrize("name", WHOLE)
def test_a_capture_is_published_to_its_end(whole: Path, name: str) -> None:
    entry = read_cuts(whole)[name]
    assert (entry["commit_number"], entry["held"], entry["quarantined"]) == (WHOLE[name], [], [])
    assert entry["proof"] == "counted"
    landed = sum(b'"aggregate_type"' not in line for line in capture_lines(name))
    assert check_counts(entry, landed) == []


def capture_lines(name: str) -> list[bytes]:
    return [json.dumps(m["value"]).replace('\\"', '"').encode() for m in messages_of(name)]


@pytest.mark.fault(21, 51)
@pytest.mark.parametrize("name", sorted(WHOLE.keys() - {"toast"}))
def test_a_capture_ends_as_its_database(whole: Path, name: str) -> None:
    differences = compare_export_with_database(whole, name, read_expected(DATA / name))
    known = UNDETERMINED.get(name, "nothing")
    assert [line for line in differences if f" {known}:" not in line] == []


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


@pytest.mark.proof
@pytest.mark.parametrize("name", ARRIVING)
def test_a_hundred_arrivals_show_states_that_the_source_had(tmp_path: Path, name: str) -> None:
    messages = messages_of(name)
    history = History(messages)
    replays = ("tail", None, "crash", None)
    arrivals = [
        make_arrival(messages, seed, f"some_{seed:04d}", replay=replays[seed % len(replays)])
        for seed in range(100)
    ]
    write_arrivals(tmp_path / "dump", arrivals)
    with previewed(tmp_path / "dump", [Group("some_*", "some")]) as built:
        export(built.spark, built.tables, tmp_path / "export")
    cuts = read_cuts(tmp_path / "export")
    differences: list[str] = []
    reached = []
    for arrival in arrivals:
        number = int(cuts.get(arrival.prefix, {}).get("commit_number") or 0)
        reached.append(number)
        differences += compare_export(tmp_path / "export", arrival.prefix, history, number)
    print(f"{name}: published {sorted(reached)} of {len(history.commits)}")
    assert differences == []
    record(
        f"Random arrivals of the capture {name} show rows that the database had",
        f"{len(arrivals)} arrivals, {len(set(reached))} different cuts: 0 wrong",
    )
