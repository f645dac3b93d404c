"""How dbt puts ephemeral models in front of a query that reads them.

dbt parses the whole query, and groups its tokens, to find whether its first word is `with`: of a
run of a thousand messages that was a tenth of the time.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

import dbt.compilation

BEGINNING: Final = re.compile(
    r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*(with(?:\s+recursive)?\b)?", re.DOTALL | re.IGNORECASE
)
"""Blanks and comments in front of a query, and the word."""


plain = dbt.compilation.inject_ctes_into_sql
"""dbt's own."""


def inject_quickly() -> None:
    """Have dbt look at the beginning of a query alone."""
    dbt.compilation.inject_ctes_into_sql = injected


def injected(sql: str, ctes: Sequence[Any]) -> str:
    r"""A query with common table expressions in front of its own.

    Args:
        sql: the query.
        ctes: those of ephemeral models, as dbt has them.

    >>> from types import SimpleNamespace as Cte
    >>> injected("-- of a\nWITH b as (select 1) select * from b", [Cte(sql="a as (select 2)")])
    '-- of a\nWITH a as (select 2), b as (select 1) select * from b'
    >>> injected("select * from a", [Cte(sql="a as (select 2)")])
    'with a as (select 2) select * from a'
    """
    if not ctes:
        return sql
    found = BEGINNING.match(sql)
    added = ", ".join(one.sql for one in ctes)
    if found is not None and found[1]:
        return f"{sql[: found.end()]} {added},{sql[found.end() :]}"
    return f"with {added} {sql}"
