"""Statements by which macros call this package: the plugin takes them in place of Spark."""

import re
from typing import Final

COMMENT: Final = r"\s*(?:/\*.*?\*/)?\s*"
"""dbt's own, in front of a statement or, with `append`, behind it."""
CALL: Final = re.compile(
    rf"{COMMENT}call dbt_debezium[.](\w+) (\{{.*?\}}){COMMENT};?\s*", re.DOTALL
)
"""A name and JSON. Inside another statement it is text, as of a column's comment."""


def called(statement: str) -> tuple[str, str]:
    r"""The name and the argument of such a statement; empty texts for one that is for Spark.

    >>> called('/* {"app": "dbt"} */\n  call dbt_debezium.move_public_tables {"a": {"b": "c"}}')
    ('move_public_tables', '{"a": {"b": "c"}}')
    >>> called('call dbt_debezium.move_public_tables {"a": "b"}\n/* {"app": "dbt"} */')
    ('move_public_tables', '{"a": "b"}')
    >>> called("select 'call dbt_debezium.move_public_tables {}'")
    ('', '')
    """
    found = CALL.fullmatch(statement)
    return (found[1], found[2]) if found else ("", "")
