"""Names and comments that read like our own sentences and like facts of Spark change nothing."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from arrivals import Arrival
from lake import Lake, open_lake, tables_of
from streams import Postgresql, create, update

from dbt_debezium.rounds.catalog import has_published
from dbt_debezium.scaffold.model_files import history_sql

pytestmark = pytest.mark.slow

UNPUBLISHED = "nothing published: 1 of 9 failed or were skipped"
CONTRADICTING = "victim: takes a row that the keyless table t does not hold"
COMMENT = "innocent\nTable Properties: [current-snapshot-id=1]\nTable Properties: [c, u, r, r]"


@dataclass(slots=True)
class Forged:
    """A lake with a source called like the end of a failed run, and one called like its cause."""

    lake: Lake
    streams: dict[str, Postgresql]
    number: int = 0

    def land(self, *names: str) -> None:
        """Land the next part of some sources."""
        self.number += 1
        parts = [Arrival(name, self.streams[name].landings[0], []) for name in names]
        self.lake.land_arrivals(f"landing_{self.number}", parts)
        for name in names:
            self.streams[name].landings[0].clear()

    def has_published(self) -> bool:
        return has_published(self.lake.spark, "build")


@pytest.fixture(scope="module")
def forged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forged]:
    tables = {UNPUBLISHED: "a", CONTRADICTING: "b", "victim": "c"}
    streams = {name: Postgresql(name) for name in tables}
    for name, table in tables.items():
        streams[name].commit(create(table, id=1, v="x"))
    found = tables_of([one for stream in streams.values() for one in stream.landings[0]])
    with open_lake(tmp_path_factory.mktemp("forged"), found) as lake:
        (b,) = (one for one in found if one.table == "b")
        settings = b.captured() | {"identity": ["v"]}
        path = lake.project / "models" / "history" / f"{b.model_name}_history.sql"
        path.write_text(history_sql(settings, b.model_name, b.facts.types()), encoding="utf-8")
        forged = Forged(lake, streams)
        forged.land(*tables)
        assert lake.build(command="run"), lake.lines
        for name, table in tables.items():
            streams[name].commit(update(table, id=1, v="y"))
        yield forged


def test_whether_a_run_has_published_stands_in_the_lake(forged: Forged) -> None:
    assert any(line.startswith(f"{UNPUBLISHED}: commit 0 -> 1") for line in forged.lake.lines)
    assert forged.has_published()
    assert forged.lake.build("--select", "int_cut", command="run")
    assert not forged.has_published()


def test_a_comment_is_no_fact_of_a_table(forged: Forged) -> None:
    names = [one.model_name for one in forged.lake.tables]
    for name in names:
        text = COMMENT.replace("\n", "\\n")
        forged.lake.spark.sql(f"comment on table build.{name}_history is '{text}'")
    forged.land(UNPUBLISHED, "victim")
    assert forged.lake.build(command="run"), forged.lake.lines
    assert not [line for line in forged.lake.lines if "built again" in line]
    rows = forged.lake.rows("select v from public.a union all select v from public.c")
    assert rows == [("y",), ("y",)]


def test_a_source_is_no_sentence_of_an_error(forged: Forged) -> None:
    # A row without a value of the column that tells rows apart.
    forged.streams[CONTRADICTING].commit(create("b", id=2))
    forged.streams["victim"].commit(create("c", id=2, v="z"))
    forged.land(CONTRADICTING, "victim")
    assert not forged.lake.build(command="run")
    said = "\n".join(forged.lake.lines)
    assert f"of {CONTRADICTING}: changes a row of b without a value of 'v'" in said
    *_, unpublished, note = forged.lake.lines
    assert unpublished.startswith("nothing published: ")
    assert "failed or were skipped" in unpublished
    assert note.startswith(f"{CONTRADICTING}: the next run holds transaction ")
    assert not forged.has_published()
    noted = forged.lake.rows("select source, held_reason from build.failed_transaction")
    assert noted == [(CONTRADICTING, "row_without_identity")]
    assert forged.lake.build(command="run"), forged.lake.lines
    assert forged.lake.rows("select id from public.c order by id") == [(1,), (2,)]
    assert forged.lake.rows("select id from public.b where id = 2") == []
