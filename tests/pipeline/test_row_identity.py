"""What tells rows apart: keys of another type, keys that change hands, columns that go."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from arrivals import Arrival, write_arrivals
from lake import Lake, open_lake, tables_of
from oracle import Row
from streams import Change, Postgresql, create, delete, text, update

from dbt_debezium.model_files import history_sql

NEW_KEY, OLD_KEY = "__debezium.newkey", "__debezium.oldkey"
IDENTITY = {"people": ["code"]}
BIGINT_IDS = ("typed",)


def move(table: str, old: int, new: int, v: str) -> tuple[Change, Change]:
    """A row takes on another key: what a connector sends, in this order (S9)."""
    left = delete(table, id=old, v=v)._replace(headers=[(NEW_KEY, text({"id": new}))])
    entered = create(table, id=new, v=v)._replace(headers=[(OLD_KEY, text({"id": old}))])
    return left, entered


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
        *move("typed", 3, 4, "moved"),
    )
    # As for a table whose value lacks the columns of its key.
    one.commit(Change("c", "typed", {"id": 5}, None, {"v": "without its key column"}))
    return one


def renamed_column() -> Postgresql:
    """The column that tells rows apart has another name after ALTER TABLE."""
    one = Postgresql("people")
    one.commit(create("people", id=1, code="a"), create("people", id=2, code="b"))
    one.landing = 1
    one.commit(update("people", id=1, code2="a"))
    return one


@dataclass(slots=True)
class Run:
    lake: Lake
    streams: dict[str, Postgresql]

    def land(self, part: int, *names: str) -> None:
        folder: Path = self.lake.folder / f"{'_'.join(names)}_{part}"
        arrivals = [Arrival(name, self.streams[name].landings[part], []) for name in names]
        write_arrivals(folder, arrivals, combined="all")
        self.lake.land(folder)

    def rows(self, table: str) -> list[Row]:
        (model,) = (one.model_name for one in self.lake.tables if one.table == table)
        shown = self.lake.spark.sql(f"select * except (_change) from public.{model}").collect()
        return sorted((row.asDict() for row in shown), key=str)

    def values(self, table: str) -> dict[object, object]:
        rows = self.rows(table)
        assert len({row["id"] for row in rows}) == len(rows), rows
        return {row["id"]: row["v"] for row in rows}

    def write_model(self, table: str) -> None:
        (one,) = (one for one in self.lake.tables if one.table == table)
        captured = one.captured()
        types = one.facts.types()
        if table in IDENTITY:
            captured["identity"] = IDENTITY[table]
        if table in BIGINT_IDS:
            types["id"] = "bigint"
        path = self.lake.project / "models" / "history" / f"{one.model_name}_history.sql"
        path.write_text(history_sql(captured, one.model_name, types), encoding="utf-8")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    streams = {
        one.prefix: one
        for one in (
            keys_of_another_type(),
            renamed_column(),
        )
    }
    messages = [message for one in streams.values() for part in one.landings for message in part]
    tables = tables_of(messages)
    with open_lake(tmp_path_factory.mktemp("identity"), tables) as lake:
        found = Run(lake, streams)
        for table in tables:
            found.write_model(table.table)
        found.land(0, *streams)
        assert lake.build(), lake.lines
        yield found


@pytest.fixture(scope="module", params=["incremental", "full refresh"])
def changed(run: Run, request: pytest.FixtureRequest) -> Run:
    """After the second landing of keys, added to what was there or built anew."""
    if request.param == "incremental":
        run.land(1, "typed")
        assert run.lake.build(), run.lake.lines
    else:
        assert run.lake.build("--full-refresh"), run.lake.lines
    return run


def test_a_key_of_another_type_is_that_of_the_same_row(changed: Run) -> None:
    moved = {1: "number", 4: "moved", 5: "without its key column"}
    assert changed.values("typed") == moved


def test_a_row_without_the_column_that_tells_rows_apart_fails_the_run(run: Run) -> None:
    run.land(1, "people")
    assert not run.lake.build()
    assert (
        "commit 2 of people: changes a row of people without a value of 'code', which its history "
        "model names as identity; name columns that every row and every delete has"
    ) in str(run.lake.lines)
    assert [row["code"] for row in run.rows("people")] == ["a", "b"]
