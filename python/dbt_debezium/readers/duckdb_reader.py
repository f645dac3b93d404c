"""DuckDB as the reader of a lake: Spark's SQL, translated, over the files of Iceberg's tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from dbt_debezium.errors import DebeziumError
from dbt_debezium.flags import listed
from dbt_debezium.outages import away_sentence
from dbt_debezium.readers.places import AGAIN, Places
from dbt_debezium.views.dialects import Lake, identifier, literal, translated

if TYPE_CHECKING:
    import duckdb

WRITE_QUERIES: Final = (
    "write one query in DuckDB's SQL, and tables with their schema, as public.orders"
)
EXTENSIONS: Final = ("avro", "iceberg")
"""In the order in which DuckDB loads them; each is a package of PyPI."""
STORE: Final = "httpfs"
"""The extension that opens files of S3."""
POINTER: Final = "cut"
"""The table that says what is published.

It is read once, before all others, so that they have what it shows and no query sees another cut.
"""


def is_installed() -> bool:
    """Whether what `dbt-debezium[duckdb]` installs is there."""
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

    def answer(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The columns and the rows of one query in DuckDB's own SQL.

        Raises:
            DebeziumError: it is no query, DuckDB refuses it, or there is no such table.
        """
        import duckdb

        try:
            kinds = [one.type.name for one in self._connection.extract_statements(sql)]
            if kinds != ["SELECT"]:
                raise DebeziumError(
                    f"query: {' '.join(sql.split())} is not one query and may change something; "
                    "SELECT, FROM, VALUES, DESCRIBE and SUMMARIZE are queries of DuckDB"
                )
            read = parse_one(sql, read="duckdb").find_all(exp.Table)
            tables = {(table.db, table.name) for table in read if table.db}
            for schema, name in sorted(tables, key=self._is_later):
                self._create_view(schema, name)
            cursor = self._connection.execute(sql)
            return [one[0] for one in cursor.description or []], cursor.fetchall()
        except (duckdb.Error, SqlglotError) as error:
            is_of_files = isinstance(error, duckdb.IOException)
            remedy = AGAIN if is_of_files else WRITE_QUERIES
            raise self._outage(error) or DebeziumError(
                f"query: {first_line(error)}; {remedy}"
            ) from error

    def _create_view(self, schema: str, name: str) -> None:
        if not self.has(f"{schema}.{name}"):
            there = sorted(self._places.views(schema) | self._places.tables(schema))
            raise DebeziumError(
                f"query: the lake has no table {schema}.{name}; "
                f"{schema} has {listed(there, 'tables') or 'none'}"
            )
        with self._answered():
            rows = self._rows_of(schema, name).sql("duckdb", comments=False)
        named = f"{identifier('duckdb', schema)}.{identifier('duckdb', name)}"
        self._connection.execute(f"create schema if not exists {identifier('duckdb', schema)}")
        self._connection.execute(f"create view {named} as {rows}")

    @contextmanager
    def _answered(self) -> Iterator[None]:
        """Say in one sentence what DuckDB cannot read, or sqlglot cannot translate."""
        import duckdb

        try:
            yield
        except (duckdb.Error, SqlglotError) as error:
            raise self._outage(error) or DebeziumError(
                f"lake: DuckDB cannot read it ({first_line(error)}); ask Spark with --engine spark"
            ) from error

    def _outage(self, error: Exception) -> DebeziumError | None:
        """What is to be said if a store is why DuckDB has failed."""
        import duckdb

        why = first_line(error)
        # A file that is not there is no outage: the store has answered.
        if isinstance(error, duckdb.IOException) and "HTTP " in why and "HTTP 404" not in why:
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
            if name in self._places.views(schema):
                rows = self.translated(self._places.text(schema, name))
            elif name not in self._places.tables(schema):
                raise DebeziumError(
                    f"lake: the catalog has no table {schema}.{name}; run `dbt-debezium run`, or "
                    "`dbt-debezium run --full-refresh` if somebody has dropped it"
                )
            else:
                self._open_files(schema, name)
                rows = scan(self._places.metadata(schema, name))
            if (schema, name) == self._pointer:
                self._connection.execute(f"create table main.{POINTER} as {rows.sql('duckdb')}")
                rows = exp.select("*").from_(exp.table_(POINTER, db="main"))
            self._known[schema, name] = rows
        return self._known[schema, name]

    def _open_files(self, schema: str, name: str) -> None:
        options = self._places.secret(schema, name)
        if options:
            load(self._connection, STORE)
            for setting, value in self._places.patience().items():
                self._connection.execute(f"set {setting} = {value}")
            shown = ", ".join(
                f"{option} {literal(one) if isinstance(one, str) else one}"
                for option, one in options.items()
            )
            secret = identifier("duckdb", f"{schema}.{name}")
            self._connection.execute(f"create secret {secret} ({shown})")


def first_line(error: Exception) -> str:
    """What an error says, without the page of SQL below it.

    >>> first_line(ValueError("no such table!"))
    'no such table'
    """
    return str(error).strip().splitlines()[0].rstrip(".!")


def scan(metadata: str) -> exp.Expr:
    """The query of a table's files.

    >>> scan("/lake/a.metadata.json").sql("duckdb")
    "SELECT * FROM ICEBERG_SCAN('/lake/a.metadata.json')"
    """
    files = exp.Anonymous(this="iceberg_scan", expressions=[exp.Literal.string(metadata)])
    return exp.select("*").from_(exp.Table(this=files))


def connected() -> "duckdb.DuckDBPyConnection":
    """A new DuckDB in memory, which fetches nothing."""
    import duckdb

    fetches_nothing = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    connection = duckdb.connect(config=fetches_nothing)
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
    connection.execute(f"load {literal(str(path))}")
