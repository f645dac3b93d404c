"""What tells rows apart: keys of another type, keys that change hands, columns that go."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from arrivals import Arrival, write_arrivals
from lake import Lake, open_lake, tables_of
from oracle import Row
from streams import Postgresql, create, update

from dbt_debezium.model_files import history_sql

IDENTITY = {"people": ["code"]}


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

    def write_model(self, table: str) -> None:
        (one,) = (one for one in self.lake.tables if one.table == table)
        captured = one.captured()
        types = one.facts.types()
        if table in IDENTITY:
            captured["identity"] = IDENTITY[table]
        path = self.lake.project / "models" / "history" / f"{one.model_name}_history.sql"
        path.write_text(history_sql(captured, one.model_name, types), encoding="utf-8")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    streams = {one.prefix: one for one in (renamed_column(),)}
    messages = [message for one in streams.values() for part in one.landings for message in part]
    tables = tables_of(messages)
    with open_lake(tmp_path_factory.mktemp("identity"), tables) as lake:
        found = Run(lake, streams)
        for table in tables:
            found.write_model(table.table)
        found.land(0, *streams)
        assert lake.build(), lake.lines
        yield found


def test_a_row_without_the_column_that_tells_rows_apart_fails_the_run(run: Run) -> None:
    run.land(1, "people")
    assert not run.lake.build()
    assert (
        "commit 2 of people: changes a row of people without a value of 'code', which its history "
        "model names as identity; name columns that every row and every delete has"
    ) in str(run.lake.lines)
    assert [row["code"] for row in run.rows("people")] == ["a", "b"]
