"""`dbt_debezium.open` reads a lake in Python. Tables of a cut agree, whatever runs meanwhile."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb", reason="`make setup-live` installs readers of the lake")
pytest.importorskip("pyiceberg", reason="`make setup-live` installs readers of the lake")

import duckdb
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
from shop_lake import COMMIT, HISTORY, at, commit, cut, publish, shop, version
from small_lake import add_view, opened, write
from test_report_page import entry

import dbt_debezium as dd
from dbt_debezium import notebook
from dbt_debezium.api.cut import Cut
from dbt_debezium.lake_format import FORMAT, PROPERTY
from dbt_debezium.readers.file_places import FilePlaces
from dbt_debezium.status.lake_status import LakeStatus

EVIL = """<script>alert("a")</script>'&$x$\\(y\\)"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake that no test changes."""
    return shop(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def lake(shared: Path) -> dd.Lake:
    return dd.open(shared)


def statuses(cut: Cut) -> dict[int, str]:
    return {row["id"]: row["status"] for row in cut["orders"].to_arrow().to_pylist()}


def test_importing_the_package_imports_nothing_else() -> None:
    code = (
        "import sys, dbt_debezium; "
        "print(sorted({one.partition('.')[0] for one in sys.modules} "
        "& {'click', 'dbt', 'duckdb', 'pyarrow', 'pyspark', 'rich', 'sqlglot', 'yaml'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_reading_a_lake_starts_neither_spark_nor_dbt(shared: Path) -> None:
    code = (
        "import sys, dbt_debezium as dd\n"
        "with dd.open(sys.argv[1]).cut() as cut: rows = cut['orders'].to_arrow().num_rows\n"
        "print(rows, sorted({one.partition('.')[0] for one in sys.modules} "
        "& {'dbt', 'pyspark', 'py4j'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(shared)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "2 []\n"


def test_a_table_comes_in_every_form(lake: dd.Lake) -> None:
    with lake.cut() as cut:
        orders = cut["orders"]
        assert orders.columns == ["id", "status", "total", "paid at", "_change"]
        arrow = orders.to_arrow()
        assert arrow.schema.field("paid at").type == pa.timestamp("us", "UTC")
        assert arrow.schema.field("total").type == pa.decimal128(18, 2)
        assert pa.table(orders) == arrow
        relation = orders.duckdb().filter("id = 2").project("status")
        assert relation.fetchall() == [("again",)]
        assert duckdb.sql("select max(id) from orders").fetchall() == [(2,)]
        assert cut.query("select count(*) as n from public.orders").to_arrow().to_pylist() == [
            {"n": 2}
        ]


def test_polars_and_pandas_get_exact_values(tmp_path: Path) -> None:
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    shop(tmp_path)
    row = version(3, 5, None, "new", total=Decimal("9007199254740993.01"))
    write(opened(tmp_path), "build.orders_history", [row], HISTORY)
    with dd.open(tmp_path).cut() as cut:
        orders = cut["orders"]
        assert orders.to_polars()["total"].to_list() == [Decimal("9007199254740993.01")]
        assert [*orders.to_pandas()["total"]] == [Decimal("9007199254740993.01")]
        assert polars.DataFrame(orders).height == 1
        typed = orders.to_pandas(types_mapper=pandas.ArrowDtype)
        assert str(typed.dtypes["id"]) == "int64[pyarrow]"


def test_two_streams_of_a_cut_do_not_end_each_other(lake: dd.Lake) -> None:
    with lake.cut() as cut:
        first = pa.RecordBatchReader.from_stream(cut["orders"])
        second = pa.RecordBatchReader.from_stream(cut["orders_history"])
        assert (first.read_all().num_rows, second.read_all().num_rows) == (2, 4)


def test_a_cut_stays_as_it_was_while_runs_publish(tmp_path: Path) -> None:
    lake = dd.open(shop(tmp_path))
    with lake.cut() as before:
        assert statuses(before) == {1: "paid", 2: "again"}
        history = [version(1, 6, None, "sent"), version(2, 4, 6, "again")]
        write(opened(tmp_path), "build.orders_history", history, HISTORY)
        write(opened(tmp_path), "build.commit", [commit(one) for one in range(1, 9)], COMMIT)
        publish(tmp_path, cut(6), cut_id=2)
        assert statuses(before) == {1: "paid", 2: "again"}
        counted = before.query("select max(commit_number) as n from public.commit").to_arrow()
        assert counted.to_pylist() == [{"n": 5}]
        assert before["totals"].to_arrow().to_pylist() == [{"orders": 2}]
    with lake.cut() as after:
        assert statuses(after) == {1: "sent"}
        assert after.commits["shop"].number == 6


def test_a_mart_that_a_later_cut_may_have_emptied_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a REST catalog, which gives each table as it is when it is asked for."""
    lake = dd.open(shop(tmp_path))
    monkeypatch.setattr(FilePlaces, "is_frozen", False)
    with lake.cut() as found:
        assert found["totals"].to_arrow().num_rows == 1
        publish(tmp_path, cut(5), cut_id=2)
        assert statuses(found) == {1: "paid", 2: "again"}
        with pytest.raises(dd.DebeziumError, match=r"totals may have lost its rows, because a la"):
            found["totals"]


def test_an_earlier_cut_has_the_tables_of_the_source(lake: dd.Lake) -> None:
    with lake.cut(commit=1) as cut:
        assert [*cut] == ["commit", "orders", "orders_changes", "orders_history"]
        assert statuses(cut) == {1: "new", 2: "new"}
        assert (
            cut.query("select count(*) as n from public.orders_changes").to_arrow()[0][0].as_py()
            == 2
        )
        with pytest.raises(dd.DebeziumError, match=r"public.totals: it has no earlier rows"):
            cut["totals"]
        with pytest.raises(dd.DebeziumError, match=r"public.totals: it has no earlier rows"):
            cut.query("from public.totals")
    # Commit 4 has the time of commit 2, and is newer.
    for time in ("2026-11-21 02:38", at(2), at(2).replace(tzinfo=None)):
        with lake.cut(time=time) as found:
            assert found.commits["shop"].number == 4
    with lake.cut(commit={"shop": 3}) as found:
        assert statuses(found) == {1: "paid"}


def test_diff_says_what_changed(lake: dd.Lake) -> None:
    found = lake.diff("shop", 2, 3, table="orders")
    assert [(row.change, row.changed) for row in found] == [
        ("update", {"status": ("new", "paid"), "paid at": (None, "2026-11-21 02:38:00")}),
        ("delete", {}),
    ]
    assert [one.transaction_id for one in found.commits] == ["702", "703"]
    assert lake.diff("shop", transaction_id="702").rows == lake.diff("shop", 2).rows


REFUSALS: list[tuple[Callable[[dd.Lake], Any], str]] = [
    (lambda lake: lake.cut(commit=6), "commit: commit 6 of shop is not published; name one from"),
    (lambda lake: lake.cut(commit={"bank": 1}), "commit: bank is no source of the published cut;"),
    (lambda lake: lake.cut(commit=1, time="2026-11-21"), "cut: commit and time each name a moment"),
    (lambda lake: lake.cut(commit="1"), "commit: '1' is no number; name a commit by its"),
    (lambda lake: lake.cut(time="noon"), "time: noon is no time; write it as '2026-11-21 02:36'"),
    (lambda lake: lake.cut(time="2020-01-01"), "time: no source had committed at 2020-01-01"),
    (lambda lake: lake.cut()["oders"], "cut: the lake has no table oders in public; did you mean"),
    (lambda lake: lake.cut()["zzz"], "cut: the lake has no table zzz in public; there are commit"),
    (lambda lake: lake.cut().query("drop table public.orders"), "is not one query and may change"),
    (lambda lake: lake.cut().query("from public.zzz"), "the lake has no table public.zzz; the"),
    (lambda lake: lake.cut().query("from read_text('/a')"), "; read it with Spark (docs/python.md"),
    (lambda lake: lake.diff("shop"), "diff: neither or both of first and transaction_id"),
    (lambda lake: lake.diff("shop", 3, 2), "diff: 3 to 2 are no commits; name the first one first"),
    (lambda lake: lake.diff("shop", 6), "diff: commit 6 of shop is not published;"),
    (lambda lake: dd.open("/nope"), "lake: /nope has neither a dbt_project.yml nor a catalog.db;"),
]


@pytest.mark.parametrize(("ask", "sentence"), REFUSALS)
def test_what_cannot_be_answered_is_one_sentence(
    lake: dd.Lake, ask: Callable[[dd.Lake], Any], sentence: str
) -> None:
    with pytest.raises(dd.DebeziumError) as raised:
        ask(lake)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "--" not in str(raised.value)


def test_a_notebook_without_a_lake_is_told_what_to_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dd.DebeziumError, match=r"lake: .* has neither a dbt_project.yml nor"):
        dd.open(tmp_path)
    (tmp_path / "catalog.db").write_bytes(b"not a database, but some words of text")
    with pytest.raises(dd.DebeziumError, match=r"catalog: .* cannot be opened"):
        dd.open(tmp_path)


def test_a_closed_cut_and_what_is_not_installed_are_named(
    lake: dd.Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lake.cut() as cut:
        orders = cut["orders"]
        monkeypatch.setattr("dbt_debezium.api.cut.find_spec", lambda _: None)
        for method, package in (("to_polars", "polars"), ("to_pandas", "pandas")):
            with pytest.raises(
                dd.DebeziumError,
                match=f"{method}: {package} is not installed; pip install {package}",
            ):
                getattr(orders, method)()
        with pytest.raises(dd.DebeziumError, match=r"query: pyarrow is not installed; pip install"):
            cut.query("select 1")
        monkeypatch.undo()
    for read in (orders.to_arrow, orders.duckdb, lambda: cut["orders"], lambda: cut.query("x")):
        with pytest.raises(dd.DebeziumError, match=r"cut: it is closed; take another one with"):
            read()


def test_a_lake_of_a_newer_version_is_not_read(tmp_path: Path) -> None:
    catalog = opened(shop(tmp_path))
    catalog.create_namespace("landing")
    for mark, is_read in ((str(FORMAT), True), (str(FORMAT + 1), False)):
        schema = pa.schema([("a", pa.int64())])
        table = catalog.create_table_if_not_exists("landing.lease", schema)
        with table.transaction() as change:
            change.set_properties({PROPERTY: mark})
        if is_read:
            dd.open(tmp_path)
            continue
        with pytest.raises(dd.DebeziumError, match=r"its tables have format .*; upgrade"):
            dd.open(tmp_path)


def test_a_lake_in_which_nothing_is_published_says_so(tmp_path: Path) -> None:
    catalog = opened(shop(tmp_path))
    catalog.drop_table("build.commit")
    with pytest.raises(dd.DebeziumError, match=r"nothing is published yet"):
        dd.open(tmp_path).cut()


class Tags(HTMLParser):
    """The tags and the text of a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_notebook_shows_whatever_the_data_says_as_text(tmp_path: Path) -> None:
    shop(tmp_path)
    row = version(3, 5, None, EVIL)
    write(opened(tmp_path), "build.orders_history", [row], HISTORY)
    add_view(tmp_path, "evil", f"select 1 as `{EVIL}` from build.commit", "public")
    lake = dd.open(tmp_path)
    with lake.cut() as found:
        shown = [
            found["orders"]._repr_html_(),
            found["evil"]._repr_html_(),
            found._repr_html_(),
            lake._repr_html_(),
            lake.diff("shop", 5)._repr_html_(),
            found.query("select repeat('a', 3) as b from range(30)")._repr_html_(),
        ]
        obeyed = found.query('select 1 as "a\x1b[31m\n\x9b"')
        assert repr(obeyed) == "<Table query: a\\x1b[31m\\n\\x9b>"
        assert repr(found["orders"]).startswith("<Table orders: id, status")
        assert "shop" in repr(found)
    for text in shown:
        assert Tags(text).tags <= {"table", "caption", "tr", "th", "td", "p", "span"}
    assert EVIL in Tags(shown[0]).text
    assert EVIL in Tags(shown[1]).text
    assert "first 20 rows of query" in Tags(shown[5]).text


def test_a_cut_prints_no_source_that_a_terminal_obeys(lake: dd.Lake) -> None:
    with lake.cut() as cut:
        cut.commits = {"s": replace(cut.commits["shop"], source="s\x1b\n")}
        assert repr(cut).startswith("<Cut at ")
        assert "s\\x1b\\n" in repr(cut)


def test_status_shows_its_sentences_in_a_notebook() -> None:
    shown = LakeStatus([entry(EVIL)], 0, {}, {}, [EVIL])._repr_html_()
    assert Tags(shown).tags <= {"table", "tr", "th", "td", "p", "span"}
    assert Tags(shown).text.count(EVIL) >= 2


@pytest.mark.parametrize("value", [None, [1], {"a": "x" * 90}, "x" * 90, Decimal("1.50"), b"a"])
def test_only_values_with_parts_are_short_in_a_notebook(value: Any) -> None:
    text = notebook.cell_text(value)
    assert ("…" in text) == isinstance(value, dict)
