"""Each scenario of scenarios/ ends in the verdict that it writes down. No Spark."""

from pathlib import Path
from typing import get_args

import pytest
import rules_page
from scenario import play, read_scenario

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
