"""What published commits changed, row by row, from the histories that readers use."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dbt_debezium.errors import DebeziumError
from dbt_debezium.names import listed, meant
from dbt_debezium.plain_values import plain
from dbt_debezium.readers import Reader
from dbt_debezium.readers.moment import Commit, shown_time
from dbt_debezium.scaffold.model_files import HistoryModel
from dbt_debezium.spark.session import nothing_published
from dbt_debezium.writers.sql import identifier, literal

POINTER: Final = """
select inline(cut.source_cuts) from {build}.cut as cut where cut.channel = 'published'
"""
COMMITS: Final = """
select commit_number, transaction_id, unix_micros(committed_at) as committed_at_micros
from {public}.commit
where source = {source} and {condition}
order by commit_number
"""
CHANGED: Final = """
select distinct schema_name, table_name
from {build}.int_change
where source = {source} and commit_number between {first} and {last}
"""
VERSIONS: Final = """
select versions.*
from {history} as versions
where
    versions._change.source = {source}
    and (
        versions._valid_from between {first} and {last}
        or versions._valid_to between {first} and {last}
    )
"""
OWN: Final = ("_row_key", "_valid_from", "_valid_to", "_valid_from_at", "_valid_to_at", "_change")
"""Columns of a history that its table does not have."""


@dataclass(frozen=True, slots=True)
class RowDiff:
    """One row that a commit changed."""

    source: str
    commit_number: int
    table: str
    """Its public name."""
    row_key: str
    """As JSON, in which every value is text."""
    change: str
    """insert, update or delete."""
    before: Mapping[str, Any] | None
    """The row before the commit by column, with times as text in UTC; None if there was none."""
    after: Mapping[str, Any] | None

    @property
    def changed(self) -> dict[str, tuple[Any, Any]]:
        """The columns that an update changed, each with its value before and after it."""
        if self.before is None or self.after is None:
            return {}
        pairs = {name: (self.before[name], value) for name, value in self.after.items()}
        return {name: pair for name, pair in pairs.items() if plain(pair[0]) != plain(pair[1])}

    def as_json(self) -> dict[str, Any]:
        """All of it, with values that JSON has."""
        return {
            "source": self.source,
            "commit_number": self.commit_number,
            "table": self.table,
            "row_key": self.row_key,
            "change": self.change,
            "before": plain(self.before),
            "after": plain(self.after),
        }


@dataclass(frozen=True, slots=True)
class Histories:
    """The histories of a lake."""

    lake: Reader
    build: str
    """The schema that models are built in."""
    public: str
    """The schema that readers use."""
    models: Sequence[HistoryModel] = ()
    """Of the lake's project. Without them every history is looked at, whatever a commit changed."""

    def commits(
        self, source: str, first: int | None, last: int | None, transaction_id: str | None = None
    ) -> list[Commit]:
        """Published commits in their order: those of a range, or the newest of a transaction.

        Raises:
            DebeziumError: one is not published, or versions before the first are removed.
        """
        if not (self.lake.has(f"{self.build}.cut") and self.lake.has(f"{self.public}.commit")):
            raise nothing_published("diff")
        cuts = {
            cut["source"]: cut
            for cut in self.lake.rows(POINTER.format(build=identifier(self.build)))
        }
        if source not in cuts:
            raise DebeziumError(
                f"diff: {source} is no source of the published cut; its sources are "
                + (", ".join(sorted(cuts)) or "none yet")
            )
        condition = f"commit_number between {first} and {last}"
        if transaction_id is not None:
            condition = f"transaction_id = {literal(transaction_id)}"
        query = COMMITS.format(
            public=identifier(self.public), source=literal(source), condition=condition
        )
        found = [
            Commit(
                source,
                row["commit_number"],
                row["transaction_id"],
                shown_time(row["committed_at_micros"]),
            )
            for row in sorted(self.lake.rows(query), key=lambda row: int(row["commit_number"]))
        ]
        if transaction_id is not None:
            found = found[-1:]
        if not found or (last is not None and found[-1].number != last):
            what = f"commit {last}" if transaction_id is None else f"transaction {transaction_id}"
            raise DebeziumError(
                f"diff: {what} of {source} is not published; "
                "`dbt-debezium status` says what is, and what is held"
            )
        start = cuts[source]["history_from"]
        if start is not None and found[0].number <= start:
            raise DebeziumError(
                f"diff: commit {found[0].number} of {source} cannot be shown, because older "
                f"versions are removed; ask for a commit after {start}"
            )
        return found

    def changes(self, commits: Sequence[Commit], table: str | None = None) -> list[RowDiff]:
        """Every row that commits of one source changed, by commit, table and row key.

        Args:
            commits: in their order, none left out.
            table: the only one that is wanted, by its public name.

        Raises:
            DebeziumError: there is no such table.
        """
        source, first, last = commits[0].source, commits[0].number, commits[-1].number
        known = self._tables()
        if table is not None and table not in known:
            remedy = meant(table, known, f"they are {listed(known, 'tables')}")
            raise DebeziumError(
                f"diff: {table} is no table with a history in {self.public}; {remedy}"
            )
        names = [table] if table else self._changed(known, source, first, last)
        found = [row for one in names for row in self._rows(one, source, first, last)]
        return sorted(found, key=lambda row: (row.commit_number, row.table, row.row_key))

    def _tables(self) -> list[str]:
        views = self.lake.views(self.public)
        return sorted(one for one in views if f"{one}_history" in views)

    def _changed(self, known: Collection[str], source: str, first: int, last: int) -> list[str]:
        if not self.models or not self.lake.has(f"{self.build}.int_change"):
            return [*known]
        query = CHANGED.format(
            build=identifier(self.build), source=literal(source), first=first, last=last
        )
        places = {(row["schema_name"], row["table_name"]) for row in self.lake.rows(query)}
        # A truncate of PostgreSQL may name no table.
        is_of_all = any(table is None for _, table in places)
        return [
            model.public_name
            for model in self.models
            if model.public_name in known
            and (is_of_all or (model.captured.get("schema"), model.captured.get("table")) in places)
        ]

    def _rows(self, table: str, source: str, first: int, last: int) -> Iterator[RowDiff]:
        history = f"{identifier(self.public)}.{identifier(f'{table}_history')}"
        query = VERSIONS.format(history=history, source=literal(source), first=first, last=last)
        images: dict[tuple[int, str], list[Mapping[str, Any] | None]] = {}
        for version in self.lake.texts(query):
            row = {column: value for column, value in version.items() if column not in OWN}
            for at, number in enumerate((version["_valid_to"], version["_valid_from"])):
                if number is not None and first <= number <= last:
                    images.setdefault((number, version["_row_key"]), [None, None])[at] = row
        for (number, key), (before, after) in images.items():
            change = "insert" if before is None else "delete" if after is None else "update"
            yield RowDiff(source, number, table, key, change, before, after)
