"""DuckDB as the reader of a lake: Spark's SQL, translated, over the files of Iceberg's tables."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_debezium.errors import DebeziumError
from dbt_debezium.readers.duckdb_values import with_text_times
from dbt_debezium.readers.moment import has_past, no_past
from dbt_debezium.readers.places import AGAIN, ASK_SPARK, Places
from dbt_debezium.spark.outages import away_sentence
from dbt_debezium.views.dialects import Lake, identifier, translated
from dbt_debezium.writers.sql import engine_literal

if TYPE_CHECKING:
    import duckdb

EXTENSIONS: Final = ("avro", "iceberg")
"""In the order in which DuckDB loads them; each is a package of PyPI."""
STORE: Final = "httpfs"
"""The extension that opens files of S3."""
ONCE: Final = "read_once"
"""The schema of DuckDB that keeps the pointer."""
POINTER: Final = "cut"
"""The table that says what is published.

It is read once, before all others, so that they have what it shows and no query sees another cut.
"""
BETWEEN_ROWS: Final = "closed pending query result\nError: "
"""What DuckDB says before the reason if it fails after the first rows, whatever the reason is."""


def is_installed() -> bool:
    """Whether the packages are there, which an installation without its dependencies lacks."""
    extensions = (f"duckdb_extension_{name}" for name in (*EXTENSIONS, STORE))
    return all(find_spec(name) for name in ("duckdb", "pyiceberg", *extensions))


class DuckdbReader:
    """See `Reader`."""

    def __init__(self, places: Places, schema: str) -> None:
        """Open DuckDB.

        Args:
            places: the catalog.
            schema: the schema that models are built in.
        """
        self._places = places
        self._pointer = (schema, POINTER)
        self._connection = connected()
        self._known: dict[tuple[str, str], exp.Expr] = {}
        self._opened: set[tuple[str, str]] = set()
        self._is_past = False
        """Whether the pointer names earlier commits than those of the published cut."""
        self._within: list[tuple[str, str]] = []
        """The views that are being translated, each read by the one before it."""

    def has(self, name: str) -> bool:
        schema, _, table = name.partition(".")
        return table in self._places.tables(schema) or table in self._places.views(schema)

    def views(self, schema: str) -> set[str]:
        return self._places.views(schema)

    def rows(self, query: str) -> list[dict[str, Any]]:
        with self._answered():
            cursor = self._connection.execute(self.translated(query).sql("duckdb", comments=False))
            names = [column[0] for column in cursor.description or []]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def types(self, query: str) -> dict[str, str]:
        with self._answered():
            cursor = self._connection.execute(self.translated(query).sql("duckdb", comments=False))
            described = cursor.description or []
        return {name: spark_type(str(kind)) for name, kind, *_ in described}

    def text(self, schema: str, view: str) -> str:
        return self._places.text(schema, view)

    def texts(self, query: str) -> list[dict[str, Any]]:
        return [
            {name: with_text_times(value) for name, value in row.items()}
            for row in self.rows(query)
        ]

    def properties(self, schema: str, table: str) -> Mapping[str, str]:
        return self._places.properties(schema, table)

    def sizes(self, schema: str, tables: Sequence[str]) -> dict[str, int]:
        return {name: self._places.size(schema, name) for name in tables}

    def query_of(self, schema: str, name: str) -> str:
        """The query of a table's rows, in DuckDB's SQL."""
        with self._answered(f"{schema}.{name}"):
            return str(self._rows_of(schema, name).sql("duckdb", comments=False))

    def cursor(self) -> "duckdb.DuckDBPyConnection":
        """A connection of its own to the same tables: a query ends the one before it."""
        found = self._connection.cursor()
        found.execute("set timezone = 'UTC'")
        return found

    def close(self) -> None:
        """Let go of all files."""
        self._connection.close()

    def show_past(self, numbers: Mapping[str, int]) -> None:
        """Have public tables show other commits from here on.

        Args:
            numbers: a commit of each source, none after the published cut.
        """
        sources = ", ".join(map(engine_literal, numbers))
        commits = ", ".join(str(one) for one in numbers.values())
        with self._answered():
            self._rows_of(*self._pointer)
            self._connection.execute(
                f"update {ONCE}.{POINTER} set source_cuts = list_transform(source_cuts, lambda one:"
                " struct_update(one, commit_number := coalesce("
                f"map([{sources}]::varchar[], [{commits}]::bigint[])[one.source],"
                " one.commit_number))) where channel = 'published'"
            )
        self._is_past = True

    @contextmanager
    def _answered(self, what: str = "it") -> Iterator[None]:
        """Say in one sentence what DuckDB cannot read, or sqlglot cannot translate."""
        import duckdb

        try:
            with interruptible(self._connection):
                yield
        except (duckdb.Error, SqlglotError) as error:
            remedy = AGAIN if may_pass(error) else ASK_SPARK
            raise self._outage(error) or DebeziumError(
                f"lake: DuckDB cannot read {what} ({first_line(error)}); {remedy}"
            ) from error

    def _outage(self, error: Exception) -> DebeziumError | None:
        """What is to be said if a store is why DuckDB has failed."""
        why = first_line(error)
        # A file that is not there is no outage: the store has answered.
        if may_pass(error) and "HTTP " in why and "HTTP 404" not in why:
            return DebeziumError(away_sentence("store", self._places.store(), why))
        return None

    def translated(self, query: str) -> exp.Expr:
        """The query for DuckDB, in which tables and views are queries of files.

        A view of DuckDB in their place would read the metadata of each table once more.
        """
        tree = translated("duckdb", query, Lake("", {}))
        tables = [table for table in tree.find_all(exp.Table) if table.db]
        for table in sorted(tables, key=lambda one: self._is_later((one.db, one.name))):
            rows = self._rows_of(table.db, table.name).copy()
            name = exp.to_identifier(table.alias_or_name, quoted=True)
            table.replace(exp.Subquery(this=rows, alias=exp.TableAlias(this=name)))
        return tree

    def _is_later(self, table: tuple[str, str]) -> bool:
        return table != self._pointer

    def _rows_of(self, schema: str, name: str) -> exp.Expr:
        """The query of a view, or of the files of a table."""
        if (schema, name) not in self._known:
            if (schema, name) in self._within:
                raise DebeziumError(
                    f"lake: the view {schema}.{name} reads itself; drop it, and run "
                    "`dbt-debezium run` if it is one of the project's"
                )
            if name in self._places.views(schema):
                text = self._places.text(schema, name)
                if self._is_past and not has_past(self._pointer[0], text):
                    raise no_past(f"{schema}.{name}")
                self._within.append((schema, name))
                rows = self.translated(text)
                self._within.pop()
            elif name not in self._places.tables(schema):
                raise DebeziumError(
                    f"lake: the catalog has no table {schema}.{name}; run `dbt-debezium run`, or "
                    "`dbt-debezium run --full-refresh` if somebody has dropped it"
                )
            else:
                self._opened.add((schema, name))
                self._open_files(schema, name)
                rows = scan(self._places.metadata(schema, name))
            if (schema, name) == self._pointer:
                self._connection.execute(f"create schema {ONCE}")
                self._connection.execute(f"create table {ONCE}.{POINTER} as {rows.sql('duckdb')}")
                rows = exp.select("*").from_(exp.table_(POINTER, db=ONCE))
            self._known[schema, name] = rows
        return self._known[schema, name]

    def _open_files(self, schema: str, name: str) -> None:
        options = self._places.secret(schema, name)
        if options:
            load(self._connection, STORE)
            for setting, value in self._places.patience().items():
                self._connection.execute(f"set {setting} = {value}")
            shown = ", ".join(
                f"{option} {engine_literal(one) if isinstance(one, str) else one}"
                for option, one in options.items()
            )
            secret = identifier("duckdb", f"{schema}.{name}")
            self._connection.execute(f"create secret {secret} ({shown})")


@contextmanager
def interruptible(connection: "duckdb.DuckDBPyConnection") -> Iterator[None]:
    """Let Ctrl-C end the command, which DuckDB makes an error of its own."""
    try:
        yield
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        # Without it, whoever closes DuckDB waits until the query is done.
        connection.interrupt()
        raise KeyboardInterrupt from error


def first_line(error: Exception) -> str:
    """What an error says, without the page of SQL below it.

    >>> first_line(ValueError("no such table!"))
    'no such table'
    >>> first_line(ValueError("closed pending query result\\nError: IO Error: no file\\n"))
    'IO Error: no file'
    """
    text = str(error)
    *_, reason = text.partition(BETWEEN_ROWS)
    return (reason or text).strip().splitlines()[0].rstrip(".!")


def may_pass(error: Exception) -> bool:
    """Whether asking again may help, as where maintenance has removed a file meanwhile.

    >>> may_pass(ValueError("closed pending query result\\nError: IO Error: no file"))
    True
    """
    import duckdb

    # If a query fails in one thread, DuckDB 1.5 may say only that it has interrupted the others.
    lost = (duckdb.IOException, duckdb.InterruptException)
    return isinstance(error, lost) or first_line(error).startswith(("IO Error: ", "HTTP Error: "))


def spark_type(duckdb_type: str) -> str:
    """What Spark calls a type of DuckDB.

    >>> spark_type("BIGINT"), spark_type("VARCHAR[]"), spark_type("TIMESTAMP WITH TIME ZONE")
    ('bigint', 'array<string>', 'timestamp')
    """
    return exp.DataType.build(duckdb_type, dialect="duckdb").sql("spark").lower()


def scan(metadata: str) -> exp.Expr:
    """The query of a table's files.

    >>> scan("/lake/a.metadata.json").sql("duckdb")
    "SELECT * FROM ICEBERG_SCAN('/lake/a.metadata.json')"
    """
    files = exp.Anonymous(this="iceberg_scan", expressions=[exp.Literal.string(metadata)])
    return exp.select("*").from_(exp.Table(this=files))


def connected() -> "duckdb.DuckDBPyConnection":
    """A new DuckDB in memory, which fetches nothing and takes no secrets of its user."""
    import duckdb

    own_settings = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_persistent_secrets": False,
        # Its signature covers 60 MB, a fifth of what `status` takes. pip has checked the package by
        # its hash, as that of DuckDB itself, and no statement but ours can load another file.
        "allow_unsigned_extensions": True,
    }
    connection = duckdb.connect(config=own_settings)
    connection.execute("set timezone = 'UTC'")
    for name in EXTENSIONS:
        load(connection, name)
    return connection


def load(connection: "duckdb.DuckDBPyConnection", name: str) -> None:
    """Load an extension that is a package of PyPI; one that is loaded stays."""
    spec = find_spec(f"duckdb_extension_{name}")
    assert spec is not None
    assert spec.origin is not None
    (path,) = Path(spec.origin).parent.glob(f"extensions/*/{name}.duckdb_extension")
    connection.execute(f"load {engine_literal(str(path))}")
