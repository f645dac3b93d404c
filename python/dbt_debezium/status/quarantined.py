"""What a source has quarantined, a sentence for each topic and reason."""

from collections.abc import Sequence
from typing import Any, Final

from dbt_debezium.amounts import counted
from dbt_debezium.reasons import DISCARDED, PREVIEWS, QUARANTINED, Command
from dbt_debezium.status.acceptances import open_messages

SHOWN_GROUPS: Final = 10


def quarantine_sentences(entry: dict[str, Any], command: Command) -> list[str]:
    """One sentence for each topic and reason, with the first message's place and detail.

    Args:
        entry: the source's entry in the report; its messages are in order of their places. Those
            that are accepted are left out.
        command: whose words to use.

    >>> message = {"topic": "shop.t", "partition": 0, "offset": 7, "reason": "too_deep",
    ...            "detail": None, "accepted": None}
    >>> quarantine_sentences({"source": "shop", "quarantined": [message]}, "status")[0][:54]
    'shop: 1 message is quarantined in topic shop.t (partit'
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for message in open_messages(entry):
        groups.setdefault((message["topic"], message["reason"]), []).append(message)
    sentences = [
        f"{entry['source']}: {_group(topic, reason, messages, entry['source'], command)}"
        for (topic, reason), messages in list(groups.items())[:SHOWN_GROUPS]
    ]
    if len(groups) > SHOWN_GROUPS:
        more = sum(len(messages) for messages in list(groups.values())[SHOWN_GROUPS:])
        lists = "--export" if command in PREVIEWS else "`dbt-debezium quarantine`"
        sentences.append(
            f"{entry['source']}: {more:,} messages of other topics or for other reasons are "
            f"quarantined; {lists} lists all"
        )
    return sentences


def _group(
    topic: str,
    reason: str,
    messages: Sequence[dict[str, Any]],
    source: str,
    command: Command,
) -> str:
    first = messages[0]
    count = counted(len(messages), "message is", "messages are")
    place = f"partition {first['partition']}, offset {first['offset']}"
    first_place = place if len(messages) == 1 else f"the first is {place}"
    found = QUARANTINED.get(reason, DISCARDED)
    told = found.told(command, {"source": source, "table": "its table"})
    detail = f"; detail: {first['detail']}" if first["detail"] else ""
    return f"{count} quarantined in topic {topic} ({first_place}): {told}{detail}"


def told(reason: str) -> str:
    """A reason's meaning and remedy, for messages of any source.

    >>> told("bad_json")[:42]
    'bad_json: key or value is no JSON object; '
    """
    found = QUARANTINED.get(reason, DISCARDED)
    words = {"source": "<source>", "table": "its table"}
    return f"{reason}: " + found.told("status", words).replace(f" ({reason})", "", 1)
