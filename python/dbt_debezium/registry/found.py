"""A schema as a registry has given it."""

from typing import NamedTuple


class Found(NamedTuple):
    """What a registry has under an id."""

    kind: str
    """AVRO, JSON or PROTOBUF."""
    text: str
