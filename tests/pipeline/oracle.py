"""What a captured source database held after each of its commits, by replay in emission order.

Independent of the project's models and package: it knows the whole capture, while the pipeline
knows only what landed.
"""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

Message = dict[str, Any]
"""One Kafka message as landed: topic, partition, offset, timestamp, key, value, headers."""
Table = tuple[str, str]
Row = dict[str, Any]
Bag = Counter[Any]
"""Frozen rows of a table without a key, each with how often it is there."""
Rows = dict[Any, Row]
"""Rows of a table with a key, by frozen key."""
State = dict[Table, Rows | Bag]

CHECKPOINT_COMMITS = 32


def read_messages(path: Path) -> list[Message]:
    """The messages of one JSON-lines file, gzipped or not, in file order."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def parse(text: str) -> Any:
    """JSON with nothing lost: fractions become decimals; Connect's schema wrapper is taken off."""
    value = json.loads(text, parse_float=Decimal)
    if isinstance(value, dict) and value.keys() == {"schema", "payload"}:
        return value["payload"]
    return value


def freeze(value: Any) -> Any:
    """A hashable form that is equal when the JSON is: numbers by value, true is not 1.

    >>> freeze({"a": Decimal("1.0"), "b": [True]}) == freeze({"b": [True], "a": 1})
    True
    >>> freeze([True]) == freeze([1])
    False
    """
    if isinstance(value, dict):
        return tuple(sorted((name, freeze(part)) for name, part in value.items()))
    if isinstance(value, list):
        return ("array", *map(freeze, value))
    return ("boolean", value) if isinstance(value, bool) else value


@dataclass(frozen=True, slots=True)
class Change:
    """One row-level event as it was emitted."""

    table: Table
    operation: str
    key: Any
    """Frozen key; None for a truncate and for a table without a key."""
    before: Row | None
    after: Row | None

    def apply(self, state: State) -> None:
        rows = state[self.table]
        if self.operation == "t":
            rows.clear()
        elif isinstance(rows, Counter):
            self._apply_to_bag(rows)
        elif self.after is None:
            rows.pop(self.key, None)
        else:
            rows[self.key] = self.after

    def _apply_to_bag(self, bag: Bag) -> None:
        if self.before is not None:
            gone = freeze(self.before)
            if bag[gone] == 0:
                raise ValueError(f"{self.table}: a row went that was never there")
            bag[gone] -= 1
            if bag[gone] == 0:
                del bag[gone]
        if self.after is not None:
            bag[freeze(self.after)] += 1


@dataclass(slots=True)
class Commit:
    """One commit of the source. Places are indexes into the capture."""

    number: int
    transaction_id: str | None
    """None for the initial snapshot."""
    position: int | None
    """LSN of END; None for the initial snapshot."""
    changes: list[Change]
    change_places: list[int]
    begin_place: int = -1
    end_place: int = -1
    predecessor: str | None = None
    """What the first change says about the END before it (`source.sequence[0]`)."""


