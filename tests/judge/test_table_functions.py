"""What Spark hands over is what the functions read, and what they say is what the evidence says.

Spark calls the functions in tests/pipeline. No Spark here.
"""

import ast
import json
import re
from pathlib import Path
from typing import Any, get_type_hints

import pyarrow as pa  # type: ignore[import-untyped] # it has none
import pytest
from histories.history import make_history
from histories.knobs import PROFILES
from narrow import table_of
from replay import landings, runs_of

from dbt_debezium.errors import DebeziumError
from dbt_debezium.evidence import COLUMNS, encoded
from dbt_debezium.evidence.groups import FOREIGN
from dbt_debezium.evidence.state import State
from dbt_debezium.functions import lake_topics
from dbt_debezium.functions.columns import sql_type
from dbt_debezium.functions.judge import GIVEN, JudgeSources, ProjectSettings
from dbt_debezium.settings import Settings

MODELS = Path(__file__).parents[2] / "models" / "transactions" / "proof"
MACROS = Path(__file__).parents[2] / "macros" / "hooks"
SEED = 1
BATCH = 50
SETTINGS: dict[str, object] = {
    "landing_reaches_the_end": False,
    "sources_without_truncate": [],
    "watermark_sources": [],
    "refused_proofs": [],
    "quiet_partition_seconds": 0,
    "not_ingested_tables": [],
}


def types_in(model: str) -> dict[str, str]:
    """The columns of what a model hands to its function."""
    text = (MODELS / f"{model}.sql").read_text()
    found = re.search(r"set types = (\{.*?\}) -%\}", text, re.DOTALL)
    assert found
    types: dict[str, str] = ast.literal_eval(found[1])
    return {name.strip("`"): kind for name, kind in types.items()}


def test_sources_are_given_the_columns_that_the_function_reads() -> None:
    assert types_in("proof") == {one.name: sql_type(one.type) for one in GIVEN}


def test_topics_are_given_the_columns_that_the_function_reads() -> None:
    wanted = {one.name: sql_type(one.type) for one in lake_topics.GIVEN}
    assert types_in("int_topic") == wanted


def test_the_judge_is_given_the_settings_that_it_reads_as_a_project_may_set_them() -> None:
    macro = (MACROS / "judge_settings.sql").read_text()
    assert [*re.findall(r"'(\w+)': var\('\1'\)", macro)] == [*SETTINGS]
    may_be = get_type_hints(Settings)
    assert get_type_hints(ProjectSettings) == {name: may_be[name] for name in SETTINGS}


def facts(judged: str, **columns: Any) -> dict[str, Any]:
    return {"judged_source": judged, "settings": json.dumps(SETTINGS), **columns}


def given(
    source: str, rows: list[tuple[object, ...]], state: str, watermarks: list[str]
) -> list[pa.Table]:
    """What Spark hands over, in batches."""
    table = table_of(rows)
    columns = {name: table[name] for name in COLUMNS.names}
    nothing = {one.name: pa.nulls(len(rows), one.type) for one in GIVEN}
    some = {**nothing, "judged_source": pa.array([source] * len(rows)), **columns}
    messages = pa.table([some[one.name] for one in GIVEN], names=GIVEN.names)
    settings = json.dumps(SETTINGS | {"watermark_sources": watermarks})
    row = facts(source, said="source", content=state) | {"settings": settings}
    known = pa.Table.from_pylist([row], schema=GIVEN)
    return [known, *(messages.slice(at, BATCH) for at in range(0, len(rows), BATCH))]


@pytest.mark.parametrize("profile", ["all_rules", "sqlserver", "mysql", "cdl"])
def test_each_unit_has_the_verdict_of_the_evidence(profile: str) -> None:
    count = 0
    for number in range(5):
        case = make_history(SEED, number, PROFILES[profile])
        runs = runs_of(case.plan)
        runs.not_ingested = ()
        runs.run(next(landings(case)))
        in_order = [runs.source] if runs.is_in_order else []
        function = JudgeSources()
        for batch in given(runs.source, runs.rows, encoded(State()), in_order):
            assert [*function.eval(batch)] == []
        rows = [row for table in function.terminate() for row in table.to_pylist()]
        got = [
            (row["unit_kind"], row["unit_id"], row["verdict"], row["commit_number"])
            for row in rows
            if row["kind"] == "unit"
        ]
        wanted = [
            (one.unit_kind, one.unit_id, one.verdict, one.commit_number) for one in runs.units
        ]
        assert got == wanted
        assert [row["content"] for row in rows if row["kind"] == "state"] == [runs.text]
        counted = sum(row["message_count"] for row in rows if row["kind"] == "outcome")
        kind = COLUMNS.names.index("unit_kind")
        assert counted == sum(row[kind] != FOREIGN for row in runs.rows)
        count += len(got)
    assert count > 0


