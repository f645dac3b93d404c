"""A lake and a dbt project of its own, driven as a user drives them: land, build, look."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from arrivals import Arrival, write_arrivals
from oracle import Message, Row
from pyspark.sql import SparkSession

from dbt_debezium.build import BUILD, environment, run_dbt
from dbt_debezium.export import export
from dbt_debezium.home import jars_dir
from dbt_debezium.landing.land import Landed, land
from dbt_debezium.preview import write_project
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.scaffold.captured import CapturedTable, Group, captured_tables
from dbt_debezium.scaffold.tables import observe
from dbt_debezium.settings import settings_of
from dbt_debezium.spark.session import spark_session
from dbt_debezium.status.report import cut_report

REPOSITORY = Path(__file__).parents[2]
DATA = REPOSITORY / "tests" / "data"


def capture(name: str) -> Path:
    """The messages of a capture."""
    return DATA / name / "events.jsonl.gz"


@dataclass(slots=True)
class Lake:
    """One lake in a folder of the test, with the models for some tables."""

    folder: Path
    spark: SparkSession
    tables: list[CapturedTable]
    lines: list[str] = field(default_factory=list)
    """What the latest run said."""

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def add_version_tests(self) -> None:
        """Have builds look at the versions of all histories, as they do after `scaffold`."""
        models = [
            {"name": f"{table.model_name}_history", "data_tests": ["versions_do_not_overlap"]}
            for table in self.tables
        ]
        (self.project / "models" / "history" / "versions.yml").write_text(
            yaml.safe_dump({"models": models})
        )

    def land(self, path: Path) -> Landed:
        return land(self.spark, path)

    def land_arrivals(self, name: str, arrivals: Sequence[Arrival]) -> Landed:
        directory = self.folder / name
        write_arrivals(directory, arrivals)
        return self.land(directory)

    def build(self, *options: str, command: str = "build") -> bool:
        """Run dbt; whether all was good."""
        self.lines = []
        arguments = BUILD if command == "build" else (command,)
        return run_dbt([*arguments, *options], self.project, on_line=self.lines.append)

    def export(self, name: str) -> Path:
        directory = self.folder / name
        export(self.spark, self.tables, directory)
        return directory

    def cuts(self) -> dict[str, Row]:
        return {entry["source"]: entry for entry in cut_report(SparkReader(self.spark))}

    def counted(self) -> int:
        """How many messages the latest run has counted, those of no known source too."""
        ((count,),) = self.spark.sql(
            "select sum(message_count) from build.message_count"
            " where cut_id = (select max(cut_id) from build.message_count)"
        ).collect()
        return int(count)

    def rows(self, query: str) -> list[tuple[object, ...]]:
        return [tuple(row) for row in self.spark.sql(query).collect()]

    def snapshots(self) -> dict[str, object]:
        """The newest Iceberg snapshot of each history."""
        return {
            table.model_name: self.rows(
                "select snapshot_id from "
                f"build.{table.model_name}_history.snapshots order by committed_at desc limit 1"
            )
            for table in self.tables
        }


def tables_of(
    messages: Sequence[Message],
    groups: Sequence[Group] = (),
    settings: Mapping[str, object] | None = None,
    only: Collection[str] = (),
) -> list[CapturedTable]:
    """The tables that a scaffold of these messages writes models for.

    Args:
        only: names of tables, as each further one costs a run seconds. All, if there are none.
    """
    texts = ((message["topic"], message["key"], message["value"]) for message in messages)
    captured = captured_tables(list(observe(texts, settings_of(settings or {}))), groups)
    assert {*only} <= {one.table for one in captured}
    return [one for one in captured if not only or one.table in only]


@contextmanager
def open_lake(
    folder: Path, tables: list[CapturedTable], settings: dict[str, object] | None = None
) -> Iterator[Lake]:
    """A new lake, and the one Spark session of this process for it."""
    jars = str(jars_dir().absolute())
    with environment(DBT_DEBEZIUM_LAKE=str(folder / "lake"), DBT_DEBEZIUM_JARS=jars):
        write_project(REPOSITORY, folder / "project", tables, settings or {})
        lake = Lake(folder, spark_session("local"), tables)
        try:
            yield lake
        finally:
            # A test may have put another in the first one's place.
            lake.spark.stop()
