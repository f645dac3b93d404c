"""Whether an object in a message has two members of one name, of which the last counts.

To look at each name takes longer than to flatten the message. So what can be shown with less is
let pass, and only the rest is looked at name by name.
"""

import json
import re
from typing import Final

from msgspec import DecodeError

from dbt_debezium.json_text import without_schema
from dbt_debezium.json_values import json_members
from dbt_debezium.messages.flat import Flat

DIGITS: Final = b"0123456789"
MOST_KNOWN: Final = 10_000
"""Without digits, messages of one table are few, unless their source block has hexadecimal
positions, row ids or queries."""
IMAGES: Final = '{"before":0,"after":0'
BLANK_BEFORE_COLON: Final = re.compile(r'"\s+:')

_known_distinct: set[bytes] = set()


class _NotDistinctError(Exception):
    pass


def has_repeated_names(key: str | None, value: str | None, flat: Flat) -> bool:
    """Whether the key or the value has an object with two members of one name.

    Of Kafka Connect's wrapper as it prints it only the payload is looked at.

    Args:
        key: the message's key.
        value: the message's value.
        flat: the message as it was read; of one that was not nothing is said.

    >>> has_repeated_names('{"id":1,"id":2}', None, Flat("tombstone"))
    True
    >>> has_repeated_names('{"id":1}', '{"op":"d","op":"u"}', Flat("change"))
    True
    """
    if flat.kind == "quarantined":
        return False
    if key is not None and key.count(":") > 1:
        key = without_schema(key)
        if not are_distinct(key) and looked_at(key):
            return True
    if value is None:
        return False
    value = without_schema(value)
    before, after = flat.before, flat.after
    if flat.kind == "change":
        head = f'{{"before":{before or "null"},"after":{after or "null"}'
        if (
            value.startswith(head)
            and (before is None or are_distinct(before))
            and (after is None or are_distinct(after))
            and are_distinct_without_digits(IMAGES, value[len(head) :])
        ):
            return False
    elif flat.kind == "transaction_marker" and are_distinct_without_digits("", value):
        return False
    # After the bytes of a schema registry.
    return looked_at(value[5:] if value.startswith("\x00") else value)


def are_distinct_without_digits(head: str, tail: str) -> bool:
    """Whether JSON is shown to repeat no name, from what is left of it without digits.

    Messages of one table differ in positions and times. Names that differ without their digits
    differ with them, so what was shown of one message holds for all that are equal without digits.

    Args:
        head: what stands before the tail, in place of the images of rows.
        tail: the rest of the value.

    >>> are_distinct_without_digits("{", '"op":"u","ts_ms":17}')
    True
    >>> are_distinct_without_digits("{", '"op":"u","op":"d"}')
    False
    """
    without_digits = tail.encode().translate(None, DIGITS)
    if without_digits in _known_distinct:
        return True
    # Other escapes than that of a quote hold digits, or give one name two spellings.
    if tail.count("\\") != tail.count('\\"') or looked_at(head + tail, without=DIGITS):
        return False
    if len(_known_distinct) >= MOST_KNOWN:
        _known_distinct.clear()
    _known_distinct.add(without_digits)
    return True


def are_distinct(text: str) -> bool:
    r"""Whether an object is shown to hold no object and to repeat no name.

    A quote before a colon ends a name, or stands in a text: so there are no more members than such
    quotes, and no fewer than names.

    >>> are_distinct('{"a":1,"b":"x"}'), are_distinct('{"a":1,"a":2}'), are_distinct('{"a":{}}')
    (True, False, True)
    >>> are_distinct(r'{"a":"{\"b\":1}"}'), are_distinct('{"a":{"b":1}}')
    (True, False)
    """
    try:
        names = len(json_members(text))
    except DecodeError:
        return False
    if text.count(":") == names:
        return True
    quotes = text.count('":')
    if quotes != names and ('\\\\"' in text or quotes - text.count('\\":') != names):
        return False
    has_blank = '" ' in text or "\n" in text or "\t" in text or "\r" in text
    return not (has_blank and BLANK_BEFORE_COLON.search(text))


def looked_at(text: str, without: bytes = b"") -> bool:
    """Whether an object in the text repeats a name, by each of its names.

    Args:
        without: characters without which names are compared.
    """

    def check(members: list[tuple[str, object]]) -> None:
        names = {
            name.encode("utf-8", "surrogatepass").translate(None, without) for name, _ in members
        }
        if len(names) < len(members):
            raise _NotDistinctError

    try:
        document = json.loads(text, object_pairs_hook=check, parse_int=str, parse_float=str)
    except _NotDistinctError:
        return True
    except (ValueError, RecursionError):
        return False  # a key that is no JSON, or too deep; a value is read before it comes here
    # What is double-encoded is one text.
    return isinstance(document, str) and document[:1] in ("{", '"') and looked_at(document, without)
