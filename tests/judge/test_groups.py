"""However rows come, and however many are looked at in one step, a run says the same. No Spark."""

from collections.abc import Iterator
from random import Random

import pyarrow as pa  # type: ignore[import-untyped] # it has none
import pytest
from histories.history import make_history
from histories.knobs import PROFILES
from narrow import table_of
from replay import landings, runs_of
from runs import Runs

from dbt_debezium.evidence import encoded, facts, groups, judge_source
from dbt_debezium.evidence.groups import coded

SEED = 5
BATCH = 7


def played(profile: str) -> Iterator[Runs]:
    """Runs of a few histories, each as it has just ended."""
    for number in range(3):
        case = make_history(SEED, number, PROFILES[profile])
        runs = runs_of(case.plan)
        for landed in landings(case):
            runs.run(landed)
            yield runs


def said(rows: pa.Table, runs: Runs) -> str:
    judged = judge_source(rows, runs.before, runs.known)
    return f"{judged.verdicts} {judged.progress} {encoded(judged.state)}"


def in_batches(rows: pa.Table) -> pa.Table:
    """As Spark hands them over: batches, in any order, with texts coded one batch at a time."""
    places = [*range(rows.num_rows)]
    Random(SEED).shuffle(places)
    mixed = rows.take(pa.array(places, pa.int64()))
    some = [coded(mixed.slice(at, BATCH)) for at in range(0, rows.num_rows, BATCH)]
    return pa.concat_tables(some) if some else mixed


@pytest.mark.parametrize("profile", ["all_rules", "mysql", "db2"])
def test_rows_may_come_in_batches_and_in_any_order(profile: str) -> None:
    for runs in played(profile):
        rows = table_of(runs.rows)
        assert said(in_batches(rows), runs) == said(rows, runs)


@pytest.mark.parametrize("profile", ["all_rules", "mysql", "sqlserver"])
def test_a_few_rows_at_a_time_say_what_all_say(
    profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for runs in played(profile):
        rows = table_of(runs.rows)
        at_once = said(rows, runs)
        with monkeypatch.context() as patched:
            patched.setattr(facts, "SLICE", 3)
            patched.setattr(facts, "KEPT", 2)
            patched.setattr(groups, "UNITS_AT_ONCE", 5)
            assert said(in_batches(rows), runs) == at_once


def test_a_delivery_that_lands_twice_counts_once() -> None:
    for runs in played("all_rules"):
        rows = table_of(runs.rows)
        assert said(pa.concat_tables([rows, rows]), runs) == said(rows, runs)
