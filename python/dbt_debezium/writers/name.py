"""Names of sources, schemas, tables and columns that models can be written for."""

import re
from typing import Final, Literal

from dbt_debezium.errors import DebeziumError

Kind = Literal["source", "schema", "table", "column"]

UNREADABLE: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
    + "]"
)
"""What no name may hold: control characters, halves of surrogate pairs and code points that
Unicode has set aside for no character. Terminals obey the first, UTF-8 cannot hold the second, and
YAML, XML and we (U+FDD0) give the third a meaning."""
IN_COLUMNS: Final = re.compile(r"`|\{[{%#]")
"""What dbt writes into SQL and YAML as it is where it is in the name of a column."""
REMEDIES: Final = {
    "source": "give the source another topic.prefix",
    "schema": "rename it at the source, or leave it out with schema.exclude.list",
    "table": "rename it at the source, or leave it out with table.exclude.list",
    "column": "rename it at the source, or leave it out with column.exclude.list",
}


def check_name(where: str, kind: Kind, name: str) -> None:
    r"""Refuse a name that no model can be written for.

    Args:
        where: begins the sentence.
        kind: of what it is the name.
        name: from a message.

    Raises:
        DebeziumError: there is such a character in it, or none at all.

    >>> check_name("table t", "column", "order; drop table x --")
    >>> try:
    ...     check_name("table t", "table", "a\x1b")
    ... except DebeziumError as error:
    ...     print(*str(error).split("; "), sep="\n")
    table t: table 'a\x1b' has U+001B, which dbt and Spark do not keep
    rename it at the source, or leave it out with table.exclude.list
    """
    if not name:
        problem = "has no character"
    elif found := UNREADABLE.search(name):
        problem = f"has U+{ord(found[0]):04X}, which dbt and Spark do not keep"
    elif kind == "column" and (found := IN_COLUMNS.search(name)):
        problem = f"has {found[0]}, which dbt would read"
    else:
        return
    raise DebeziumError(f"{where}: {kind} {name!r} {problem}; {REMEDIES[kind]}")
