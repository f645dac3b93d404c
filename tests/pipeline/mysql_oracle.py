"""What a captured MySQL or MariaDB server held after each commit, and what an arrival proves.

Transactions are replayed in the order of END. A truncate has none, so it stands where the number of
its GTID says: behind the last END with a lower one; without GTIDs its place in the binary log says
so. Of one server, without failover, and of one file.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from oracle import (
    Change,
    ExpectedCut,
    Message,
    Row,
    State,
    Table,
    freeze,
    is_begun_again,
    parse,
    snapshot_is_proven,
)

LogPlace = tuple[int, int, int]
"""File, offset and row of the binary log."""


@dataclass(slots=True)
class MysqlCommit:
    """One commit. Places are indexes into the capture."""

    transaction_id: str | None
    """The GTID, or file and place of the binary log; None for the initial snapshot."""
    changes: list[Change] = field(default_factory=list)
    change_places: list[int] = field(default_factory=list)
    log_places: list[LogPlace] = field(default_factory=list)
    begin_place: int | None = None
    end_place: int | None = None
    """None for a truncate."""
    is_statement: bool = False
    """Whether it is DDL that drops tables."""
    has_window: bool = False
    """Whether a window of an incremental snapshot closes in it."""

    @property
    def number(self) -> int:
        """Of the GTID; without GTIDs the place."""
        assert self.transaction_id is not None
        return int(re.split("[:=-]", self.transaction_id)[-1])


class MysqlHistory:
    """Every commit of one captured server, in commit order; commit number 1 is the first."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.commits: list[MysqlCommit] = []
        self.read_markers: dict[int, tuple[Table, str]] = {}
        """Place of each initial read: its table and snapshot marker."""
        self.numbers: dict[int, int] = {}
        """Place of each END, truncate and statement of DDL: the number of its GTID."""
        self.log_places: dict[int, LogPlace] = {}
        """Place of each change: where it stands in the binary log."""
        self.window_reads: set[int] = set()
        """Places of the reads of incremental snapshots."""
        self._keyless: dict[Table, bool] = {}
        self._replay(messages)

    def last_commit(self, number: int) -> int:
        """The number of the last commit whose GTID has no greater number."""
        return max(
            at for at, one in enumerate(self.commits, start=1) if not one.transaction_id
            or one.number <= number
        )  # fmt: skip

    def commit_of(self, transaction_id: str) -> int:
        """The number of the commit with this id."""
        return [commit.transaction_id for commit in self.commits].index(transaction_id) + 1

    def state(self, commit_number: int) -> State:
        """All tables after a commit; before everything for 0."""
        state: State = {
            table: Counter() if keyless else {} for table, keyless in self._keyless.items()
        }
        for commit in self.commits[:commit_number]:
            for change in commit.changes:
                change.apply(state)
        return state

    def _replay(self, messages: Sequence[Message]) -> None:
        snapshot = MysqlCommit(None)
        window: list[Change] = []
        truncates: list[MysqlCommit] = []
        opened = MysqlCommit(None)
        for place, message in enumerate(messages):
            value = parse(message["value"] or "{}")
            if value.get("status") == "BEGIN":
                opened = MysqlCommit(value["id"], window, begin_place=place)
                window = opened.changes
            elif value.get("status") == "END":
                assert opened.transaction_id == value["id"]
                opened.end_place = place
                self.commits.append(opened)
                self._number(place, opened)
                window = []
            elif "ddl" in value and value["source"]["snapshot"] != "true":
                statement = self._statement(place, value)
                if value["source"]["gtid"] or statement.changes:
                    self._number(place, statement)
                truncates += [statement] if statement.changes else []
            elif "op" in value:
                source = value["source"]
                change = self._change(place, message, value)
                if source["snapshot"] == "incremental":
                    self.window_reads.add(place)
                    window.append(change)
                elif value["op"] == "r":
                    snapshot.changes.append(change)
                    snapshot.change_places.append(place)
                    self.read_markers[place] = (change.table, source["snapshot"])
                elif value["op"] == "t":
                    log_places = [self.log_places[place]]
                    truncate_id = source["gtid"] or f"file={source['file']},pos={source['pos']}"
                    truncates.append(MysqlCommit(truncate_id, [change], [place], log_places))
                    self._number(place, truncates[-1])
                else:
                    assert opened.transaction_id == value["transaction"]["id"]
                    opened.changes.append(change)
                    opened.change_places.append(place)
                    opened.log_places.append(self.log_places[place])
                    opened.has_window |= closes_window(change)
        for truncate in truncates:
            before = [at for at, one in enumerate(self.commits) if one.number < truncate.number]
            self.commits.insert(before[-1] + 1 if before else 0, truncate)
        if snapshot.changes:
            self.commits.insert(0, snapshot)

    def _statement(self, place: int, value: Row) -> MysqlCommit:
        """A statement of DDL. It is a commit if it drops a table of which rows have been sent."""
        source = value["source"]
        transaction_id = source["gtid"] or f"file={source['file']},pos={source['pos']}"
        commit = MysqlCommit(transaction_id, is_statement=True)
        for one in value["tableChanges"]:
            table = tuple(part.strip('"') for part in one["id"].split("."))
            if one["type"] == "DROP" and table in self._keyless:
                commit.changes.append(Change(table, "t", None, None, None))
        if commit.changes:
            file = int(source["file"].rpartition(".")[2])
            commit.change_places = [place]
            commit.log_places = [(file, source["pos"], 0)]
        return commit

    def _number(self, place: int, commit: MysqlCommit) -> None:
        # Places in a file leave gaps of their own.
        if commit.transaction_id and not commit.transaction_id.startswith("file="):
            self.numbers[place] = commit.number

    def _change(self, place: int, message: Message, value: Row) -> Change:
        source = value["source"]
        table = (source["db"], source["table"])
        is_keyless = message["key"] is None and value["op"] != "t"
        self._keyless[table] = is_keyless or self._keyless.get(table, False)
        file = int(source["file"].rpartition(".")[2])
        self.log_places[place] = (file, source["pos"], source["row"])
        key = None if message["key"] is None else freeze(parse(message["key"]))
        return Change(table, value["op"], key, value["before"], value["after"])


