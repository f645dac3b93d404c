"""What the judge is given of a source beside links: partitions, snapshots, what is missing."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from dbt_debezium.evidence.by_end import BEFORE_ALL
from dbt_debezium.evidence.facts import Place, Stretch
from dbt_debezium.evidence.partitions import with_neighbours
from dbt_debezium.evidence.places import least, most
from dbt_debezium.evidence.snapshots import around, settled_stretches
from dbt_debezium.evidence.source import SourceEvidence
from dbt_debezium.judge import marks

NO_PLACE: Final = frozenset("0:/")
"""Characters of the place of a read that tells none."""


class FactMarks:
    """The marks of facts.

    Args:
        source: what is known of it.
    """

    def __init__(self, source: SourceEvidence) -> None:
        self._source = source

    def collected(self) -> Iterator[marks.Fact]:
        """All of them."""
        source = self._source
        yield self._source_mark()
        ranges = source.lines.ranges(source.is_leading)
        yield from (one for one in ranges if self._is_own((one.topic, one.partition)))
        yield from self._partitions()
        yield from self._unreadable()
        yield from self._windows()
        yield from source.unlanded_tables()
        yield from self._snapshot_facts()
        for one in source.log_numbers():
            yield marks.LogRange(one.log, one.first, one.last)
        yield from self._unfinished()
        yield from source.decisions()
        yield from map(marks.MissingRow, source.known.missing_rows)

    def _source_mark(self) -> marks.Source:
        landed = self._source.landed
        if self._source.is_ordered_by_end:
            first = None if landed.first_place is None else f"{BEFORE_ALL}+{landed.first_place}"
        else:
            changes = landed.named if self._source.names_predecessor else landed.first_position
            first = least(changes, *(one.position for one in self._source.sent.values()))
        settings = self._source.settings
        return marks.Source(
            self._source.connector,
            first,
            settings.reaches_the_end,
            settings.sends_no_truncates,
            settings.refused_proofs,
            1 + max(self._source.marker_partitions),
            has_several_logs=self._has_several_logs(),
        )

    def _has_several_logs(self) -> bool:
        """Whether more than one log numbers transactions and statements."""
        return len({one.log for one in self._source.log_numbers()}) > 1

    def _is_own(self, place: Place) -> bool:
        """Whether what has landed in a partition says how far the source has come there. Where only
        another source has sent to it, it does not."""
        return not self._is_shared(place) or self._has_changes(place)

    def _is_shared(self, place: Place) -> bool:
        return self._source.lines.of(place).is_shared or place in self._source.facts.shared

    def _has_changes(self, place: Place) -> bool:
        known = self._source.lines.of(place).has_changes
        return known or place in self._source.landed.with_changes

    def _partitions(self) -> Iterator[marks.Partition]:
        landed = self._source.landed
        signal_topics = self._signal_topics()
        for key in self._source.lines.places:
            topic, partition = key
            if not self._source.is_of_tables(topic):
                continue
            line = self._source.lines.of(key)
            reached = None if self._is_shared(key) else landed.reached[key]
            yield marks.Partition(
                topic,
                partition,
                self._has_changes(key),
                reached,
                line.has_windows or key in landed.with_windows,
                topic in signal_topics,
                self._source.is_quiet(key, self._source.asked_at),
            )

    def _signal_topics(self) -> set[str]:
        """Topics of tables of signals, and of nothing else."""
        tables: dict[str, set[str]] = defaultdict(set)
        signals = set()
        for line in self._source.state.partitions:
            tables[line.topic] |= {*line.tables}
            if line.has_signals:
                signals.add(line.topic)
        known = self._source.facts.stretches.distinct("topic", "data_collection", "has_signals")
        for topic, table, has_signals in known:
            if table is not None:
                tables[topic].add(table)
            if has_signals:
                signals.add(topic)
        return {topic for topic in signals if len(tables[topic]) <= 1}

    def _unreadable(self) -> Iterator[marks.Unreadable]:
        for (topic, partition, offset), one in self._source.unread.items():
            some = [
                part for part in self._source.by_partition[topic, partition] if part.kind != "other"
            ]
            full = with_neighbours(one, some, self._source.traits)
            is_table = self._source.is_of_tables(topic)
            yield marks.Unreadable(
                topic,
                partition,
                offset,
                full.after,
                full.place,
                self._source.is_leading(topic),
                is_table and not full.has_before,
                full.position,
                one.known_place,
            )

    def _windows(self) -> Iterator[marks.Window]:
        if self._source.names_predecessor:
            named = {
                one.previous
                for one in self._source.facts.stretches.where("kind", "window")
                if self._source.is_open_window(one)
            }
            yield from map(marks.Window, sorted(named, key=lambda one: one or ""))

    def _unfinished(self) -> Iterator[marks.Unfinished]:
        """BEGINs of PostgreSQL without END: what follows is of another stream."""
        found = {(one.partition, one.offset) for one in self._source.unfinished()}
        if self._source.names_predecessor:
            found |= {
                (one.partition, one.offset)
                for one in self._source.sent.kept_markers()
                if not one.is_end and not self._source.sent[one.transaction_id].has_end
            }
        yield from (marks.Unfinished(*one) for one in sorted(found))

    def _snapshot_facts(self) -> Iterator[marks.Fact]:
        is_torn = self._has_lost_fields() if self._source.reads else False
        for at, reads in self._source.reads.items():
            position = self._source.snapshot_position(at)
            by_table: dict[str, list[Stretch]] = defaultdict(list)
            for one in reads:
                by_table[one.data_collection or ""].append(one)
            for name, some in by_table.items():
                found = frozenset[str]().union(*(one.markers for one in some)) - {"true"}
                count = sum(one.new_count for one in some)
                is_blocking = at in self._source.asked
                yield marks.SnapshotTable(
                    position, name, count, tuple(sorted(found)), is_blocking, is_torn
                )
            landed_at = most(*(one.landed_at for one in reads))
            for key, stretches in self._source.by_partition.items():
                if not self._source.is_of_tables(key[0]):
                    continue
                settled = settled_stretches(key, self._source.lines.runs.get(key, ()))
                lies = around(at, [*stretches, *settled])
                is_quiet = self._source.is_quiet(key, landed_at)
                yield marks.SnapshotPartition(position, *key, *lies, is_quiet)

    def _has_lost_fields(self) -> bool:
        """Whether some reads tell a place and others none, or some messages of a table have a
        schema and others none."""
        placeless = {_tells_no_place(at) for at in self._source.reads}
        if len(placeless) > 1:
            return True
        if self._source.connector != "generic":
            return False
        schemas: dict[tuple[str, str], set[bool]] = defaultdict(set)
        for one in self._source.facts.stretches:
            if one.kind != "other" and not self._source.late.has_stretch(one):
                schema, _, table = (one.data_collection or "").rpartition(".")
                schemas[one.topic, table].add(schema == one.database)
        return any(len(some) > 1 for some in schemas.values())


def _tells_no_place(place: str) -> bool:
    """Whether the place of a read is made of zeros alone."""
    return not {*place.rpartition(": ")[2]} - NO_PLACE
