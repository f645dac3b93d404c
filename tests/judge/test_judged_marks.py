"""The table function says of rows what the judge says of the marks in them. No Spark."""

from collections.abc import Iterator, Sequence

import msgspec
import pyarrow as pa  # type: ignore[import-untyped] # it has none
import pytest
from histories.history import make_history
from histories.knobs import PROFILES
from replay import landings, runs_of

from dbt_debezium.judge import ChainEnd, Hold
from dbt_debezium.judge.marks import Mark, Source
from dbt_debezium.judged_marks import CHAIN_END, COLUMNS, JudgeMarks, judged

SEED = 1
BATCH = 7


def rows(marks: Sequence[Mark], end: ChainEnd) -> Iterator[tuple[str, str]]:
    """As `int_mark` has them."""
    stored = {**msgspec.to_builtins(end), "log_numbers": dict(end.log_numbers)}
    yield CHAIN_END, msgspec.json.encode(stored).decode()
    yield from ((one.kind, msgspec.json.encode(one).decode()) for one in marks)


def batches(source: str, marks: Sequence[tuple[str, str]]) -> Iterator[pa.Table]:
    for at in range(0, len(marks), BATCH):
        some = marks[at : at + BATCH]
        kinds, texts = zip(*some, strict=True)
        yield pa.table({"source": [source] * len(some), "kind": kinds, "mark": texts})


@pytest.mark.parametrize("profile", ["all_rules", "sqlserver", "mysql", "cdl"])
def test_marks_are_read_from_batches_of_json(profile: str) -> None:
    held_count = 0
    for number in range(10):
        case = make_history(SEED, number, PROFILES[profile])
        runs = runs_of(case.plan)
        for landed in landings(case):
            runs.run(landed)
            function = JudgeMarks()
            for batch in batches(runs.source, [*rows(runs.marks, runs.start)]):
                assert [*function.eval(batch)] == []
            (table,) = function.terminate()
            assert table.schema == COLUMNS
            said = [(row["verdict"], row["position"]) for row in table.to_pylist()]
            got = [one for one in said if one[0] != "passed"]
            wanted = [(type(one).__name__.lower(), one.position) for one in runs.verdicts]
            assert got == wanted
            assert {*table["source"].to_pylist()} <= {runs.source}
            held_count += sum(isinstance(one, Hold) for one in runs.verdicts)
    assert held_count > 0


def test_a_task_without_marks_says_nothing() -> None:
    assert [*JudgeMarks().terminate()] == []


def test_a_source_that_the_judge_refuses_has_the_reason_in_a_row() -> None:
    mark = msgspec.json.encode(Source("vitess", None)).decode()
    (row,) = judged("shop", [("source", mark)])
    assert "verdict" not in row
    assert "no traits are listed for connector 'vitess'" in str(row["refusal"])


def test_a_mark_without_a_field_is_no_mark() -> None:
    with pytest.raises(msgspec.ValidationError, match="missing required field `topic`"):
        [*judged("shop", [("partition", '{"partition": 0}')])]
