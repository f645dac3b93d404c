"""What the judge is given of a source beside links: partitions, snapshots, what is missing."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from dbt_debezium.evidence.facts import Stretch, TopicPartition
from dbt_debezium.evidence.partitions import with_neighbours
from dbt_debezium.evidence.places import least, most
from dbt_debezium.evidence.snapshots import around, settled_stretches
from dbt_debezium.evidence.source import SourceEvidence
from dbt_debezium.judge import marks
from dbt_debezium.judge.places import EVERYWHERE, NOWHERE

NO_PLACE: Final = frozenset("0:/")
"""Characters of the place of a read that tells none."""


class FactMarks:
    """The marks of facts.

    Args:
        source: what is known of it.
    """

    def __init__(self, source: SourceEvidence) -> None:
        self._source = source

    def collected(self) -> marks.Facts:
        """All of them."""
        source, settings = self._source, self._source.settings
        tables, partitions = self._snapshots()
        ranges = [one for one in source.lines.ranges() if self._is_own((one.topic, one.partition))]
        return marks.Facts(
            source.traits,
            self._first_position(),
            settings.reaches_the_end,
            settings.sends_no_truncates,
            settings.refused_proofs,
            partitions=tuple(self._partitions()),
            ranges=tuple(one for one in ranges if not source.is_leading(one.topic)),
            unreadable=tuple(self._unreadable()),
            marker_partition_count=1 + max(source.marker_partitions),
            marker_ranges=tuple(one for one in ranges if source.is_leading(one.topic)),
            unreadable_markers=tuple(
                at for name, _, at in source.unread if source.is_leading(name)
            ),
            unfinished=tuple(at for *_, at in source.unfinished(source.sent)),
            log_numbers=tuple(source.log_numbers()),
            unlanded_tables=source.unlanded_tables(source.sent),
            windows=tuple(self._windows()),
            snapshot_tables=tuple(tables),
            snapshot_partitions=tuple(partitions),
            decisions=tuple(source.decisions()),
            failed=source.known.failed,
            failed_snapshots=source.failed_snapshots(),
        )

    def _first_position(self) -> str | None:
        landed = self._source.landed
        if self._source.is_ordered_by_end:
            return None if landed.first_place is None else f"{NOWHERE}+{landed.first_place}"
        changes = landed.named if self._source.names_predecessor else landed.first_position
        return least(changes, *(one.position for one in self._source.sent.values()))

    def _is_own(self, place: TopicPartition) -> bool:
        """Whether what has landed in a partition says how far the source has come there. Where only
        another source has sent to it, it does not."""
        return not self._is_shared(place) or self._has_changes(place)

    def _is_shared(self, place: TopicPartition) -> bool:
        return self._source.lines.of(place).is_shared or place in self._source.facts.shared

    def _has_changes(self, place: TopicPartition) -> bool:
        known = self._source.lines.of(place).has_changes
        return known or place in self._source.landed.with_changes

    def _partitions(self) -> Iterator[marks.TablePartition]:
        landed = self._source.landed
        signal_topics = self._signal_topics()
        for key in self._source.lines.places:
            topic, partition = key
            if not self._source.is_of_tables(topic):
                continue
            line = self._source.lines.of(key)
            reached = None if self._is_shared(key) else landed.reached[key]
            yield marks.TablePartition(
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
            if self._source.is_leading(topic):
                continue
            some = [
                part for part in self._source.by_partition[topic, partition] if part.kind != "other"
            ]
            full = with_neighbours(one, some, self._source.traits)
            is_table = self._source.is_of_tables(topic)
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

    def _windows(self) -> set[str | None]:
        """Commits that reads name whose window is open (PostgreSQL)."""
        if not self._source.names_predecessor:
            return set()
        return {
            one.previous
            for one in self._source.facts.stretches.where("kind", "window")
            if self._source.is_open_window(one)
        }

    def _snapshots(self) -> tuple[list[marks.SnapshotTable], list[marks.SnapshotPartition]]:
        """Tables that snapshots have read, and what lies around their reads."""
        tables, partitions = [], []
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
                read_markers = tuple(sorted(found))
                tables.append(
                    marks.SnapshotTable(position, name, count, read_markers, is_blocking, is_torn)
                )
            landed_at = most(*(one.landed_at for one in reads))
            seen = self._seen_until(at)
            for key, stretches in self._source.by_partition.items():
                if not self._source.is_of_tables(key[0]):
                    continue
                settled = settled_stretches(key, self._source.lines.runs.get(key, ()))
                lies = around(at, seen, [*stretches, *settled])
                is_quiet = self._source.is_quiet(key, landed_at)
                partitions.append(marks.SnapshotPartition(position, *key, *lies, is_quiet))
        return tables, partitions

    def _seen_until(self, place: str) -> str:
        """The last place of what a snapshot has seen: behind all changes of the commit that its
        reads tell, where they tell one."""
        traits = self._source.traits
        tells_commit = traits is not None and traits.change_place == "commit"
        return f"{place.partition('/')[0]}/{EVERYWHERE}" if tells_commit else place

    def _has_lost_fields(self) -> bool:
        """Whether some reads tell a place and others none, or some messages of a table have a
        schema and others none."""
        placeless = {_tells_no_place(at) for at in self._source.reads}
        if len(placeless) > 1:
            return True
        if self._source.traits is None or self._source.traits.is_known:
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
