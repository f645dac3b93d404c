"""`scaffold`: what it writes, what it keeps, and what it refuses. No Spark."""

import gzip
import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest
import yaml
from attacks import COLUMNS, COMMENTS, TABLES, UNWRITABLE, commands
from hypothesis import given, settings
from hypothesis import strategies as st
from shown_text import shown_text

from dbt_debezium.cli.scaffold import show_plan
from dbt_debezium.errors import DebeziumError
from dbt_debezium.preview import write_project
from dbt_debezium.scaffold.captured import Group, chosen_tables
from dbt_debezium.scaffold.model_files import (
    Texts,
    current_sql,
    history_sql,
    read_history,
    yml_columns,
)
from dbt_debezium.scaffold.project_models import Plan, plan_scaffold
from dbt_debezium.scaffold.tables import TableFacts, observe
from dbt_debezium.writers.name import REMEDIES

REPOSITORY = Path(__file__).parents[1]
ORDERS = {"id": "bigint", "total": "decimal(12,2)", "placed_at": "timestamp"}


def facts(
    source: str = "shop",
    table: str = "orders",
    columns: Mapping[str, str] = ORDERS,
    keys: tuple[str, ...] = ("id",),
    schema: str | None = "public",
) -> TableFacts:
    seen = {name: {"string"} for name in columns}
    return TableFacts(source, schema, table, seen, dict(columns), not keys, list(keys))


def scaffolded(project: Path, *tables: TableFacts, force: bool = False) -> Plan:
    plan = plan_scaffold(project, tables, [], force)
    plan.write(project)
    return plan


def paths(plan: Plan) -> list[str]:
    return [change.path.as_posix() for change in plan.changes]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    return tmp_path


def test_a_table_gets_four_files(project: Path) -> None:
    assert paths(scaffolded(project, facts())) == [
        "models/shop/current/cur_orders.sql",
        "models/shop/current/cur_orders.yml",
        "models/shop/history/orders_history.sql",
        "models/shop/history/orders_history.yml",
    ]


def test_a_name_that_a_file_does_not_show_is_printed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show_plan(scaffolded(project, facts(), facts(table="\\'; drop --", columns={"id": "int"})))
    lines = [line for line in capsys.readouterr().out.splitlines() if "history.sql" in line]
    assert lines == [
        "new  models/shop/history/drop_history.sql, for the table \\'; drop --",
        "new  models/shop/history/orders_history.sql",
    ]


def test_the_second_scaffold_changes_nothing(project: Path) -> None:
    tables = [facts(), facts(table="Orders"), facts("crm", columns={"x": "int"}, keys=())]
    scaffolded(project, *tables)
    assert scaffolded(project, *tables) == Plan()
    assert scaffolded(project, *tables, force=True) == Plan()


def test_the_order_of_the_tables_does_not_matter(tmp_path: Path) -> None:
    tables = [facts(), facts(table="items"), facts("crm", "orders", {"x": "int"}, ("x",))]
    plans = []
    for name, order in (("one", tables), ("two", tables[::-1])):
        (tmp_path / name / "models").mkdir(parents=True)
        plans.append(scaffolded(tmp_path / name, *order).changes)
    assert plans[0] == plans[1]


def test_a_new_column_is_added_and_hand_edits_stay(project: Path) -> None:
    scaffolded(project, facts())
    history = project / "models/shop/history/orders_history.sql"
    history.write_text(
        history.read_text()
        .replace("'decimal(12,2)'", "'decimal(20,4)'")
        .replace("'truncate': 'apply'", "'truncate': 'ignore'")
        .replace("{{ row_history(", "{#- audited -#}\n{{ row_history(")
    )
    current = project / "models/shop/current/cur_orders.sql"
    current.write_text(current.read_text().replace("    total,", "    total / 100 as total,"))
    document = project / "models/shop/current/cur_orders.yml"
    document.write_text(document.read_text().replace("Column id of public.orders", "The number"))
    kept = [history.read_text(), current.read_text(), document.read_text()]

    plan = scaffolded(project, facts(columns={**ORDERS, "note": "string", "day": "date"}))

    assert len(plan.changes) == 4
    for change in plan.changes:
        lines = change.diff().splitlines()[2:]
        assert not [line for line in lines if line.startswith("-")], change.diff()
    for text, file in zip(kept, (history, current, document), strict=True):
        assert set(text.splitlines()) <= set(file.read_text().splitlines())
    model = read_history(history, history.read_text())
    assert model is not None
    assert list(model.columns) == ["id", "total", "placed_at", "note", "day"]
    assert model.columns["total"] == "decimal(20,4)"
    assert "    note,\n    `day`,\n\n    -- provenance\n" in current.read_text()
    assert list(yml_columns(document.read_text(), "cur_orders"))[-3:] == ["note", "day", "_change"]
    assert not scaffolded(project, facts(columns={**ORDERS, "note": "string"})).changes


