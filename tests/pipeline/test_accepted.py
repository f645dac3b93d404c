"""Flags that runs refuse are published once an operator accepts them, and stay visible."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from arrivals import Arrival
from lake import Lake, open_lake, tables_of
from test_faults import Source, create, signal_row, update

from dbt_debezium.page import page_of
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.status.lake_status import LakeStatus
from dbt_debezium.status.notices import idle_decisions

pytestmark = pytest.mark.slow

SETTINGS = (
    "{not_ingested_tables: [public.audit], refused_flags: [no_baseline, not_waited_for, "
    "key_changed]}"
)
ACCEPTED = (
    "flag no_baseline of public.*",
    "flag not_waited_for of public.audit",
    "flag key_changed of public.rekeyed",
    "message acc.public.t-0-1",
    "setting skipped.operations",
)
RAISED = {
    ("public.audit", "no_baseline"),
    ("public.audit", "not_waited_for"),
    ("public.rekeyed", "key_changed"),
    ("public.rekeyed", "no_baseline"),
    ("public.t", "no_baseline"),
}
"""A table of signals is no table, and has no flag."""


def source() -> Source:
    """A table that is said not to land and does, one with another key, and one bad message."""
    one = Source("acc")
    audit = create(7, 1, table="audit")
    one.commit(1, 1000, create(1, 1), audit, create(2, 1, table="rekeyed", key={"id": 2}))
    one.commit(2, 2000, signal_row("s", "execute-snapshot", "{}"))
    one.send("public.t", {"id": 1}, "{")
    one.commit(3, 3000, update(1, 2), create(3, 9, table="rekeyed", key={"id": 3, "n": 9}))
    return one


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    messages = source().messages
    tables = [one for one in tables_of(messages) if one.table != "debezium_signal"]
    with open_lake(tmp_path_factory.mktemp("accepted"), tables) as lake:
        for model in (lake.project / "models" / "history").glob("*rekeyed_history.sql"):
            text = model.read_text()
            assert "'evolve'" in text
            model.write_text(text.replace("'evolve'", "'ignore'"))
        lake.land_arrivals("all", [Arrival("acc", messages, [])])
        yield lake


def decide(lake: Lake, *lines: str) -> None:
    with (lake.project / "seeds" / "operator_decision.csv").open("a") as file:
        file.writelines(f"acc,{line},accept,Ann,2026-11-21,it stays so\n" for line in lines)
    assert lake.build(command="seed"), lake.lines


def test_refused_flags_are_published_once_they_are_accepted(lake: Lake) -> None:
    decide(lake, "flag no_baseline of public.u")
    assert not lake.build("--vars", SETTINGS, command="run")
    assert "which refused_flags names" in " ".join(lake.lines)
    decide(lake, *ACCEPTED)
    assert lake.build("--vars", SETTINGS, command="run"), lake.lines
    entry = lake.cuts()["acc"]
    assert {(one["table"], one["flag"]) for one in entry["flags"]} == RAISED
    assert [one for one in (*entry["flags"], *entry["quarantined"]) if not one["accepted"]] == []
    (idle,) = idle_decisions(SparkReader(lake.spark), [entry])
    assert "accepting flag no_baseline of public.u has had no effect" in idle
    now = datetime(2026, 11, 29, 12, tzinfo=UTC)
    summary, page = page_of(LakeStatus([entry], 0, {}, {}), None, "lake", now)
    assert summary.sentence.startswith("All is well, 7 accepted: 1 source is published")
    assert "acc: accepted: flag not_waited_for of public.audit, by Ann on 2026-11-21" in page
    # What readers ask still has them.
    assert set(lake.rows("select table_name, flag from public.table_flag")) == {
        (table.removeprefix("public."), flag) for table, flag in RAISED
    }
