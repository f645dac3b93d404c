"""Message keys that are no JSON object, read where the row shows what they stand for.

`ExtractField$Key` leaves the bare value of one column, and StringConverter prints
`Struct{id=1,name=x}`. Neither can be read by itself: a bare value does not say which column it is,
and a text may hold commas and equals signs. The row beside the key can tell.
"""

import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from dbt_debezium.errors import EnvelopeError
from dbt_debezium.json_text import (
    CANONICAL,
    canonical_key,
    canonical_key_and_names,
    inner_value,
    scalar_text,
)
from dbt_debezium.json_values import json_members
from dbt_debezium.messages.forms.double_encoded import read_double_encoded
from dbt_debezium.messages.forms.registry_json import read_registry_json

NAMELESS: Final = '{"":'
"""How a row key begins that is a bare value. It identifies the row as the column would, whose name
it need not say."""
STRUCT: Final = "Struct{"
PLAIN_STRUCT: Final = re.compile(r"Struct\{([^,={}]+)=([^,={}]*)\}")
"""One column with a text that cannot be another column's beginning."""
OUR_KEY_FIELDS: Final = "__dbz__"
"""How the names of key fields begin that a topic-routing transform adds, and no table has."""


def key_by_row(key: str, row: str | None) -> str:
    """The row key of a message whose key is no JSON object.

    Args:
        key: the key as text.
        row: the row that the message leaves, or takes away.

    Raises:
        EnvelopeError: the row does not show what the key stands for.

    >>> key_by_row("1", '{"id":1,"item":"lamp"}'), key_by_row('"a"', '{"code":"a"}')
    ('{"":"1"}', '{"":"a"}')
    >>> key_by_row("Struct{id=1,name=a,b=c}", '{"id":1,"name":"a,b=c"}')
    '{"id":"1","name":"a,b=c"}'
    """
    columns = texts_of(row)
    fields = struct_fields(key, columns) if key.startswith(STRUCT) else None
    if fields is not None:
        return CANONICAL.encode(fields).decode()
    known = set(columns.values())
    for value in bare_values(key):
        if value in known:
            return CANONICAL.encode({"": value}).decode()
    raise EnvelopeError(
        "key_format",
        "key: expected a JSON object with the key's columns; it is none, and "
        + ("no column of the row has its value" if columns else "no row shows what it stands for"),
    )


def bare_values(key: str) -> list[str]:
    r"""The texts that a key may be the bare value of: JSON, in a schema wrapper or not, or text.

    >>> bare_values('"a"'), bare_values("1.10"), bare_values("a b")
    (['a', '"a"'], ['1.10', '1.10'], ['a b'])
    >>> bare_values('{"schema":{"type":"int32"},"payload":7}')
    ['7']
    """
    inner = inner_value(key)
    value = None if inner is None else scalar_text(inner)
    if key.lstrip()[:1] == "{":
        return [] if value is None else [value]
    return [key] if value is None else [value, key]


def struct_fields(key: str, columns: Mapping[str, str]) -> dict[str, str] | None:
    """The fields of `Struct{id=1}`, as far as the row has each of them; None where it has not.

    Null fields are left out of the text, and a text in it may contain `,name=`. So each value
    must be the one of the row's column to its very end.

    >>> struct_fields("Struct{a=1,b=x}", {"a": "1", "b": "x", "c": "y"})
    {'a': '1', 'b': 'x'}
    >>> struct_fields("Struct{a=1,b=x}", {"a": "1,b=x", "b": "x"})
    {'a': '1,b=x'}
    >>> struct_fields("Struct{a=1}", {"a": "2"})
    """
    rest = key.removeprefix(STRUCT)
    found: dict[str, str] = {}
    while rest:
        heads = {
            name: f"{name}={value}"
            for name, value in columns.items()
            if name not in found and rest.startswith((f"{name}={value},", f"{name}={value}}}"))
        }
        ends = [name for name, head in heads.items() if rest == head + "}"]
        if len(ends) == 1:
            found[ends[0]] = columns[ends[0]]
            return found
        if len(heads) != 1:
            return None
        ((name, head),) = heads.items()
        found[name] = columns[name]
        rest = rest[len(head) + 1 :]
    return None


