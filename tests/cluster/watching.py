"""What readers of the cluster's lake see, against what its sources held."""

import json
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

from arrivals import Arrival, expected_cuts, make_arrival, slices, write_arrivals
from compare import compare_cut, compare_export, read_cuts
from lake import REPOSITORY, capture, tables_of
from machine import Commands
from oracle import History, Message, read_messages

from dbt_debezium.preview import write_project

MODELLED = {"a", "nopk"}
"""One with a key and one without; both are truncated."""
PARTS = 10
"""Of each source, behind a first one with its snapshot."""
CONF = """
spark.driver.host             127.0.0.1
spark.driver.bindAddress      127.0.0.1
spark.sql.shuffle.partitions  2
spark.ui.enabled              false
# Requests wait at breakpoints.
spark.sql.catalog.lake.rest.client.socket-timeout-ms  900000
"""
"""Of a machine that computes by itself."""


def alone(folder: Path) -> dict[str, str]:
    """Environment of a machine that computes by itself; its settings lie in the folder."""
    conf = folder / "alone"
    conf.mkdir(exist_ok=True)
    (conf / "spark-defaults.conf").write_text(CONF)
    return {"DBT_DEBEZIUM_MASTER": "local[1]", "SPARK_CONF_DIR": str(conf)}


class Source:
    """What a source sends, in the parts that land."""

    def __init__(self, folder: Path, name: str, messages: list[Message]) -> None:
        self.name = name
        self.landed: list[Arrival] = []
        self._parts = slices(make_arrival(messages, 5, name, mode="whole"), PARTS)
        self._folder = folder

    @property
    def has_more(self) -> bool:
        """Whether two more parts are left."""
        return len(self.landed) + 2 <= len(self._parts)

    def next(self) -> Path:
        """The folder of a part that is to land now."""
        number = len(self.landed)
        folder = self._folder / f"{self.name}_{number}"
        write_arrivals(folder, [self._parts[number]])
        self.landed.append(self._parts[number])
        return folder


class Watcher:
    """A project in a folder, sources that send one capture each, and what readers see of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.sources: list[Source] = []
        self._messages = read_messages(capture("truncate"))
        self._history = History(self._messages)
        self._tables = tables_of(self._messages, only=MODELLED)
        for table in self._tables:
            table.sources[:] = ["run_*"]
        names = [table.model_name for table in self._tables]
        write_project(REPOSITORY, self.project, self._tables, {"public_as_table": names})
        self._pickled = folder / "tables.pickle"
        self._pickled.write_bytes(pickle.dumps(self._tables))
        self._seen: Counter[str] = Counter()
        self._looks = 0

    def begin_source(self) -> Source:
        source = Source(self.folder, f"run_{len(self.sources)}", self._messages)
        self.sources.append(source)
        return source

    def look(self, reader: Commands) -> dict[str, Any]:
        """That each source is in a state that it had, and none goes back. Returns the cuts."""
        self._looks += 1
        folder = self.folder / f"look_{self._looks}"
        reader.says("export", self._pickled, folder)
        cuts = read_cuts(folder)
        for source in self.sources:
            number = int((cuts.get(source.name) or {}).get("commit_number") or 0)
            assert compare_export(folder, source.name, self._history, number, MODELLED) == []
            assert number >= self._seen[source.name]
            self._seen[source.name] = number
        return cuts

    def look_at_all(self, reader: Commands) -> None:
        """That all of it is published as far as it can be, and each message has landed once."""
        cuts = self.look(reader)
        for source in self.sources:
            expected = expected_cuts(self._history, source.landed)[-1]
            assert compare_cut(cuts.get(source.name), expected, source.name) == []
        sent = sum(len(part.messages) for source in self.sources for part in source.landed)
        places = "count(distinct topic, partition, `offset`)"
        query = f"select count(*) as n, {places} as m from landing.message"
        assert rows_of_query(reader, query) == {"n": sent, "m": sent}
        newest = "cut_id = (select max(cut_id) from build.message_count)"
        query = f"select sum(message_count) as n from build.message_count where {newest}"
        assert rows_of_query(reader, query) == {"n": sent}
        for table in self._tables:
            columns = ", ".join(f"`{name}`" for name in table.facts.types())
            view, plain = (
                f"select {columns} from `{schema}`.`{table.model_name}`"
                for schema in ("public", "public_tables")
            )
            differ = f"({view} except all {plain}) union all ({plain} except all {view})"
            assert rows_of_query(reader, f"select count(*) as n from ({differ})") == {"n": 0}


def rows_of_query(reader: Commands, sql: str) -> Any:
    """The only row of a query."""
    (line,) = reader.says("query", "--engine", "spark", "--json", sql).splitlines()
    return json.loads(line)
