"""One query of a person, in DuckDB's own SQL, over the tables of a lake."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from sqlglot.errors import SqlglotError

from dbt_debezium.errors import DebeziumError
from dbt_debezium.names import listed, meant
from dbt_debezium.readers.duckdb_reader import (
    DuckdbReader,
    first_line,
    interruptible,
    may_pass,
)
from dbt_debezium.readers.moment import no_past
from dbt_debezium.readers.places import AGAIN, ASK_SPARK
from dbt_debezium.readers.statements import Asked, read_statement
from dbt_debezium.spark.session import nothing_published
from dbt_debezium.views.dialects import identifier
from dbt_debezium.writers.sql import engine_literal

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa  # type: ignore[import-untyped]  # ships no types

OTHER_SQL: Final = "; --engine spark takes that of Spark"
WRITE_QUERIES: Final = f"write one query in DuckDB's SQL{OTHER_SQL}"
HINT: Final = re.compile(r"^(?:Candidate [a-z]+: |Did you mean ).+$", re.MULTILINE)
"""What DuckDB proposes below its sentence."""
BATCH: Final = 1_000
"""Rows that are fetched at once."""


class DuckdbQuery(DuckdbReader):
    """A DuckDB that answers one query, and reads nothing but the tables that it names."""

    def answer(self, sql: str, schema: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """The columns of one query in DuckDB's own SQL, and its rows as they come.

        Args:
            sql: the query.
            schema: of tables that the query names without one, and that `show tables` lists.

        Raises:
            DebeziumError: it may do more than read tables of the lake, DuckDB refuses it, or there
                is no such table. Rows raise it too, where DuckDB fails among them.
        """
        cursor = self._asked(sql, schema)
        with self._queried():
            columns = [one[0] for one in cursor.description or []]
            first = cursor.fetchmany(BATCH)
        return columns, self._rest(cursor, first)

    def table(self, sql: str, schema: str) -> "pa.Table":
        """All rows of a query, as a table of PyArrow; arguments and errors as `answer`."""
        cursor = self._asked(sql, schema)
        with self._queried():
            return cursor.to_arrow_table()

    def _asked(self, sql: str, schema: str) -> "duckdb.DuckDBPyConnection":
        """DuckDB, which has begun to answer."""
        with self._queried():
            asked = read_statement(sql)
            if asked.is_listing and self._is_past:
                raise DebeziumError(
                    "query: a list of tables has no earlier state; leave --at and --as-of out"
                )
            tables = self._named(asked, schema)
            tables |= self._all_tables() if asked.is_listing else set()
            for one in sorted(tables, key=self._is_later):
                self._create_view(*one)
            self._close(schema)
            for statement in asked.statements:
                cursor = self._connection.execute(statement)
        return cursor

    def _rest(
        self, cursor: "duckdb.DuckDBPyConnection", batch: list[tuple[Any, ...]]
    ) -> Iterator[tuple[Any, ...]]:
        while batch:
            yield from batch
            with self._queried():
                batch = cursor.fetchmany(BATCH)

    def _named(self, asked: Asked, schema: str) -> set[tuple[str, str]]:
        """The tables of a query, with the schema in which names without one are looked up."""
        return {
            (of or schema, name)
            for of, name in asked.tables
            if of or asked.is_exact or self.has(f"{schema}.{name}")
        }

    def _all_tables(self) -> set[tuple[str, str]]:
        return {
            (schema, name)
            for schema in self._places.schemas()
            for name in self._places.tables(schema) | self._places.views(schema)
        }

    def _is_published(self) -> bool:
        pointer = ".".join(self._pointer)
        published = f"select 1 as one from {pointer} where channel = 'published'"
        return self.has(pointer) and bool(self.rows(published))

    def _folders(self) -> set[str]:
        return {one for table in self._opened for one in self._places.folders(*table)}

    def _close(self, schema: str) -> None:
        """From here on DuckDB reads only files of the tables that are open, and writes none."""
        self._spill = TemporaryDirectory(prefix="dbt-debezium-query-")
        folders = sorted(self._folders())
        named = identifier("duckdb", schema)
        for statement in (
            f"create schema if not exists {named}",
            f"set schema = {engine_literal(named)}",
            f"set temp_directory = {engine_literal(self._spill.name)}",
            f"set allowed_directories = [{', '.join(map(engine_literal, folders))}]",
            "set python_enable_replacements = false",
            "set enable_external_access = false",
            "set lock_configuration = true",
            "begin transaction read only",
        ):
            self._connection.execute(statement)

    @contextmanager
    def _queried(self) -> Iterator[None]:
        """Say in one sentence why a query of a person is not answered."""
        import duckdb

        try:
            with interruptible(self._connection):
                yield
        except (duckdb.Error, SqlglotError, OverflowError) as error:
            remedy = WRITE_QUERIES
            if isinstance(error, duckdb.PermissionException):
                remedy = f"tables of the lake are read from their folders alone; {ASK_SPARK}"
            elif may_pass(error) or any(
                urlsplit(one).path in str(error) for one in self._folders()
            ):
                remedy = AGAIN
            elif isinstance(error, OverflowError):
                remedy = "cast what is that large to varchar"
            hint = HINT.search(str(error))
            raise self._outage(error) or DebeziumError(
                f"query: {first_line(error)}; {hint[0] if hint else remedy}"
            ) from error

    def _create_view(self, schema: str, name: str) -> None:
        if not self.has(f"{schema}.{name}"):
            if not self._is_published():
                raise nothing_published("query")
            there = sorted(self._places.views(schema) | self._places.tables(schema))
            others = f"the schema {schema} has {listed(there, 'tables') or 'no tables'}"
            raise DebeziumError(
                f"query: the lake has no table {schema}.{name}; {meant(name, there, others)}"
            )
        named = f"{identifier('duckdb', schema)}.{identifier('duckdb', name)}"
        if self._is_past and name not in self._places.views(schema):
            raise no_past(f"{schema}.{name}")
        with self._answered(f"{schema}.{name}"):
            rows = self._rows_of(schema, name).sql("duckdb", comments=False)
            self._connection.execute(f"create schema if not exists {identifier('duckdb', schema)}")
            self._connection.execute(f"create view {named} as {rows}")
