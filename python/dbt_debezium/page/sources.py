"""What the page says of one source. Its sentences are those of `status`."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from dbt_debezium.acceptances import accepted_sentences, open_flags, open_messages
from dbt_debezium.ages import age_of
from dbt_debezium.flags import flag_sentences
from dbt_debezium.holds import held_sentences
from dbt_debezium.lake_status import LakeStatus
from dbt_debezium.page.cut import SHOWN as SHOWN_PARTITIONS
from dbt_debezium.page.cut import CutBar, cut_bars
from dbt_debezium.quarantine.sentences import quarantine_sentences
from dbt_debezium.sentences import internal_sentence, open_encoded_sentences
from dbt_debezium.shapes import ShapeReport
from dbt_debezium.unrepresentable import unrepresentable_sentence

SHOWN_HELD: Final = 50


@dataclass(frozen=True, slots=True)
class SourcePart:
    """A source, as the template takes it."""

    entry: Mapping[str, Any]
    """As `status --json` has it."""
    committed: str | None
    held: list[dict[str, Any]]
    """The first of what is held, one for each table that is short."""
    held_more: int
    held_sentences: list[str]
    """One for each reason."""
    quarantined: list[tuple[str, int]]
    """Messages that nobody has accepted, by reason."""
    quarantine_sentences: list[str]
    flag_sentences: list[str]
    model_sentences: list[str]
    """Where models and tables differ, and what columns cannot show."""
    cut: list[CutBar]
    """Its partitions, those that wait or lack something first."""
    partitions_more: int
    other_sentences: list[str]
    """Decisions of operators, what they have accepted, and what was skipped."""


def source_part(entry: dict[str, Any], found: LakeStatus, now: datetime) -> SourcePart:
    """What is to be said of a source.

    Args:
        entry: of the report.
        found: what `status` knows.
        now: when the page is made, UTC.
    """
    source, held = entry["source"], entry["held"]
    unrepresentable = found.unrepresentable.get(source)
    return SourcePart(
        entry=entry,
        committed=age_of(entry["committed_at"], now),
        held=held[:SHOWN_HELD],
        held_more=max(0, len(held) - SHOWN_HELD),
        held_sentences=held_sentences(entry, "status"),
        quarantined=Counter(one["reason"] for one in open_messages(entry)).most_common(),
        quarantine_sentences=quarantine_sentences(entry, "status"),
        flag_sentences=flag_sentences(source, open_flags(entry)),
        model_sentences=[
            *found.shapes.get(source, ShapeReport()).sentences(source),
            *open_encoded_sentences(entry, "status"),
            *([unrepresentable_sentence(source, unrepresentable)] if unrepresentable else []),
        ],
        cut=cut_bars(found.partitions.get(source, ())),
        partitions_more=max(0, len(found.partitions.get(source, ())) - SHOWN_PARTITIONS),
        other_sentences=[
            *([internal_sentence(entry)] if entry["internal_topics"] else []),
            *(f"{source}: {decision}" for decision in entry["decisions"]),
            *accepted_sentences(entry),
        ],
    )
