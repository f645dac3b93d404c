"""Every capture of a PostgreSQL source ends as its database did; cut off, it shows a state it had.

Snapshots of each kind, connectors that crashed, values that were not sent, and every replica
identity: what no generator could make up.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from arrivals import Arrival, Replay, make_arrival, renamed, source_name, write_arrivals
from compare import (
    check_counts,
    compare_arrivals,
    compare_export_with_database,
    count_of_source,
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
