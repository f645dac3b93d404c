"""A table with a column whose name is taken gets no models, and stops no other table."""

from pathlib import Path

import pytest

from dbt_debezium.errors import DebeziumError
from dbt_debezium.scaffold.captured import METADATA_COLUMNS, RESERVED, LeftOut, captured_tables
from dbt_debezium.scaffold.project_models import plan_scaffold
from dbt_debezium.scaffold.tables import TableFacts

GOOD = TableFacts("shop", "public", "orders", {"id": {"int"}})


def with_column(name: str) -> TableFacts:
    return TableFacts("shop", "public", "notes", {"id": {"int"}, name: {"string"}})


@pytest.mark.parametrize("name", [*sorted(METADATA_COLUMNS), "_Deleted", *sorted(RESERVED)])
def test_the_table_is_left_out_and_named(name: str, tmp_path: Path) -> None:
    said: list[LeftOut] = []
    (built,) = captured_tables([with_column(name), GOOD], [], refusals=said)
    assert built.table == "orders"
    ((sources, refusal),) = [(one.sources, one.sentence) for one in said]
    assert sources == ["shop"]
    assert refusal.startswith(f"table public.notes of shop: column '{name.lower()}' is called like")
    assert "rename it at the source, or leave it out with column.exclude.list" in refusal

    (tmp_path / "models").mkdir()
    plan = plan_scaffold(tmp_path, [with_column(name), GOOD], [])
    assert plan.refusals == [f"scaffold: {refusal}"]
    assert {change.path.stem.split("_")[0] for change in plan.changes} == {"orders", "cur"}


def test_where_nobody_takes_note_it_is_an_error() -> None:
    with pytest.raises(DebeziumError, match="'_pos' is called like a metadata column of Iceberg"):
        captured_tables([with_column("_pos")], [])
