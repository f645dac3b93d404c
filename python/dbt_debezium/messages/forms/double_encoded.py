"""JSON inside a JSON string: a converter was given text that was JSON already."""

from typing import Final

from dbt_debezium.json_text import inner_value, json_string

MOST_TIMES: Final = 3


def read_double_encoded(text: str) -> str | None:
    r"""The object inside of a JSON string, with or without Kafka Connect's schema wrapper.

    >>> read_double_encoded(r'"{\"op\":\"c\"}"')
    '{"op":"c"}'
    >>> read_double_encoded(r'{"schema":{"type":"string"},"payload":"{\"op\":\"c\"}"}')
    '{"op":"c"}'
    >>> read_double_encoded('{"op":"c"}'), read_double_encoded('"text"')
    (None, None)
    """
    inner: str | None = text
    for _ in range(MOST_TIMES):
        inner = inner and json_string(inner_value(inner))
        if inner and inner.lstrip()[:1] == "{":
            return inner
    return None
