"""SQL: of Spark, of source databases and of other engines.

Statements that dbt renders have the macros `string_literal` and `quoted`, which write the same.
"""

import re
from typing import Final

from sqlglot import exp

WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        "all and anti any array as asc at authorization between both by case cast check collate "
        "column commit constraint create cross cube current current_date current_time "
        "current_timestamp current_user date day default delete desc describe distinct drop else "
        "end escape except exists extract false fetch filter for foreign from full function "
        "grant group grouping having hour if in index inner insert intersect interval into is "
        "join key lateral leading left like limit map merge minus minute month natural no not "
        "null of offset on only or order outer overlaps partition pivot position primary qualify "
        "range recursive references right rollback rollup row rows second select semi "
        "session_user set some start struct sum table tablesample then time timestamp to "
        "trailing true truncate union unique unknown unpivot update user using values view when "
        "where window with year",
    )
)
"""Names that are quoted, since a parser may take them for something else."""
PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")
BACKSLASH_ESCAPES: Final = frozenset({"mysql", "mariadb"})
"""Source databases in whose literals a backslash is an escape."""
QUOTES: Final = {"mysql": ("`", "`"), "mariadb": ("`", "`"), "sqlserver": ("[", "]")}
"""What opens and closes a name in a source database, if it is no double quote."""


def literal(text: str) -> str:
    """A text in Spark's SQL.

    A session must read backslashes as escapes and substitute no variables; ours do.

    >>> print(literal("O'Brien"), literal("a\\\\b"))
    'O\\'Brien' 'a\\\\b'
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def identifier(name: str) -> str:
    """A name in Spark's SQL, in backticks.

    >>> identifier("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def readable_identifier(name: str) -> str:
    """A name in Spark's SQL, in backticks where a person would write them.

    >>> readable_identifier("id"), readable_identifier("order"), readable_identifier("a b")
    ('id', '`order`', '`a b`')
    """
    return name if PLAIN.fullmatch(name) and name not in WORDS else identifier(name)


def source_literal(connector: str, text: str) -> str:
    """A text in the SQL of a connector's database.

    >>> print(source_literal("mysql", "it's \\\\"), source_literal("oracle", "\\\\"))
    'it''s \\\\' '\\'
    >>> source_literal("sqlserver", "it's")
    "N'it''s'"
    """
    if connector in BACKSLASH_ESCAPES:
        text = text.replace("\\", "\\\\")
    quoted = text.replace("'", "''")
    return f"{'N' if connector == 'sqlserver' else ''}'{quoted}'"


def source_identifier(connector: str, name: str) -> str:
    """A name in the SQL of a connector's database.

    >>> source_identifier("sqlserver", "a]b"), source_identifier("postgresql", 'a"b')
    ('[a]]b]', '"a""b"')
    """
    opening, closing = QUOTES.get(connector, ('"', '"'))
    return f"{opening}{name.replace(closing, closing * 2)}{closing}"


def engine_literal(text: str) -> str:
    """A text in DuckDB's SQL.

    >>> engine_literal("it's")
    "'it''s'"
    """
    return str(exp.Literal.string(text).sql(dialect="duckdb"))


def engine_identifier(dialect: str, name: str) -> str:
    """A name in the SQL of an engine that sqlglot knows.

    >>> engine_identifier("duckdb", 'a"b')
    '"a""b"'
    """
    return str(exp.to_identifier(name, quoted=True).sql(dialect=dialect))
