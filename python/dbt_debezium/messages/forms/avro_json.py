"""Avro's JSON, as `kcat -s value=avro` prints it: `{"string": "x"}` for an optional text.

It is not read. It prints bytes and texts alike, so a decimal or a bytea column could not be told
from a text.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Raw

from dbt_debezium.json_values import json_members

DETAIL: Final = "value: Avro's JSON with types as names, such as kcat -s value=avro prints"
TYPES: Final = frozenset({"string", "long", "int", "boolean", "double", "float", "array"})


def is_avro_json(fields: Mapping[str, Raw]) -> bool:
    """Whether a count of END, or a member of `source`, is a value under its Avro type.

    >>> is_avro_json({"op": Raw(b'"c"'), "source": Raw(b'{"snapshot":{"string":"last"}}')})
    True
    >>> is_avro_json({"op": Raw(b'"c"'), "source": Raw(b'{"snapshot":"last"}')})
    False
    """
    of_end = [fields[name] for name in ("event_count", "data_collections") if name in fields]
    of_source = _members(fields.get("source", Raw(b"{}"))).values()
    names = [_members(text).keys() for text in (*of_end, *of_source)]
    return any(len(one) == 1 and one <= TYPES for one in names)


def _members(text: Raw) -> dict[str, Raw]:
    try:
        return json_members(text)
    except msgspec.DecodeError:
        return {}
