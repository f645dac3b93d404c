"""One round: land what is new, and if there is any news, build and publish."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from dbt_debezium.build import BUILD, failure_line, run_dbt
from dbt_debezium.errors import CannotWorkError
from dbt_debezium.rounds.behind import Hold, holds_of_report
from dbt_debezium.rounds.catalog import (
    Catalog,
    CatalogOfSession,
    catalog_file,
    has_published,
    write_mark,
)
from dbt_debezium.rounds.fingerprint import fingerprint
from dbt_debezium.rounds.news import Mark, always_builds, new_mark, published_mark
from dbt_debezium.rounds.sources import Landing, Source, Tell
from dbt_debezium.spark.lost_catalog import check_catalog_file
from dbt_debezium.spark.site import site_defaults
from dbt_debezium.spark.targets import settings_of_target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SNAPSHOT_WAITS: Final = {"snapshot_incomplete", "snapshot_unconfirmed"}
"""Reasons for which a snapshot is held until its partitions show that they hold all of it."""

Kind = Literal["published", "no_news", "built", "failed"]
"""`built` published nothing on purpose, as with --select."""
Maintain = Callable[["SparkSession", Tell], str | None]
"""Called after a run has published; returns what was done to the lake, if that was due."""
Notes = Callable[["SparkSession"], tuple[list[str], list[dict[str, Any]]]]
"""Called after a good build; returns sentences, and the result of `cut_report`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one round did."""

    kind: Kind
    landing: Landing
    since: str | None = None
    """Without news: when the run that published ended, UTC."""
    lines: Sequence[str] = ()
    """The build's own lines, those of failures first."""
    notes: Sequence[str] = ()
    """Sentences about what is held or has no effect."""
    report: Sequence[Mapping[str, Any]] = ()
    """See `report.cut_report`."""
    holds: Sequence[Hold] | None = None
    """What is held, the oldest first; None if the round has not found out."""


