"""Where a message names the schema of its key and of its value."""

from typing import Final

MAGIC: Final = b"\x00"
PREFIX_LENGTH: Final = 5
"""Confluent's framing: a zero byte, and the id in four bytes, big-endian."""
ID_LENGTH: Final = 8
"""Of an id in a header."""
ID_KINDS: Final = ("contentId", "globalId")
"""The two numbers by which Apicurio knows a schema."""
HEADERS: Final = {
    f"apicurio.{part}.{kind}": (part, kind) for part in ("key", "value") for kind in ID_KINDS
}
"""Apicurio's headers with an id, and which part of the message has that schema."""


def framed_id(part: bytes) -> str | None:
    """The id in front of the bytes; None when there is none.

    Eight bytes with an id, as Apicurio writes by default without headers, begin with four zero
    bytes. They do not say which of its two numbers they are, so they are not taken for an id.

    >>> framed_id(bytes.fromhex("0000000007") + b"..."), framed_id(b"{}"), framed_id(bytes(9))
    ('7', None, None)
    """
    if len(part) <= PREFIX_LENGTH or part[:1] != MAGIC:
        return None
    number = int.from_bytes(part[1:PREFIX_LENGTH], "big")
    return str(number) if number else None


def header_id(kind: str, value: bytes | None) -> str | None:
    """The id in a header's value.

    >>> header_id("contentId", bytes.fromhex("0000000000000007"))
    'contentId:7'
    """
    if value is None or len(value) != ID_LENGTH:
        return None
    return f"{kind}:{int.from_bytes(value, 'big')}"
