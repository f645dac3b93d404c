"""What the page says of one source. Its sentences are those of `status`."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dbt_debezium.ages import age_of
from dbt_debezium.amounts import duration
from dbt_debezium.page.cut import Cut, blocking_partitions, cut_of
from dbt_debezium.page.held import HeldGroup, SnapshotRow, held_groups, snapshot_rows
from dbt_debezium.page.tables import TableRow, table_rows
from dbt_debezium.rounds.behind import sources_of
from dbt_debezium.status.acceptances import accepted_sentences, open_flags, open_messages
from dbt_debezium.status.flags import flag_sentences
from dbt_debezium.status.holds import held_sentences
from dbt_debezium.status.lake_status import LakeStatus
from dbt_debezium.status.quarantined import quarantine_sentences
from dbt_debezium.status.sentences import internal_sentence, open_encoded_sentences
from dbt_debezium.status.shapes import ShapeReport
from dbt_debezium.status.unrepresentable import unrepresentable_sentence


@dataclass(frozen=True, slots=True)
class SourcePart:
    """A source, as the template takes it."""

    entry: Mapping[str, Any]
    """As `status --json` has it."""
    committed: str | None
    readers: str
    """What readers see, and how far that is behind what has landed."""
    held: list[HeldGroup]
    held_sentences: list[str]
    """One for each reason."""
    quarantined: list[tuple[str, int]]
    """Messages that nobody has accepted, by reason."""
    quarantine_sentences: list[str]
    flag_sentences: list[str]
    model_sentences: list[str]
    """Where models and tables differ, and what columns cannot show."""
    snapshots: list[SnapshotRow]
    """Of what is held."""
    tables: list[TableRow]
    cut: Cut
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
        readers=_readers(entry, now),
        held=held_groups(held, now),
        held_sentences=held_sentences(entry, "status"),
        quarantined=Counter(one["reason"] for one in open_messages(entry)).most_common(),
        quarantine_sentences=quarantine_sentences(entry, "status"),
        flag_sentences=flag_sentences(source, open_flags(entry)),
        model_sentences=[
            *found.shapes.get(source, ShapeReport()).sentences(source),
            *open_encoded_sentences(entry, "status"),
            *([unrepresentable_sentence(source, unrepresentable)] if unrepresentable else []),
        ],
        snapshots=snapshot_rows(held, found.snapshots.get(source, ())),
        tables=table_rows(found.rows, found.sizes, source, now),
        cut=cut_of(found.partitions.get(source, ()), blocking_partitions(held)),
        other_sentences=[
            *([internal_sentence(entry)] if entry["internal_topics"] else []),
            *(f"{source}: {decision}" for decision in entry["decisions"]),
            *accepted_sentences(entry),
        ],
    )


def _readers(entry: Mapping[str, Any], now: datetime) -> str:
    """What readers see of a source, as a sentence.

    >>> from datetime import UTC
    >>> now = datetime(2026, 11, 21, 12, 3, tzinfo=UTC)
    >>> entry = {"source": "shop", "commit_number": 281, "committed_at": "2026-11-21T12:00:00Z",
    ...          "held": [], "counts": {"quarantined": 0}, "flags": [], "accepted": [],
    ...          "quarantined": []}
    >>> _readers(entry, now)
    'Readers see commit 281 of 2026-11-21 12:00:00 UTC, 3 minutes ago, and nothing waits.'
    """
    if not entry["commit_number"]:
        return "Readers see nothing of it yet."
    sees = f"Readers see commit {entry['commit_number']:,}"
    if committed := age_of(entry["committed_at"], now):
        sees += f" of {committed}"
    (behind,) = (one["commits_behind_seconds"] for one in sources_of([entry]))
    if not entry["held"]:
        return f"{sees}, and nothing waits."
    if not behind or behind < 1:
        return f"{sees}; newer commits have landed and wait."
    return f"{sees}; commits have landed that are up to {duration(behind)} newer, and wait."
