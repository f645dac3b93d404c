"""JSON text: its limits, its canonical form, and the escapes that UTF-8 cannot hold."""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import DecodeError, Raw, ValidationError

from dbt_debezium.errors import EnvelopeError
from dbt_debezium.json_values import json_decoder

LARGEST_BYTES = 10_000_000
DEEPEST_LEVELS = 200
LONGEST_NUMBER = 1_000
"""In characters: Jackson, with which Spark reads JSON, takes a text with a longer one for no JSON,
and Spark makes nulls of the whole row. Python takes whole numbers of up to 4,300 digits."""
LONGEST_NAME = 50_000
"""Of a member of an object, likewise by Jackson."""
STRIDE = 100
IN_A_NUMBER = "[-+.eE0-9]"
PART_OF_LONG_NUMBER = re.compile(f"{IN_A_NUMBER}{{{LONGEST_NUMBER // STRIDE}}}")
"""In each hundredth character of a text: fewer in a row are of no number that is too long."""
LONG_NUMBER = re.compile(f"{IN_A_NUMBER}{{{LONGEST_NUMBER + 1}}}")

PLAIN = r'[^"\\\x00-\x1f\ud800-\udfff]*'
PLAIN_KEY = re.compile(rf'(\{{"{PLAIN}":)(?:"{PLAIN}"|(0|-?[1-9][0-9]{{0,18}}))\}}')
"""A key of one field as Debezium prints it, canonical but for a number's quotes: most keys are."""

LONGEST_PLAIN_KEY = 10_000
"""Far below the limit, so that its size need not be measured."""

decode_nested = json_decoder(object, float_hook=lambda digits: Raw(digits.encode()))
"""Raw keeps a number's digits: a float would round a decimal."""
CANONICAL = msgspec.json.Encoder(order="sorted")

_decode_string = json_decoder(str)
_members = json_decoder(dict[str, Raw])

