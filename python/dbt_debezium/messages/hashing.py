"""Values of columns that must never be published in clear, replaced by a keyed hash (`hashed`).

A hash is HMAC-SHA-256 of the value's text, in hexadecimal digits. Equal values have equal hashes,
in all tables and in row keys, as long as the source sends them alike.
"""

import hmac
import os
import re
import uuid
from base64 import b64encode
from collections.abc import Callable, Collection
from functools import lru_cache
from hashlib import md5
from pathlib import Path
from typing import Final

import msgspec
from msgspec import DecodeError, Raw

from dbt_debezium.errors import DebeziumError
from dbt_debezium.json_text import CANONICAL, decode_nested, scalar_text, shield, unshield
from dbt_debezium.json_values import json_decoder, json_members
from dbt_debezium.messages.column_types import WITH_DEFAULT
from dbt_debezium.messages.flat import Flat
from dbt_debezium.settings import Settings

KEY: Final = "DBT_DEBEZIUM_HASH_KEY"
KEY_FILE: Final = "DBT_DEBEZIUM_HASH_KEY_FILE"
SHORTEST_KEY: Final = 32
NAMELESS_COLUMN: Final = ""
"""The field of a row key that is one bare value, whose column it does not name."""
MARK_COLUMN: Final = ""
"""The member of a row that holds its `filler_mark`; no column is called so."""
FILLER: Final = re.compile(r'[0.:Z-]*|false|AA==|1970-01-01.*|[{]"scale":0,"value":"AA=="[}]')
"""What stands for a value that the connector did not know, as the macro `is_filler_key` has it."""
IN_NOTIFICATIONS: Final = frozenset({"type", "aggregate_type", "timestamp"})
IN_ADDITIONAL_DATA: Final = frozenset({"connector_name", "scanned_collection", "status"})
"""What is read of notifications. Those of incremental snapshots also say keys, and a row without
its envelope may pass for one: a table of events that are to be sent has such columns."""
GEOMETRIES: Final = (
    "AQEAACDmEAAAAAAA/IPXl8EAAAD8g9eXwQ==",
    "AQEAACDmEAAADCHn/f9/ZkAYQs77/39WQA==",
)
"""What stands for a geometry and a geography that were not sent, see `unavailable_columns`."""

_decode_types = json_decoder(dict[str, str])
_encoded = msgspec.json.Encoder().encode


def hash_key() -> bytes | None:
    """The key from the environment, or from the file that it names; None where it has neither.

    Raises:
        DebeziumError: the key is too short, or the file cannot be read.
    """
    key, where = os.fsencode(os.environ.get(KEY, "")), f"{KEY} has a key"
    if not key:
        path = os.environ.get(KEY_FILE)
        if not path:
            return None
        where = f"the file that {KEY_FILE} names has a key"
        try:
            key = Path(path).read_bytes().strip()
        except OSError as error:
            # Without the name, and without Python's own error that has it: it may be the key.
            raise DebeziumError(
                f"hashed: the file that {KEY_FILE} names cannot be read ({error.strerror}); "
                "name a file that holds the key"
            ) from None
    if len(key) < SHORTEST_KEY:
        raise DebeziumError(
            f"hashed: {where} of {len(key)} bytes; use at least {SHORTEST_KEY} random ones"
        )
    return key


def check_hash_key(settings: Settings) -> None:
    """Refuse to hash without a key.

    Raises:
        DebeziumError: columns are hashed, and there is no key, or none that will do.
    """
    if settings.hashed and hash_key() is None:
        raise DebeziumError(
            f"hashed: dbt_project.yml names columns, and there is no key; set {KEY} to at least "
            f"{SHORTEST_KEY} random bytes, or {KEY_FILE} to a file that holds them"
        )


def fingerprint(key: bytes) -> str:
    """What tells keys apart and says nothing of them.

    >>> fingerprint(b"a" * 32) == fingerprint(b"a" * 32) != fingerprint(b"b" * 32)
    True
    """
    return hashed_text(key, "fingerprint of dbt-debezium")[:16]


def hashed_text(key: bytes, text: str) -> str:
    """The hash of a text, 64 hexadecimal digits.

    >>> hashed_text(b"k" * 32, "7")[:16]
    'aed60f37747ddf77'
    """
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256").hex()


