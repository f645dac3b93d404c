"""Files of Azure Event Hubs Capture: Avro records around the values, in folders that say whence.

`<namespace>/<event hub>/<partition>/<year>/<month>/<day>/<hour>/<minute>/<second>.avro` is the
layout unless a setting changes it. An event hub is a topic, and its sequence numbers are the
offsets that a Kafka client sees; `Offset` counts bytes.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from dbt_debezium.dumps.form import Header, Message, NotAMessageError
from dbt_debezium.dumps.json_objects import EPOCH

SCHEMA: Final = "Microsoft.ServiceBus.Messaging.EventData"
KEY: Final = "x-opt-kafka-key"
PLACE: Final = re.compile(
    r"(?P<topic>[A-Za-z0-9._-]+)/(?P<partition>[0-9]{1,5})"
    r"/[0-9]{4}/[0-9]{2}/[0-9]{2}/[0-9]{2}/[0-9]{2}/[^/]+"
)
TIME: Final = "%m/%d/%Y %I:%M:%S %p"
WANTED: Final = (
    "files of Event Hubs Capture keep their folders, <event hub>/<partition>/<year>/<month>/<day>/"
    "<hour>/<minute>/<second>.avro"
)


def is_captured(schema: Any) -> bool:
    """Whether an Avro schema is that of Capture, by its name.

    >>> is_captured({"type": "record", "name": SCHEMA}), is_captured("long")
    (True, False)
    """
    if not isinstance(schema, dict):
        return False
    names = schema.get("namespace"), schema.get("name")
    return ".".join(name for name in names if isinstance(name, str)) == SCHEMA


def place_of(path: Path) -> tuple[str, int] | None:
    """Topic and partition, from the names of the folders; None where they are others.

    >>> place_of(Path("ns/shop.public.orders/2/2026/09/21/14/13/20.avro"))
    ('shop.public.orders', 2)
    >>> place_of(Path("shop.public.orders/20.avro"))
    """
    place = PLACE.fullmatch("/".join(path.absolute().parts[-8:]))
    return place and (place["topic"], int(place["partition"]))


def message(place: tuple[str, int], record: Mapping[str, Any]) -> Message:
    """The message in a record.

    Raises:
        NotAMessageError: it has no sequence number, or key or value is not text.
    """
    topic, partition = place
    offset = record.get("SequenceNumber")
    if type(offset) is not int or offset < 0:
        raise NotAMessageError("no sequence number")
    system, properties = record.get("SystemProperties") or {}, record.get("Properties") or {}
    return Message(
        topic,
        partition,
        offset,
        _millis(record.get("EnqueuedTimeUtc")),
        _text("key", system.get(KEY)),
        # Debezium sends no empty value, so an empty body is that of a tombstone.
        _text("Body", record.get("Body")) or None,
        [Header(name, _text("Properties", value)) for name, value in properties.items()],
    )


def _text(field: str, value: object) -> str | None:
    if not isinstance(value, bytes):
        return None if value is None else str(value)
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise NotAMessageError(f"{field} is not UTF-8 at byte {error.start}") from None


def _millis(time: object) -> int | None:
    """When the message arrived; None in another form, because it decides nothing."""
    try:
        moment = datetime.strptime(str(time), TIME).replace(tzinfo=UTC)
    except ValueError:
        return None
    return (moment - EPOCH) // timedelta(milliseconds=1)