def test_a_column_that_is_left_out_is_not_added_again(project: Path) -> None:
    scaffolded(project, facts(columns={"id": "bigint"}))
    history = project / "models/shop/history/orders_history.sql"
    history.write_text(
        history.read_text().replace("    'truncate'", "    'left_out': ['total'],\n    'truncate'")
    )
    plan = scaffolded(project, facts())
    assert "total" not in "".join(change.new for change in plan.changes if "history.sql" not in
                                  change.path.name)  # fmt: skip
    assert "'placed_at'" in history.read_text()


def test_force_writes_anew(project: Path) -> None:
    plan = scaffolded(project, facts())
    history = project / "models/shop/history/orders_history.sql"
    history.write_text(history.read_text().replace("decimal(12,2)", "string"))
    assert paths(scaffolded(project, facts(), force=True)) == [
        "models/shop/history/orders_history.sql"
    ]
    assert history.read_text() == plan.changes[2].new


def test_a_file_without_a_place_for_a_column_is_named(project: Path) -> None:
    scaffolded(project, facts())
    current = project / "models/shop/current/cur_orders.sql"
    current.write_text("select 1 as id")
    plan = scaffolded(project, facts(columns={**ORDERS, "note": "string"}))
    assert plan.changes == []
    (refusal,) = plan.refusals
    assert "cur_orders.sql has no place for 'note'" in refusal


def test_a_model_that_is_no_literal_is_named(project: Path) -> None:
    scaffolded(project, facts())
    history = project / "models/shop/history/orders_history.sql"
    history.write_text(history.read_text().replace("'id': 'bigint'", "var('x'): 'bigint'"))
    with pytest.raises(DebeziumError, match=r"orders_history.sql cannot be read"):
        scaffolded(project, facts())


@pytest.mark.fault(68)
def test_tables_of_one_name_and_of_taken_names_get_others(project: Path) -> None:
    (project / "models/marts").mkdir()
    (project / "models/marts/sales.sql").write_text("select 1 as n")
    tables = [
        facts("a", "orders"),
        facts("b", "orders", {"x": "int"}, ("x",)),
        facts("a", "Orders"),
        facts("a", "orders_history"),
        facts("a", "cur_orders"),
        facts("a", "sales"),
        facts("a", "commit"),
        facts("marts", "x"),
    ]
    plan = scaffolded(project, *tables)
    stems = [path.stem for path in (project / "models").rglob("*.sql")]
    assert len(stems) == len(set(stems)) == 2 * len(tables) + 1
    assert len(plan.changes) == 4 * len(tables)
    publics = re.findall(r"'public_name': '(\w+)'", "".join(one.new for one in plan.changes))
    views = [*publics, *(f"{name}_history" for name in publics), "sales"]
    assert len(views) == len(set(views))
    assert "commit" not in views
    assert (project / "models/marts_tables/history").is_dir()


def test_a_source_of_the_same_shape_does_not_join_a_set_that_is_there(project: Path) -> None:
    scaffolded(project, facts("shop_1"))
    plan = scaffolded(project, facts("shop_1"), facts("shop_2"))
    assert all(path.startswith("models/shop_2/") for path in paths(plan))
    assert "'sources': ['shop_2']" in plan.changes[-2].new


def test_a_group_shares_one_set_and_takes_later_sources(project: Path) -> None:
    plan = plan_scaffold(project, [facts("shop_1"), facts("shop_2")], [Group.parse("shop_*=shop")])
    plan.write(project)
    assert len(plan.changes) == 4
    assert plan_scaffold(project, [facts("shop_3")], []).changes == []


