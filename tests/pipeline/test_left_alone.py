"""A run leaves alone what has no news: views of current rows, and the decisions of operators."""

import gzip
from collections.abc import Iterator

import pytest
from lake import Lake, capture, open_lake

from dbt_debezium.scaffold.landed_tables import landed_tables
from dbt_debezium.scaffold.project_models import plan_scaffold

DECISION = "trunc,1946,release,Ann,2026-11-21,it isn't missed\n"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """Two sources with the models that `scaffold` writes, published; then news of one."""
    folder = tmp_path_factory.mktemp("left_alone")
    lines = gzip.decompress(capture("shop_basic").read_bytes()).decode().splitlines(keepends=True)
    parts = [folder / "first.jsonl", folder / "rest.jsonl"]
    parts[0].write_text("".join(lines[:1_000]))
    parts[1].write_text("".join(lines[1_000:2_000]))
    with open_lake(folder, []) as opened:
        opened.land(capture("truncate"))
        opened.land(parts[0])
        plan_scaffold(opened.project, landed_tables(opened.spark), []).write(opened.project)
        assert opened.build(), opened.lines
        opened.land(parts[1])
        yield opened


def times_written(lake: Lake, name: str) -> int:
    """How often a view or table of the schema build was."""
    return len([*(lake.folder / "lake" / "warehouse" / "build" / name).rglob("*.metadata.json")])


def test_a_view_of_current_rows_is_created_once(lake: Lake) -> None:
    names = [path.stem for path in lake.project.rglob("models/*/current/cur_*.sql")]
    before = {name: times_written(lake, name) for name in (*names, "operator_decision")}
    assert len(names) > 2
    assert set(before.values()) == {1}
    counts = {name: lake.rows(f"select count(*) from build.{name}") for name in names}
    assert lake.build(), lake.lines
    assert {name: times_written(lake, name) for name in before} == before
    assert {name: lake.rows(f"select count(*) from build.{name}") for name in names} != counts
    for name in names:
        public = name.removeprefix("cur_")
        shown = lake.rows(f"select count(*) from public.{public}")
        assert lake.rows(f"select count(*) from build.{name}") == shown


def test_a_view_of_current_rows_is_created_again_where_its_model_says_something_else(
    lake: Lake,
) -> None:
    text = next(lake.project.rglob("models/shop/current/cur_orders.yml"))
    text.write_text(text.read_text().replace("One row per row of", "One row per order of"))
    assert lake.build("--select", "orders_history", "cur_orders"), lake.lines
    assert times_written(lake, "cur_orders") == 2
    assert times_written(lake, "cur_products") == 1


def test_decisions_are_written_where_their_file_has_changed(lake: Lake) -> None:
    written = times_written(lake, "operator_decision")
    decisions = lake.project / "seeds" / "operator_decision.csv"
    old = decisions.read_text()
    decisions.write_text(f"{old.rstrip()}\n{DECISION}")
    assert lake.build("--select", "operator_decision"), lake.lines
    asked = "select source, transaction_id, decision, reason from build.operator_decision"
    assert lake.rows(asked) == [("trunc", "1946", "release", "it isn't missed")]
    decisions.write_text(old)
    for _ in range(2):
        assert lake.build("--select", "operator_decision"), lake.lines
    assert lake.rows(asked) == []
    assert times_written(lake, "operator_decision") == written + 2
