"""What `scaffold` writes builds, as it is and with a policy changed, and needs nothing more."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from lake import Lake, capture, open_lake

from dbt_debezium.scaffold.landed_tables import landed_tables
from dbt_debezium.scaffold.project_models import Plan, ProjectModels, plan_scaffold
from dbt_debezium.scaffold.tables import TableFacts

pytestmark = pytest.mark.slow

TABLE = "Sel`ect; drop table x; -- {{ 1 }}"
COLUMN = "a b; --"


def with_odd_names(messages: Path, path: Path) -> Path:
    """The shop with a table and a column of names that are no identifiers."""
    text = gzip.decompress(messages.read_bytes()).decode()
    text = text.replace(r"\"table\":\"products\"", rf"\"table\":\"{TABLE}\"")
    text = text.replace(r"\"public.products\"", rf"\"public.{TABLE}\"")
    path.write_text(text.replace(r"\"stock\":", rf"\"{COLUMN}\":"))
    return path


@pytest.fixture(scope="module")
def scaffolded(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Lake, list[TableFacts], Plan]]:
    folder = tmp_path_factory.mktemp("scaffold")
    with open_lake(folder, []) as lake:
        lake.land(with_odd_names(capture("shop_basic"), folder / "shop.jsonl"))
        lake.land(capture("truncate"))
        # A project whose example has been removed, and that has no models of its own yet.
        assert lake.build(command="run"), lake.lines
        tables = landed_tables(lake.spark)
        plan = plan_scaffold(lake.project, tables, [])
        plan.write(lake.project)
        history = lake.project / "models" / "trunc" / "history" / "a_history.sql"
        history.write_text(history.read_text().replace("'apply'", "'ignore'"))
        assert lake.build("--vars", "{landing_reaches_the_end: true}"), lake.lines
        yield lake, tables, plan


def test_the_scaffold_of_a_built_project_changes_nothing(
    scaffolded: tuple[Lake, list[TableFacts], Plan],
) -> None:
    lake, tables, plan = scaffolded
    assert plan.refusals == []
    assert plan_scaffold(lake.project, tables, []) == Plan()


@pytest.mark.fault(68)
def test_a_table_and_a_column_of_any_name_are_published(
    scaffolded: tuple[Lake, list[TableFacts], Plan],
) -> None:
    lake, _, _ = scaffolded
    histories = ProjectModels.read(lake.project).histories.values()
    (name,) = (one.public_name for one in histories if one.captured["table"] == TABLE)
    (count,) = lake.rows(f"select count(`{COLUMN}`) from public.{name}")
    assert count[0] > 0
    assert lake.rows(f"select count(*) from build.cur_{name}") == [count]


def test_a_table_that_ignores_truncates_keeps_its_rows(
    scaffolded: tuple[Lake, list[TableFacts], Plan],
) -> None:
    lake, _, _ = scaffolded
    kept = lake.rows("select count(*) from public.a")[0][0]
    truncates = lake.rows(
        "select count(*) from build.int_change where operation = 't' and table_name = 'a'"
    )[0][0]
    assert truncates
    assert kept > len(Path(capture("truncate").parent / "expected/a.jsonl").read_text().split("\n"))


def test_a_mart_of_other_types_is_not_rounded_to_those_it_was_built_with(
    scaffolded: tuple[Lake, list[TableFacts], Plan],
) -> None:
    lake, _, _ = scaffolded
    mart = lake.project / "models" / "marts" / "one_amount.sql"
    mart.parent.mkdir(exist_ok=True)
    text = """{{{{ config(materialized='published_table') }}}}
select
    cast(1 as smallint) as id,
    cast(12.3456 as {}) as amount
"""
    for expected, type in (
        (True, "decimal(18,2)"),
        (True, "decimal(18,2)"),
        (False, "decimal(18,4)"),
    ):
        mart.write_text(text.format(type))
        assert lake.build("--select", "one_amount", command="run") is expected, lake.lines
    told = str(lake.lines)
    assert "one_amount: its columns or their types are not those it was built with" in told
    assert "drop table build.one_amount__stored before the next run" in told
    lake.spark.sql("drop table build.one_amount__stored")
    assert lake.build("--select", "one_amount", command="run"), lake.lines
    assert lake.rows("select cast(amount as string) from build.one_amount") == [("12.3456",)]
    mart.unlink()