def test_a_keyless_table_is_tested_by_its_history(project: Path) -> None:
    plan = scaffolded(project, facts(keys=()))
    document = yaml.safe_load(plan.changes[1].new)["models"][0]
    assert document["config"]["meta"] == {"tested_in": "orders_history"}
    assert "data_tests" not in document
    assert "'is_keyless': true" in plan.changes[2].new


@pytest.mark.fault(69)
def test_comments_of_the_source_become_descriptions(project: Path) -> None:
    table = facts()
    table.comments = {"id": "Number of the order", "total": "{{ 1 / 0 }} {% raw %}: 'x'"}
    plan = scaffolded(project, table)
    columns = yaml.safe_load(plan.changes[1].new)["models"][0]["columns"]
    assert columns[0]["description"] == "Number of the order."
    assert "{{ 1" not in plan.changes[1].new


@pytest.mark.fault(68, 70)
@pytest.mark.parametrize(
    "column",
    ["_change", "_SOURCE", "is_version", "a`b", "{{ x }}", "{% x", "", *UNWRITABLE, "\ud800"],
)
def test_a_column_that_cannot_be_written_is_refused_alone(project: Path, column: str) -> None:
    bad = facts(table="bad", columns={"id": "int", column: "string"})
    plan = scaffolded(project, facts(), bad)
    assert len(plan.changes) == 4
    (refusal,) = plan.refusals
    assert refusal.startswith("scaffold: table public.bad of shop: column '")


@pytest.mark.parametrize("kind", ["schema", "table", "source"])
@pytest.mark.parametrize("name", [*UNWRITABLE, "\ud800"])
def test_a_table_whose_name_cannot_be_written_is_refused_alone(
    project: Path, kind: str, name: str
) -> None:
    plan = scaffolded(project, facts(), facts(**{"table": "bad", kind: name}))
    assert len(plan.changes) == 4
    (refusal,) = plan.refusals
    assert f" {kind} {name!r} has U+" in refusal
    assert refusal.endswith("; " + REMEDIES[kind])


@pytest.mark.fault(67)
def test_columns_that_differ_in_case_only_are_refused(project: Path) -> None:
    plan = scaffolded(project, facts(columns={"id": "int", "ID": "int"}))
    assert plan.changes == []
    assert "differ in case only" in plan.refusals[0]


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=15) | st.sampled_from(
    ["'", '"', "a.b", "😀", "; drop table x; --", "select", "{{ x }}", "{#", "\\", "../../x", "*/"]
)