def nameless(row_key: str | None) -> str | None:
    """The key in a header as the bare value that messages have.

    Raises:
        EnvelopeError: it has several columns, so a bare value is not the whole key.

    >>> nameless('{"id":"2"}')
    '{"":"2"}'
    """
    if row_key is None:
        return None
    values = list(json_members(row_key).values())
    if len(values) != 1:
        raise EnvelopeError(
            "key_format", "key: one bare value, where headers name a key of several columns"
        )
    return CANONICAL.encode({"": values[0]}).decode()


def texts_of(row: str | None) -> dict[str, str]:
    """The columns of a row that are no object or list, each as the text that a key would be."""
    try:
        columns = json_members(row) if row is not None else {}
    except msgspec.DecodeError:
        return {}
    texts = {name: scalar_text(value) for name, value in columns.items()}
    return {name: text for name, text in texts.items() if text is not None}


def other_key(
    key: str, row: str | None, error: EnvelopeError
) -> tuple[str, str | None, Sequence[str]]:
    """What a message has whose key is no JSON object.

    Args:
        key: the key as text.
        row: the row that the message leaves, or takes away.
        error: why the key is no JSON object.

    Returns:
        The key's text without double encoding, the row key, and the names of its columns.

    Raises:
        EnvelopeError: the row does not show what the key stands for.
    """
    if error.reason not in ("bad_json", "bad_type") or not key:
        raise error
    opened = opened_key(key)
    if opened is not None:
        return opened, *canonical_key_and_names("key", opened)
    value = inner_value(key)
    if key.lstrip()[:1] == "{" and (value is None or bytes(value).lstrip()[:1] == b"{"):
        raise error
    return key, key_by_row(key, row), ()


def opened_key(key: str) -> str | None:
    """The JSON object of a key that is double-encoded, or comes from a schema registry."""
    return read_double_encoded(key) or read_registry_json(key)


def header_key(name: str, text: str | None, row_key: str | None) -> str | None:
    """The key in a header of a key change, in the form of the message's own.

    Raises:
        EnvelopeError: it cannot be read. No row shows the values of the other key.

    >>> header_key("__debezium.newkey", "Struct{id=2}", '{"id":"1"}')
    '{"id":"2"}'
    """
    text = header_text(text)
    try:
        found = canonical_key(f"header {name}", text)
    except EnvelopeError as error:
        found = _other_header_key(name, text or "", error)
    return nameless(found) if row_key is not None and row_key.startswith(NAMELESS) else found


def _other_header_key(name: str, text: str, error: EnvelopeError) -> str | None:
    """The key in a header that is no JSON object."""
    if not text.startswith(STRUCT):
        opened = opened_key(text)
        if opened is None:
            raise error
        return canonical_key(f"header {name}", opened)
    plain = PLAIN_STRUCT.fullmatch(text)
    if plain is None:
        raise EnvelopeError("key_format", f"header {name}: expected a JSON object")
    return CANONICAL.encode({plain[1]: plain[2]}).decode()


def header_text(text: str | None) -> str | None:
    """A header's value, which is bytes to Kafka: dumps write those in base64, or as their text.

    >>> header_text("eyJpZCI6MX0="), header_text('{"id":1}'), header_text("e30")
    ('{"id":1}', '{"id":1}', 'e30')
    """
    if not text or text[0] != "e":  # no JSON begins so, and base64 of each object does
        return text
    try:
        return b64decode(text, validate=True).decode()
    except ValueError:
        return text


def with_key_columns(row: str, key: Mapping[str, object]) -> str:
    """The row with those columns of the key that it lacks, which connectors may leave out of it.

    Args:
        row: as JSON text.
        key: its fields with their values as sent.

    >>> with_key_columns('{"name":"x"}', {"id": 1, "name": "y"})
    '{"id":1,"name":"x"}'
    >>> with_key_columns('{"id":2}', {"id": 1})
    '{"id":2}'
    """
    columns = json_members(row)
    missing = [
        f"{CANONICAL.encode(name).decode()}:{CANONICAL.encode(value).decode()}"
        for name, value in sorted(key.items())
        if name not in columns and not name.startswith(OUR_KEY_FIELDS)
    ]
    if not missing:
        return row
    return f"{{{','.join(missing)}{',' if columns else ''}{row[1:].lstrip()}"
