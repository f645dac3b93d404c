"""Messages that Debezium sent, one of each kind, and the ways to change them."""

import json
from pathlib import Path

from dbt_debezium.messages.envelope import flatten_message
from dbt_debezium.messages.flat import Flat

DATA = Path(__file__).parent / "data"
LINES = (DATA / "messages.jsonl").read_text().splitlines()
MESSAGES = {message.pop("name"): message for message in map(json.loads, LINES)}
DOCUMENTS = {
    path.stem[:6]: path.read_text() for path in sorted((DATA / "documents").glob("*.json"))
}
"""The examples that the reference documents print, repaired where they are no JSON, by number."""
AS_PRINTED = {
    path.stem[:6]: path.read_text()
    for path in sorted((DATA / "documents" / "as_printed").glob("*.txt"))
}


def flat(name, **changed):
    """The named message flattened, with its topic, key, value or headers changed."""
    message = MESSAGES[name] | changed
    return flatten_message(
        message["topic"],
        message["key"],
        message["value"],
        [(header, value) for header, value in message["headers"]],
    )


def with_fields(document, fields):
    """The document with fields set; `source__lsn` is one of `source`, `...` leaves one out."""
    for path, field in fields.items():
        *parents, leaf = path.split("__")
        inner = document
        for parent in parents:
            inner = inner[parent]
        if field is ...:
            del inner[leaf]
        else:
            inner[leaf] = field
    return document


def edited(name, **fields):
    """The named message flattened, with fields of its value set; `source__lsn` is one of `source`.

    A field set to `...` is left out.
    """
    value = with_fields(json.loads(MESSAGES[name]["value"]), fields)
    return flat(name, value=json.dumps(value, separators=(",", ":")))


def wrapped(text):
    """As Kafka Connect's converter sends it with schemas."""
    return f'{{"schema":{{"type":"struct","fields":[]}},"payload":{text or "null"}}}'


def known(row: Flat) -> dict[str, object]:
    """The fields that are not null."""
    return {name: value for name, value in row._asdict().items() if value is not None}
