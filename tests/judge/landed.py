"""Messages that have landed, as the product's reader reads them. No Spark."""

from typing import NamedTuple, TypeAlias

from dbt_debezium.messages.envelope import flatten_message
from dbt_debezium.messages.flat import Flat
from dbt_debezium.settings import DEFAULTS, Settings

Delivery: TypeAlias = tuple[str, int, int]


class Landed(NamedTuple):
    """One message that has landed."""

    topic: str
    partition: int
    offset: int
    flat: Flat


def flattened(message: dict[str, object], settings: Settings = DEFAULTS) -> Landed:
    """A message as histories write it."""
    headers = [(one["key"], one["value"]) for one in message["headers"]]
    flat = flatten_message(message["topic"], message["key"], message["value"], headers, settings)
    return Landed(message["topic"], message["partition"], message["offset"], flat)
