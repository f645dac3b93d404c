"""What a captured source database held after each of its commits, by replay in emission order.

Independent of the project's models and package: it knows the whole capture, while the pipeline
knows only what landed.
"""

import base64
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
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
WINDOW_CLOSE = "snapshot-window-close"

PLACEHOLDER = "__debezium_unavailable_value"
NOT_SENT = (
    PLACEHOLDER,
    [PLACEHOLDER],
    list(PLACEHOLDER.encode()),
    base64.b64encode(PLACEHOLDER.encode()).decode(),
    f'{{"{PLACEHOLDER}":"{PLACEHOLDER}"}}',
    ["b68a35a7-17ad-35b3-af2a-ae46edb4545a"],
)
"""What stands for a value that did not change, by type."""


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
    new_key: Any = None
    """Frozen key under which the row of this delete goes on."""
    old_key: Any = None
    """Frozen key under which the row of this create was before."""

    def apply(self, state: State) -> None:
        rows = state[self.table]
        if self.operation == "t":
            rows.clear()
        elif isinstance(rows, Counter):
            self._apply_to_bag(rows)
        elif self.after is None:
            gone = rows.pop(self.key, None)
            if gone is not None and self.new_key is not None:
                rows["moving", self.key] = gone
        else:
            moved = rows.pop(("moving", self.old_key), {})
            rows[self.key] = _filled(self.after, moved or rows.get(self.key, {}))

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


def _filled(row: Row, before: Row) -> Row:
    """A row with what was not sent as it was before, where that is known."""
    return {
        name: before.get(name, value) if value in NOT_SENT else value for name, value in row.items()
    }


@dataclass(slots=True)
class Commit:
    """One commit of the source. Places are indexes into the capture."""

    number: int
    transaction_id: str | None
    """None for a snapshot that is not incremental."""
    position: int | None
    """LSN of END; None for a snapshot."""
    changes: list[Change]
    change_places: list[int]
    begin_places: list[int] = field(default_factory=list)
    """A restart sends BEGIN and END again."""
    end_places: list[int] = field(default_factory=list)
    predecessor: str | None = None
    """What the first change says about the END before it (`source.sequence[0]`)."""

    @property
    def closes_window(self) -> bool:
        return any((one.after or {}).get("type") == WINDOW_CLOSE for one in self.changes)


