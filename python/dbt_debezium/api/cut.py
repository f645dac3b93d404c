"""The tables of a lake at one commit of each source."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from sqlglot.errors import SqlglotError

from dbt_debezium import notebook
from dbt_debezium.amounts import counted
from dbt_debezium.errors import DebeziumError
from dbt_debezium.names import listed, meant
from dbt_debezium.readers.choice import USE_SPARK
from dbt_debezium.readers.duckdb_query import OTHER_SQL, DuckdbQuery
from dbt_debezium.readers.duckdb_reader import DuckdbReader, connected, first_line
from dbt_debezium.readers.duckdb_values import with_text_times
from dbt_debezium.readers.moment import Commit, Wanted, has_past, shown_commits
from dbt_debezium.readers.places import ASK_SPARK
from dbt_debezium.writers.terminal import one_line

if TYPE_CHECKING:
    from types import TracebackType

    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa  # type: ignore[import-untyped]  # ships no types

    from dbt_debezium.readers.places import Places

SHOWN_ROWS: Final = 20
"""Rows of a table that a notebook shows."""
IN_PYTHON: Final = "read it with Spark (docs/python.md)"


@contextmanager
def in_python() -> Iterator[None]:
    """Have remedies name what Python has in place of options of the command line."""
    try:
        yield
    except DebeziumError as error:
        text = str(error).removesuffix(OTHER_SQL)
        for remedy in (ASK_SPARK, USE_SPARK):
            text = text.replace(remedy, IN_PYTHON)
        raise DebeziumError(text) from error.__cause__


class Table:
    """The rows of a table, or of a query. They are read when they are asked for, each time anew.

    Anything that speaks Arrow's C stream protocol takes it as it is: `pyarrow.table(orders)`,
    `polars.DataFrame(orders)`, or `duckdb.sql("from orders")`.
    """

    def __init__(self, name: str, relation: "Callable[[], duckdb.DuckDBPyRelation]") -> None:
        """For `Cut`.

        Args:
            name: what it is called.
            relation: makes the rows, on a connection of their own: two streams of one connection
                would end each other.
        """
        self.name = name
        self._relation = relation

    @property
    def columns(self) -> list[str]:
        """Their names, in order."""
        return list(self.duckdb().columns)

    def duckdb(self) -> "duckdb.DuckDBPyRelation":
        """A relation of DuckDB, which reads nothing until it is asked for rows.

        Raises:
            DebeziumError: the cut is closed, or a file of the table cannot be opened.
        """
        # A file that is away is missed when the relation is made.
        with in_python(), self._read():
            return self._relation()

    def to_arrow(self) -> "pa.Table":
        """A table of PyArrow. Times have the zone UTC, and decimals their precision.

        Raises:
            DebeziumError: as `duckdb`, or PyArrow is not installed.
        """
        need("to_arrow", "pyarrow")
        with self._read():
            return self.duckdb().to_arrow_table()

    def to_polars(self) -> "pl.DataFrame":
        """A data frame of Polars.

        Raises:
            DebeziumError: as `duckdb`, or Polars is not installed.
        """
        need("to_polars", "polars")
        need("to_polars", "pyarrow")
        with self._read():
            return self.duckdb().pl()

    def to_pandas(self, **options: Any) -> "pd.DataFrame":
        """A data frame of pandas. Decimals stay exact, as objects of Python.

        Args:
            options: of PyArrow's `Table.to_pandas`, such as `types_mapper=pandas.ArrowDtype`.

        Raises:
            DebeziumError: as `duckdb`, or pandas is not installed.
        """
        need("to_pandas", "pandas")
        return self.to_arrow().to_pandas(**options)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow's C stream, whose batches come as they are read."""
        return self.duckdb().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return one_line(f"<Table {self.name}: {', '.join(self.columns)}>")

    def _repr_html_(self) -> str:
        with self._read():
            relation = self.duckdb()
            rows = relation.limit(SHOWN_ROWS + 1).fetchall()
        shown = [[with_text_times(cell) for cell in row] for row in rows[:SHOWN_ROWS]]
        caption = f"first {SHOWN_ROWS} rows of {self.name}"
        if len(rows) <= SHOWN_ROWS:
            caption = f"{self.name}: {counted(len(rows), 'row')}"
        return notebook.table(relation.columns, shown, caption)

    @contextmanager
    def _read(self) -> Iterator[None]:
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            raise DebeziumError(
                f"{self.name}: DuckDB cannot read it ({first_line(error)}); take a new cut, "
                "because maintenance may have removed files of an old one"
            ) from error


