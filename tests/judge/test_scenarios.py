"""Each scenario of scenarios/ ends in the verdict that it writes down. No Spark."""

from pathlib import Path
from typing import get_args

import pytest
import rules_page
from scenario import play, read_scenario

from dbt_debezium.evidence import decoded
from dbt_debezium.reasons import HELD
from dbt_debezium.reasons.hold_reason import HoldReason

SCENARIOS = sorted((Path(__file__).parent / "scenarios").glob("S*.md"))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_judge_says_what_the_scenario_says(path: Path) -> None:
    for _, got, expected in play(read_scenario(path)):
        assert got == expected


def test_each_reason_to_hold_has_its_definition_and_a_scenario() -> None:
    shown = {
        line.rpartition(": ")[2]
        for path in SCENARIOS
        for step in read_scenario(path).steps
        for line in step.verdict
        if line.startswith("hold: ")
    }
    # That is said of a source which the judge cannot judge: test_table_functions.py.
    assert shown == {*get_args(HoldReason)} - {"not_judged"}
    assert shown <= HELD.keys()


def test_the_page_of_rules_is_up_to_date() -> None:
    assert rules_page.PAGE.read_text(encoding="utf-8") == rules_page.rendered(), (
        "run python tests/judge/rules_page.py"
    )


OF_DDL = {"S08-mariadb-ddl-with-its-statement"}
"""Its BEGIN is that of DDL, which shows once its END cannot come any more."""


@pytest.mark.parametrize(
    "path", [one for one in SCENARIOS if one.stem not in OF_DDL], ids=lambda path: path.stem
)
def test_what_stays_open_says_why(path: Path) -> None:
    for runs, _, _ in play(read_scenario(path)):
        held = {(one.unit_kind, one.unit_id) for one in runs.units if one.verdict == "hold"}
        waiting = decoded(runs.source, runs.text or None).open
        assert {(one.kind, one.id) for one in waiting if one.kind == "transaction"} <= held