class History:
    """Every commit of one captured source, in commit order, numbered from 1."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.commits: list[Commit] = []
        self.read_markers: dict[int, tuple[Table, str]] = {}
        """Place of each initial read: its table and snapshot marker."""
        self.named_positions: dict[int, int | None] = {}
        """Place of each change and read: the END that it says came before (`sequence[0]`)."""
        self.window_reads: set[int] = set()
        """Places of the reads of incremental snapshots."""
        self._tables: dict[Table, bool] = {}
        self._snapshot: list[Change] = []
        self._open: dict[str, Commit] = {}
        self._incremental: list[Change] = []
        self._blocking: list[Change] = []
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
            begun = self._open.get(transaction_id)
            places = [*(begun.begin_places if begun else ()), place]
            self._open[transaction_id] = Commit(0, transaction_id, None, [], [], places)
            return
        commit = self._open.pop(transaction_id)
        commit.end_places.append(place)
        for seen in reversed(self.commits):
            if seen.transaction_id == transaction_id:
                seen.begin_places += commit.begin_places
                seen.end_places += commit.end_places
                return
        if self._blocking:
            # Read while the stream stood still: a commit of its own between two transactions (S7).
            self.commits.append(Commit(0, None, None, self._blocking, []))
            self._blocking = []
        commit.position = int(position)
        commit.changes = self._incremental + commit.changes
        self._incremental = []
        self.commits.append(commit)

    def _see_change(self, place: int, message: Message, value: Row) -> None:
        source, operation = value["source"], value["op"]
        table = (source["schema"], source["table"])
        keyless = message["key"] is None and operation != "t"
        self._tables[table] = keyless or self._tables.get(table, False)
        key = None if message["key"] is None else freeze(parse(message["key"]))
        headers = {header["key"]: header["value"] for header in message["headers"] or ()}
        new_key, old_key = (
            freeze(parse(headers[name])) if name in headers else None
            for name in ("__debezium.newkey", "__debezium.oldkey")
        )
        before, after = value.get("before"), value.get("after")
        change = Change(table, operation, key, before, after, new_key, old_key)
        named = json.loads(source["sequence"])[0]
        is_initial = operation == "r" and source["snapshot"] != "incremental"
        self.named_positions[place] = int(named) if named and not is_initial else None
        if operation != "r":
            commit = self._open[value["transaction"]["id"].split(":")[0]]
            if not commit.changes:
                commit.predecessor = named
            commit.changes.append(change)
            commit.change_places.append(place)
        elif not is_initial:
            self._incremental.append(change)
            self.window_reads.add(place)
        elif self.commits:
            self._blocking.append(change)
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
    last = history.commits[proven - 1] if proven else None
    return ExpectedCut(
        commit_number=proven,
        transaction_id=last.transaction_id if last else None,
        commit_position=last.position if last else None,
        known_commit_number=known,
    )


def _proven_transactions(
    history: History, arrived: set[int], places: Sequence[int], messages: Sequence[Message]
) -> int:
    """How many transactions from the first one are complete, each linked to the one before it."""
    ends = {place for commit in history.transactions for place in commit.end_places}
    end_offset: dict[int, int] = {}
    partitions = set()
    for place, message in zip(places, messages, strict=True):
        if place in ends:
            partitions.add((message["topic"], message["partition"]))
            end_offset[place] = min(message["offset"], end_offset.get(place, message["offset"]))
    offsets = {m["offset"] for m in messages if (m["topic"], m["partition"]) in partitions}
    offsets_of: dict[int, list[int]] = defaultdict(list)
    for place, message in zip(places, messages, strict=True):
        offsets_of[place].append(message["offset"])
    past = _past(history, places, messages)
    past_windows = _past(history, places, messages, history.window_reads)
    previous: Commit | None = None
    for count, commit in enumerate(history.transactions):
        if not arrived.intersection(commit.end_places) or not arrived.issuperset(
            commit.change_places
        ):
            return count
        begins = [at for place in commit.begin_places for at in offsets_of[place]]
        ended = [at for place in commit.end_places for at in offsets_of[place]]
        if is_begun_again(begins, ended) and past < (commit.position or 0):
            return count
        # END does not count the reads of a window that closes in the transaction (S6).
        if commit.closes_window and past_windows < (commit.position or 0):
            return count
        if commit.changes:
            position = str(previous.position) if previous else None
            linked = commit.predecessor == position
        else:
            between = range(
                _first(end_offset, previous) if previous else 0, _first(end_offset, commit)
            )
            linked = len(partitions) == 1 and offsets.issuperset(between)
        if not linked:
            return count
        previous = commit
    return len(history.transactions)


def is_begun_again(begins: Iterable[int], ends: Iterable[int]) -> bool:
    """Whether a BEGIN follows another without an END between them: it may count anew (S13).

    Args:
        begins: offsets of all BEGINs of one transaction.
        ends: those of its ENDs.

    >>> is_begun_again([0, 9], [5]), is_begun_again([0, 5], [9])
    (False, True)
    """
    markers = sorted([(at, "BEGIN") for at in begins] + [(at, "END") for at in ends])
    return any(one == next_one == "BEGIN" for (_, one), (_, next_one) in pairwise(markers))


def _first(end_offset: Mapping[int, int], commit: Commit) -> int:
    return min(end_offset[place] for place in commit.end_places if place in end_offset)


def _past(
    history: History,
    places: Sequence[int],
    messages: Sequence[Message],
    holding: Collection[int] | None = None,
) -> int:
    """The last END that every partition with changes is past, as the changes themselves say.

    With `holding`, every partition of a topic with a message of these places; a number below them
    of which nothing arrived is one too.
    """
    furthest: dict[tuple[str, int], int] = {}
    held = set()
    known: dict[str, set[int]] = defaultdict(set)
    for place, message in zip(places, messages, strict=True):
        partition = (message["topic"], message["partition"])
        if place in history.named_positions:
            named = history.named_positions[place] or -1
            furthest[partition] = max(named, furthest.get(partition, -1))
        known[message["topic"]].add(message["partition"])
        if holding is not None and place in holding:
            held.add(message["topic"])
    if holding is None:
        return min(furthest.values(), default=-1)
    partitions = [(topic, at) for topic in held for at in range(max(known[topic]) + 1)]
    return min((furthest.get(partition, -1) for partition in partitions), default=-1)


def snapshot_is_proven(
    read_markers: Mapping[int, tuple[Table, str]],
    places: Sequence[int],
    messages: Sequence[Message],
) -> bool:
    """Whether what arrived shows by itself that no initial read is missing.

    A partition that ends in a read may have more of them to come, and so may a table that an END
    counts and of which nothing landed. A partition behind the highest seen, or a table that nothing
    names, leaves no trace: `ExpectedCut.is_unsound`.
    """
    if not _counted_tables(messages) <= {m["topic"].partition(".")[2] for m in messages}:
        return False
    offsets: dict[tuple[str, int], set[int]] = defaultdict(set)
    last_read: dict[tuple[str, int], int] = {}
    read_tables, ended = set(), set()
    has_last = False
    for place, message in zip(places, messages, strict=True):
        partition = (message["topic"], message["partition"])
        offsets[partition].add(message["offset"])
        if place in read_markers:
            table, marker = read_markers[place]
            read_tables.add(table)
            has_last |= marker == "last"
            if marker in ("last_in_data_collection", "last"):
                ended.add(table)
            last_read[partition] = max(message["offset"], last_read.get(partition, -1))
    if not has_last or read_tables != ended:
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


def _counted_tables(messages: Sequence[Message]) -> set[str]:
    """Names of the tables that ENDs count, as their topics end."""
    ends = (parse(m["value"]) for m in messages if m["topic"].endswith(".transaction"))
    return {
        counted["data_collection"]
        for end in ends
        for counted in end["data_collections"] or ()
        if counted["data_collection"].count(".") == 1
    }


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