@pytest.mark.fault(68)
@settings(max_examples=150, deadline=None, derandomize=True)
@given(names, names, names.filter(lambda name: "*" not in name), names)
def test_names_are_read_back_as_they_were(
    schema: str, table: str, source: str, column: str
) -> None:
    captured = {"sources": [source], "schema": schema, "table": table, "truncate": "apply"}
    text = history_sql(captured, "t", {column: "string"})
    model = read_history(Path("t_history.sql"), text)
    assert model is not None
    assert (model.captured, dict(model.columns)) == (captured, {column: "string"})


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The project with nothing but its core."""
    write_project(REPOSITORY, tmp_path / "project", [], {})
    return tmp_path / "project"


def parse(project: Path) -> tuple[bool, str]:
    code = (
        "import sys; from dbt.cli.main import dbtRunner\n"
        "result = dbtRunner().invoke(['parse', '--no-partial-parse'])\n"
        "sys.exit(0 if result.success else str(result.exception))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False
    )
    return run.returncode == 0, run.stdout + run.stderr


@pytest.mark.fault(68)
def test_dbt_reads_odd_names_as_they_are(copy: Path) -> None:
    columns = dict.fromkeys(
        ["id", "order", "a b", 'say "hi"', "it's", "a.b", "😀", "; drop table x; --", "Größe", "no",
         "back\\slash", "1", "# x", "- y"], "string"
    )  # fmt: skip
    columns |= dict.fromkeys(COLUMNS, "string")
    odd = ["order", 'my "table"', "it's", "a.b", "😀", "; drop table x; --", "{{ x }}", "{% x",
           "..", "a/b", "back\\slash", "Größe", *TABLES, *commands(Path("/outside"))]  # fmt: skip
    tables = [facts("src's", name, columns, ("id", "a b"), 'sch"ema') for name in odd]
    tables[0].comments = dict(zip(columns, COMMENTS, strict=False))
    plan = plan_scaffold(copy, tables, [])
    assert plan.refusals == []
    plan.write(copy)
    assert all(re.fullmatch(r"[a-z0-9_./]+", path) and ".." not in path for path in paths(plan))
    is_good, said = parse(copy)
    assert is_good, said
    manifest = json.loads((copy / "target/manifest.json").read_text())
    histories = [
        node["config"]["meta"]["captured"]
        for node in manifest["nodes"].values()
        if node["name"].endswith("_history") and node["resource_type"] == "model"
    ]
    assert sorted(one["table"] for one in histories) == sorted(odd)
    assert {(one["schema"], *one["sources"]) for one in histories} == {('sch"ema', "src's")}
    current = [node for node in manifest["nodes"].values() if node["name"].startswith("cur_")]
    for node in current:
        assert list(node["columns"]) == [*columns, "_change"]
    (commented,) = [node for node in current if node["name"] == "cur_order"]
    described = [one["description"] for one in commented["columns"].values()]
    for comment, description in zip(COMMENTS, described, strict=False):
        kept = re.sub("[\x80-\x9f]", "", comment).removesuffix(".")
        assert re.sub("[\x80-\x9f]", "", shown_text(description)).removesuffix(".") == kept


@pytest.mark.proof
def test_three_hundred_tables_are_written_and_parsed_in_time(copy: Path) -> None:
    columns = {"id": "bigint", **{f"column_{n}": "decimal(12,2)" for n in range(19)}}
    tables = [facts("erp", f"table_{n}", columns) for n in range(300)]
    started = time.process_time()
    plan_scaffold(copy, tables, []).write(copy)
    written = time.process_time()
    assert plan_scaffold(copy, tables, []) == Plan()
    again = time.process_time()
    before = getrusage(RUSAGE_CHILDREN).ru_utime
    is_good, said = parse(copy)
    assert is_good, said
    parsed = getrusage(RUSAGE_CHILDREN).ru_utime - before
    print(f"write {written - started:.1f}, again {again - written:.1f}, parse {parsed:.1f} CPU-s")
    assert written - started < 10
    assert again - written < 10
    assert parsed < 30


def test_the_shop_is_as_scaffold_writes_it() -> None:
    for path in sorted((REPOSITORY / "models/shop/history").glob("*.sql")):
        text = path.read_text()
        model = read_history(path, text)
        assert model is not None
        assert text == history_sql(model.captured, model.public_name, model.columns)
        texts = Texts("", model.public_name, model.columns, [], {})
        current = REPOSITORY / f"models/shop/current/cur_{model.public_name}.sql"
        assert current.read_text() == current_sql(texts)


def test_patterns_choose_tables() -> None:
    tables = [facts("a", "orders"), facts("b", "orders"), facts("a", "items")]
    assert chosen_tables(tables, ["public.orders"]) == tables[:2]
    assert chosen_tables(tables, ["a.*"]) == [tables[0], tables[2]]
    assert chosen_tables(tables, []) == tables
    with pytest.raises(DebeziumError, match="no table that has landed fits 'x'"):
        chosen_tables(tables, ["x"])


@pytest.mark.fault(80, 81)
def test_a_table_of_signals_is_chosen_by_its_own_name_only() -> None:
    for name in ("incremental_window", "mysql_shop"):
        tables = observed(name)
        signals = [one for one in tables if one.table == "debezium_signal"]
        assert len(signals) == 1
        others = [one for one in tables if one not in signals]
        assert chosen_tables(tables, []) == chosen_tables(tables, ["*"]) == others
        assert chosen_tables(tables, [".".join(filter(None, signals[0].place[1:]))]) == signals


def observed(name: str) -> list[TableFacts]:
    """The tables of a capture."""
    with gzip.open(REPOSITORY / "tests" / "data" / name / "events.jsonl.gz", "rt") as lines:
        messages = [json.loads(line) for line in lines]
    return list(observe((one["topic"], one["key"], one["value"]) for one in messages))
