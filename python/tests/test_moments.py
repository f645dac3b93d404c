"""Earlier commits, and what commits changed, asked without Spark over the views that we make."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb", reason="`make setup-live` installs readers of the lake")
pytest.importorskip("pyiceberg", reason="`make setup-live` installs readers of the lake")

from click.testing import CliRunner, Result
from shop_lake import cut, publish, shop
from small_lake import query_duckdb, reader

from dbt_debezium.cli import main
from dbt_debezium.diff import Histories
from dbt_debezium.errors import DebeziumError
from dbt_debezium.readers.moment import Wanted, read_time, shown_commits


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake that no test changes."""
    return shop(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def folder(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(shared))
    return shared


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lake that a test may change."""
    monkeypatch.setenv("DBT_DEBEZIUM_LAKE", str(tmp_path))
    return shop(tmp_path)


def asked(sql: str, *options: str) -> list[dict[str, Any]]:
    ended = query_duckdb(sql, "--json", *options)
    assert ended.exit_code == 0, ended.output
    return [json.loads(line) for line in ended.stdout.splitlines()]


def diffed(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["diff", *arguments, "--engine", "duckdb"])


ORDERS = "select id, status from public.orders order by id"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], [(1, "paid"), (2, "again")]),
        (["--at", "1"], [(1, "new"), (2, "new")]),
        (["--at", "shop=3"], [(1, "paid")]),
        (["--as-of", "2026-11-21 02:36:59"], None),
        (["--as-of", "2026-11-21 02:37"], [(1, "new"), (2, "new")]),
        # Commit 4 has the time of commit 2, and is newer.
        (["--as-of", "2026-11-21T03:38:30+01:00"], [(1, "paid"), (2, "again")]),
        (["--as-of", "2027-01-01"], [(1, "paid"), (2, "again")]),
    ],
)
def test_a_query_shows_an_earlier_commit_or_time(
    folder: Path, options: list[str], expected: list[tuple[int, str]] | None
) -> None:
    if expected is None:
        ended = query_duckdb(ORDERS, *options)
        assert (ended.exit_code, ended.stdout) == (2, "")
        assert ended.stderr == (
            "--as-of: no source had committed at 2026-11-21 02:36:59 UTC; "
            "`select * from public.commit` has the time of each commit\n"
        )
        return
    assert [(row["id"], row["status"]) for row in asked(ORDERS, *options)] == expected


def test_all_tables_of_a_query_show_the_commit_that_is_named(folder: Path) -> None:
    tables = ("orders_history", "orders_changes", "commit")
    sql = "; ".join(f"select count(*) as n from public.{name}" for name in tables)
    counts = {
        number: [asked(one, "--at", str(number))[0]["n"] for one in sql.split("; ")]
        for number in (1, 3, 5)
    }
    assert counts == {1: [2, 2, 1], 3: [3, 4, 3], 5: [4, 5, 5]}
    history = "select _valid_to as n from public.orders_history where id = 2 and _valid_from = 1"
    assert asked(history, "--at", "2") == [{"n": None}]
    assert asked(history, "--at", "3") == [{"n": 3}]


def test_the_answer_says_which_commit_it_shows(folder: Path) -> None:
    ended = query_duckdb("select 1 as a", "--as-of", "2026-11-21 02:37:30")
    assert ended.stderr == (
        "as of commit 1 of shop: transaction 701, committed at 2026-11-21 02:37:00 UTC\n"
    )
    assert query_duckdb("select 1 as a").stderr == ""


@pytest.mark.parametrize(
    ("sql", "options", "sentence"),
    [
        (ORDERS, ["--at", "6"], "--at: commit 6 of shop is not published; name one from 1 to 5"),
        (ORDERS, ["--at", "bank=1"], "--at: bank is no source of the published cut; its sources"),
        (ORDERS, ["--at", "0"], "--at: 0 is no commit; name its number, as in --at 300"),
        (ORDERS, ["--at", "=3"], "--at: =3 is no commit; name its number"),
        (ORDERS, ["--as-of", "noon"], "--as-of: noon is no time; write it as '2026-11-21 02:36'"),
        (ORDERS, ["--as-of", "2026-02-31"], "--as-of: 2026-02-31 is no time; write it as"),
        ("from public.totals", ["--at", "3"], "public.totals: it has no earlier rows, because"),
        ("from build.orders_history", ["--at", "3"], "build.orders_history: it has no earlier"),
        ("show tables", ["--at", "3"], "query: a list of tables has no earlier state; leave"),
    ],
)
def test_what_has_no_earlier_state_is_refused(
    folder: Path, sql: str, options: list[str], sentence: str
) -> None:
    ended = query_duckdb(sql, *options)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(sentence)
    assert ended.stderr.count("\n") == 1


def test_of_several_sources_one_is_named_and_the_others_show_what_is_published(
    own_folder: Path,
) -> None:
    publish(own_folder, cut(5), cut(3, "bank"))
    ended = query_duckdb(ORDERS, "--at", "3")
    assert ended.stderr == (
        "--at: the lake has several sources (bank, shop), each with commits of its own; "
        "name one, as in --at bank=3\n"
    )
    found = shown_commits(reader(own_folder), "build", Wanted({"shop": 2}))
    assert {name: one.number for name, one in found.items()} == {"shop": 2, "bank": 3}
    assert [row["status"] for row in asked(ORDERS, "--at", "shop=3")] == ["paid"]


def test_a_commit_or_time_before_the_kept_history_is_refused(own_folder: Path) -> None:
    publish(own_folder, cut(5, history_from=2, history_from_at=cut(2)["committed_at"]))
    for options, what in ((["--at", "1"], "commit 1"), (["--as-of", "2026-11-21 02:37"], "that")):
        ended = query_duckdb(ORDERS, *options)
        assert ended.stderr.startswith(f"{options[0]}: shop cannot be shown at {what}")
        assert ended.stderr.endswith(
            "because older versions are removed; ask for commit 2 of shop made at "
            "2026-11-21 02:38:00 UTC, or a later one\n"
        )
    assert asked(ORDERS, "--at", "2")
    # The row before commit 2 may be gone, and its update would look like an insert.
    assert {row["n"] for row in asked("select commit_number as n from public.orders_changes")} == {
        3,
        4,
    }
    assert diffed("shop", "2").stderr == (
        "diff: commit 2 of shop cannot be shown, because older versions are removed; ask for a "
        "commit after 2\n"
    )


def test_each_change_is_a_row_with_what_was_before_and_after_it(folder: Path) -> None:
    changes = asked(
        "select commit_number as n, transaction_id as t, operation as o, row_key,"
        ' before.status as old, after.status as new, after."paid at" as paid'
        " from public.orders_changes order by commit_number, row_key"
    )
    assert [(one["n"], one["t"], one["o"], one["old"], one["new"]) for one in changes] == [
        (1, "701", "insert", None, "new"),
        (1, "701", "insert", None, "new"),
        (2, "702", "update", "new", "paid"),
        (3, "703", "delete", "new", None),
        (4, "704", "insert", None, "again"),
    ]
    assert changes[2]["row_key"] == '{"id":"1"}'
    assert changes[2]["paid"] == "2026-11-21 02:38:00"


def test_diff_shows_each_row_of_a_range_of_commits(folder: Path) -> None:
    histories = Histories(reader(folder), "build", "public")
    rows = histories.changes(histories.commits("shop", 1, 5))
    assert [(row.commit_number, row.change, row.row_key) for row in rows] == [
        (1, "insert", '{"id":"1"}'),
        (1, "insert", '{"id":"2"}'),
        (2, "update", '{"id":"1"}'),
        (3, "delete", '{"id":"2"}'),
        (4, "insert", '{"id":"2"}'),
    ]
    assert rows[2].changed == {
        "status": ("new", "paid"),
        "paid at": (None, "2026-11-21 02:38:00"),
    }
    shown = diffed("shop", "2..3", "--table", "orders")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.splitlines() == [
        "commit 2 of shop: transaction 702, committed at 2026-11-21 02:38:00 UTC: 1 row of orders",
        '  update  orders  {"id":"1"}',
        '    status: "new" -> "paid"',
        '    paid at: null -> "2026-11-21 02:38:00"',
        "commit 3 of shop: transaction 703, committed at 2026-11-21 02:39:00 UTC: 1 row of orders",
        '  delete  orders  {"id":"2"}  {"id": 2, "status": "new", "total": null, "paid at": null}',
        "(2 rows in 2 commits)",
    ]
    lines = diffed("shop", "--transaction", "702", "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [rows[2].as_json()]


def test_a_commit_that_changed_no_row_has_none(folder: Path) -> None:
    assert diffed("shop", "5").stdout == (
        "commit 5 of shop: a snapshot, committed at 2026-11-21 02:41:00 UTC: 0 rows of 0 tables\n"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["shop"], "diff: neither is named; name one of COMMIT and --transaction ID"),
        (["shop", "1", "--transaction", "701"], "diff: both are named; name one of COMMIT and"),
        (["shop", "3..1"], "diff: 3..1 is no commit; name its number, as 470, or the first and"),
        (["shop", "1-3"], "diff: 1-3 is no commit; name its number, as 470, or the first and"),
        (["shop", "4..6"], "diff: commit 6 of shop is not published; `dbt-debezium status` says"),
        (["shop", "--transaction", "9'9"], "diff: transaction 9'9 of shop is not published; "),
        (["shp", "1"], "diff: shp is no source of the published cut; its sources are shop"),
        (["shop", "1", "--table", "oders"], "; did you mean orders?"),
        (["shop", "1", "--table", "x"], "diff: x is no table with a history in public; they are"),
    ],
)
def test_what_diff_does_not_know_is_one_sentence(
    folder: Path, arguments: list[str], sentence: str
) -> None:
    ended = diffed(*arguments)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert sentence in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_times_are_read_in_utc_unless_they_say_an_offset() -> None:
    same = {
        read_time(one)
        for one in (
            "2026-11-21 02:36",
            "2026-11-21T02:36:00Z",
            "2026-11-21 03:36+01:00",
            "2026-11-21 02:36 UTC",
        )
    }
    assert len(same) == 1
    for text in ("", "12:00", "2026-11-21 25:00", "1.2.2026", "now", "2026-11-21 02:36 CET"):
        with pytest.raises(DebeziumError, match="is no time; write it as"):
            read_time(text)
