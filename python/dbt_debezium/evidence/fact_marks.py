"""What the judge is given of a source beside links: partitions, snapshots, what is missing."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from dbt_debezium.evidence.facts import Stretch
from dbt_debezium.evidence.partitions import with_neighbours
from dbt_debezium.evidence.places import least, most
from dbt_debezium.evidence.snapshots import around, settled_stretches
from dbt_debezium.evidence.source import SourceEvidence
from dbt_debezium.judge import marks
from dbt_debezium.judge.places import EVERYWHERE, NOWHERE, behind

NO_PLACE: Final = frozenset("0:/")
"""Characters of the place of a read that tells none."""


def fact_marks(source: SourceEvidence) -> marks.Facts:
    """The facts of a source, as marks."""
    settings = source.settings
    tables, partitions = _snapshots(source)
    ranges = [*source.lines.ranges()]
    return marks.Facts(
        source.traits,
        _first_position(source),
        settings.reaches_the_end,
        settings.sends_no_truncates,
        settings.refused_proofs,
        partitions=tuple(_partitions(source)),
        ranges=tuple(one for one in ranges if not source.is_leading(one.topic)),
        unreadable=tuple(_unreadable(source)),
        marker_partition_count=1 + max(source.marker_partitions),
        marker_ranges=tuple(one for one in ranges if source.is_leading(one.topic)),
        unreadable_markers=tuple(at for name, _, at in source.unread if source.is_leading(name)),
        unfinished=tuple(at for *_, at in source.unfinished(source.sent)),
        log_numbers=tuple(source.log_numbers()),
        unlanded_tables=source.unlanded_tables(source.sent),
        windows=tuple(_windows(source)),
        snapshot_tables=tuple(tables),
        snapshot_partitions=tuple(partitions),
        decisions=tuple(source.decisions()),
        failed=source.known.failed,
        failed_snapshots=source.failed_snapshots(),
    )


def _first_position(source: SourceEvidence) -> str | None:
    landed = source.landed
    if source.is_ordered_by_end:
        return None if landed.first_place is None else behind(NOWHERE, landed.first_place)
    changes = landed.named if source.names_predecessor else landed.first_position
    return least(changes, *(one.position for one in source.sent.values()))


def _partitions(source: SourceEvidence) -> Iterator[marks.TablePartition]:
    signal_topics = _signal_topics(source)
    for key in source.lines.places:
        topic, partition = key
        if not source.is_of_tables(topic):
            continue
        line = source.lines.of(key)
        yield marks.TablePartition(
            topic,
            partition,
            line.has_changes,
            None if line.is_shared else source.landed.reached[key],
            line.has_windows,
            topic in signal_topics,
            source.is_quiet(key, source.asked_at),
        )


def _signal_topics(source: SourceEvidence) -> set[str]:
    """Topics of tables of signals, and of nothing else."""
    tables: dict[str, set[str]] = defaultdict(set)
    for line in source.lines.now.values():
        tables[line.topic] |= {*line.tables}
    signals = {line.topic for line in source.lines.now.values() if line.has_signals}
    return {topic for topic in signals if len(tables[topic]) <= 1}


def _unreadable(source: SourceEvidence) -> Iterator[marks.Unreadable]:
    for (topic, partition, offset), one in source.unread.items():
        if source.is_leading(topic):
            continue
        some = [part for part in source.by_partition[topic, partition] if part.kind != "other"]
        full = with_neighbours(one, some, source.traits)
        is_table = source.is_of_tables(topic)
        yield marks.Unreadable(
            topic,
            partition,
            offset,
            full.after or NOWHERE,
            full.place or EVERYWHERE,
            full.position or EVERYWHERE,
            one.known_place,
            is_table and not full.has_before,
        )


def _windows(source: SourceEvidence) -> set[str | None]:
    """Commits that reads name whose window is open (PostgreSQL)."""
    if not source.names_predecessor:
        return set()
    return {
        one.previous
        for one in source.facts.stretches.where("kind", "window")
        if source.is_open_window(one)
    }


def _snapshots(
    source: SourceEvidence,
) -> tuple[list[marks.SnapshotTable], list[marks.SnapshotPartition]]:
    """Tables that snapshots have read, and what lies around their reads."""
    tables, partitions = [], []
    is_torn = _has_lost_fields(source) if source.reads else False
    for at, reads in source.reads.items():
        position = source.snapshot_positions[at]
        by_table: dict[str, list[Stretch]] = defaultdict(list)
        for one in reads:
            by_table[one.data_collection or ""].append(one)
        for name, some in by_table.items():
            found = frozenset[str]().union(*(one.markers for one in some)) - {"true"}
            count = sum(one.new_count for one in some)
            is_blocking = at in source.asked
            read_markers = tuple(sorted(found))
            tables.append(
                marks.SnapshotTable(position, name, count, read_markers, is_blocking, is_torn)
            )
        landed_at = most(*(one.landed_at for one in reads))
        seen, later = _seen_until(source, at), _later(source, at)
        for key, stretches in source.by_partition.items():
            if not source.is_of_tables(key[0]):
                continue
            settled = settled_stretches(key, source.lines.of(key).runs)
            lies = around(at, seen, [*stretches, *settled], later)
            is_quiet = source.is_quiet(key, landed_at)
            partitions.append(marks.SnapshotPartition(position, *key, *lies, is_quiet))
    return tables, partitions


def _seen_until(source: SourceEvidence, place: str) -> str:
    """The last place of what a snapshot has seen: after all changes of the commit that its reads
    tell, where they tell one."""
    tells_commit = source.traits is not None and source.traits.change_place == "commit"
    return f"{place.partition('/')[0]}/{EVERYWHERE}" if tells_commit else place


def _later(source: SourceEvidence, place: str) -> set[str | None]:
    """Transactions that an initial snapshot of PostgreSQL has not seen, by their ENDs, by the
    commit that they name as the one before, or by a change at the place of the reads, which on an
    idle server is the first of a new stream."""
    if not source.names_predecessor or place in source.asked:
        return set()
    ended = {one.name for one in source.sent.values() if (one.end_position or "") > place}
    named = {
        one.unit_id
        for one in source.facts.stretches.where("kind", "change")
        if (one.previous or "") >= place or (one.last_place or "") >= place
    }
    return ended | named


def _has_lost_fields(source: SourceEvidence) -> bool:
    """Whether some reads tell a place and others none, or some messages of a table have a
    schema and others none."""
    placeless = {_tells_no_place(at) for at in source.reads}
    if len(placeless) > 1:
        return True
    if source.traits is None or source.traits.is_known:
        return False
    schemas: dict[tuple[str, str], set[bool]] = defaultdict(set)
    for one in source.facts.stretches:
        if one.kind != "other" and not source.late.has_stretch(one):
            schema, _, table = (one.data_collection or "").rpartition(".")
            schemas[one.topic, table].add(schema == one.database)
    return any(len(some) > 1 for some in schemas.values())


def _tells_no_place(place: str) -> bool:
    """Whether the place of a read is made of zeros alone."""
    return not {*place.rpartition(": ")[2]} - NO_PLACE