def said(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    function = JudgeSources()
    assert [*function.eval(pa.Table.from_pylist([*rows], schema=GIVEN))] == []
    return [row for table in function.terminate() for row in table.to_pylist()]


def test_a_source_that_cannot_be_judged_keeps_its_state_and_all_messages() -> None:
    runs = runs_of(make_history(SEED, 1, PROFILES["all_rules"]).plan)
    runs.run(next(landings(make_history(SEED, 1, PROFILES["all_rules"]))))
    function, unknown = JudgeSources(), '{"version": 99}'
    for batch in given(runs.source, runs.rows, unknown, []):
        assert [*function.eval(batch)] == []
    rows = [row for table in function.terminate() for row in table.to_pylist()]
    refusal, *counts, state = rows
    assert refusal["content"].startswith(f"{runs.source}: the state of the last run has version 99")
    assert "--full-refresh" in refusal["content"]
    assert {(one["kind"], one["outcome"]) for one in counts} == {("outcome", "held")}
    assert sum(one["message_count"] for one in counts) == len(runs.rows)
    assert (state["kind"], state["content"]) == ("state", unknown)


def test_a_state_that_cannot_be_read_is_called_by_the_name_of_its_source() -> None:
    rows = said(
        facts("shop", said="source"),
        facts("shop", said="earlier_state", source="bank", content='{"version": 99}'),
    )
    assert [row["content"] for row in rows if row["kind"] == "refusal"] == [
        "bank: the state of the last run has version 99, expected 1; "
        "run dbt-debezium run --full-refresh, which rebuilds it from what has landed"
    ]


def test_a_server_may_be_called_as_its_database() -> None:
    """SQL Server with the topic prefix `erp.sales` and the database `sales`."""
    source = {"source": "erp.sales.sales", "connector": "sqlserver", "database_name": "sales"}
    landed = {"landing_id": 1, "offset": 0, "message_count": 1}
    change = {"topic": "erp.sales.sales.dbo.t", "kind": "change", **source, **landed}
    marker = {"topic": "markers", "kind": "transaction_marker", "connector": "sqlserver", **landed}
    named = {"transaction_id": "01", "position": "01", "message_count": 1}
    rows = [
        {"said": "seen", **change},
        {"said": "seen", **marker},
        {"said": "end", "topic": "markers", **named, "collection_counts": {"sales.dbo.t": 1}},
        {"said": "changes", "data_collection": "sales.dbo.t", **source, **named},
    ]
    known = dict.fromkeys(lake_topics.GIVEN.names)
    found = {one.topic: one for one in lake_topics.placed([known | row for row in rows])}
    assert found["markers"].marker_source == "erp.sales"
    assert found["markers"].judged_sources == ("erp.sales.sales",)


def test_an_error_that_nobody_has_foreseen_is_a_sentence_without_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object) -> None:
        raise ValueError("secret")

    monkeypatch.setattr("dbt_debezium.functions.judge.judge_source", fails)
    (row,) = said(facts("shop", said="source", settings=json.dumps(SETTINGS)))
    assert row["content"].startswith(
        "shop: it cannot be judged: ValueError in test_table_functions"
    )
    assert "secret" not in row["content"]


@pytest.mark.parametrize("seconds", [0, 300, 90.5])
def test_a_source_is_judged_whatever_number_of_seconds_the_project_sets(seconds: float) -> None:
    settings = SETTINGS | {"quiet_partition_seconds": seconds}
    rows = said(facts("shop", said="source", settings=json.dumps(settings)))
    assert [row["kind"] for row in rows] == ["state"]


def test_a_decision_on_a_source_of_which_nothing_has_landed_makes_no_source() -> None:
    row = {"judged_source": "gone", "said": "decision", "transaction_id": "7", "content": "release"}
    assert said(row) == []


def test_a_task_that_no_source_has_come_to_says_nothing() -> None:
    assert [*JudgeSources().terminate()] == []


def test_a_source_whose_positions_would_be_of_another_kind_says_how_to_go_on() -> None:
    history = make_history(SEED, 40_000, PROFILES["cdl"])
    runs = runs_of(history.plan)
    for landed in landings(history):
        runs.run(landed)
    runs.is_in_order = not runs.is_in_order
    with pytest.raises(DebeziumError, match="watermark_sources lists it since the last run, or no"):
        runs.run(landed)
