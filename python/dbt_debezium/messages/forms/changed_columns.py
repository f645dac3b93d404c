"""Columns as `{"value": ..., "set": true}`, where unchanged ones are left out.

YugabyteDB's connector calls itself `postgresql` and sends this form through its output plugin
yboutput. Taken for a row, every column would be an object, and unchanged ones would be lost.
"""

from typing import Final

import msgspec

from dbt_debezium.json_values import json_members

DETAIL: Final = (
    'columns come as {"value": ..., "set": true}, the form of YugabyteDB\'s yboutput, which leaves '
    "unchanged columns out"
)
SIGN: Final = '{"value":'
"""In other rows of Debezium only inside of a text. Others take up to thrice as long to look for."""
MEMBERS: Final = {"value", "set"}


def has_changed_columns_only(row: str) -> bool:
    """Whether a column of the row is such an object.

    >>> has_changed_columns_only('{"id":{"value":1,"set":true},"name":null}')
    True
    >>> has_changed_columns_only('{"id":1,"text":"{\\\\"value\\\\":1,\\\\"set\\\\":true}"}')
    False
    """
    try:
        columns = json_members(row)
        return any(
            bytes(text)[:1] == b"{" and json_members(text).keys() == MEMBERS
            for text in columns.values()
        )
    except msgspec.DecodeError:
        return False
