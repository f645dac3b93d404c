"""What the judge is given of a source: facts of this run and of the state, as marks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from heapq import merge
from typing import Final, Literal

from dbt_debezium.evidence.by_end import BEFORE_ALL, Ends, Surrounding, last_begin
from dbt_debezium.evidence.by_predecessor import place
from dbt_debezium.evidence.facts import Count, Facts, Marker, Place, Rows, Stretch, StretchKind
from dbt_debezium.evidence.known import Known
from dbt_debezium.evidence.landed import Landed
from dbt_debezium.evidence.late import Late
from dbt_debezium.evidence.partitions import (
    Lines,
    in_a_gap,
    with_neighbours,
    without_doubtful,
)
from dbt_debezium.evidence.places import least, log_number, most, padded
from dbt_debezium.evidence.snapshots import (
    Asked,
    around,
    asked,
    reads_of,
    settled_stretches,
    signals_of,
    unanswered,
)
from dbt_debezium.evidence.state import LogNumbers, State, Unfinished, Unread, merged_numbers
from dbt_debezium.evidence.topics import Topic, named_topic
from dbt_debezium.evidence.transactions import Misplacement, Transaction, Transactions
from dbt_debezium.evidence.unnamed import groups_of
from dbt_debezium.judge import marks
from dbt_debezium.judge.traits import TRAITS
from dbt_debezium.topic_names import table_suffix

NO_PLACE: Final = frozenset("0:/")
"""Characters of the place of a read that tells none."""


class SourceEvidence:
    """The marks of one source.

    Args:
        facts: of messages that are new or of open units.
        known: of the source, beside messages.
        state: behind the run before.
        readable: deliveries that could not be read before, and can be now.
    """

    def __init__(
        self,
        facts: Facts,
        known: Known,
        state: State,
        readable: Iterable[tuple[str, int, int]] = (),
    ) -> None:
        self.known, self.state = known, state
        self.settings = known.settings
        self.facts = facts
        self.readable = {*readable}
        """Deliveries that could not be read before, and can be now."""
        self.quarantined: dict[Place, set[int]] = defaultdict(set)
        """Offsets of messages of this run that cannot be read."""
        for control in facts.controls:
            if control.kind == "unreadable":
                self.quarantined[control.key].add(control.offset)
        self.connector = state.connector or self._connector_of(facts)
        self.traits = TRAITS.get(self.connector or "")
        self.names_predecessor = bool(self.traits and self.traits.names_predecessor)
        self.is_ordered_by_end = bool(self.traits and self.traits.is_ordered_by_end)
        self.lines = Lines(state.partitions, [*facts.ranges, *known.fetched], known.looks)
        self.end = state.end
        self.link = self.end.position or self.end.snapshot_position
        self.late = Late(known, state, self.connector, facts.counts)
        self.groups = groups_of(self.connector, facts.counts, facts.stretches, facts.controls)
        counts = self._in_order_of_offsets() if self.is_in_order else facts.counts
        for marker in facts.markers:
            name = marker.transaction_id
            if marker.is_end and marker.position is not None and self.is_own(marker):
                self.late.ends[name] = min(
                    marker.position, self.late.ends.get(name, marker.position)
                )
        self.late_markers: list[Marker] = []
        self.sent = Transactions(
            counts,
            facts.markers,
            (self._keeps_count, self._keeps),
            self.is_leading,
            self.groups.group_of,
            facts.odd_changes,
            self.settings.not_ingested,
        )
        for one in self.sent.values():
            one.is_decided = one.name in known.decided
            one.is_uncounted = self._is_uncounted(one)
        self.ends = Ends(
            self.sent,
            self.traits,
            self.end,
            has_one_partition=self.marker_partitions == {0},
            last_begin=self._last_begin(),
        )
        if self.names_predecessor:
            settings = self.settings
            place(
                self.sent.values(),
                self.link,
                state.marked_position,
                reaches_the_end=settings.reaches_the_end,
            )
        else:
            self.ends.place()
        for one in self.sent.values():
            one.stands_at, one.misplacement = self._misplaced(one)
        self.reads = reads_of(self.stretches("read"))
        self.signals = signals_of(facts.controls, self.sent)
        self.asked: dict[str, Asked] = {}
        if self.names_predecessor:
            self.asked = asked(self.reads, self.signals)
        self._drop_published_reads()
        self.unanswered: set[str] = set()
        if self.signals and not self._is_silent():
            self.unanswered = unanswered(self.signals, self.asked, self.reads)

    # --- what it is given

    def _connector_of(self, facts: Facts) -> str | None:
        """Of a change, or of a logical message inside a transaction: markers name none."""
        if len(facts.counts):
            return next(iter(facts.counts)).connector
        some = (one.connector for one in facts.stretches if one.kind != "other")
        found = next(filter(None, some), None)
        messages = (one.connector for one in facts.controls if one.kind == "connector")
        return found or next(filter(None, messages), None)

    @property
    def is_in_order(self) -> bool:
        """Whether one partition has its changes in the order of commits (S22)."""
        return self.settings.is_in_order and self.connector == "cdl"

    def stretches(self, kind: StretchKind | None = None) -> Iterator[Stretch]:
        """Stretches of this run, or those of one kind. Those of late changes are no neighbours of
        anything."""
        known = self.facts.stretches
        for one in known if kind is None else known.where("kind", kind):
            if self.late.has_stretch(one):
                one = one._replace(first_new=None, last_new=None, new_count=0)
            if self.is_in_order:
                first = None if one.first_new is None else padded(one.first_new)
                last = None if one.last_new is None else padded(one.last_new)
                one = one._replace(first_place=first, last_place=last)
            yield one

    @cached_property
    def landed(self) -> Landed:
        """What all of them show."""
        return Landed(self.stretches(), self.lines, self.late, self.traits)

    def _in_order_of_offsets(self) -> Rows[Count]:
        """Changes of CDL stand where their offsets are (S22)."""
        last: dict[str, str] = defaultdict(str)
        for one in self.stretches("change"):
            if one.link is not None:
                last[one.link] = max(last[one.link], one.last_place or "")
        return self.facts.counts.mapped(
            lambda one: one._replace(
                first_place=last[one.transaction_id], last_place=last[one.transaction_id]
            )
        )

    def is_own(self, one: Marker) -> bool:
        """Whether a marker is surely of the source.

        BEGIN of SQL Server names no database, and another one may have the same LSN. Db2 has one
        database, which END may name.
        """
        source = self.known.source
        return one.source in (source, f"{source}.{one.database}")

    def _keeps_count(self, one: Count) -> bool:
        """A statement of DDL counts where something of its table has landed."""
        is_known = not one.is_whole or one.data_collection in self.tables
        return is_known and not self.late.has_count(one)

    def _keeps(self, one: Marker) -> bool:
        if not self.is_own(one) or (not self.is_leading(one.topic) and self._is_copied(one)):
            return False
        if self.late.has_marker(one):
            self.late_markers.append(one)
            return False
        return True

    def _is_copied(self, one: Marker) -> bool:
        """Whether the leading topic has the marker, too."""
        return (one.transaction_id, one.is_end) in self._leading_markers

    @cached_property
    def _leading_markers(self) -> set[tuple[str, bool]]:
        return {
            (one.transaction_id, one.is_end)
            for one in self.facts.markers
            if self.is_leading(one.topic)
        }

    # --- topics

    def topic(self, name: str) -> Topic:
        """What a topic holds."""
        return self.known.topics.get(name) or named_topic(name, self.known.source)

    def is_of_tables(self, topic: str) -> bool:
        return self.topic(topic).role == "tables"

    def is_of_markers(self, topic: str) -> bool:
        return self.topic(topic).role == "transactions"

    def is_leading(self, topic: str) -> bool:
        """Whether the offsets of a topic link transactions."""
        found = self.topic(topic)
        return found.role == "transactions" and found.is_leading

    @cached_property
    def marker_partitions(self) -> set[int]:
        """Of the transaction topic, with those of which nothing has landed."""
        landed = {number for topic, number in self.lines.runs if self.is_leading(topic)}
        return (landed or {0}) | {*range(self.known.marker_partition_count)}

    def _last_begin(self) -> int:
        landed = {number for topic, number in self.lines.runs if self.is_leading(topic)}
        if landed - {0}:
            return 0
        return last_begin(self.sent.values(), self.state.last_begin)

    # --- transactions

    def _is_uncounted(self, one: Transaction) -> bool:
        """Whether nothing counts its changes, which have no transaction block either."""
        if self.traits is None or not one.has_changes:
            return False
        if self.connector == "cdl":
            return True
        if self.names_predecessor:
            return not one.has_block and one.end_position is None
        if one.is_whole:
            return self._has_blockless
        return not one.has_any_block and not one.has_end

    @cached_property
    def _has_blockless(self) -> bool:
        return any(one.has_changes and not one.has_block for one in self.sent.values())

    def is_truncate(self, one: Transaction) -> bool:
        """Whether it is a TRUNCATE by itself, or a BEGIN alone, which may be that of one."""
        return one.is_whole if one.has_changes else self.ends.is_alone(one)

    @cached_property
    def logs(self) -> set[str]:
        """That markers of this run and of the state name."""
        return {one.log for one in self.sent.values() if one.has_markers} | {*self.state.logs}

    def last_of(self) -> dict[str, str]:
        """The highest place of a change of each transaction of this run, settled or not."""
        # What an operator settled before its END came: its position says where its changes ended.
        last = {
            name: at.rpartition("+")[2]
            for name, at in self.known.settled.items()
            if at and "+" in at
        }
        for one in self.stretches("change"):
            if one.link is not None:
                last[one.link] = max(last.get(one.link, ""), one.last_place or "")
        return last

    # --- marks

    def collected(self) -> Iterator[marks.Mark]:
        """All of them, in their order."""
        yield self._source()
        yield from self.lines.ranges(self.is_leading)
        yield from self._partitions()
        yield from self._unreadable()
        yield from self._windows()
        yield from self.unlanded_tables()
        yield from self._snapshot_facts()
        for one in self.log_numbers():
            yield marks.LogRange(one.log, one.first, one.last)
        yield from self._unfinished()
        yield from self.known.decisions
        yield from map(marks.MissingRow, self.known.missing_rows)
        few = [*self._messages(), *self._snapshots()]
        yield from merge(self._links(), sorted(few, key=marks.place_of), key=marks.place_of)

    def _source(self) -> marks.Source:
        landed = self.landed
        if self.is_ordered_by_end:
            first = None if landed.first_place is None else f"{BEFORE_ALL}+{landed.first_place}"
        else:
            changes = landed.named if self.names_predecessor else landed.first_position
            first = least(changes, *(one.position for one in self.sent.values()))
        settings = self.settings
        return marks.Source(
            self.connector,
            first,
            settings.reaches_the_end,
            settings.sends_no_truncates,
            settings.refused_proofs,
            1 + max(self.marker_partitions),
            has_several_logs=self._has_several_logs(),
        )

    def _has_several_logs(self) -> bool:
        """Whether more than one log numbers transactions and statements."""
        return len({one.log for one in self.log_numbers()}) > 1

    @cached_property
    def by_partition(self) -> dict[Place, list[Stretch]]:
        """The stretches of this run in partitions of which anything asks for neighbours."""
        needs_all = bool(self.reads or self.unread)
        found: dict[Place, list[Stretch]] = {one: [] for one in self.lines.places}
        for one in self.stretches() if needs_all else ():
            found[one.key].append(one)
        return found

    def _partitions(self) -> Iterator[marks.Partition]:
        landed = self.landed
        signal_topics = self._signal_topics()
        for key in self.lines.places:
            topic, partition = key
            if not self.is_of_tables(topic):
                continue
            line = self.lines.of(key)
            is_shared = line.is_shared or key in self.facts.shared
            reached = None
            if not is_shared:
                reached = landed.reached[key]
            yield marks.Partition(
                topic,
                partition,
                line.has_changes or key in landed.with_changes,
                reached,
                line.has_windows or key in landed.with_windows,
                topic in signal_topics,
                self.is_quiet(key, self._asked_at),
            )

    @cached_property
    def _asked_at(self) -> int | None:
        """When the newest read of an incremental snapshot landed, or the newest signal."""
        known = self.facts.stretches
        some = [*known.where("kind", "window"), *known.where("has_signals", True)]
        return most(*(one.landed_at for one in some))

    def _is_silent(self) -> bool:
        """Whether no more reads can come that a signal has asked for: all partitions are silent."""
        some = [key for key in self.lines.places if self.is_of_tables(key[0])]
        return bool(some) and all(self.is_quiet(key, self._asked_at) for key in some)

    def _signal_topics(self) -> set[str]:
        """Topics of tables of signals, and of nothing else."""
        tables: dict[str, set[str]] = defaultdict(set)
        signals = set()
        for line in self.state.partitions:
            tables[line.topic] |= {*line.tables}
            if line.has_signals:
                signals.add(line.topic)
        known = self.facts.stretches.distinct("topic", "data_collection", "has_signals")
        for topic, table, has_signals in known:
            if table is not None:
                tables[topic].add(table)
            if has_signals:
                signals.add(topic)
        return {topic for topic in signals if len(tables[topic]) <= 1}

    # --- what cannot be read

    @cached_property
    def unread(self) -> dict[tuple[str, int, int], Unread]:
        """The messages that cannot be read, with their settled neighbours."""
        found = {
            (*line.key, one.offset): one
            for line in self.state.partitions
            for one in line.unread
            if (*line.key, one.offset) not in self.readable
        }
        if found:
            for late in self.landed.late:
                for at, one in found.items():
                    if at[:2] == late.key:
                        found[at] = without_doubtful(one, late)
        come = self.end.reached_place or ""
        if self.names_predecessor:
            come = self.link or ""
        for control in self.facts.controls:
            at = (*control.key, control.offset)
            if control.kind != "unreadable" or at in found:
                continue
            if self.topic(control.topic).role == "other":
                continue
            new = in_a_gap(control.offset, come, self.lines.of(control.key).runs)
            if new is not None:
                new.transaction_id = control.transaction_id
                found[at] = new
        return found

    def _unreadable(self) -> Iterator[marks.Unreadable]:
        for (topic, partition, offset), one in self.unread.items():
            some = [part for part in self.by_partition[topic, partition] if part.kind != "other"]
            full = with_neighbours(one, some, self.traits)
            is_table = self.is_of_tables(topic)
            yield marks.Unreadable(
                topic,
                partition,
                offset,
                full.after,
                full.place,
                self.is_leading(topic),
                is_table and not full.has_before,
                full.position,
                one.known_place,
            )

    # --- facts of the source

    def is_open_window(self, one: Stretch) -> bool:
        """Whether the chain has not passed the window that reads are of."""
        if self.names_predecessor:
            return not self.late.has_window(one)
        if self.traits and self.traits.change_place == "commit":
            return (one.commit_position or "") > (self.link or "")
        return (one.last_place or "") > (self.end.reached_place or "")

    def _windows(self) -> Iterator[marks.Window]:
        if self.names_predecessor:
            named = {
                one.previous
                for one in self.facts.stretches.where("kind", "window")
                if self.is_open_window(one)
            }
            yield from map(marks.Window, sorted(named, key=lambda one: one or ""))

    def unlanded_tables(self) -> Iterator[marks.UnlandedTable]:
        """Tables that ENDs count, of which nothing has landed."""
        last = self.counted_late()
        for one in self.sent.kept_markers():
            if not one.is_end:
                continue
            sent = self.sent[one.transaction_id]
            if sent.is_decided or sent.position is None:
                continue
            for name in self.sent.expected([one]):
                last[name] = max(last.get(name, ""), sent.position)
        for name, position in self.without_landed(last).items():
            yield marks.UnlandedTable(name, position)

    def counted_late(self) -> dict[str, str]:
        """Tables that ENDs of settled transactions count: of the state, and of this run."""
        last = dict(self.state.unlanded)
        for one in self.late_markers:
            if one.is_end and one.transaction_id not in self.known.decided:
                position = self.known.settled.get(one.transaction_id) or one.position
                position = position or padded(one.offset)
                for name in self.sent.expected([one]):
                    last[name] = max(last.get(name, ""), position)
        return last

    def without_landed(self, last: dict[str, str]) -> dict[str, str]:
        """The tables among some of which nothing has landed."""
        topics = self.lines.topics
        return {
            name: position
            for name, position in last.items()
            if name not in self.tables
            and not any(topic.endswith(table_suffix(name)) for topic in topics)
        }

    @cached_property
    def tables(self) -> set[str]:
        """Of which a change or read has landed."""
        known = {name for line in self.state.partitions for name in line.tables}
        some = self.facts.stretches.distinct("data_collection")
        return known | {name for (name,) in some if name is not None}

    def log_numbers(self) -> list[LogNumbers]:
        """The numbers of logs that have landed, late or not (S8)."""
        shown = [one.log_position for one in self.facts.controls if one.kind == "statement"]
        shown += [one.log_position for one in self.sent.kept_markers() if one.is_end]
        shown += [one.log_position for one in self.late_markers if one.is_end]
        shown += [one.log_position for one in self.facts.counts if one.is_whole]
        numbers = {
            (log, number, number)
            for log, number in map(log_number, shown)
            if log is not None and number is not None
        }
        known = {(one.log, one.first, one.last) for one in self.state.log_numbers}
        return merged_numbers(numbers | known)

    def unfinished(self) -> list[Unfinished]:
        """Of the state, less those whose END has landed since."""
        ended = {one.transaction_id for one in self.facts.markers if one.is_end}
        return [one for one in self.state.unfinished if one.transaction_id not in ended]

    def _unfinished(self) -> Iterator[marks.Unfinished]:
        """BEGINs of PostgreSQL without END: what follows is of another stream."""
        found = {(one.partition, one.offset) for one in self.unfinished()}
        if self.names_predecessor:
            found |= {
                (one.partition, one.offset)
                for one in self.sent.kept_markers()
                if not one.is_end and not self.sent[one.transaction_id].has_end
            }
        yield from (marks.Unfinished(*one) for one in sorted(found))

    def _messages(self) -> Iterator[marks.Message]:
        """Logical messages outside of transactions."""
        known = {
            (one.position, one.previous): one
            for one in self.facts.controls
            if one.kind == "message"
        }
        for (position, previous), one in known.items():
            if position is not None:
                yield marks.Message(position, previous, one.committed_at)

    # --- links

    def _links(self) -> Iterator[marks.Link]:
        """Of transactions, one at a time, in the order of the chain."""
        for one, counts, markers in self.sent.in_order():
            if one.is_uncounted:
                yield self._uncounted(one, counts)
            elif self.is_truncate(one):
                if one.position is not None:
                    yield self._truncate(one, markers)
            elif one.has_changes or one.has_end or one.name not in self.known.settled:
                yield from self._counted(one, counts, markers)

    def _misplaced(self, one: Transaction) -> tuple[str | None, Misplacement | None]:
        """Where a transaction stands in the order of marks, and why it is not where it was
        committed."""
        position = one.position
        if one.is_uncounted:
            return self._misplaced_uncounted(one)
        if self.is_truncate(one):
            is_placed = one.has_markers or self.ends.is_placed(one, self.logs)
            return position, None if position is None or is_placed else "unplaced_truncate"
        if self.ends.is_alone(one):
            return position, "end_not_sent"
        if not self.is_ordered_by_end or position is None:
            return position, None
        if self.marker_partitions != {0} and len(self.logs) > 1:
            return None, "unordered_partitions"
        published = self.end.position or ""
        is_new = (one.last or "") > (self.end.reached_place or "")
        if is_new and "+" not in position and position <= published:
            return f"{published.partition('+')[0]}+{one.last or ''}", "topic_made_again"
        return position, None

    def _misplaced_uncounted(self, one: Transaction) -> tuple[str | None, Misplacement | None]:
        place = one.last or ""
        if self.is_in_order and len(self._streamed_partitions) > 1:
            return f"{place}/{one.name}", "several_partitions"
        return (place if self.connector == "cdl" else one.position), None

    @cached_property
    def _streamed_partitions(self) -> set[Place]:
        return self.landed.streamed | {
            line.key for line in self.state.partitions if line.is_streamed
        }

    def _counted(
        self, one: Transaction, counts: list[Count], markers: list[Marker]
    ) -> Iterator[marks.TransactionMark]:
        position = one.stands_at
        if one.misplacement is not None:
            yield marks.Unplaced(position, one.name, one.misplacement)
        for marker in markers:
            if not marker.is_end:
                yield marks.Begin(position, one.name, marker.partition, marker.offset)
                continue
            yield marks.End(
                position,
                one.name,
                marker.partition,
                marker.offset,
                marker.event_count,
                marker.event_count == sum(marker.counts.values()),
                *log_number(marker.log_position),
                self._surrounding.partitions(position),
                self.ends.following_place(position),
                marker.committed_at,
                self.is_leading(marker.topic),
            )
        yield from self._tables(one, counts, markers)

    @cached_property
    def _surrounding(self) -> Surrounding:
        if self.marker_partitions == {0}:
            return Surrounding({})
        positions: dict[int, dict[int, str | None]] = defaultdict(dict)
        for line in self.state.partitions:
            if self.is_leading(line.topic):
                positions[line.partition] |= line.markers
        for one in self.late_markers:
            if self.is_leading(one.topic) and (at := self.known.settled.get(one.transaction_id)):
                positions[one.partition][one.offset] = at
        for one in self.sent.kept_markers():
            if self.is_leading(one.topic):
                at = self.sent[one.transaction_id].position
                positions[one.partition][one.offset] = at
        return Surrounding(positions)

    def _tables(
        self, one: Transaction, counts: list[Count], markers: list[Marker]
    ) -> Iterator[marks.TransactionMark]:
        position, expected = one.stands_at, self.sent.expected(markers)
        odd = self.sent.odd_changes(one.name)
        by_table: dict[str, list[Count]] = defaultdict(list)
        for count in counts:
            by_table[count.data_collection].append(count)
        apart = counted_apart(marker for marker in markers if marker.is_end)
        has_one_order = one.name not in self.facts.doubly_ordered
        log, number = log_number(one.log_position)
        for name in sorted({*expected, *by_table}):
            some = by_table.get(name, [])
            received = sum(count.received for count in some)
            is_regular = all(count.is_regular for count in some)
            if len(some) > 1:
                # One table's changes that name several predecessors are counted apart.
                orders = {
                    order
                    for change in odd
                    if change.data_collection == name
                    for order in change.table_orders
                }
                is_regular = orders == {*range(1, received + 1)}
            yield marks.Table(
                position,
                one.name,
                name,
                max(expected.get(name, [0])),
                min(expected.get(name, [0])),
                received,
                is_regular,
                all(count.copies_agree for count in some),
                None if one.previous is None else least(*(count.previous for count in some)),
                sum(count.key_leaves for count in some),
                sum(count.key_enters for count in some),
                any(count.closes_window for count in some),
                least(*(count.first_place for count in some)),
                most(*(count.last_place for count in some)),
                log,
                number,
                has_one_order,
                one.name in self.unanswered,
                one.committed_at or None,
                self._lacks_window_place(one, some),
                name in apart,
            )
        for change in odd:
            yield marks.Event(
                position,
                one.name,
                change.data_collection,
                change.total_orders,
                change.table_orders,
                change.has_one_content,
                change.place is not None,
            )

    def _lacks_window_place(self, one: Transaction, counts: list[Count]) -> bool:
        """Whether reads name a place in the log by which they belong to the transaction that closes
        their window, and it tells none."""
        closes = any(count.closes_window for count in counts)
        return closes and one.log_position is None and self._has_placed_windows

    @cached_property
    def _has_placed_windows(self) -> bool:
        if self.connector not in ("oracle", "generic"):
            return False
        return len(self.facts.stretches.where("kind", "window")) > 0

    def _truncate(self, one: Transaction, markers: list[Marker]) -> marks.Link:
        position = one.position
        assert position is not None  # the caller asks
        if one.misplacement is not None:
            return marks.Unplaced(position, one.name, one.misplacement)
        behind = {marker.offset + 1 for marker in markers}
        return marks.Truncate(
            position,
            one.name,
            one.first if one.has_changes else self.ends.following_place(position),
            *log_number(one.log_position),
            self.ends.following_end(position),
            has_landed=one.has_changes,
            has_next_marker=not behind.isdisjoint(self._marker_offsets),
        )

    @cached_property
    def _marker_offsets(self) -> set[int]:
        return {one.offset for one in self.sent.kept_markers() if self.is_leading(one.topic)}

    def _uncounted(self, one: Transaction, counts: list[Count]) -> marks.Link:
        closes = any(count.closes_window for count in counts)
        left = sum(count.key_leaves for count in counts)
        is_torn = left != sum(count.key_enters for count in counts)
        if self.names_predecessor:
            return marks.Uncounted(
                one.position,
                one.name,
                one.named or "",
                "watermark",
                one.previous,
                one.older,
                has_torn_key=is_torn,
                closes_window=closes,
                is_unanswered=one.name in self.unanswered,
                committed_at=one.committed_at,
                has_known_end=one.has_known_end,
                last_change=one.last,
            )
        is_certain = self.is_in_order or self.connector != "cdl"
        proof: Literal["watermark", "none"] = "watermark" if is_certain else "none"
        if one.misplacement is not None:
            return marks.Unplaced(one.stands_at, one.name, one.misplacement, proof)
        return marks.Uncounted(
            one.stands_at,
            one.name,
            one.last or "",
            proof,
            is_group=one.name in self.groups.boundary_of,
            boundary_place=self.groups.boundary_of.get(one.name),
        )

    # --- snapshots

    def _drop_published_reads(self) -> None:
        published = self.end.snapshot_position
        for at in [*self.reads]:
            blocking = self.asked.get(at)
            if at in self.known.settled_snapshots:
                is_published = True
            elif self.is_ordered_by_end:
                is_published = published is not None and at <= published.rpartition("+")[2]
            elif blocking is None:
                is_published = at <= (published or "")
            else:
                stands = blocking.followed or blocking.previous or "~"
                is_published = stands < (self.end.position or "")
            if is_published:
                del self.reads[at]

    def snapshot_position(self, place: str) -> str:
        """Where a snapshot stands: at its place; where END is the order, behind the transactions
        that it has seen."""
        if not self.is_ordered_by_end:
            return place
        seen = self.ends.seen_by(place, self._last_of_all)
        # A place behind which something is settled is behind the chain's end: the judge refuses it.
        if self.state.seen_position is not None and (self.state.seen_place or "") <= place:
            seen = most(seen, self.state.seen_position)
        return f"{BEFORE_ALL if seen is None else seen}+{place}"

    @cached_property
    def _last_of_all(self) -> dict[str, str]:
        return self.last_of()

    def _snapshots(self) -> Iterator[marks.Link]:
        for at, reads in self.reads.items():
            blocking = self.asked.get(at)
            if blocking is None:
                yield marks.Snapshot(self.snapshot_position(at), at)
                continue
            followed = blocking.followed or least(
                *(
                    one.position
                    for one in self.sent.values()
                    if one.name == blocking.transaction_id
                    or (blocking.previous is not None and one.previous == blocking.previous)
                )
            )
            last_at = max(one.last_at for one in reads)
            yield marks.BlockingSnapshot(followed or at, at, last_at, followed is not None)

    def _snapshot_facts(self) -> Iterator[marks.Fact]:
        is_torn = self._has_lost_fields() if self.reads else False
        for at, reads in self.reads.items():
            position = self.snapshot_position(at)
            by_table: dict[str, list[Stretch]] = defaultdict(list)
            for one in reads:
                by_table[one.data_collection or ""].append(one)
            for name, some in by_table.items():
                found = frozenset[str]().union(*(one.markers for one in some)) - {"true"}
                count = sum(one.new_count for one in some)
                is_blocking = at in self.asked
                yield marks.SnapshotTable(
                    position, name, count, tuple(sorted(found)), is_blocking, is_torn
                )
            landed_at = most(*(one.landed_at for one in reads))
            for key, stretches in self.by_partition.items():
                if not self.is_of_tables(key[0]):
                    continue
                settled = settled_stretches(key, self.lines.runs.get(key, ()))
                lies = around(at, [*stretches, *settled])
                is_quiet = self.is_quiet(key, landed_at)
                yield marks.SnapshotPartition(position, *key, *lies, is_quiet)

    def is_quiet(self, place: Place, since: int | None) -> bool:
        """Whether a partition has been read to its end, long after something had landed.

        Args:
            place: the partition.
            since: when that had landed, in microseconds; None where no cluster was read.
        """
        look, wait = self.known.looks.get(place), self.settings.quiet_micros
        if look is None or since is None or wait <= 0 or not look.is_sure_end:
            return False
        runs = self.lines.runs.get(place)
        read_to = runs[0].last + 1 if runs else 0
        return look.end_offset == read_to and look.looked_at >= since + wait

    def _has_lost_fields(self) -> bool:
        """Whether some reads tell a place and others none, or some messages of a table have a
        schema and others none."""
        placeless = {_tells_no_place(at) for at in self.reads}
        if len(placeless) > 1:
            return True
        if self.connector != "generic":
            return False
        schemas: dict[tuple[str, str], set[bool]] = defaultdict(set)
        for one in self.facts.stretches:
            if one.kind != "other" and not self.late.has_stretch(one):
                schema, _, table = (one.data_collection or "").rpartition(".")
                schemas[one.topic, table].add(schema == one.database)
        return any(len(some) > 1 for some in schemas.values())


def counted_apart(markers: Iterable[Marker]) -> frozenset[str]:
    """Tables that one END counts and another does not, where that counts others: two connectors
    have one prefix, and both end the transaction.

    >>> end = Marker("t", 0, 0, None, None, True, "1", None, None, 1, {"a": 1}, None)
    >>> sorted(counted_apart([end, end._replace(counts={"b": 1})]))
    ['a', 'b']
    >>> counted_apart([end, end._replace(counts={"a": 1, "b": 1})])
    frozenset()
    """
    counted = {frozenset(name for name, count in one.counts.items() if count) for one in markers}
    return frozenset[str]().union(
        *(one ^ other for one in counted for other in counted if one - other and other - one)
    )


def _tells_no_place(place: str) -> bool:
    """Whether the place of a read is made of zeros alone."""
    return not {*place.rpartition(": ")[2]} - NO_PLACE