@dataclass(slots=True)
class Round:
    """A round that a process can repeat."""

    project: Path
    profiles: Path
    """profiles.yml."""
    target: str | None
    options: Sequence[str]
    """For dbt."""
    source: Source
    start_spark: "Callable[[], SparkSession]"
    """Returns the session of this process, once there is one."""
    schema: "Callable[[], str]"
    """Returns the build schema."""
    notes: Notes
    maintain: Maintain = lambda _, __: None
    build_anyway: bool = False
    """Whether to build without news, until a run has published."""
    has_built: bool = False
    """Whether an earlier round has: dbt has written what it says of the project then."""
    has_found_lake: bool = False
    """Whether an earlier round has found the file of the catalog."""
    tell: Tell = lambda _: None
    """Called with the step that begins."""
    say: Tell = lambda _: None
    """Called with each result as soon as it is known."""

    def run(self) -> Outcome:
        """Land, look for news, build and publish.

        What has landed is published, even if other blocks of landing.yml could not be landed.

        Raises:
            DebeziumError: the source cannot be read, or dbt or Spark cannot run.
            CannotWorkError: the lake has vanished since an earlier round.
        """
        catalog = self._catalog()
        project = fingerprint(self.project, self.profiles, self.options)
        messages = catalog.messages()
        mark = published_mark(catalog, project)
        has_news = self.source.look(mark.ends if mark else {}, self.tell)
        if has_news or (mark and _is_due(mark)):
            self.tell("starting Spark")
            landing = self.source.land(self.start_spark(), self.tell).checked()
            # Another process may have landed the same meanwhile.
            is_new = landing.message_count or messages != catalog.messages()
            if mark and mark.look_again_at is not None:
                is_new = is_new or landing.has_looked_again
            mark = None if mark is None or is_new else self._mark_again(mark, landing, catalog)
        else:
            landing = self.source.unlanded()
        for line in (*landing.lines, *landing.notes):
            self.say(line)
        if mark and not self.build_anyway and not always_builds(self.options):
            return Outcome("no_news", landing, since=mark.at, holds=mark.holds)
        return self._build(project, landing, catalog)

    def _catalog(self) -> Catalog:
        """The catalog of the target. If it is no file, Spark must start to read it.

        Raises:
            CannotWorkError: half of the lake is gone, or all of it since an earlier round.
        """
        settings = settings_of_target(self.target, str(self.profiles.parent))
        if settings is not None:
            check_catalog_file(site_defaults() | settings)
        file = catalog_file(self.project, self.profiles, self.target)
        if file is not None:
            is_there = file.path.is_file()
            if self.has_found_lake and not is_there:
                # Spark would go on with the file that it has open, and nobody could read it.
                raise CannotWorkError(
                    f"lake: {file.path} is gone, which an earlier round has found; put the lake "
                    "back, and run again"
                )
            self.has_found_lake = is_there
            return file
        self.tell("starting Spark")
        return CatalogOfSession(self.start_spark(), self.schema())

    def _mark_again(self, mark: Mark, landing: Landing, catalog: Catalog) -> Mark | None:
        """The mark after a landing that has brought nothing; None if topics ended elsewhere."""
        if any(mark.ends.get(asked) != end for asked, end in landing.ends.items()):
            return None
        # A landing from Kafka writes ranges of control records alone, so the tables may differ.
        look_again_at = mark.look_again_at
        if look_again_at is not None and not landing.failures:
            look_again_at = landing.look_again_at
        return self._leave(mark.project, catalog, mark.ends, mark.at, look_again_at, mark.holds)

    def _build(self, project: str | None, landing: Landing, catalog: Catalog) -> Outcome:
        landed = catalog.landed()
        lines: list[str] = []
        failures: list[str] = []

        def on_line(line: str) -> None:
            lines.append(line)
            self.say(line)

        self.tell("starting dbt")
        is_good = run_dbt(
            [
                *BUILD,
                *(["--no-write-json"] if self.has_built else []),
                *self.options,
                *(["--target", self.target] if self.target else []),
            ],
            self.project,
            on_node=lambda name, index, total: self.tell(f"{index} of {total}: {name}"),
            on_line=on_line,
            on_failure=lambda name, why: failures.append(failure_line(name, why)),
        )
        self.has_built = True
        if not is_good:
            # Before them a run says what it does, as that a history is built again.
            lines.sort(key=lambda line: line not in failures)
            return Outcome("failed", landing, lines=lines)
        is_published = has_published(self.start_spark(), self.schema())
        if is_published:
            self.build_anyway = False
            has_read_all = landed == catalog.landed()
            # Before the mark, which says in which state the run has left the tables.
            if done := self.maintain(self.start_spark(), self.tell):
                on_line(done)
        self.tell("looking at what is held, and for tables without models")
        notes, report = self.notes(self.start_spark())
        holds = holds_of_report(report, datetime.now(UTC))
        if is_published and project and not always_builds(self.options) and has_read_all:
            reasons = {held["reason"] for entry in report for held in entry["held"]}
            look_again_at = None if reasons.isdisjoint(SNAPSHOT_WAITS) else landing.look_again_at
            self._leave(project, catalog, landing.ends, None, look_again_at, holds)
        kind: Kind = "published" if is_published else "built"
        return Outcome(kind, landing, lines=lines, notes=notes, report=report, holds=holds)

    def _leave(
        self,
        project: str,
        catalog: Catalog,
        ends: Mapping[str, str],
        at: str | None = None,
        look_again_at: float | None = None,
        holds: Sequence[Hold] = (),
    ) -> Mark | None:
        """Leave a mark in the catalog, unless the state of its tables is not known."""
        state = catalog.state()
        if state is None:
            return None
        mark = new_mark(project, state, ends, at, look_again_at, holds)
        write_mark(self.start_spark(), self.schema(), msgspec.json.encode(mark).decode())
        return mark


def _is_due(mark: Mark) -> bool:
    return mark.look_again_at is not None and mark.look_again_at <= time.time()