class History:
    """Every commit of one captured source, in commit order, numbered from 1."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.commits: list[Commit] = []
        self.read_markers: dict[int, tuple[Table, str]] = {}
        """Place of each initial read: its table and snapshot marker."""
        self._tables: dict[Table, bool] = {}
        self._snapshot: list[Change] = []
        self._open: dict[str, Commit] = {}
        self._incremental: list[Change] = []
        self._replay(messages)
        self._checkpoints = [self._empty()]
        for first in range(0, len(self.commits), CHECKPOINT_COMMITS):
            state = _copy(self._checkpoints[-1])
            _apply(state, self.commits[first : first + CHECKPOINT_COMMITS])
            self._checkpoints.append(state)

    @property
    def tables(self) -> list[Table]:
        return list(self._tables)

    @property
    def has_snapshot(self) -> bool:
        return bool(self.read_markers)

    @property
    def transactions(self) -> list[Commit]:
        return [commit for commit in self.commits if commit.transaction_id is not None]

    def commit_of(self, transaction_id: str) -> int:
        """The number of the commit with this id.

        Raises:
            KeyError: the capture has no END of it.
        """
        for commit in self.commits:
            if commit.transaction_id == transaction_id:
                return commit.number
        raise KeyError(transaction_id)

    def state(self, commit_number: int) -> State:
        """All tables after a commit; before everything for 0. The caller owns the result."""
        if not 0 <= commit_number <= len(self.commits):
            raise ValueError(f"commits are 0 to {len(self.commits)}, not {commit_number}")
        checkpoint = commit_number // CHECKPOINT_COMMITS
        state = _copy(self._checkpoints[checkpoint])
        _apply(state, self.commits[checkpoint * CHECKPOINT_COMMITS : commit_number])
        return state

    def _empty(self) -> State:
        return {table: Counter() if keyless else {} for table, keyless in self._tables.items()}

    def _replay(self, messages: Sequence[Message]) -> None:
        for place, message in enumerate(messages):
            if message["value"] is None:
                continue
            value = parse(message["value"])
            if "status" in value and "event_count" in value:
                self._see_marker(place, value)
            elif value.get("op") in ("c", "u", "d", "t", "r"):
                self._see_change(place, message, value)
        if self._snapshot:
            places = list(self.read_markers)
            self.commits.insert(0, Commit(0, None, None, self._snapshot, places))
        for number, commit in enumerate(self.commits, start=1):
            commit.number = number

    def _see_marker(self, place: int, value: Row) -> None:
        transaction_id, position = value["id"].split(":")
        if value["status"] == "BEGIN":
            # A restart emits the whole transaction again; what came before it is a copy.
            self._open[transaction_id] = Commit(0, transaction_id, None, [], [], begin_place=place)
            return
        commit = self._open.pop(transaction_id)
        if any(transaction_id == seen.transaction_id for seen in reversed(self.commits)):
            return
        commit.position, commit.end_place = int(position), place
        commit.changes = self._incremental + commit.changes
        self._incremental = []
        self.commits.append(commit)

    def _see_change(self, place: int, message: Message, value: Row) -> None:
        source, operation = value["source"], value["op"]
        table = (source["schema"], source["table"])
        keyless = message["key"] is None and operation != "t"
        self._tables[table] = keyless or self._tables.get(table, False)
        key = None if message["key"] is None else freeze(parse(message["key"]))
        change = Change(table, operation, key, value.get("before"), value.get("after"))
        if operation != "r":
            commit = self._open[value["transaction"]["id"].split(":")[0]]
            if not commit.changes:
                commit.predecessor = json.loads(source["sequence"])[0]
            commit.changes.append(change)
            commit.change_places.append(place)
        elif source["snapshot"] == "incremental":
            self._incremental.append(change)
        else:
            self._snapshot.append(change)
            self.read_markers[place] = (table, source["snapshot"])


@dataclass(frozen=True, slots=True)
class ExpectedCut:
    """What an arrival allows to publish."""

    commit_number: int
    """0 when nothing can be published."""
    transaction_id: str | None
    commit_position: int | None
    known_commit_number: int
    """The same for one who knows which initial reads exist; the arrival itself may not show it."""
    first_repeat_number: int | None
    """The first commit up to the cut whose BEGIN arrived twice (S13 asks more of those)."""

    @property
    def is_held_by_snapshot(self) -> bool:
        """Every initial read arrived, but the arrival cannot show that it did."""
        return self.commit_number < self.known_commit_number

    @property
    def is_unsound(self) -> bool:
        """The arrival looks as if every initial read had arrived, but some did not."""
        return self.commit_number > self.known_commit_number


def expected_cut(
    history: History, places: Sequence[int], messages: Sequence[Message]
) -> ExpectedCut:
    """The longest proven prefix of an arrival.

    Args:
        history: the capture that the arrival was made from.
        places: for each message of the arrival its place in the capture.
        messages: the arrival, in any order, source renamed or not.
    """
    arrived = set(places)
    reached = _proven_transactions(history, arrived, places, messages)
    proven = known = reached
    if history.has_snapshot:
        proven = reached + 1 if snapshot_is_proven(history.read_markers, places, messages) else 0
        known = reached + 1 if history.read_markers.keys() <= arrived else 0
    begin_count = Counter(places)
    repeats = (c.number for c in history.commits[:proven] if begin_count[c.begin_place] > 1)
    last = history.commits[proven - 1] if proven else None
    return ExpectedCut(
        commit_number=proven,
        transaction_id=last.transaction_id if last else None,
        commit_position=last.position if last else None,
        known_commit_number=known,
        first_repeat_number=next(repeats, None),
    )


def _proven_transactions(
    history: History, arrived: set[int], places: Sequence[int], messages: Sequence[Message]
) -> int:
    """How many transactions from the first one are complete, each linked to the one before it."""
    end_places = {commit.end_place for commit in history.transactions}
    end_offset: dict[int, int] = {}
    partitions = set()
    for place, message in zip(places, messages, strict=True):
        if place in end_places:
            partitions.add((message["topic"], message["partition"]))
            end_offset[place] = min(message["offset"], end_offset.get(place, message["offset"]))
    offsets = {m["offset"] for m in messages if (m["topic"], m["partition"]) in partitions}
    previous: Commit | None = None
    for count, commit in enumerate(history.transactions):
        if commit.end_place not in arrived or not arrived.issuperset(commit.change_places):
            return count
        if commit.changes:
            position = str(previous.position) if previous else None
            linked = commit.predecessor == position
        else:
            between = range(
                end_offset[previous.end_place] if previous else 0, end_offset[commit.end_place]
            )
            linked = len(partitions) == 1 and offsets.issuperset(between)
        if not linked:
            return count
        previous = commit
    return len(history.transactions)


def snapshot_is_proven(
    read_markers: Mapping[int, tuple[Table, str]],
    places: Sequence[int],
    messages: Sequence[Message],
) -> bool:
    """Whether what arrived shows by itself that no initial read is missing.

    A partition that ends in a read may have more of them to come. A partition behind the highest
    seen, or a table not seen at all, leaves no trace: `ExpectedCut.is_unsound`.
    """
    offsets: dict[tuple[str, int], set[int]] = defaultdict(set)
    last_read: dict[tuple[str, int], int] = {}
    tables, ended, markers = set(), set(), set()
    for place, message in zip(places, messages, strict=True):
        partition = (message["topic"], message["partition"])
        offsets[partition].add(message["offset"])
        if place in read_markers:
            table, marker = read_markers[place]
            tables.add(table)
            markers.add(marker)
            if marker in ("last_in_data_collection", "last"):
                ended.add(table)
            last_read[partition] = max(message["offset"], last_read.get(partition, -1))
    if "last" not in markers or tables != ended:
        return False
    read_topics = {topic for topic, _ in last_read}
    for topic in read_topics:
        seen = {number for other, number in offsets if other == topic}
        if len(seen) != max(seen) + 1:
            return False
    whole = all(
        len(numbers) == max(numbers) + 1
        for (topic, _), numbers in offsets.items()
        if topic in read_topics
    )
    return whole and all(max(offsets[at]) > last for at, last in last_read.items())


def rows_of(state: State) -> dict[Table, list[Row]]:
    """The rows of each table, equal rows repeated; without a key, nested values stay frozen."""
    return {
        table: [dict(row) for row in rows.elements()]
        if isinstance(rows, Counter)
        else list(rows.values())
        for table, rows in state.items()
    }


def _copy(state: State) -> State:
    return {table: rows.copy() for table, rows in state.items()}


def _apply(state: State, commits: Iterable[Commit]) -> None:
    for commit in commits:
        for change in commit.changes:
            change.apply(state)
