"""CloudEvents, as Debezium's CloudEventsConverter writes them: JSON with the row as JSON inside.

The converter puts `op` and each field of `source` into an attribute: `iodebezium` and the name
without its underscores. It sends a null in place of BEGIN, END and schema changes. So no END will
ever count these changes, and their transaction block is left out: a source that has one is
taken to send END too.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Raw

from dbt_debezium.connectors import SOURCES
from dbt_debezium.errors import EnvelopeError
from dbt_debezium.json_text import inner_value, json_string
from dbt_debezium.json_values import json_members

ATTRIBUTE: Final = "iodebezium"
TYPE: Final = "io.debezium."


def read_cloud_event(text: str) -> str | None:
    """The change event of a CloudEvent, in Debezium's own form; None when it is no CloudEvent.

    Raises:
        EnvelopeError: it is one that cannot be read.

    >>> read_cloud_event('{"specversion":"1.0","type":"io.debezium.x","iodebeziumop":"c",'
    ...     '"iodebeziumconnector":"db2","iodebeziumcommitlsn":"1","data":{"after":{"id":1}}}')
    '{"op":"c","source":{"connector":"db2","commit_lsn":"1"},"after":{"id":1}}'
    """
    attributes = _object(inner_value(text))
    if "specversion" not in attributes:
        return None
    if not (json_string(attributes.get("type")) or "").startswith(TYPE):
        raise EnvelopeError("not_envelope", "type: a CloudEvent of another producer than Debezium")
    content = json_string(attributes.get("datacontenttype")) or "application/json"
    if content != "application/json":
        raise EnvelopeError(
            "other_format",
            f"datacontenttype: {content!r:.40} inside a CloudEvent; "
            "expected application/json, by cloudevents.data.serializer.type=json",
        )
    if ATTRIBUTE + "op" not in attributes:
        raise EnvelopeError(
            "no_source",
            "iodebeziumop: expected Debezium's attributes, by extension.attributes.enable=true",
        )
    data = _object(attributes.get("data"))
    envelope = {"op": attributes[ATTRIBUTE + "op"], "source": _source(attributes)}
    schema = data.get("schema") if data.keys() == {"schema", "payload"} else None
    row = _object(data["payload"]) if "payload" in data and schema is not None else data
    envelope |= {name: row[name] for name in ("before", "after") if name in row}
    if schema is None:
        return _text(envelope)
    return _text({"schema": schema, "payload": Raw(_text(envelope).encode())})


def _source(attributes: Mapping[str, Raw]) -> Raw:
    connector = json_string(attributes.get(ATTRIBUTE + "connector")) or ""
    names = ["connector"]
    if connector in SOURCES:
        names += SOURCES[connector].__struct_encode_fields__
    found = {name: attributes.get(ATTRIBUTE + name.replace("_", "")) for name in names}
    return Raw(_text({name: text for name, text in found.items() if text is not None}).encode())


def _object(text: Raw | None) -> dict[str, Raw]:
    try:
        return json_members(text) if text is not None else {}
    except msgspec.DecodeError:
        return {}


def _text(fields: Mapping[str, Raw]) -> str:
    return msgspec.json.encode(fields).decode()
