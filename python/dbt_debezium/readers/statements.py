"""What a person may ask DuckDB: one statement, of which DuckDB itself says that it only reads."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from sqlglot import exp, parse_one

from dbt_debezium.errors import DebeziumError

if TYPE_CHECKING:
    import duckdb

READING: Final = "SELECT, FROM, VALUES, PIVOT, DESCRIBE, SUMMARIZE, SHOW and EXPLAIN only read"
ACTING: Final = frozenset(
    {
        "arrow_scan",
        "arrow_scan_dumb",
        "checkpoint",
        "disable_logging",
        "disable_profiling",
        "enable_logging",
        "enable_profiling",
        "force_checkpoint",
        "iceberg_to_ducklake",
        "json_execute_serialized_sql",
        "pandas_scan",
        "python_map_function",
        "query",
        "remove_iceberg_schema_properties",
        "remove_iceberg_table_properties",
        "set_iceberg_schema_properties",
        "set_iceberg_table_properties",
        "truncate_duckdb_logs",
        "write_log",
    }
)
"""Functions of a SELECT that write files, change settings, read memory, or run a text as SQL."""
LISTING: Final = re.compile(
    r"\bshow\s+(all\s+)?tables\b|\binformation_schema\b|\bduckdb_(columns|tables|views)\b",
    re.IGNORECASE,
)
"""What asks for tables that it does not name."""
OTHER_SIGN: Final = re.compile(r"[^\x00-\x7f]")
NAME: Final = re.compile(r'"((?:[^"]|"")*)"|\w+')


@dataclass(frozen=True, slots=True)
class Asked:
    """One statement."""

    statements: "list[duckdb.Statement]"
    """What DuckDB makes of it. The last one answers; a PIVOT has others before it."""
    tables: set[tuple[str, str]]
    """What it reads, with its schema; the schema is empty where the text names none."""
    is_exact: bool
    """Whether these are all tables; else tables of a WITH may be among them."""
    is_listing: bool
    """Whether it asks which tables there are."""


def read_statement(sql: str) -> Asked:
    """What a text asks. Nothing is opened and nothing is run.

    Raises:
        DebeziumError: it is not one statement, or it may do more than read.
        duckdb.Error, SqlglotError: it is not DuckDB's SQL.
    """
    # Even a parser opens files: `pragma import_database('a')` becomes what a/schema.sql says.
    parser = closed_duckdb()
    tokens = list(words(sql))
    for (_, name), (_, following) in pairwise(tokens):
        if name in ACTING and following == "(":
            raise DebeziumError(f"query: the function {name} does more than read; leave it out")
    statements = parser.extract_statements(sql)
    kinds = [one.type.name for one in statements]
    if kinds == ["EXPLAIN"]:
        explained = parser.extract_statements(sql[start_of_explained(tokens) :])
        kinds = [one.type.name for one in explained]
    # A PIVOT that finds its columns itself: DuckDB writes these statements, so they have no text.
    elif kinds[-1:] == ["SELECT"] and {*kinds[:-1]} == {"CREATE"}:
        kinds = ["CREATE" if one.query.strip() else "SELECT" for one in statements][:1]
    if kinds != ["SELECT"]:
        raise DebeziumError(
            f"query: {' '.join(sql.split())} is not one query and may change something; {READING}"
        )
    tables, is_exact = tables_of(parser, sql)
    return Asked(statements, tables, is_exact, bool(LISTING.search(sql)))


def closed_duckdb() -> "duckdb.DuckDBPyConnection":
    """A DuckDB that opens no file, and sees no variables of Python."""
    import duckdb

    return duckdb.connect(
        config={"enable_external_access": False, "python_enable_replacements": False}
    )


def words(sql: str) -> Iterator[tuple[int, str]]:
    """Where each word and sign begins, without comments and texts; names as DuckDB compares them.

    >>> [word for _, word in words('from /* a */ "Query" -- b')]
    ['from', 'query']
    >>> [word for _, word in words("explain (analyze) select 'é', $$b$$")]
    ['explain', '(', 'analyze', ')', 'select', ',']
    """
    import duckdb

    # DuckDB counts bytes, and takes the spaces of other scripts for spaces.
    text = OTHER_SIGN.sub(lambda sign: "_" if sign.group().isalnum() else " ", sql)
    for at, kind in duckdb.tokenize(text):
        if kind.name in ("string_const", "comment"):
            continue
        found = NAME.match(text, at)
        if found is None:
            yield at, text[at]
        else:
            quoted = found.group(1)
            name = found.group() if quoted is None else quoted.replace('""', '"')
            yield at, name.lower()


def start_of_explained(tokens: list[tuple[int, str]]) -> int:
    """Where the statement begins that an EXPLAIN explains.

    >>> texts = ["explain select 1", "explain analyze copy a", "explain (format json) (select 1)"]
    >>> [one[start_of_explained([*words(one)]) :] for one in texts]
    ['select 1', 'copy a', '(select 1)']
    """
    at = 1
    while at < len(tokens) - 1 and tokens[at][1] in ("analyze", "verbose"):
        at += 1
    if tokens[at][1] == "(" and tokens[at + 1][1] in ("analyze", "format", "verbose"):
        at = next(end for end in range(at, len(tokens)) if tokens[end][1] == ")") + 1
    return tokens[at][0]


def tables_of(parser: "duckdb.DuckDBPyConnection", sql: str) -> tuple[set[tuple[str, str]], bool]:
    """The tables that a statement reads and writes with their schema, and whether these are all."""
    import duckdb

    try:
        names = parser.get_table_names(sql, qualified=True)
        read = [parse_one(f"from {name}", read="duckdb").find(exp.Table) for name in names]
        is_exact = True
    except duckdb.Error:
        # It looks for columns, too, where a PIVOT or UNPIVOT names them.
        read = list(parse_one(sql, read="duckdb").find_all(exp.Table))
        is_exact = False
    return {(one.db, one.name) for one in read if one is not None and one.name}, is_exact
