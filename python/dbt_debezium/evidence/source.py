"""What a source shows: facts of this run and of the state, with each transaction in its place."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Final

from dbt_debezium.evidence.by_end import Ends, last_begin, pass_over
from dbt_debezium.evidence.by_predecessor import place
from dbt_debezium.evidence.facts import (
    Count,
    Facts,
    Marker,
    Rows,
    Stretch,
    StretchKind,
    TopicPartition,
)
from dbt_debezium.evidence.known import Known
from dbt_debezium.evidence.landed import Landed
from dbt_debezium.evidence.late import Late
from dbt_debezium.evidence.partitions import (
    Lines,
    in_a_gap,
    without_doubtful,
)
from dbt_debezium.evidence.places import log_number, most, padded, shown_position
from dbt_debezium.evidence.snapshots import (
    Asked,
    asked,
    reads_of,
    signals_of,
    unanswered,
)
from dbt_debezium.evidence.state import State, Unfinished, Unread, merged_numbers
from dbt_debezium.evidence.topics import Topic, named_topic
from dbt_debezium.evidence.transactions import Transaction, Transactions
from dbt_debezium.evidence.unnamed import groups_of
from dbt_debezium.judge import marks
from dbt_debezium.judge.places import (
    EVERYWHERE,
    NOWHERE,
    base_of,
    behind,
    epoch_of,
    is_behind,
    place_in,
)
from dbt_debezium.judge.traits import TRAITS
from dbt_debezium.messages.topic_names import table_suffix
from dbt_debezium.reasons.hold_reason import HoldReason

UNPLACED: Final = ("unreadable", "nameless")
"""Kinds of messages that may stand anywhere."""


class SourceEvidence:
    """All that is known of one source, and where its transactions stand.

    Args:
        facts: of messages that are new or of open units.
        known: of the source, beside messages.
        state: after the run before.
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
        self.unplaced: dict[TopicPartition, set[int]] = defaultdict(set)
        """Offsets of messages that may stand anywhere."""
        for line in state.partitions:
            self.unplaced[line.key] |= {
                at for at in line.unplaced if (*line.key, at) not in self.readable
            }
        for control in facts.controls:
            if control.kind in UNPLACED:
                self.unplaced[control.key].add(control.offset)
        self.connector = state.connector or self._connector_of(facts)
        self.traits = None if self.connector is None else TRAITS[self.connector]
        self.names_predecessor = bool(self.traits and self.traits.names_predecessor)
        self.is_ordered_by_end = bool(self.traits and self.traits.is_ordered_by_end)
        self.sends_markers = self.traits is None or self.traits.sends_markers
        self.lines = Lines(
            state.partitions,
            [*facts.ranges, *known.fetched],
            known.looks,
            is_complete=self._is_complete,
        )
        self.lines.note(facts.stretches, facts.shared)
        self.end = state.end
        own_markers = (one for one in facts.markers if self.is_own(one))
        self.late = Late(
            known,
            state,
            self.traits,
            facts.counts,
            facts.stretches,
            own_markers,
            self.is_leading,
        )
        self.groups = groups_of(self.late.lone, facts.stretches, facts.controls)
        counts = self._in_order_of_offsets() if self.is_in_order else facts.counts
        self.sent = Transactions(
            counts,
            facts.markers,
            (self._keeps_count, self._keeps_marker),
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
            unread=self._unread_markers(),
        )
        if self.names_predecessor:
            settings = self.settings
            place(
                self.sent.values(),
                self.end.newest_position,
                state.marked_position,
                reaches_the_end=settings.reaches_the_end,
            )
        else:
            self.ends.place()
        for one in self.sent.values():
            one.stands_at, one.misplacement = self._standing(one)
        self.reads = reads_of(self.stretches("read"))
        self.signals = signals_of(facts.controls, self.sent)
        self.asked: dict[str, Asked] = {}
        if self.names_predecessor:
            self.asked = asked(self.reads, self.signals)
        self._drop_published_reads()
        self.unanswered: set[str] = set()
        if not self._is_silent():
            answers = (self.asked[at] for at in self.reads if at in self.asked)
            self.unanswered = unanswered(self.signals, answers)

    # --- what it is given

    def _is_complete(self, topic: str) -> bool:
        """Whether all of a topic has landed. Of BEGIN and END compaction may have taken some, and
        numbers of a log tell which."""
        return self.settings.reaches_the_end and not self.is_of_markers(topic)

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
        return self.settings.is_watermark and not self.sends_markers

    def stretches(self, kind: StretchKind | None = None) -> Iterator[Stretch]:
        """Stretches of this run, or those of one kind. Those of late changes are no neighbours of
        anything."""
        known = self.facts.stretches
        for one in known if kind is None else known.where("kind", kind):
            if self.late.has_stretch(one):
                one = one._replace(first_new=None, last_new=None, new_count=0)
            # A heartbeat row that comes again cannot be told from a new one.
            if self.is_in_order and one.kind == "other":
                one = one._replace(first_place=None, last_place=None)
            elif self.is_in_order:
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
            if one.unit_id is not None:
                last[one.unit_id] = max(last[one.unit_id], one.last_place or "")
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
        return one.data_collection in self.tables and not self.late.has(
            one.transaction_id, one.previous, one.last_place
        )

    def _keeps_marker(self, one: Marker) -> bool:
        return self._is_read(one) and not self.late.has_marker(one)

    @cached_property
    def late_markers(self) -> list[Marker]:
        """BEGINs and ENDs of settled transactions."""
        some = (one for one in self.sent.left_out_markers() if self._is_read(one))
        return [one for one in some if self.late.has_marker(one)]

    def _is_read(self, one: Marker) -> bool:
        # What a transform has taken out, END counts all the same.
        if self.settings.is_watermark or not self.is_own(one):
            return False
        return self.is_leading(one.topic) or not self._is_copied(one)

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

    @cached_property
    def passed_markers(self) -> list[tuple[TopicPartition, int]]:
        """Partitions and offsets of other sources' markers in the leading topic, in order."""
        found = {(line.key, at) for line in self.state.partitions for at in line.passed}
        found |= {
            ((one.topic, one.partition), one.offset)
            for one in self.facts.markers
            if not self.is_own(one) and self.is_leading(one.topic)
        }
        return sorted(found)

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
        landed = {number for topic, number in self.lines.now if self.is_leading(topic)}
        empty = (number for topic, number in self.known.looks if self.is_leading(topic))
        return landed | {*range(1 + max(empty, default=0))}

    def marker_ends(self) -> dict[int, int]:
        """Of each partition of the transaction topic the offset after its last message, where
        nothing else was sent."""
        if not self.settings.reaches_the_end:
            return {}
        found = dict.fromkeys(self.marker_partitions, 0)
        for (topic, number), line in self.lines.now.items():
            if self.is_leading(topic):
                found[number] = line.runs[-1].last + 1
        return found

    def _last_begin(self) -> int:
        if any(number for topic, number in self.lines.now if self.is_leading(topic)):
            return 0
        return last_begin(self.sent.values(), self.state.last_begin)

    def _unread_markers(self) -> set[int]:
        """Offsets in the transaction topic of messages that cannot be read."""
        some = (found for (topic, _), found in self.unplaced.items() if self.is_leading(topic))
        return {*chain.from_iterable(some)}

    # --- transactions

    def _is_uncounted(self, one: Transaction) -> bool:
        """Whether nothing counts its changes, which have no transaction block either."""
        if not one.has_changes:
            return False
        if self.settings.is_watermark:
            return True
        if self.names_predecessor:
            return not one.has_block and one.end_position is None
        if one.is_whole:
            return self.has_blockless
        return not one.has_any_block and not one.has_end

    @cached_property
    def has_blockless(self) -> bool:
        """Whether a change without a transaction block has landed, in this run or before."""
        return self.state.has_blockless or any(not one.has_block for one in self.sent.values())

    def is_truncate(self, one: Transaction) -> bool:
        """Whether it is a TRUNCATE by itself, or a BEGIN alone, which may be that of one."""
        return one.is_whole if one.has_changes else self.ends.is_alone(one)

    @cached_property
    def logs(self) -> set[str]:
        """Of transactions with markers, of this run and of the state, as far as changes tell it, as
        those of Oracle and generic connectors do."""
        some = (one.log for one in self.sent.values() if one.has_markers)
        return {*filter(None, some)} | {*self.state.logs}

    @cached_property
    def last_of(self) -> dict[str, str]:
        """The highest place of a change of each transaction of this run, settled or not."""
        # What an operator settled before its END came: its position says where its changes ended.
        last = {
            name: place_in(at) for name, at in self.known.settled.items() if at and is_behind(at)
        }
        for one in self.stretches("change"):
            if one.unit_id is not None:
                last[one.unit_id] = max(last.get(one.unit_id, ""), one.last_place or "")
        return last

    # --- decisions

    def decisions(self) -> Iterator[marks.Decision]:
        """What operators have decided, as the judge names it. They name reads as `status` shows
        them."""
        reads = {shown_position(at): at for at in self.reads}
        for one in self.known.decisions:
            if one.snapshot_position is None:
                yield one
            elif (at := reads.get(shown_position(one.snapshot_position))) is not None:
                yield replace(one, snapshot_position=self.snapshot_positions[at])

    def failed_snapshots(self) -> dict[str, HoldReason]:
        """Why snapshots wait on which a run has failed (S12), or that nothing orders, by their
        positions."""
        if self._lacks_order:
            return dict.fromkeys(self.snapshot_positions.values(), "several_partitions")
        found = {at: self.known.failed.get(f"snapshot {shown_position(at)}") for at in self.reads}
        return {self.snapshot_positions[at]: why for at, why in found.items() if why is not None}

    # --- partitions

    @cached_property
    def by_partition(self) -> dict[TopicPartition, list[Stretch]]:
        """The stretches of this run in partitions of which anything asks for neighbours."""
        needs_all = bool(self.reads or self.unread)
        found: dict[TopicPartition, list[Stretch]] = {one: [] for one in self.lines.places}
        for one in self.stretches() if needs_all else ():
            found[one.key].append(one)
        return found

    @cached_property
    def asked_at(self) -> int | None:
        """When the newest read of an incremental snapshot landed, or the newest signal."""
        known = self.facts.stretches
        some = [*known.where("kind", "window"), *known.where("has_signals", True)]
        return most(*(one.landed_at for one in some))

    def _is_silent(self) -> bool:
        """Whether no more reads can come that a signal has asked for: all partitions are silent."""
        some = (key for key in self.lines.places if self.is_of_tables(key[0]))
        return all(self.is_quiet(key, self.asked_at) for key in some)

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
            come = self.end.newest_position or ""
        for control in self.facts.controls:
            at = (*control.key, control.offset)
            if control.kind not in UNPLACED or at in found:
                continue
            if self.topic(control.topic).role == "other":
                continue
            line = self.lines.known.get(control.key)
            new = in_a_gap(control.offset, come, line.runs if line else ())
            if new is not None:
                new.transaction_id = control.transaction_id
                found[at] = new
        return found

    # --- what the source has shown

    def is_open_window(self, one: Stretch) -> bool:
        """Whether the chain has not passed the window that reads are of."""
        if self.names_predecessor:
            return not self.late.has_window(one)
        if self.traits and self.traits.change_place == "commit":
            return (one.commit_position or "") > (self.end.newest_position or "")
        is_higher = (one.last_place or "") > (self.end.reached_place or "")
        return is_higher or self._is_named_later(one.unit_id or "")

    def _is_named_later(self, window: str) -> bool:
        """Whether a window names a transaction that is not published, by its number in a log: on
        another server that may stand at a lower place."""
        number = log_number(window)
        if number is None:
            return False
        if window in self._sent_numbers:
            return True
        is_after = number[1] > dict(self.end.log_numbers).get(number[0], -1)
        return is_after and self.end.position is not None

    @cached_property
    def _sent_numbers(self) -> set[str | None]:
        return {one.log_position for one in self.sent.values()}

    def unlanded_tables(self, among: Container[str]) -> dict[str, str]:
        """Tables that ENDs count and of which nothing has landed, with the place of the newest END.

        Args:
            among: transactions whose ENDs are asked beside those that were settled before.
        """
        ends = [
            (one, self.known.settled.get(one.transaction_id) or one.position or padded(one.offset))
            for one in self.late_markers
            if one.transaction_id not in self.known.decided
        ]
        for one in self.sent.kept_markers():
            sent = self.sent[one.transaction_id]
            if sent.name in among and sent.position is not None and not sent.is_decided:
                ends.append((one, sent.position))
        last = dict(self.state.unlanded)
        for one, position in ends:
            for name in self.sent.expected([one]):
                last[name] = max(last.get(name, ""), position)
        topics = {topic for topic, _ in self.lines.now}
        return {
            name: position
            for name, position in sorted(last.items())
            if name not in self.tables
            and not any(topic.endswith(table_suffix(name)) for topic in topics)
        }

    @cached_property
    def tables(self) -> set[str]:
        """Of which a change or read has landed."""
        return {name for line in self.lines.now.values() for name in line.tables}

    def log_numbers(self) -> list[marks.LogNumbers]:
        """The numbers of logs that have landed, late or not (S8)."""
        shown = [one.log_position for one in self.facts.controls if one.kind == "statement"]
        shown += [one.log_position for one in self.sent.kept_markers() if one.is_end]
        shown += [one.log_position for one in self.late_markers if one.is_end]
        shown += [one.log_position for one in self.facts.counts if one.is_whole]
        numbers = {(log, number, number) for log, number in filter(None, map(log_number, shown))}
        known = {(one.log, one.first, one.last) for one in self.state.log_numbers}
        return merged_numbers(numbers | known)

    def unfinished(self, among: Container[str]) -> set[tuple[str, int, int]]:
        """BEGINs without END, each with its transaction, partition and offset: those of settled
        transactions, and of some others."""
        ended = {one.transaction_id for one in self.facts.markers if one.is_end}
        found: list[Marker | Unfinished] = [
            one for one in self.state.unfinished if one.transaction_id not in ended
        ]
        found += [
            one
            for one in self.sent.kept_markers()
            if one.transaction_id in among and self._is_unfinished(self.sent[one.transaction_id])
        ]
        return {(one.transaction_id, one.partition, one.offset) for one in found}

    def _is_unfinished(self, one: Transaction) -> bool:
        """Whether what follows its BEGIN cannot be next to what comes before it. A TRUNCATE, a
        BEGIN of MariaDB that stays alone and what an operator has settled have places of their own.
        """
        if self.names_predecessor:
            return not one.has_end
        has_place = one.is_decided or one.is_whole or self.ends.is_over(one)
        return self.is_ordered_by_end and not has_place

    def marker_positions(self, among: Container[str]) -> dict[TopicPartition, dict[int, str]]:
        """Where BEGINs and ENDs stand, by partition and offset: those of settled transactions, and
        of some others."""
        found: dict[TopicPartition, dict[int, str]] = defaultdict(dict)
        for line in self.state.partitions:
            if line.markers:
                found[line.key] |= line.markers
        for one in self.late_markers:
            if at := self.known.settled.get(one.transaction_id):
                found[one.topic, one.partition][one.offset] = at
        for one in self.sent.kept_markers():
            position = self.sent[one.transaction_id].position
            if one.transaction_id in among and position is not None:
                found[one.topic, one.partition][one.offset] = position
        for key, offset in self.passed_markers:
            pass_over(found[key], offset)
        return found

    # --- places

    def _standing(self, one: Transaction) -> tuple[str | None, HoldReason | None]:
        """Where a transaction stands in the order of marks, and why it is not where it was
        committed."""
        position, reason = self._placed(one)
        if reason is not None:
            return position, reason
        if self._comes_too_late(one, position):
            # What an operator decides on is no copy of what is published.
            reason = "unplaced_truncate" if one.is_whole else "missing_predecessor"
            return behind(self.end.passed or NOWHERE), None if one.is_decided else reason
        if one.is_decided:
            return position, None
        if epoch_of(one.name) > self._waiting_epoch:
            return position, "follows_held_transaction"
        is_two = self.traits is not None and not self.traits.is_known and one.has_other_end
        return position, "contradicting_events" if is_two else None

    def _comes_too_late(self, one: Transaction, position: str | None) -> bool:
        """Whether it stands before what is published, by a position that nothing has told, or
        by its number and its place in the binary log."""
        passed = self.end.passed
        has_end = one.end_position is not None if self.names_predecessor else one.has_end
        is_told = has_end or not (one.is_whole or one.is_uncounted or one.is_decided)
        if passed is None or position is None or is_told:
            return False
        if position <= passed:
            return is_behind(position) or not self.sends_markers
        number = log_number(one.log_position)
        is_known = number is not None and number[1] <= dict(self.end.log_numbers).get(number[0], -1)
        return is_known and (one.last or "") <= (self.end.reached_place or "")

    @cached_property
    def _waiting_epoch(self) -> str:
        """The first epoch of which a transaction has no place: a later one waits for it."""
        some = (one for one in self.sent.values() if self._placed(one)[0] is None)
        waiting = (epoch_of(one.name) for one in some if one.has_changes and not one.is_decided)
        return min(waiting, default=EVERYWHERE)

    def _placed(self, one: Transaction) -> tuple[str | None, HoldReason | None]:
        position = one.position
        if one.is_uncounted:
            return self._placed_uncounted(one)
        if self.is_truncate(one):
            if position is None or one.has_markers:
                return position, None
            if self.ends.follows_one_without_place(one):
                return position, "follows_held_transaction"
            is_placed = self.ends.is_placed(one, self.logs)
            return position, None if is_placed else "unplaced_truncate"
        if self.ends.is_alone(one):
            return position, "end_never_sent"
        if not self.is_ordered_by_end or position is None:
            return position, None
        if self.marker_partitions != {0} and len(self.logs) > 1:
            return None, "unordered_partitions"
        published = self.end.position or ""
        is_new = (one.last or "") > (self.end.reached_place or "")
        if is_new and not is_behind(position) and position <= published:
            return behind(base_of(published), one.last), "transaction_topic_recreated"
        return position, None

    def _placed_uncounted(self, one: Transaction) -> tuple[str | None, HoldReason | None]:
        place = one.last or ""
        if self._lacks_order:
            return f"{place}/{one.name}", "several_partitions"
        if self.ends.follows_one_without_place(one):
            return one.position, "follows_held_transaction"
        return (one.position if self.sends_markers else place), None

    @cached_property
    def _lacks_order(self) -> bool:
        """Whether several partitions have changes where offsets are the order (S22)."""
        return self.is_in_order and sum(one.has_changes for one in self.lines.now.values()) > 1

    # --- snapshots

    def _drop_published_reads(self) -> None:
        published = self.end.snapshot_position
        for at in [*self.reads]:
            blocking = self.asked.get(at)
            if at in self.known.settled_snapshots:
                is_published = True
            elif self.is_ordered_by_end:
                is_before = published is not None and at <= place_in(published)
                is_published = is_before and not self._is_read_later(at)
            elif blocking is None:
                is_published = self.snapshot_positions[at] <= (published or "")
            else:
                stands = blocking.followed or blocking.previous or EVERYWHERE
                is_published = stands < (self.end.position or "")
            if is_published:
                del self.reads[at]

    def _is_read_later(self, place: str) -> bool:
        """Whether partitions show reads after those that are published, whatever their places:
        those of two servers do not compare."""
        known = [
            (last_read, one.first_offset)
            for one in self.reads[place]
            if (last_read := self.lines.of(one.key).last_read) is not None
        ]
        return len(known) > 0 and all(last_read < offset for last_read, offset in known)

    @cached_property
    def snapshot_positions(self) -> dict[str, str]:
        """Where snapshots stand, by the places of their reads: there; where END is the order,
        after the transactions that they have seen; where offsets are, at their last read."""
        if self.is_in_order:
            return {
                at: max(one.last_place or "" for one in some) for at, some in self.reads.items()
            }
        return {at: self._behind_seen(at) if self.is_ordered_by_end else at for at in self.reads}

    def _behind_seen(self, place: str) -> str:
        seen = self.ends.seen_by(place, self.last_of, *self._sent_around(place))
        # If something is settled that it has not seen, it stays before the chain's end, and
        # the judge holds it as late.
        if self.state.seen_position is not None and self._has_seen_settled(place):
            seen = most(seen, self.state.seen_position)
        return behind(NOWHERE if seen is None else seen, place)

    def _has_seen_settled(self, place: str) -> bool:
        """Whether a snapshot has seen the newest settled transaction with changes: it stands before
        the place of the reads, or a partition shows its last change before them."""
        newest = self.state.seen_place or ""
        return newest <= place or any(
            run.high == newest and (run.settled_last or 0) < read.first_offset
            for read in self.reads[place]
            for run in self.lines.of(read.key).runs
        )

    def _sent_around(self, place: str) -> tuple[set[str], set[str]]:
        """Transactions of which a change stands before the reads of a snapshot in its
        partition, and those of which one stands after them. Places of two servers do not compare,
        as after a failover, and some changes tell none."""
        first: dict[TopicPartition, int] = {}
        last: dict[TopicPartition, int] = {}
        for one in self.reads.get(place, ()):
            first[one.key] = min(one.first_offset, first.get(one.key, one.first_offset))
            last[one.key] = max(one.last_offset, last.get(one.key, one.last_offset))
        before, behind = set(), set()
        for one in self.stretches("change"):
            if one.unit_id is None or one.key not in first:
                continue
            name = self.groups.group_of.get(one.unit_id, one.unit_id)
            if one.first_offset < first[one.key]:
                before.add(name)
            elif one.first_offset > last[one.key]:
                behind.add(name)
        return before, behind

    def is_quiet(self, place: TopicPartition, since: int | None) -> bool:
        """Whether a partition has been read to its end, long after something had landed.

        Args:
            place: the partition.
            since: when that had landed, in microseconds; None if nothing has from a cluster.
        """
        look, wait = self.known.looks.get(place), self.settings.quiet_micros
        if look is None or since is None or wait <= 0 or not look.is_sure_end:
            return False
        runs = self.lines.of(place).runs
        read_to = runs[0].last + 1 if runs else 0
        return look.end_offset == read_to and look.looked_at >= since + wait