def hasher(settings: Settings, key: bytes | None) -> Callable[[Flat], Flat]:
    """What replaces the values of hashed columns in a message.

    Raises:
        DebeziumError: there is no key.
    """
    if key is None:
        raise DebeziumError(f"hashed: there is no key where messages are read; set {KEY}")
    placeholder = settings.unavailable_value_placeholder
    placeholders = placeholder_texts(placeholder)
    hashed_columns = lru_cache(10_000)(settings.hashed_columns)

    def hashed_value(value: Raw) -> Raw:
        if bytes(value) == b"null":
            return value
        text = value_text(value)
        # A value that was not sent stays marked as such.
        shown = placeholder if text in placeholders else hashed_text(key, text)
        return Raw(_encoded(shown))

    def hashed_members(text: str | None, columns: Collection[str]) -> str | None:
        if text is None:
            return None
        members = json_members(text)
        return _encoded(
            {
                name: hashed_value(one) if name.lower() in columns else one
                for name, one in members.items()
            }
        ).decode()

    def hashed_plain(flat: Flat) -> Flat:
        if flat.kind != "change" or flat.table_name is None:
            # Whose keys they are is not known, and nobody asks for them.
            said = flat.notification and as_read(flat.notification)
            return flat._replace(row_key=None, old_row_key=None, notification=said)
        columns = hashed_columns(flat.schema_name, flat.table_name)
        if not columns:
            return flat
        of_key = {*columns, NAMELESS_COLUMN}
        before = hashed_members(flat.before, columns)
        mark = filler_mark(flat)
        if before is not None and mark is not None:
            before = _encoded({MARK_COLUMN: mark, **json_members(before)}).decode()
        return flat._replace(
            row_key=hashed_members(flat.row_key, of_key),
            new_row_key=hashed_members(flat.new_row_key, of_key),
            old_row_key=hashed_members(flat.old_row_key, of_key),
            before=before,
            after=hashed_members(flat.after, columns),
            column_types=flat.column_types and text_types(flat.column_types, columns),
        )

    def hashed(flat: Flat) -> Flat:
        try:
            return hashed_plain(flat)
        except DecodeError:
            # A lone surrogate, which no UTF-8 text can hold.
            parts = (shield(part) if isinstance(part, str) else part for part in flat)
            found = hashed_plain(Flat._make(parts))
            return Flat._make(unshield(one) if isinstance(one, str) else one for one in found)

    return hashed


def filler_mark(flat: Flat) -> bool | None:
    """Of a delete whose key is filler: whether the row before it has a value that is not.

    If so, the key may not have been sent. Hashes do not show this, so it is found before values are
    hashed. The macro `is_filler_key` finds it elsewhere.

    Returns:
        None where the key is not filler, and of all else than deletes.

    >>> filler_mark(Flat("change", operation="d", row_key='{"id":"0"}', before='{"id":0,"n":1}'))
    True
    >>> filler_mark(Flat("change", operation="d", row_key='{"id":"7"}', before='{"id":7,"n":1}'))
    """
    if flat.operation != "d" or flat.row_key is None or flat.before is None:
        return None
    if not all(FILLER.fullmatch(value_text(one)) for one in json_members(flat.row_key).values()):
        return None
    row = (value_text(one) for one in json_members(flat.before).values() if bytes(one) != b"null")
    return any(not FILLER.fullmatch(text) for text in row)


def value_text(value: Raw) -> str:
    """The text of a value that is hashed; of null it is `null`.

    >>> value_text(Raw(b'"a"')), value_text(Raw(b"1.10")), value_text(Raw(b"[1, 2]"))
    ('a', '1.10', '[1,2]')
    """
    text = scalar_text(value)
    return nested_text(value) if text is None else text


def nested_text(value: Raw) -> str:
    """The text of an object or a list, however its members are ordered and spaced.

    >>> nested_text(Raw(b'{"b": 1.0, "a": [true]}'))
    '{"a":[true],"b":1.0}'
    """
    return CANONICAL.encode(decode_nested(value)).decode()


def as_read(notification: str) -> str:
    """A notification with nothing but what is read of it.

    >>> as_read('{"type":"IN_PROGRESS","additional_data":{"status":"EMPTY","maximum_key":"7"}}')
    '{"type":"IN_PROGRESS","additional_data":{"status":"EMPTY"}}'
    """
    members = json_members(notification)
    kept: dict[str, object] = {
        name: one for name, one in members.items() if name in IN_NOTIFICATIONS
    }
    data = members.get("additional_data")
    if data is not None and bytes(data)[:1] == b"{":
        named = json_members(data)
        kept["additional_data"] = {
            name: one for name, one in named.items() if name in IN_ADDITIONAL_DATA
        }
    return _encoded(kept).decode()


@lru_cache(10_000)
def text_types(column_types: str, columns: frozenset[str]) -> str:
    """Column types as messages show them, where hashed columns are text.

    Args:
        column_types: as in `Flat`.
        columns: those that are hashed, in lower case.

    >>> text_types('{"id":"bigint","n":"int with default","x":""}', frozenset({"id", "n", "x"}))
    '{"id":"string","n":"string with default","x":""}'
    """
    types = _decode_types(column_types)
    for name, kind in types.items():
        if kind and name.lower() in columns:
            types[name] = "string" + (WITH_DEFAULT if kind.endswith(WITH_DEFAULT) else "")
    return _encoded(types).decode()


@lru_cache(10)
def placeholder_texts(placeholder: str) -> frozenset[str]:
    """What stands for a value that was not sent, as the macro `unavailable_columns` has it.

    >>> sorted(placeholder_texts("?"))[:4]
    ['3f', '?', 'Pw==', '["?"]']
    """
    encoded = placeholder.encode()
    made_of_it = str(uuid.UUID(bytes=md5(encoded, usedforsecurity=False).digest(), version=3))
    base64 = b64encode(encoded).decode()
    nested: list[object] = [[*encoded], [placeholder], [base64], [made_of_it]]
    nested += [{placeholder: placeholder}, *({"wkb": one, "srid": 4326} for one in GEOMETRIES)]
    texts = [CANONICAL.encode(one).decode() for one in nested]
    return frozenset([placeholder, base64, encoded.hex(), *texts])
