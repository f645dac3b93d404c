"""The past of a published shop: as of a commit, as of a time, and what one transaction changed."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import pytest
from click.testing import CliRunner
from compare import DatabaseState, comparable, read_database_cuts
from engines import rows_of as arrow_rows
from lake import DATA, Lake, capture, open_lake, tables_of
from oracle import read_messages
from pages import blocks
from rendered import rendered
from test_readers import read_under_flips

import dbt_debezium
from dbt_debezium.build import compiled
from dbt_debezium.cli import main
from dbt_debezium.diff import Histories, RowDiff
from dbt_debezium.errors import DebeziumError
from dbt_debezium.readers import Reader
from dbt_debezium.readers.choice import duckdb_reader
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.readers.spark_values import with_text_times
from dbt_debezium.scaffold.project_models import ProjectModels

pytestmark = pytest.mark.slow

COMMITS = "public.commit"
Cut = tuple[DatabaseState, int]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    tables = tables_of(read_messages(capture("shop_basic")))
    with open_lake(tmp_path_factory.mktemp("past"), tables) as opened:
        opened.land(capture("shop_basic"))
        assert opened.build(command="run"), opened.lines
        yield opened


@pytest.fixture(scope="module")
def cuts(lake: Lake) -> list[Cut]:
    """What the database held, and the commit that left it so."""
    numbers = dict(lake.rows(f"select transaction_id, commit_number from {COMMITS}"))
    return [
        (state, int(str(numbers[state.last_transaction_id])))
        for state in read_database_cuts(DATA / "shop_basic")
    ]


def rows_of(lake: Lake, relation: str, state: DatabaseState, table: str) -> Counter[object]:
    types = state.column_types["public", table]
    rows = lake.spark.sql(f"select * from {relation}").collect()
    return Counter(
        tuple((name, comparable(kind, row[name])) for name, kind in types.items()) for row in rows
    )


def truth_of(state: DatabaseState, table: str) -> Counter[object]:
    types = state.column_types["public", table]
    return Counter(
        tuple((name, comparable(kind, row[name])) for name, kind in types.items())
        for row in state.tables["public", table]
    )


def test_times_that_are_shown_are_in_utc_wherever_they_stand(lake: Lake) -> None:
    at = "timestamp '2026-01-02 03:04:05Z'"
    frame = lake.spark.sql(f"select {at} as plain, struct(array({at}) as ats, 1 as n) as nested")
    assert with_text_times(frame).collect() == [
        ("2026-01-02 03:04:05", (["2026-01-02 03:04:05"], 1))
    ]


def test_as_of_a_commit_every_table_is_what_the_database_held(lake: Lake, cuts: list[Cut]) -> None:
    for state, number in cuts:
        for table in lake.tables:
            relation = rendered("as_of_commit", f"public.{table.model_name}_history", number)
            found = rows_of(lake, relation, state, table.table)
            assert found == truth_of(state, table.table), (number, table.table)


def test_as_of_a_time_every_table_is_at_the_newest_commit_until_then(
    lake: Lake, cuts: list[Cut]
) -> None:
    times = dict(lake.rows(f"select commit_number, cast(committed_at as string) from {COMMITS}"))
    for state, number in cuts[::4]:
        at = str(times[number])
        newest = max(int(str(one)) for one, time in times.items() if str(time) <= at)
        assert newest == number
        for table in lake.tables:
            history = f"public.{table.model_name}_history"
            relation = rendered("as_of_time", history, at, COMMITS)
            found = rows_of(lake, relation, state, table.table)
            assert found == truth_of(state, table.table), (at, table.table)
    relation = rendered("as_of_time", "public.orders_history", "2020-01-01", COMMITS)
    assert lake.rows(f"select * from {relation}") == []


def test_as_of_a_time_a_commit_counts_that_a_later_one_of_an_earlier_time_follows(
    lake: Lake,
) -> None:
    lake.spark.sql(
        "create or replace temporary view clocked as select * from values "
        "('shop', 1, timestamp '2026-01-01 00:00:05'), ('shop', 2, timestamp '2026-01-01 00:00:03')"
        " as t (source, commit_number, committed_at)"
    )
    lake.spark.sql(
        "create or replace temporary view versions as select * from values "
        "('a', 1, 2, named_struct('source', 'shop')),"
        " ('b', 2, null, named_struct('source', 'shop'))"
        " as t (id, _valid_from, _valid_to, _change)"
    )
    at = rendered("as_of_time", "versions", "2026-01-01 00:00:03", "clocked")
    assert lake.rows(f"select id from {at}") == [("b",)]


def test_a_version_names_the_times_of_the_commits_that_began_and_ended_it(lake: Lake) -> None:
    times = dict(lake.rows(f"select commit_number, committed_at from {COMMITS}"))
    versions = lake.rows(
        "select _valid_from, _valid_from_at, _valid_to, _valid_to_at from public.orders_history"
    )
    assert any(isinstance(version[3], datetime) for version in versions)
    assert [
        version
        for version in versions
        if version[1] != times[version[0]] or version[3] != times.get(version[2])
    ] == []


def histories(lake: Lake, reader: Reader | None = None) -> Histories:
    models = [*ProjectModels.read(lake.project).histories.values()]
    return Histories(reader or SparkReader(lake.spark), "build", "public", models)


def changed_by(lake: Lake, number: int, reader: Reader | None = None) -> list[RowDiff]:
    found = histories(lake, reader)
    return found.changes(found.commits("shop", number, number))


def test_a_transaction_is_shown_with_every_row_that_it_changed(lake: Lake, cuts: list[Cut]) -> None:
    shown: Counter[str] = Counter()
    for number in (1, 200, cuts[-1][1]):
        rows = changed_by(lake, number)
        assert len({(row.table, row.row_key) for row in rows}) == len(rows)
        shown.update(row.change for row in rows)
        for table in lake.tables:
            history = f"public.{table.model_name}_history"
            before, after = (
                Counter(lake.rows(f"select _row_key, _valid_from from {relation}"))
                for relation in (
                    rendered("as_of_commit", history, number - 1),
                    rendered("as_of_commit", history, number),
                )
            )
            mine = [row for row in rows if row.table == table.model_name]
            gone = [row.row_key for row in mine if row.before is not None]
            new = [row.row_key for row in mine if row.after is not None]
            assert sorted(gone) == sorted(key for key, _ in (before - after).elements())
            assert sorted(new) == sorted(key for key, _ in (after - before).elements())
            for row in mine:
                for image in filter(None, (row.before, row.after)):
                    assert image.keys() == table.facts.columns.keys()
    assert shown["insert"]
    assert shown["update"]


def test_the_macro_the_views_and_both_engines_show_the_same_changes(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake.project)
    duckdb = duckdb_reader(None, "build")
    number = 200
    rows = changed_by(lake, number)
    assert rows
    assert changed_by(lake, number, duckdb) == rows
    found = histories(lake)
    several = found.commits("shop", number - 9, number)
    assert [one.number for one in several] == [*range(number - 9, number + 1)]
    assert found.changes(several, "orders") == [
        row for one in several for row in changed_by(lake, one.number) if row.table == "orders"
    ]
    macro = lake.rows(compiled(f"{{{{ transaction_diff('shop', {number}) }}}}", lake.project))
    assert [(one[2], one[3], one[4]) for one in macro] == [
        (row.table, row.row_key, row.change) for row in rows
    ]
    for table in lake.tables:
        query = f"select * from public.{table.model_name}_changes where commit_number = {number}"
        mine = [
            (row.commit_number, row.row_key, row.change, row.before, row.after)
            for row in rows
            if row.table == table.model_name
        ]
        for reader in (SparkReader(lake.spark), duckdb):
            changes = sorted(reader.texts(query), key=lambda one: str(one["row_key"]))
            names = ("commit_number", "row_key", "operation", "before", "after")
            assert [tuple(one[name] for name in names) for one in changes] == mine


def test_what_is_not_published_has_no_diff(lake: Lake) -> None:
    found = histories(lake)
    (commit,) = found.commits("shop", 300, 300)
    assert found.commits("shop", None, None, commit.transaction_id) == [commit]
    with pytest.raises(DebeziumError, match="commit 9999 of shop is not published"):
        found.commits("shop", 9999, 9999)
    with pytest.raises(DebeziumError, match="shpo is no source of the published cut; its sources "):
        found.commits("shpo", 300, 300)


def test_the_command_prints_each_row_of_a_transaction(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake.project)
    rows = changed_by(lake, 200)
    lines = CliRunner().invoke(main, ["diff", "shop", "200", "--json"]).stdout.splitlines()
    assert [json.loads(line) for line in lines] == [row.as_json() for row in rows]
    options = ["diff", "shop", "200", "--json", "--engine", "spark"]
    assert CliRunner().invoke(main, options).stdout.splitlines() == lines
    said = CliRunner().invoke(main, ["diff", "shop", "200"]).stdout
    assert said.startswith("commit 200 of shop: transaction ")
    refused = CliRunner().invoke(main, ["diff", "shop"])
    assert refused.exit_code == 2


def test_a_query_shows_the_past_with_both_engines_as_the_macros_do(
    lake: Lake, cuts: list[Cut], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake.project)
    number = 300
    ((at,),) = lake.rows(
        f"select cast(committed_at as string) from {COMMITS} where commit_number = {number}"
    )
    ((until,),) = lake.rows(
        f"select max(commit_number) from {COMMITS} where committed_at <= timestamp '{at}'"
    )
    queries = (
        "select id, status, total, placed_at, _change.commit_number as n from public.orders",
        "with a as (select * from public.orders_history where id < 50) select b.id, a._valid_to"
        " from a join `public`.orders as b on a.id = b.id",
        "select orders.id, c.name from public.orders join public.customers c on c.id = customer_id",
        "select commit_number, operation, before.status as old, after.status as new"
        " from public.orders_changes",
    )
    for option, shown in (("--at", number), ("--as-of", until)):
        value = str(number) if option == "--at" else str(at)
        for query in queries:
            answers = [
                CliRunner().invoke(main, ["query", sql, option, value, "--json", *engine])
                for sql, engine in (
                    (query, ["--engine", "spark"]),
                    (query.replace("`", '"'), ["--engine", "duckdb"]),
                )
            ]
            assert [one.exit_code for one in answers] == [0, 0], answers[0].output
            spark, duckdb = (sorted(one.stdout.splitlines()) for one in answers)
            assert spark
            assert spark == duckdb
            for one in answers:
                assert one.stderr.startswith(f"as of commit {shown} of shop: transaction ")
        relation = rendered("as_of_commit", "public.orders_history", shown)
        ((count,),) = lake.rows(f"select count(*) from {relation}")
        for engine in ("spark", "duckdb"):
            arguments = ["query", queries[0], option, value, "--json", "--engine", engine]
            lines = CliRunner().invoke(main, arguments).stdout.splitlines()
            assert len(lines) == count
    for engine in ("spark", "duckdb"):
        for sql, sentence in (
            ("select * from public.published_cut", "public.published_cut: it has no earlier rows"),
            ("select * from build.commit", "build.commit: it has no earlier rows"),
        ):
            refused = CliRunner().invoke(main, ["query", sql, "--at", "3", "--engine", engine])
            assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1), refused.output
            assert refused.stderr.startswith(sentence)


def test_python_reads_the_rows_that_spark_reads(
    lake: Lake, cuts: list[Cut], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = dbt_debezium.open(lake.project)
    with opened.cut() as cut:
        for name in cut:
            found = cut[name].to_arrow()
            expected = lake.spark.table(f"public.{name}").toArrow()
            assert found.column_names == expected.column_names
            assert arrow_rows(found) == arrow_rows(expected), name
        assert {"orders", "orders_history", "orders_changes", "commit"} <= {*cut}
    for state, number in cuts[::8]:
        with opened.cut(commit=number) as cut:
            for table in lake.tables:
                types = state.column_types["public", table.table]
                rows = cut[table.model_name].to_arrow().to_pylist()
                shown = Counter(
                    tuple((name, comparable(kind, row[name])) for name, kind in types.items())
                    for row in rows
                )
                assert shown == truth_of(state, table.table), (number, table.table)
    assert opened.diff("shop", 200).rows == changed_by(lake, 200)
    monkeypatch.chdir(lake.project)
    said = CliRunner().invoke(main, ["status", "--json", "--engine", "spark"]).stdout
    assert opened.status().report == json.loads(said)


def test_the_examples_of_the_page_on_python_run(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(lake.folder)
    (lake.folder / "my_lake").symlink_to(lake.project)
    names: dict[str, object] = {}
    for block in blocks("docs/python.md", "python"):
        exec(block, names)
    assert len(capsys.readouterr().out.splitlines()) == 8
    assert len(names["orders"]) > len(names["then"]) > 0  # type: ignore[arg-type]


def test_a_query_is_answered_and_what_could_change_something_is_refused(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(lake.project)

    def said(sql: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, ["query", sql, "--engine", "spark"])
        return result.exit_code, result.output

    for statement in (
        "drop view public.orders",
        "with x as (select 1) insert into public.orders select * from x",
        "from (select 1) insert into a select * insert into b select *",
        "set spark.sql.shuffle.partitions = 1",
        "call lake.system.expire_snapshots('public.orders')",
    ):
        code, text = said(statement)
        assert (code, "is no query and may change something; SELECT" in text) == (2, True), text
    assert "PARSE_SYNTAX_ERROR" in said("selec 1")[1]
    assert "orders_history" in said("show\nviews in public")[1]
    code, text = said("/* the newest */\nselect _change from public.orders limit 1")
    assert code == 0
    assert '{"source": "shop", "commit_number": ' in text


@pytest.mark.fault(73)
def test_no_query_sees_two_cuts(lake: Lake) -> None:
    """The last test here, as it moves the pointer."""
    read_under_flips(lake.spark, lake.folder / "lake", queries=40, flips=30)
