"""The public views in the dialects of other engines."""

import re

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from dbt_debezium.views.dialects import Dialect, Lake, create_view, tables_of, without_lookahead

SHOWN = "regexp_replace(position, '(^|/|: )0+(?=[0-9]+([+/]|$))', '$1')"
"""What the macro shown_position renders."""
FIELDS = {"source": "string", "commit_number": "bigint", "link_position": "string"}
CURRENT = """
with pointer as (
    select inline(cut.source_cuts) from build.cut as cut where cut.channel = 'published'
)
select versions.`id`, versions.`orderId`, versions._change.committed_at as at
from pointer
inner join build.orders_history as versions on pointer.source = versions._source
"""
UNFOLDED = {
    "duckdb": "UNNEST(cut.source_cuts, max_depth := 2)",
    "trino": "UNNEST(cut.source_cuts) AS source_cut(source, commit_number, link_position)",
    "snowflake": "LATERAL FLATTEN(input => cut.source_cuts)",
}


@given(st.text(alphabet="019a+/: ", max_size=24))
def test_a_position_is_shown_the_same_without_a_lookahead(position: str) -> None:
    call = sqlglot.parse_one(SHOWN, read="spark")
    assert isinstance(call, exp.RegexpReplace)
    pattern = call.expression.name
    outer = without_lookahead(call, "snowflake")
    found = position
    for one in (outer.expressions[0], outer):
        _, inner_pattern, kept = one.expressions
        assert "(?" not in inner_pattern.name
        found = re.sub(inner_pattern.name, kept.name, found)
    assert found == re.sub(pattern, r"\1", position)


@pytest.mark.parametrize("dialect", ["duckdb", "trino", "snowflake"])
def test_a_view_takes_the_pointer_first_and_reads_the_catalog_that_is_named(
    dialect: Dialect,
) -> None:
    sql = create_view(dialect, "public", "orders", CURRENT, Lake("ice", FIELDS))
    (view,) = sqlglot.parse(sql, read=dialect)
    assert view is not None
    tables = [table for table in view.find_all(exp.Table) if table.db == "build"]
    assert {(one.catalog, one.name) for one in tables} == {
        ("ice", "cut"),
        ("ice", "orders_history"),
    }
    assert UNFOLDED[dialect] in sql
    assert sql.index("ice.build.cut") < sql.index("ice.build.orders_history")
    assert "inline" not in sql.lower()


def test_snowflake_reads_lower_case_names_as_it_stores_them_and_fields_as_they_are() -> None:
    sql = create_view("snowflake", "public", "orders", CURRENT, Lake("ice", FIELDS))
    assert sql.startswith('create or replace view public."ORDERS" as')
    assert 'versions."ID"' in sql
    assert 'versions."orderId"' in sql
    assert "versions._change['committed_at']" in sql


def test_views_of_trino_read_tables_with_the_rights_of_the_reader() -> None:
    sql = create_view("trino", "public", "orders", CURRENT, Lake("ice", FIELDS))
    assert sql.startswith('create or replace view public."orders" security invoker as')


def test_the_tables_of_a_view_are_those_with_a_schema() -> None:
    assert tables_of(CURRENT) == [("build", "cut"), ("build", "orders_history")]


@pytest.mark.parametrize("dialect", ["duckdb", "trino", "snowflake"])
def test_a_view_of_changes_names_the_fields_of_its_structs(
    dialect: Dialect, caplog: pytest.LogCaptureFixture
) -> None:
    text = """
    select
        case when a.b is null then named_struct('id', a.`id`, 'paid at', a.`paid at`) end as before,
        null as after
    from build.a as a
    """
    lake = Lake("ice", FIELDS, {"id": "bigint", "paid at": "timestamp"})
    sql = create_view(dialect, "public", "a_changes", text, lake)
    assert sqlglot.parse(sql, read=dialect)
    assert caplog.records == []
    row = 'CAST(ROW(a."id", a."paid at") AS ROW("id" BIGINT, "paid at" TIMESTAMP(6) WITH TIME ZONE'
    expected = {
        "duckdb": """{'id': a."id", 'paid at': a."paid at"}""",
        "trino": row,
        "snowflake": """OBJECT_CONSTRUCT('id', a."ID", 'paid at', a."paid at")""",
    }
    assert expected[dialect] in " ".join(sql.split()).replace("ROW( ", "ROW(")
