"""The second oracle: sqlite executes the statements of the source, in commit order."""

import sqlite3
from collections.abc import Iterator, Sequence

Values = tuple[object, ...]

SCHEMA = """
create table account (id integer primary key, owner text, balance integer not null, note text);
create table transfer (id integer primary key, src integer, dst integer, amount integer);
create table tally (kind text, n integer);
create table pair (a text, b integer, v text, primary key (a, b));
"""


def states(
    transactions: Sequence[Sequence[tuple[str, Values]]],
) -> Iterator[dict[str, list[Values]]]:
    """The sorted rows of each table, before the first transaction and after each one."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.executescript(SCHEMA)
    tables = database.execute("select name from sqlite_schema where type = 'table'")
    names = [name for (name,) in tables]
    try:
        yield _rows(database, names)
        for statements in transactions:
            database.execute("begin")
            for statement, values in statements:
                database.execute(statement, values)
            database.execute("commit")
            yield _rows(database, names)
    finally:
        database.close()


def _rows(database: sqlite3.Connection, names: list[str]) -> dict[str, list[Values]]:
    return {
        name: sorted(database.execute(f"select * from {name}").fetchall(), key=repr)
        for name in names
    }