def need(method: str, package: str) -> None:
    """Refuse what a package that is not installed would do.

    Raises:
        DebeziumError: it is not installed.
    """
    if find_spec(package) is None:
        raise DebeziumError(f"{method}: {package} is not installed; pip install {package}")


class Cut:
    """The public tables of a lake, all as one commit of each source left them.

    What is published is read once, when the cut is taken. Later runs change nothing in it, so two
    tables of one cut agree. Read it soon: maintenance removes files that only old cuts need.
    """

    def __init__(
        self, places: "Callable[[], Places]", build: str, public: str, wanted: Wanted
    ) -> None:
        """For `Lake.cut`.

        Args:
            places: opens the catalog as it is then.
            build: the schema that models are built in.
            public: the schema of the tables.
            wanted: an earlier commit or a time.

        Raises:
            DebeziumError: nothing is published, or the commit cannot be shown.
        """
        self._open_places, self._build, self._public = places, build, public
        self._places = places()
        self._reader = DuckdbReader(self._places, build)
        self._is_closed = False
        self._is_past = bool(wanted)
        found = shown_commits(self._reader, build, wanted or Wanted({}, is_python=True))
        self.commits: Mapping[str, Commit] = found
        """What tables show of each source."""
        self._numbers = {name: one.number for name, one in found.items()}
        if self._is_past:
            self._reader.show_past(self._numbers)

    @property
    def tables(self) -> list[str]:
        """The names of its tables. An earlier cut has those of the sources, and no marts."""
        views = sorted(self._places.views(self._public))
        return [one for one in views if not self._is_past or self._has_past(one)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __contains__(self, name: object) -> bool:
        return name in self.tables

    def __getitem__(self, name: str) -> Table:
        """A public table, such as `orders`, `orders_history`, `orders_changes` or a mart.

        Raises:
            DebeziumError: there is none of that name, or only its newest rows are kept.
        """
        self._check_open()
        there = sorted(self._places.views(self._public))
        if name not in there:
            remedy = meant(name, there, f"there are {listed(there, 'tables')}")
            raise DebeziumError(f"cut: the lake has no table {name} in {self._public}; {remedy}")
        with in_python():
            sql = self._reader.query_of(self._public, name)
        if not (self._places.is_frozen or self._has_past(name)):
            self._check_newest(name)

        def relation() -> "duckdb.DuckDBPyRelation":
            self._check_open()
            return self._reader.cursor().sql(sql)

        return Table(name, relation)

    def query(self, sql: str) -> Table:
        """The rows of one query in DuckDB's SQL, which names tables as `public.orders`.

        They are held in memory, by PyArrow.

        Raises:
            DebeziumError: the query may do more than read, DuckDB refuses it, there is no such
                table, or PyArrow is not installed.
        """
        self._check_open()
        need("query", "pyarrow")
        with in_python():
            asked = DuckdbQuery(self._places, self._build)
            if self._is_past:
                asked.show_past(self._numbers)
            rows = asked.table(sql, self._public)
        return Table("query", lambda: connected().from_arrow(rows))

    def close(self) -> None:
        """Let go of the lake's files. Its tables cannot be read any more."""
        self._is_closed = True
        self._reader.close()

    def __enter__(self) -> "Cut":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: "TracebackType | None",
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return one_line(f"<Cut at {'; '.join(map(str, self.commits.values()))}>")

    def _repr_html_(self) -> str:
        return notebook.table(COLUMNS, commit_rows([*self.commits.values()])) + notebook.paragraphs(
            [", ".join(self.tables)]
        )

    def _ipython_key_completions_(self) -> list[str]:
        return self.tables

    def _has_past(self, name: str) -> bool:
        try:
            return has_past(self._build, self._places.text(self._public, name))
        except SqlglotError:
            return False

    def _check_newest(self, name: str) -> None:
        """Refuse rows that are kept for two cuts, if later ones may have taken their place."""
        with in_python():
            query = f"select cut_id from {self._build}.cut where channel = 'published'"
            newest = DuckdbReader(self._open_places(), self._build).rows(query)
            if newest != self._reader.rows(query):
                raise DebeziumError(
                    f"cut: {name} may have lost its rows, because a later commit is published; "
                    "take another cut, and read the tables of this kind first"
                )

    def _check_open(self) -> None:
        if self._is_closed:
            raise DebeziumError("cut: it is closed; take another one with lake.cut()")


COLUMNS: Final = ("source", "commit", "transaction", "committed at")


def commit_rows(commits: Sequence[Commit]) -> list[tuple[object, ...]]:
    """What a notebook shows of commits."""
    return [(one.source, one.number, one.transaction_id, one.committed_at) for one in commits]
