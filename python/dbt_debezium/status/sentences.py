"""Everything that `preview` and `status` say of a source, as sentences that begin with its name."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from dbt_debezium.names import listed
from dbt_debezium.reasons import Command
from dbt_debezium.reasons.accepted import SCHEMAS, stays
from dbt_debezium.status.acceptances import accepted_sentences, open_flags, open_messages
from dbt_debezium.status.flags import flag_sentences, truncate_sentence
from dbt_debezium.status.holds import held_sentence
from dbt_debezium.status.metadata import end_sentence, metadata_sentence
from dbt_debezium.status.quarantined import quarantine_sentences
from dbt_debezium.status.value_looks import encoded_sentences

SHOWN_SENTENCES: Final = 20
"""Of what else is to be said of a source, such as changed keys."""


def own_sentences(entry: dict[str, Any], command: Command) -> list[str]:
    """What is said of one source alone: what it holds, quarantines and flags, in this order.

    Args:
        entry: the source's entry in the report.
        command: the command that prints them, in whose words the remedies are.
    """
    held = held_sentence(entry, command)
    return [
        *([internal_sentence(entry)] if entry["internal_topics"] else []),
        *([held] if held else []),
        *quarantine_sentences(entry, command),
        *(f"{entry['source']}: {decision}" for decision in entry["decisions"]),
        *flag_sentences(entry["source"], open_flags(entry), command),
        *open_encoded_sentences(entry, command),
        *accepted_sentences(entry),
        *entry.get("sentences", [])[:SHOWN_SENTENCES],
    ]


def open_encoded_sentences(entry: dict[str, Any], command: Command) -> list[str]:
    """One sentence for each table with columns that look encoded, unless that is accepted."""
    if stays(entry, SCHEMAS):
        return []
    return encoded_sentences(entry["source"], entry.get("encoded_columns", {}), command)


def by_need(report: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The sources, those that need a look first, for reports that show some of many.

    First come sources that hold something or publish nothing, then those with quarantined messages
    or flagged tables. In each group they keep their order.

    >>> entry = {"held": [], "commit_number": 1, "quarantined": [], "flags": [],
    ...          "internal_topics": [], "accepted": []}
    >>> found = by_need([entry | {"source": "a"}, entry | {"source": "b", "commit_number": 0}])
    >>> [one["source"] for one in found]
    ['b', 'a']
    """

    def rank(entry: dict[str, Any]) -> int:
        is_data = not entry["internal_topics"]
        if entry["held"] or (is_data and not entry["commit_number"]):
            return 0
        return 1 if open_messages(entry) or open_flags(entry) else 2

    return sorted(report, key=rank)


def shared_sentences(
    report: Sequence[dict[str, Any]], command: Command, without_truncate: Collection[str] = ()
) -> list[str]:
    """What is said once for all sources that it is true of.

    Args:
        report: entries of the sources.
        command: the command that prints them.
        without_truncate: patterns of sources that are known to send no TRUNCATE.
    """
    found = (
        metadata_sentence(report),
        end_sentence(report, command),
        truncate_sentence(report, command, without_truncate),
    )
    return [sentence for sentence in found if sentence]


def internal_sentence(entry: dict[str, Any]) -> str:
    """That topics which are nobody's data were skipped.

    >>> internal_sentence({"source": "(Kafka)", "internal_topics": ["_schemas"],
    ...                    "counts": {"landed": 3}})
    '(Kafka): skipped 3 messages of _schemas, state that Kafka or a connector keeps for itself'
    """
    topics = listed(entry["internal_topics"], "topics")
    return (
        f"{entry['source']}: skipped {entry['counts']['landed']:,} messages of {topics}, "
        "state that Kafka or a connector keeps for itself"
    )
