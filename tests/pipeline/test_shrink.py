"""A failing history becomes small, and comes back from its file as it was."""

from collections.abc import Sequence
from pathlib import Path

from histories.history import Case, make_history
from histories.knobs import ALL_RULES
from histories.plan import Plan
from histories.reduce import size
from histories.shrink import read_plan, shrink, write_plan


def has_a_fault(plan: Plan) -> bool:
    """Stands for a pipeline that is wrong when a transaction empties a table and moves a row."""
    streamed = [plan.transactions[number] for epoch in plan.epochs for number in epoch.chain]
    return any(
        any(event.operation == "t" for event in transaction.events)
        and any(event.new_key for event in transaction.events)
        for transaction in streamed
    )


def fails(cases: Sequence[Case]) -> set[str]:
    return {case.plan.name for case in cases if has_a_fault(case.plan)}


def test_a_failing_history_shrinks_to_what_makes_it_fail() -> None:
    plans = (make_history(1, number, ALL_RULES).plan for number in range(1_000))
    plan = next(plan for plan in plans if has_a_fault(plan) and len(plan.entries) > 80)
    small = shrink(plan, fails)
    assert has_a_fault(small)
    assert size(small)[0] <= 12


def test_a_history_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    for number in range(20):
        plan = make_history(1, number, ALL_RULES).plan
        write_plan(tmp_path / "plan.json", plan)
        assert read_plan(tmp_path / "plan.json") == plan
