"""A lake, opened by the folder of its project."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from dbt_debezium import notebook
from dbt_debezium.api.cut import COLUMNS, Cut, commit_rows, in_python
from dbt_debezium.diff import Histories, RowDiff
from dbt_debezium.errors import DebeziumError
from dbt_debezium.home import check_project, is_carried, project_dir
from dbt_debezium.lake_format import MARKED, PROPERTY, read_format
from dbt_debezium.plain_values import plain
from dbt_debezium.project_settings import project_settings, public_schema
from dbt_debezium.readers.choice import duckdb_places_of
from dbt_debezium.readers.duckdb_reader import DuckdbReader
from dbt_debezium.readers.file_places import FilePlaces
from dbt_debezium.readers.moment import Commit, Wanted, read_time
from dbt_debezium.readers.places import Places
from dbt_debezium.scaffold.model_files import HistoryModel
from dbt_debezium.scaffold.project_models import ProjectModels
from dbt_debezium.spark.session import check_lake
from dbt_debezium.spark.targets import build_schema, settings_of_target
from dbt_debezium.status.lake_status import LakeStatus, lake_status
from dbt_debezium.writers.terminal import one_line

CATALOG = "catalog.db"


@dataclass(frozen=True)
class Diff:
    """What commits of one source changed."""

    commits: list[Commit]
    """In their order."""
    rows: list[RowDiff]
    """By commit, table and row key."""

    def __iter__(self) -> Iterator[RowDiff]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def _repr_html_(self) -> str:
        rows = []
        for row in self.rows:
            changes = {name: [plain(one) for one in pair] for name, pair in row.changed.items()}
            what = changes or plain(row.after or row.before)
            rows.append((row.commit_number, row.change, row.table, row.row_key, what))
        return notebook.table(("commit", "change", "table", "row", "before and after"), rows)


class Lake:
    """A lake that `open` has found. It keeps nothing open: each call looks anew."""

    def __init__(
        self,
        folder: Path,
        places: Callable[[], Places],
        build: str,
        public: str,
        project: Path | None,
    ) -> None:
        """For `open`.

        Args:
            folder: what was opened.
            places: opens the catalog as it is then.
            build: the schema that models are built in.
            public: the schema that readers use.
            project: the dbt project, if a project was opened.
        """
        self._folder, self._places, self._project = folder, places, project
        self._build, self._public = build, public

    def cut(
        self,
        commit: int | Mapping[str, int] | None = None,
        time: datetime | str | None = None,
    ) -> Cut:
        """The public tables as the published cut shows them, or an earlier commit or time.

        Args:
            commit: its number; of several sources one for each, as `{"shop": 300}`. Sources that
                are not named show what is published.
            time: each source shows its newest commit until then. UTC, unless it has a zone.

        Raises:
            DebeziumError: nothing is published, the commit is not, or older versions are removed.
        """
        if commit is not None and time is not None:
            raise DebeziumError("cut: commit and time each name a moment; leave one of them out")
        commits: dict[str | None, int] = {}
        if isinstance(commit, Mapping):
            commits.update(commit)
        elif commit is not None:
            commits[None] = commit
        for number in commits.values():
            if not isinstance(number, int) or isinstance(number, bool):
                raise DebeziumError(
                    f"commit: {number!r} is no number; name a commit by its number, such as 300"
                )
        if isinstance(time, str):
            time = read_time(time, "time")
        elif time is not None:
            time = time if time.tzinfo else time.replace(tzinfo=UTC)
        with in_python():
            return Cut(
                self._places, self._build, self._public, Wanted(commits, time, is_python=True)
            )

    def status(self) -> LakeStatus:
        """What is published, held, quarantined and flagged, and why.

        Its `report` is what `dbt-debezium status --json` prints. What models lack or cannot show
        is known only if a project was opened.

        Raises:
            DebeziumError: nothing has landed.
        """
        with in_python():
            settings = project_settings(self._project) if self._project else {}
            silent = settings.get("sources_without_truncate") or []
            reader = DuckdbReader(self._places(), self._build)
            models = self._models()
            found = lake_status(reader, models, self._build, self._public, silent)
        if not models:
            found.shapes.clear()
            for entry in found.report:
                entry |= {"unknown_columns": {}, "tables_without_model": [], "schema_changes": []}
        return found

    def diff(
        self,
        source: str,
        first: int | None = None,
        last: int | None = None,
        *,
        table: str | None = None,
        transaction_id: str | None = None,
    ) -> Diff:
        """Every row that published commits of a source changed, before and after each of them.

        A row that one transaction changed several times is one change.

        Args:
            source: its name.
            first: a commit.
            last: the last one, if there are several.
            table: the only one that is wanted, by its public name.
            transaction_id: in place of a commit.

        Raises:
            DebeziumError: there is no such source, commit or table, or older versions are removed.
        """
        if (first is None) == (transaction_id is None):
            raise DebeziumError(
                "diff: neither or both of first and transaction_id are given; give one of them"
            )
        last = first if last is None else last
        if first is not None and last is not None and not 1 <= first <= last:
            raise DebeziumError(f"diff: {first} to {last} are no commits; name the first one first")
        with in_python():
            reader = DuckdbReader(self._places(), self._build)
            histories = Histories(reader, self._build, self._public, self._models())
            commits = histories.commits(source, first, last, transaction_id)
            return Diff(commits, histories.changes(commits, table))

    def __repr__(self) -> str:
        return one_line(f"<Lake {self._folder}>")

    def _repr_html_(self) -> str:
        with self.cut() as cut:
            found = commit_rows([*cut.commits.values()])
        return notebook.table(COLUMNS, found, str(self._folder))

    def _models(self) -> list[HistoryModel]:
        return [*ProjectModels.read(self._project).histories.values()] if self._project else []


def open(folder: str | PathLike[str] | None = None, *, target: str | None = None) -> Lake:
    """Open a lake to read it. Neither Java nor Spark is started.

    Args:
        folder: that of a dbt project, which names the lake as for the command line, or that of a
            lake with a `catalog.db` in it. By default the project that this process is in.
        target: of the project's profiles.yml.

    Raises:
        DebeziumError: there is no lake, DuckDB cannot open its catalog, or a newer version of
            dbt-debezium has written it.
    """
    place = Path(folder or ".").expanduser().absolute()
    with in_python():
        if folder is not None and (place / CATALOG).is_file():
            lake = Lake(place, lambda: FilePlaces(place / CATALOG, "lake"), "build", "public", None)
        else:
            lake = lake_of_project(place, target, is_named=folder is not None)
        check_format(lake._places())
    return lake


def lake_of_project(place: Path, target: str | None, is_named: bool) -> Lake:
    """The lake of a dbt project; arguments and errors as `open`."""
    if is_named and not (place / "dbt_project.yml").is_file():
        raise DebeziumError(
            f"lake: {place} has neither a dbt_project.yml nor a {CATALOG}; name the folder of a "
            "project or of a lake"
        )
    # Relative paths of settings begin at the project, as for the command line.
    with contextlib.chdir(place):
        project = project_dir()
        if is_carried(project):
            raise DebeziumError(
                f"lake: neither {place} nor a folder above it has a dbt_project.yml; name the "
                "folder of a project or of a lake"
            )
    with contextlib.chdir(project):
        check_project(project)
        check_lake(target)
        build = build_schema(target)
        settings = settings_of_target(target)

    def places() -> Places:
        return duckdb_places_of(settings, build)

    return Lake(project, places, build, public_schema(project), project)


def check_format(places: Places) -> None:
    """Refuse a lake of a newer version, whose columns may differ.

    Raises:
        NewerLakeError: it is one.
    """
    schema, table = MARKED
    if table in places.tables(schema):
        read_format(places.properties(schema, table).get(PROPERTY))