PAYLOAD = '},"payload":{'

ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u(?P<lone>[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
STAND_IN = "lone-surrogate-5b1f0c7e-"


def json_string(text: Raw | None) -> str | None:
    """A JSON string; None when it is something else.

    >>> json_string(Raw(b'"a"')), json_string(Raw(b"1"))
    ('a', None)
    """
    try:
        return None if text is None else _decode_string(text)
    except DecodeError:
        return None


def inner_value(text: str) -> Raw | None:
    """A JSON value without Kafka Connect's wrapper; None when the text is no JSON.

    >>> values = map(inner_value, ['{"schema":null,"payload":7}', "[7]", "a"])
    >>> [value and bytes(value) for value in values]
    [b'7', b'[7]', None]
    """
    try:
        decode_nested(text)
        value = Raw(text.encode())
        if text.lstrip()[:1] != "{":
            return value
        members = _members(value)
    except DecodeError:
        return None
    is_in_wrapper = (
        members.keys() == {"schema", "payload"} and bytes(members["schema"])[:1] in b"{n"
    )
    return members["payload"] if is_in_wrapper else value


def scalar_text(value: object) -> str | None:
    """The text of a text, a number or a boolean in a canonical key; None of all else.

    >>> scalar_text("a"), scalar_text(Raw(b"1.10")), scalar_text(True), scalar_text(Raw(b"null"))
    ('a', '1.10', 'true', None)
    """
    if isinstance(value, Raw):
        try:
            value = decode_nested(value)
        except DecodeError:
            return None
    text = _text(value)
    return text if isinstance(text, str) else None


def check_size(name: str, text: str) -> None:
    """Refuse what would take too much memory.

    Raises:
        EnvelopeError: too_large, told by hash and length only.
    """
    if 4 * len(text) <= LARGEST_BYTES:
        return
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) > LARGEST_BYTES:
        digest = hashlib.sha256(encoded).hexdigest()
        raise EnvelopeError(
            "too_large",
            f"{name}: {len(encoded)} bytes, sha256 {digest}; at most {LARGEST_BYTES} are read",
        )


def check_limits(name: str, text: str) -> None:
    """Refuse what a parser here or in Spark would fail at, or read as nothing.

    Raises:
        EnvelopeError: too_deep; bad_type of a number or a name that is too long.
    """
    if is_too_deep(text):
        raise EnvelopeError("too_deep", f"{name}: at most {DEEPEST_LEVELS} levels are read")
    if len(text) <= LONGEST_NUMBER:
        return
    if PART_OF_LONG_NUMBER.search(text[::STRIDE]) and any(
        map(LONG_NUMBER.search, _parts(text)[::2])
    ):
        detail = f"{name}: a number of over {LONGEST_NUMBER} digits; it can be sent as text"
        raise EnvelopeError("bad_type", detail)
    if len(text) > LONGEST_NAME and _has_long_name(_parts(text)):
        detail = f"{name}: a name of over {LONGEST_NAME} characters"
        raise EnvelopeError("bad_type", detail)


def is_too_deep(text: str) -> bool:
    """Whether objects and arrays nest so deep that a parser's stack could end.

    >>> is_too_deep("[" * 200), is_too_deep("[" * 201), is_too_deep('"' + "[" * 201 + '"')
    (False, True, False)
    """
    return text.count("{") + text.count("[") > DEEPEST_LEVELS and levels(text) > DEEPEST_LEVELS


def _parts(text: str) -> list[str]:
    """What stands outside of strings and inside of them, in turn."""
    return text.replace("\\\\", "_").replace('\\"', "_").split('"')


def _has_long_name(parts: Sequence[str]) -> bool:
    return any(
        len(string) > LONGEST_NAME and after.lstrip()[:1] == ":"
        for string, after in zip(parts[1::2], parts[2::2], strict=False)
    )


def without_schema(text: str) -> str:
    """The payload of Kafka Connect's wrapper as it prints it; any other text as it is.

    A third faster than to parse past 5 kB of schema. A member `payload` inside the schema makes
    the cut malformed JSON, never another message.

    >>> without_schema('{"schema":{"type":"struct"},"payload":{"id":1}}')
    '{"id":1}'
    >>> without_schema('{"id":1}')
    '{"id":1}'
    """
    if text.startswith('{"schema":{') and text.endswith("}"):
        cut = text.find(PAYLOAD)
        if cut > 0:
            return text[cut + len(PAYLOAD) - 1 : -1]
    return text


def levels(text: str) -> int:
    """How deep objects and arrays nest; stops counting just past the limit.

    >>> levels('{"a": [1, "[[["], "b": {}}')
    2
    """
    outside_strings = "".join(_parts(text)[::2]).replace("[", "{").replace("]", "}")
    brackets = re.sub("[^{}]+", "", outside_strings)
    count = 0
    while "{}" in brackets and count <= DEEPEST_LEVELS:
        brackets = brackets.replace("{}", "")
        count += 1
    return count + brackets.count("{")


def canonical_key(name: str, text: str | None) -> str | None:
    """One text for one key, however it was printed; None for a key without fields.

    Numbers and booleans are texts in it: a column whose type changed, or another version of a
    connector, prints `"1"` for the row that was `1` (S19).

    Args:
        name: where the key stands, for the refusal.
        text: JSON, with or without Kafka Connect's schema wrapper.

    Raises:
        EnvelopeError: it is not a JSON object.

    >>> canonical_key("key", '{"b": 1.10, "a": "\\u00e9", "c": null, "d": [1]}')
    '{"a":"é","b":"1.10","c":null,"d":[1]}'
    >>> canonical_key("key", '{"schema":{"type":"struct"},"payload":{"id":1}}')
    '{"id":"1"}'
    """
    return canonical_key_and_names(name, text)[0]


def canonical_key_and_names(name: str, text: str | None) -> tuple[str | None, Sequence[str]]:
    """The canonical key, and the names of its fields as they stand in JSON text.

    Raises:
        EnvelopeError: it is not a JSON object.

    >>> canonical_key_and_names("key", '{"a":1,"b":"2"}')
    ('{"a":"1","b":"2"}', ['"a":', '"b":'])
    """
    if text is None:
        return None, ()
    if len(text) <= LONGEST_PLAIN_KEY and (plain := PLAIN_KEY.fullmatch(text)):
        return _quoted(text, plain)
    check_size(name, text)
    payload = without_schema(text)
    if payload is not text and (plain := PLAIN_KEY.fullmatch(payload)):
        return _quoted(payload, plain)
    fields = key_fields(name, payload)
    if not fields:
        return None, ()
    texts = {
        field: value if type(value) is str else _text(value) for field, value in fields.items()
    }
    return CANONICAL.encode(texts).decode(), [f'"{field}":' for field in fields]


def _quoted(key: str, plain: re.Match[str]) -> tuple[str, Sequence[str]]:
    opening, number = plain.groups()
    return key if number is None else f'{opening}"{number}"}}', (opening[1:],)


def _text(value: object) -> object:
    """A number or a boolean as its JSON text; all else as it is."""
    if type(value) is int:
        return str(value)
    if isinstance(value, Raw):
        return str(value, "utf-8")
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def key_fields(name: str, text: str) -> dict[str, object]:
    """The fields of a key with their values as sent; none for a key without fields.

    Raises:
        EnvelopeError: it is not a JSON object.

    >>> key_fields("key", '{"schema":null,"payload":{"id":1,"code":"1"}}')
    {'id': 1, 'code': '1'}
    """
    text = without_schema(text)
    check_limits(name, text)
    try:
        key: Any = decode_nested(text)
    except DecodeError as error:
        raise EnvelopeError("bad_json", f"{name}: {said(error)}") from None
    if is_wrapped(key):
        key = key["payload"]
    if key is None:
        return {}
    if not isinstance(key, dict):
        raise EnvelopeError("bad_type", f"{name}: expected an object with the key's fields")
    return key


def is_wrapped(document: object) -> bool:
    """Whether Kafka Connect wrapped it; a key may have two columns of these names.

    >>> is_wrapped({"schema": None, "payload": {"id": 1}})
    True
    >>> is_wrapped({"schema": "public", "payload": 1})
    False
    """
    return (
        isinstance(document, dict)
        and document.keys() == {"schema", "payload"}
        and isinstance(document["schema"], dict | None)
    )


def said(error: DecodeError) -> str:
    """What the parser says of a text, without a word of the text."""
    return str(error).removeprefix("JSON is ").replace("`", "'")


def shield(text: str) -> str:
    r"""Lone surrogate escapes, which no UTF-8 text can hold, replaced by a stand-in.

    >>> unshield(shield(r'"\uD83D\uDE00 \uD800 \\ud800"'))
    '"\\uD83D\\uDE00 \\ud800 \\\\ud800"'
    """
    return ESCAPE.sub(lambda e: STAND_IN + e["lone"].lower() if e["lone"] else e[0], text)


def unshield(text: str) -> str:
    """The stand-ins as JSON escapes again, in lower case."""
    return text.replace(STAND_IN, "\\u")


def located(error: ValidationError) -> str:
    """msgspec's sentence, the field first: it names types, never values.

    >>> located(ValidationError("Expected `int | null`, got `bool` - at `$.source.lsn`"))
    'source.lsn: expected int | null, got bool'
    """
    problem, _, path = str(error).replace("`", "").partition(" - at $")
    where = path.removeprefix(".payload").removeprefix(".") or "value"
    return f"{where}: {problem[:1].lower()}{problem[1:]}"


def utf8(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot hold.

    >>> utf8("shop"), utf8("a\\ud800")
    ('shop', 'a?')
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
