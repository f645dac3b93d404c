"""JSON behind the five bytes of a schema registry, as Confluent's JsonSchemaConverter writes it.

A zero byte and the number of the schema in four bytes stand before JSON of Debezium's own form.
Avro and Protobuf begin with the same five bytes, and no JSON follows.
"""

from typing import Final

from dbt_debezium.json_text import inner_value

MAGIC: Final = "\x00"
PREFIX_LENGTH: Final = 5


def read_registry_json(text: str) -> str | None:
    r"""The JSON object behind the five bytes.

    >>> read_registry_json('\x00\x00\x00\x00\x07{"op":"c"}'), read_registry_json('{"op":"c"}')
    ('{"op":"c"}', None)
    >>> read_registry_json("\x00\x00\x00\x00\x07{avro")
    """
    if not text.startswith(MAGIC):
        return None
    inner = text[PREFIX_LENGTH:]
    return inner if inner[:1] == "{" and inner_value(inner) is not None else None
