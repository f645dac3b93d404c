"""What tells rows apart: keys of another type, keys that change hands, columns that go."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from arrivals import Arrival, write_arrivals
from lake import Lake, open_lake, tables_of
from oracle import PLACEHOLDER, Row
from rendered import rendered
from streams import Change, Postgresql, create, delete, move, truncate, update

from dbt_debezium.scaffold.model_files import history_sql
from dbt_debezium.status.holds import held_sentence

pytestmark = pytest.mark.slow

BIGINT_IDS = ("typed", "shifted", "shifted_large")
IGNORING = "kept"
"""A table whose TRUNCATE readers are not to see."""
MODELS: dict[str, dict[str, object]] = {
    "people": {"identity": ["code"]},
    "members": {"identity": ["code"]},
    "orders": {"identity": ["id"]},
    IGNORING: {"truncate": "ignore"},
}
"""What models say that the messages do not."""


def keys_of_another_type() -> Postgresql:
    """The column of the key was text, and is a number after ALTER TABLE."""
    one = Postgresql("typed")
    one.commit(
        *[create("typed", id=str(id), v="text")._replace(key={"id": str(id)}) for id in (1, 2, 3)]
    )
    one.landing = 1
    one.commit(
        update("typed", id=1, v="number"),
        delete("typed", id=2, v="text"),
        *move("typed", 4, id=3, v="moved"),
    )
    # As for a table whose value lacks the columns of its key.
    one.commit(Change("c", "typed", {"id": 5}, None, {"v": "without its key column"}))
    return one


def shifts(one: Postgresql, table: str, sent: str | None) -> None:
    """UPDATE .. SET id = id + 1, and its like, of a key that is checked when the statement ends.

    Args:
        one: the source.
        table: a table of id and v.
        sent: v of each row that moves; None where it is sent.
    """

    def moved(old: int, new: int, v: str) -> tuple[Change, Change]:
        left, entered = move(table, new, id=old, v=v)
        return left, entered._replace(after={"id": new, "v": sent or v})

    one.commit(*[create(table, id=id, v=f"row {id}") for id in (1, 2, 11, 20, 21, 30, 31)])
    # In the build that has created them.
    one.commit(*moved(31, 32, "row 31"), *moved(30, 31, "row 30"))
    one.landing = 1
    one.commit(*moved(1, 2, "row 1"), *moved(2, 3, "row 2"))
    # One row that takes on two keys, of which nothing had the first.
    one.commit(*moved(11, 12, "row 11"), *moved(12, 13, "row 11"))
    # Two rows that change places.
    one.commit(*moved(20, 21, "row 20"), *moved(21, 20, "row 21"))
    # Rows that the same run has brought, twice, and one of them is deleted with it.
    one.commit(*[create(table, id=id, v=f"row {id}") for id in (40, 41, 50, 51)])
    one.commit(*moved(40, 41, "row 40"), *moved(41, 42, "row 41"))
    one.commit(*moved(41, 42, "row 40"), *moved(42, 43, "row 41"))
    gone = [delete(table, id=51, v=f"row {id}") for id in (51, 50)]
    one.commit(*moved(50, 51, "row 50"), *gone)
    # Another transaction deletes what the shift has left.
    one.commit(delete(table, id=31, v="row 30"))


SHIFTED = {
    2: "row 1", 3: "row 2", 13: "row 11", 20: "row 21", 21: "row 20", 32: "row 31",
    42: "row 40", 43: "row 41",
}  # fmt: skip


def key_changes_behind_a_truncate(table: str) -> Postgresql:
    """No row has the key any more that a row passes through."""
    one = Postgresql(table)
    one.commit(create(table, id=1, v="row 1"), create(table, id=2, v="row 2"))
    one.landing = 1
    one.commit(truncate(table))
    one.commit(create(table, id=1, v="new"))
    one.commit(*move(table, 2, id=1, v="new"), *move(table, 3, id=2, v="new"))
    return one


def generated_column() -> Postgresql:
    """A snapshot reads the generated column, and what is streamed does not have it."""
    one = Postgresql("bags")
    reads = [create("bag", a=a, twice=2 * a) for a in (1, 2, 3)]
    one.read(*reads)
    one.commit(create("bag", a=4))
    one.landing = 1
    one.commit(delete("bag", a=4))
    one.commit(delete("bag", a=2))
    return one


def renamed_column() -> Postgresql:
    """The column that tells rows apart has another name after ALTER TABLE."""
    one = Postgresql("people")
    one.commit(create("people", id=1, code="a"), create("people", id=2, code="b"))
    one.landing = 1
    one.commit(update("people", id=1, code2="a"))
    return one


def renamed_column_in_a_new_snapshot() -> Postgresql:
    """The connector was made anew behind ALTER TABLE."""
    one = Postgresql("members")
    one.commit(create("members", id=1, code="a"))
    one.landing = 1
    one.read(create("members", id=1, code2="a"))
    one.commit(create("members", id=2, code2="b"))
    return one


def keys_that_are_not_unique() -> Postgresql:
    """`message.key.columns` names the customer, so that his orders share a partition."""
    one = Postgresql("shared")
    reads = [create("orders", id=id, customer=7)._replace(key={"customer": 7}) for id in (1, 2)]
    one.read(*reads)
    # One row was read twice, by a connector that began again.
    one.send_again()
    one.commit(create("orders", id=3, customer=7)._replace(key={"customer": 7}))
    return one


@dataclass(frozen=True, slots=True)
class Shown:
    """What a run has left to readers, and what it said."""

    said: str
    tables: dict[str, list[Row]]
    cuts: dict[str, Row]

    def values(self, table: str) -> dict[object, object]:
        rows = self.tables[table]
        assert len({row["id"] for row in rows}) == len(rows), rows
        return {row["id"]: row["v"] for row in rows}


@dataclass(slots=True)
class Run:
    lake: Lake
    streams: dict[str, Postgresql]

    def land(self, part: int, *names: str) -> None:
        folder: Path = self.lake.folder / f"landing_{part}"
        arrivals = [Arrival(name, self.streams[name].landings[part], []) for name in names]
        write_arrivals(folder, arrivals, combined="all")
        self.lake.land(folder)

    def look(self) -> Shown:
        tables = {one.table: self.rows(one.model_name) for one in self.lake.tables}
        return Shown(str(self.lake.lines), tables, self.lake.cuts())

    def rows(self, model: str) -> list[Row]:
        shown = self.lake.spark.sql(f"select * except (_change) from public.{model}").collect()
        return sorted((row.asDict() for row in shown), key=str)

    def write_model(self, table: str, left_out: Sequence[str] = (), **captured: object) -> None:
        (one,) = (one for one in self.lake.tables if one.table == table)
        types = {name: kind for name, kind in one.facts.types().items() if name not in left_out}
        settings = one.captured() | MODELS.get(table, {}) | captured
        if left_out:
            settings["left_out"] = list(left_out)
        if table in BIGINT_IDS:
            types["id"] = "bigint"
        path = self.lake.project / "models" / "history" / f"{one.model_name}_history.sql"
        path.write_text(history_sql(settings, one.model_name, types), encoding="utf-8")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    shifted = Postgresql("shifted")
    shifts(shifted, "shifted", None)
    large = Postgresql("shifted_large")
    shifts(large, "shifted_large", PLACEHOLDER)
    streams = {
        one.prefix: one
        for one in (
            keys_of_another_type(),
            shifted,
            large,
            key_changes_behind_a_truncate("emptied"),
            key_changes_behind_a_truncate(IGNORING),
            generated_column(),
            renamed_column(),
            renamed_column_in_a_new_snapshot(),
            keys_that_are_not_unique(),
        )
    }
    messages = [message for one in streams.values() for part in one.landings for message in part]
    tables = tables_of(messages)
    with open_lake(tmp_path_factory.mktemp("identity"), tables) as lake:
        found = Run(lake, streams)
        for table in tables:
            found.write_model(table.table)
        found.land(0, *streams)
        assert lake.build(command="run"), lake.lines
        yield found


@pytest.fixture(scope="module")
def failed(run: Run) -> Shown:
    """After a run that three tables make fail with the second landing."""
    run.land(1, *(name for name, one in run.streams.items() if one.landings[1]))
    assert not run.lake.build(command="run")
    return run.look()


@pytest.fixture(scope="module")
def held(run: Run, failed: Shown) -> Shown:
    """After the next one, whose models are the same."""
    assert run.lake.build(command="run"), run.lake.lines
    return run.look()


@pytest.fixture(scope="module")
def added(run: Run, held: Shown) -> Shown:
    """After the next one, which has better models of two tables, and adds to all others."""
    for table in ("people", "members"):
        run.write_model(table, identity=["id"])
    assert run.lake.build(command="run"), run.lake.lines
    return run.look()


@pytest.fixture(scope="module")
def anew(run: Run, added: Shown) -> Shown:
    """After a full refresh, with a better model of the bag and a decision on what it held."""
    (held,) = added.cuts["bags"]["held"]
    run.write_model("bag", left_out=["twice"])
    with (run.lake.project / "seeds" / "operator_decision.csv").open("a") as lines:
        lines.write(f"bags,{held['transaction_id']},release,Ann,2026-11-21,model corrected\n")
    assert run.lake.build("--full-refresh"), run.lake.lines
    return run.look()


@pytest.fixture(params=["added", "anew"], ids=["incremental", "full refresh"])
def changed(request: pytest.FixtureRequest) -> Shown:
    """What the second landing has changed, added to what was there or built anew."""
    shown: Shown = request.getfixturevalue(request.param)
    return shown


def test_a_key_of_another_type_is_that_of_the_same_row(changed: Shown) -> None:
    moved = {1: "number", 4: "moved", 5: "without its key column"}
    assert changed.values("typed") == moved


@pytest.mark.parametrize("table", ["shifted", "shifted_large"])
def test_rows_that_take_on_the_keys_of_others_in_one_statement_stay(
    changed: Shown, table: str
) -> None:
    assert changed.values(table) == SHIFTED


@pytest.mark.parametrize("table", ["emptied", IGNORING])
def test_a_row_that_passes_through_a_key_which_no_row_has_leaves_nothing_there(
    changed: Shown, table: str
) -> None:
    assert changed.values(table) == {3: "new"}


def test_a_bag_whose_generated_column_is_not_streamed_goes_on_without_it(
    failed: Shown, added: Shown, anew: Shown
) -> None:
    assert "takes a row that the keyless table app.bag does not hold" in failed.said
    (held,) = added.cuts["bags"]["held"]
    assert held["reason"] == "missing_row"
    said = held_sentence(added.cuts["bags"], "status") or ""
    assert f"transaction {held['transaction_id']} is held" in said
    assert "(missing_row)" in said
    assert "decide discard in seeds/operator_decision.csv" in said
    assert {row["a"]: row["twice"] for row in added.tables["bag"]} == {1: 2, 2: 4, 3: 6}
    assert anew.cuts["bags"]["held"] == []
    assert anew.tables["bag"] == [{"a": 1}, {"a": 3}]


def test_reads_of_one_message_key_are_rows_of_their_own(changed: Shown) -> None:
    assert [row["id"] for row in changed.tables["orders"]] == [1, 2, 3]
    assert changed.cuts["shared"]["counts"]["duplicate"] == 2


def test_a_row_without_the_column_that_tells_rows_apart_waits_for_a_better_model(
    failed: Shown, held: Shown, added: Shown
) -> None:
    assert (
        "commit 2 of people: changes a row of people without a value of 'code', which its history "
        "model names as identity; name columns that every row and every delete has"
    ) in failed.said
    assert [row["code"] for row in failed.tables["people"]] == ["a", "b"]
    said = held_sentence(held.cuts["people"], "status") or ""
    assert "has a row of app.people without its key" in said
    assert "(row_without_identity)" in said
    assert held.tables["people"] == failed.tables["people"]
    assert held.values("shifted") == SHIFTED
    assert added.cuts["people"]["held"] == []
    assert {row["id"]: row["code2"] for row in added.tables["people"]} == {1: "a", 2: None}


def test_a_snapshot_without_the_column_that_tells_rows_apart_waits_for_a_better_model(
    failed: Shown, held: Shown, added: Shown
) -> None:
    assert ": the next run holds snapshot " in failed.said
    said = held_sentence(held.cuts["members"], "status") or ""
    assert said.startswith("members: snapshot ")
    assert "has a row of app.members without its key" in said
    assert [row["code"] for row in held.tables["members"]] == ["a"]
    assert added.cuts["members"]["held"] == []
    assert {row["id"]: row["code2"] for row in added.tables["members"]} == {1: "a", 2: "b"}


@pytest.mark.parametrize("is_generated", [True, False])
def test_an_update_that_does_not_show_the_row_before_it_is_none_of_a_bag(
    run: Run, is_generated: bool
) -> None:
    """As of a keyless table that gets a primary key; whether Spark generates code or not."""
    spark = run.lake.spark
    change = (
        "change as (select 's' as source, 1L as commit_number, 1L as position, 'u' as operation, "
        "'7' as transaction_id, current_timestamp() as committed_at, 't' as topic, 0 as partition, "
        "0L as offset, cast(null as string) as before, '{\"a\": 2}' as after)"
    )
    none = "truncation as (select 's' as source, array(struct(1L, 1L)) as places where false)"
    rows = (
        rendered("bag_row_change", "public.t", {"a": "bigint"}, False, False).rstrip().rstrip(",")
    )
    settings = {
        "spark.sql.codegen.factoryMode": "CODEGEN_ONLY" if is_generated else "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": str(is_generated).lower(),
    }
    before = {name: spark.conf.get(name) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        with pytest.raises(Exception, match="commit 1 of s: takes a row that the keyless table"):
            spark.sql(f"with {change}, {none}, {rows} select * from row_change").collect()
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def shared_deletes(changes: list[tuple[int, int, str, bool]]) -> list[tuple[int, int, int]]:
    """What the macro of this name yields, one change after the other."""
    row_count, commit, found = 0, 0, []
    for commit_number, position, operation, is_entering in sorted(changes):
        if commit_number != commit:
            row_count, commit = min(row_count, 1), commit_number
        if operation == "t":
            row_count = 0
        elif operation != "d":
            row_count = row_count + 1 if is_entering else max(row_count, 1)
        elif row_count > 1:
            row_count -= 1
            found.append((commit_number, position, row_count))
        else:
            row_count = 0
    return found


def test_a_delete_leaves_a_row_only_where_one_took_its_key_in_the_same_commit(run: Run) -> None:
    stands = (0, 0, "r", False)
    entered, left = (7, 2, "c", True), (7, 3, "d", False)
    draw = Random(9)
    keys = [
        [stands, entered, left],
        [entered, left],
        [stands, entered, (8, 1, "d", False)],
        *[
            [
                (number // 4, number, draw.choice("cudt"), draw.random() < 0.5)
                for number in range(draw.randint(1, 12))
            ]
            for _ in range(300)
        ],
    ]
    assert [shared_deletes(one) for one in keys[:3]] == [[(7, 3, 1)], [], []]
    change = "commit_number long, position long, operation string, is_entering boolean"
    schema = f"changes array<struct<{change}>>"
    rows = run.lake.spark.createDataFrame([(one,) for one in keys], schema)
    found = rows.selectExpr(rendered("shared_deletes", "changes") + " as deletes").collect()
    assert [[tuple(one) for one in row.deletes] for row in found] == [
        shared_deletes(one) for one in keys
    ]