def closes_window(change: Change) -> bool:
    """Whether the change is the signal row that closes a window of an incremental snapshot."""
    return (change.after or {}).get("type") == "snapshot-window-close"


class Arrived:
    """What an arrival holds, and what that proves."""

    def __init__(
        self, history: MysqlHistory, places: Sequence[int], messages: Sequence[Message]
    ) -> None:
        self.history = history
        self.copies = Counter(places)
        self.offsets: dict[int, list[int]] = defaultdict(list)
        self.numbers = {number for at, number in history.numbers.items() if self.copies[at]}
        self.furthest: dict[tuple[str, int], LogPlace] = {}
        """Of each partition with changes how far in the binary log it has come."""
        self.furthest_of_windows: dict[tuple[str, int], LogPlace] = {}
        """The same of partitions with reads of incremental snapshots."""
        self.marker_offsets: set[int] = set()
        self.end_offset: dict[int, int] = {}
        window_partitions = set()
        for place, message in zip(places, messages, strict=True):
            self.offsets[place].append(message["offset"])
            partition = (message["topic"], message["partition"])
            if place in history.log_places:
                at = history.log_places[place]
                self.furthest[partition] = max(at, self.furthest.get(partition, at))
            if place in history.window_reads:
                window_partitions.add(partition)
            if message["topic"].endswith(".transaction"):
                offset = message["offset"]
                self.marker_offsets.add(offset)
                self.end_offset[place] = min(offset, self.end_offset.get(place, offset))
        self.furthest_of_windows = {at: self.furthest[at] for at in window_partitions}

    def proven_count(self) -> int:
        """How many transactions and truncates from the first one are proven."""
        last_offset, last_number = -1, None
        streamed = [one for one in self.history.commits if one.transaction_id is not None]
        for count, commit in enumerate(streamed):
            if not (
                all(self.copies[place] for place in commit.change_places)
                and self._is_linked(commit, streamed[count:], last_offset, last_number)
                and self._is_accounted_for(commit, streamed[count:], last_number)
                and self._has_its_reads(commit)
                and self._is_sent_once(commit)
            ):
                return count
            if commit.end_place is not None:
                last_offset = self.end_offset[commit.end_place]
            last_number = commit.number
        return len(streamed)

    def _is_linked(
        self,
        commit: MysqlCommit,
        following: Iterable[MysqlCommit],
        last_offset: int,
        last_number: int | None,
    ) -> bool:
        """Whether no END can be missing between the commit before and this one.

        Of a truncate its number shows it, or the markers up to the next END that has arrived.
        """
        if (
            commit.end_place is None
            and last_number is not None
            and self.numbers.issuperset(range(last_number + 1, commit.number))
        ):
            return True
        ends = [one.end_place for one in following if one.end_place is not None]
        if commit.end_place is not None:
            ends = ends[:1]
        arrived = [self.end_offset[place] for place in ends if place in self.end_offset]
        return bool(arrived) and self.marker_offsets.issuperset(
            range(last_offset + 1, min(arrived))
        )

    def _is_accounted_for(
        self, commit: MysqlCommit, following: Iterable[MysqlCommit], last_number: int | None
    ) -> bool:
        """Whether no truncate can be missing before the commit.

        Every number is one that is known; or every partition has come to where the commit begins,
        which is where the next one begins if it changed nothing.
        """
        first = 1 if last_number is None else last_number + 1
        if self.numbers.issuperset(range(first, commit.number)):
            return True
        arrived = (
            min(place for at, place in zip(one.change_places, one.log_places, strict=True)
                if self.copies[at])
            for one in following if any(self.copies[at] for at in one.change_places)
        )  # fmt: skip
        begins = next(arrived, None)
        return begins is not None and min(self.furthest.values()) >= begins

    def _has_its_reads(self, commit: MysqlCommit) -> bool:
        """END does not count the reads of a window: their partitions must have gone on."""
        if not commit.has_window:
            return True
        low = min(self.furthest_of_windows.values(), default=(0, 0, 0))
        return low > max(commit.log_places)

    def _is_sent_once(self, commit: MysqlCommit) -> bool:
        """Of one that was begun again before its END, all that was sent must have landed."""
        if commit.begin_place is None or commit.end_place is None:
            return True
        if not is_begun_again(self.offsets[commit.begin_place], self.offsets[commit.end_place]):
            return True
        return bool(commit.log_places) and min(self.furthest.values()) > max(commit.log_places)


def expected_cut(
    history: MysqlHistory, places: Sequence[int], messages: Sequence[Message]
) -> ExpectedCut:
    """The longest proven prefix of an arrival.

    Args:
        history: the capture that the arrival was made from.
        places: for each message of the arrival its place in the capture.
        messages: the arrival, in any order, source renamed or not.
    """
    count = 0
    if snapshot_is_proven(history.read_markers, places, messages):
        count = 1 + Arrived(history, places, messages).proven_count()
    last = history.commits[count - 1] if count else None
    return ExpectedCut(count, last.transaction_id if last else None, None, count)
