"""The state after a run: what its verdicts settle goes into it, what waits stays open."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Final

from dbt_debezium.evidence.by_end import first_marker
from dbt_debezium.evidence.facts import Stretch, TopicPartition
from dbt_debezium.evidence.groups import STRETCH_KINDS
from dbt_debezium.evidence.partitions import compared_place, with_neighbours
from dbt_debezium.evidence.places import least, log_of, most
from dbt_debezium.evidence.source import SourceEvidence
from dbt_debezium.evidence.state import (
    OpenUnit,
    Partition,
    Run,
    State,
    Unfinished,
    Unread,
    joined_up_to,
)
from dbt_debezium.evidence.transactions import Transaction
from dbt_debezium.judge import ChainEnd, Verdict
from dbt_debezium.judge.places import is_behind

UNIT_KINDS: Final = {stretch: unit for unit, stretch in STRETCH_KINDS.items()}
"""Of each kind of stretch."""
LOG_NUMBERS = 1_000
"""Runs of numbers that are kept, the newest."""


def known_end(evidence: SourceEvidence) -> ChainEnd:
    """Where the chain ends, with what has landed since: copies of the newest transaction's END,
    which a restart sends, and ENDs before the newest snapshot."""
    end = _with_copies(evidence)
    if not evidence.names_predecessor or end.position is not None:
        return end
    seen_until = end.snapshot_position or ""
    known = (evidence.state.marked_position, *evidence.late.ends.values())
    before = (one for one in known if one is not None and one <= seen_until)
    return replace(end, position_before=most(end.position_before, *before))


def _with_copies(evidence: SourceEvidence) -> ChainEnd:
    end, newest = evidence.end, evidence.state.newest
    if newest is None or evidence.is_ordered_by_end:
        return end
    copies = {
        one.offset
        for one in evidence.facts.markers
        if one.is_end
        and one.transaction_id == newest
        and evidence.is_own(one)
        and evidence.is_leading(one.topic)
    }
    return replace(end, end_offsets=tuple(sorted({*end.end_offsets, *copies})))


class Settlement:
    """What a run settles."""

    def __init__(
        self,
        evidence: SourceEvidence,
        start: ChainEnd,
        links: Sequence[Verdict],
        closed: Collection[str],
    ) -> None:
        """Tell what is settled from what waits.

        A unit is settled by its verdict, or where it is late: its position is firm, at or before
        the new end, and it was never published. A position that nothing shows is found anew in
        each run, from where the chain ends; such a unit stays open.

        Args:
            evidence: of the run.
            start: where the chain ended before it.
            links: verdicts on links, in the order of the chain.
            closed: windows that are published, or never will be.
        """
        self._evidence, self._closed = evidence, closed
        self._end, self._newest = start, evidence.state.newest
        for one in links:
            if one.chain_end is not None:
                self._end, self._newest = one.chain_end, one.transaction_id or self._newest
        self._done = {one.transaction_id for one in links if one.is_settled}
        self._held = {one.transaction_id for one in links if one.outcome == "hold"}
        read = {
            one.read_position or one.position
            for one in links
            if one.is_settled and one.transaction_id is None
        }
        self._published_reads = {
            one.read_position
            for one in links
            if one.outcome == "commit" and one.kind == "initial_snapshot"
        }
        self._read_to: dict[TopicPartition, int] = {}
        """Of partitions the last read of an initial snapshot that this run publishes."""
        self._open = {one.name for one in evidence.sent.values() if self._is_open(one)}
        self._open_reads = {*evidence.reads} - read
        self.late: dict[str, str | None] = {
            **dict.fromkeys(evidence.late.seen(), evidence.end.snapshot_position),
            **{
                one.name: one.position
                for one in evidence.sent.values()
                if one.name not in self._open and one.name not in self._done
            },
        }
        """Transactions before the chain's end that were never published, by id, with their
        positions. `settled_unit` needs them."""

    def _is_open(self, one: Transaction) -> bool:
        if one.name in self._held:
            return True
        if one.name in self._done:
            return False
        passed = self._end.passed
        is_passed = (
            one.position is not None
            and passed is not None
            and one.position <= passed
            and not is_behind(one.position)
            and not self._may_get_more(one)
        )
        return not is_passed

    def _may_get_more(self, one: Transaction) -> bool:
        """Whether changes that END counts may still come: in a recreated topic offsets go back."""
        is_short = self._evidence.is_ordered_by_end and one.received < one.expected
        return is_short and not one.is_decided

    def stays(self, one: Stretch) -> bool:
        """Whether the messages of a stretch are given to the next run again."""
        evidence = self._evidence
        name = one.unit_id or ""
        if one.kind == "change":
            is_late = evidence.late.has_stretch(one)
            return not is_late and evidence.groups.group_of.get(name, name) in self._open
        if one.kind == "window":
            return name not in self._closed
        return name in self._open_reads

    def state(self) -> State:
        """The state of the next run."""
        evidence = self._evidence
        state = State(
            connector=evidence.connector,
            end=self._end,
            is_in_order=evidence.is_in_order,
            newest=self._newest,
        )
        state.partitions, waiting = self._partitions()
        state.open = self._open_units(waiting)
        self._settle_source(state)
        return state

    def _open_units(self, waiting: Iterable[tuple[str, str]]) -> list[OpenUnit]:
        """The units that stay open.

        Args:
            waiting: kinds and ids of those of which a stretch stays.
        """
        evidence, end = self._evidence, self._end
        found = {("transaction", name) for name in self._open if evidence.sent[name].has_markers}
        found |= {*waiting}
        found |= {("snapshot", at) for at in self._open_reads}
        for control in evidence.facts.controls:
            position = control.position or ""
            if control.kind == "message" and (end.position is None or position > end.position):
                found.add(("message", position))
            elif control.kind == "statement":
                is_open = control.transaction_id in self._open
                if position and (is_open or position > (end.reached_place or "")):
                    found.add(("statement", position))
        return [OpenUnit(*one) for one in sorted(found)]

    # --- partitions

    def _partitions(self) -> tuple[list[Partition], set[tuple[str, str]]]:
        """The partitions, and the units of which a stretch stays open."""
        evidence = self._evidence
        lines = evidence.lines.now
        unread: dict[TopicPartition, list[Unread]] = defaultdict(list)
        for (topic, partition, _), one in evidence.unread.items():
            unread[topic, partition].append(one)
        placed: dict[TopicPartition, list[Stretch]] = defaultdict(list)
        waiting: set[tuple[str, str]] = set()
        for stretch in evidence.stretches():
            line = lines[stretch.key]
            if self.stays(stretch):
                waiting.add((UNIT_KINDS[stretch.kind], stretch.unit_id or ""))
            else:
                self._settle(line, stretch)
                if stretch.kind != "other" and stretch.key in unread:
                    placed[stretch.key].append(stretch)
        for place, some in unread.items():
            around = placed[place]
            full = [with_neighbours(one, around, evidence.traits) for one in some]
            lines[place].unread = [one for one in full if not self._is_passed(lines[place], one)]
        self._settle_markers(lines)
        for place, offset in self._read_to.items():
            # The reads replace what never landed before them. From the next run on: this one still
            # judges transactions before the reads, of which changes may be missing.
            lines[place].runs = joined_up_to(lines[place].runs, offset)
        for line in lines.values():
            line.tables.sort()
            line.unplaced = sorted(evidence.unplaced[line.key])
        return [*lines.values()], waiting

    def _settle(self, line: Partition, one: Stretch) -> None:
        """Fold a settled stretch into the run of offsets where it lies. If it spans a gap, its
        first place goes into the first run and its last into the last."""
        traits = self._evidence.traits
        is_commit_of_read = one.kind == "read" and bool(traits and traits.change_place == "commit")
        if is_commit_of_read:
            line.reached_by_reads = most(line.reached_by_reads, one.commit_position)
        if one.kind == "read":
            if one.last_offset >= (line.last_read or 0):
                line.last_read, line.last_read_place = one.last_offset, one.unit_id
            if one.unit_id in self._published_reads:
                self._read_to[line.key] = max(one.last_offset, self._read_to.get(line.key, 0))
        first, last = _run_at(line.runs, one.first_offset), _run_at(line.runs, one.last_offset)
        for is_first, offset, into in (
            (True, one.first_offset, first),
            (False, one.last_offset, last),
        ):
            into.settled_first = least(into.settled_first, offset)
            into.settled_last = most(into.settled_last, offset)
            place = compared_place(one, traits, is_first=is_first)
            if not is_commit_of_read:
                into.reached = most(into.reached, place)
            if one.kind == "other":
                continue
            into.after = most(into.after, place)
            in_log = one.first_place if is_first else one.last_place
            into.low, into.high = least(into.low, in_log), most(into.high, in_log)
        if one.first_new is not None and one.kind != "other":
            into = _run_at(line.runs, one.first_new)
            if into.head_offset is None or one.first_new < into.head_offset:
                into.head_offset, into.head_position = one.first_new, one.first_place
                into.head_place = compared_place(one, traits, is_first=True)

    def _is_passed(self, line: Partition, one: Unread) -> bool:
        """Whether the chain is past all that a message may have been that cannot be read."""
        evidence, end = self._evidence, self._end
        if evidence.is_of_markers(line.topic):
            has_order = bool(end.end_offsets) and evidence.marker_partitions == {0}
            return has_order and one.offset < min(end.end_offsets)
        come = (end.position if evidence.names_predecessor else end.reached_place) or ""
        around = (one.after or "", one.known_place, one.place, one.position)
        is_behind = all(at is not None and at < come for at in around)
        # Nothing can land before it any more, of which its neighbour would be a copy.
        return is_behind and line.runs[0].last >= (one.place_offset or 0)

    def _settle_markers(self, lines: dict[TopicPartition, Partition]) -> None:
        """Keep settled markers that no settled one follows, also while a topic has one partition:
        a second may appear."""
        markers = self._evidence.marker_positions({one.name for one in self._settled()})
        for key, offset in self._evidence.passed_markers:
            if offset not in markers[key]:
                lines[key].passed.append(offset)
        for place, some in markers.items():
            lines[place].markers = {
                offset: some[offset] for offset in sorted(some) if offset + 1 not in some
            }

    # --- the source

    def _settle_source(self, state: State) -> None:
        evidence, before = self._evidence, self._evidence.state
        state.seen_position, state.seen_place = before.seen_position, before.seen_place
        state.marked_position, state.last_begin = before.marked_position, before.last_begin
        state.has_blockless = evidence.has_blockless
        late_logs = {log_of(one.log_position) for one in evidence.late_markers if one.log_position}
        state.logs = sorted(evidence.logs | late_logs)
        state.log_numbers = evidence.log_numbers()[-LOG_NUMBERS:]
        last_of = evidence.last_of if evidence.is_ordered_by_end else {}
        for one in sorted(self._settled(), key=lambda one: one.position or ""):
            if one.has_markers:  # of open ones it is found anew: an earlier BEGIN may land
                state.last_begin = max(state.last_begin, first_marker(one))
            if evidence.names_predecessor and one.has_end:
                state.marked_position = most(state.marked_position, one.position)
            if not evidence.is_ordered_by_end or not evidence.ends.is_over(one):
                continue
            # What has changed nothing tells no place. A snapshot after what did is after it too.
            last = last_of.get(one.name) if one.has_changes else state.seen_place
            if last and (one.position or "") > (state.seen_position or ""):
                state.seen_position, state.seen_place = one.position, last
        settled = {one.name for one in self._settled()}
        state.unlanded = evidence.unlanded_tables(settled)
        # What is before the newest END hides nothing.
        lowest = min(self._end.end_offsets, default=-1)
        unfinished = sorted(evidence.unfinished(settled))
        state.unfinished = [Unfinished(*one) for one in unfinished if one[2] > lowest]

    def _settled(self) -> Iterable[Transaction]:
        return (one for one in self._evidence.sent.values() if one.name not in self._open)


def _run_at(runs: list[Run], offset: int) -> Run:
    return runs[bisect_right(runs, offset, key=attrgetter("first")) - 1]
