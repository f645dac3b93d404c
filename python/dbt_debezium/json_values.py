"""The one place where JSON text becomes values: whatever the text is, it fails in one way.

msgspec itself raises RecursionError for text that nests deep, and UnicodeEncodeError for text that
no UTF-8 can hold. Who forgot one of them stopped at one message, and so for all.
"""

import json
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, overload

import msgspec
from msgspec import DecodeError, Raw

JsonText: TypeAlias = str | bytes | Raw
T = TypeVar("T")


@overload
def json_decoder(
    kind: type[T], float_hook: Callable[[str], Any] | None = None
) -> Callable[[JsonText], T]: ...
@overload
def json_decoder(
    kind: Any, float_hook: Callable[[str], Any] | None = None
) -> Callable[[JsonText], Any]: ...
def json_decoder(
    kind: Any, float_hook: Callable[[str], Any] | None = None
) -> Callable[[JsonText], Any]:
    """What reads JSON text as a type, and raises msgspec.DecodeError for every text that it is not.

    Args:
        kind: any type that msgspec takes; `Raw` keeps the text.
        float_hook: what makes a value of the text of a number with a point or an exponent.

    >>> json_decoder(dict[str, int])('{"a":1}')
    {'a': 1}
    >>> json_decoder(Raw)("[" * 100_000)
    Traceback (most recent call last):
    msgspec.DecodeError: JSON is malformed: nests too deep
    """
    decode = msgspec.json.Decoder(kind, float_hook=float_hook).decode

    def decoded(text: JsonText) -> Any:
        try:
            return decode(text)
        except RecursionError:
            raise DecodeError("JSON is malformed: nests too deep") from None
        except UnicodeEncodeError:
            raise DecodeError("JSON is not UTF-8 text") from None

    return decoded


json_members: Callable[[JsonText], dict[str, Raw]] = json_decoder(dict[str, Raw])
"""The members of an object with the text of their values."""

_scan = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode


def end_of_json(text: str, start: int) -> int | None:
    """Where the JSON value ends that begins at a place of a text; None where none does.

    >>> end_of_json('a:{"b":"}"},c', 2), end_of_json("a:{", 2)
    (11, None)
    """
    try:
        return _scan(text, start)[1]
    except (ValueError, RecursionError):
        return None
