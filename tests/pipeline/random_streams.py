"""Random sources of every connector, what each held after each commit, and how they land.

The emitters of `streams` write the log. What a source held is noted here as it writes, so it is
the truth that tables are compared with. Nothing here knows what can be proven.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from oracle import Message, Row
from streams import (
    Change,
    Db2,
    Generic,
    LogSequence,
    Mariadb,
    Mysql,
    Oracle,
    Postgresql,
    Sqlserver,
    Stream,
    create,
    delete,
    move,
    truncate,
    update,
)

KINDS = (Postgresql, Sqlserver, Db2, Oracle, Mysql, Mariadb, Generic)
SNAPSHOTTING = (LogSequence, Oracle, Mysql, Generic)
TABLES = ("orders", "items", "people")
BAG = "bag"
"""A table without a key."""
IDS = range(1, 7)
TRANSACTIONS = "transaction"
GARBAGE = '{"cut off'

State = dict[str, list[Row]]
"""The rows of each table that has some, in one order."""


def state_of(rows: dict[str, list[Row]]) -> State:
    return {
        table: sorted(some, key=lambda row: json.dumps(row, sort_keys=True))
        for table, some in rows.items()
        if some
    }


def advance(
    name: str, states: Sequence[State], shown: State, reached: dict[str, int]
) -> Iterator[str]:
    """Move `reached` on to the first state that is shown, or say why it is none to be shown."""
    places = [place for place, state in enumerate(states) if state == shown]
    later = [place for place in places if place >= reached[name]]
    if not places:
        yield f"shows a state that never was, after {reached[name]}: {json.dumps(shown)}"
    elif not later:
        yield f"goes back from {reached[name]} to {places[-1]}"
    else:
        reached[name] = later[0]


@dataclass(slots=True)
class Step:
    """What a source held after a commit, and what brought it there."""

    state: State
    transaction_id: str | None = None
    """As tables name it; none where a snapshot alone tells."""
    changes: Sequence[Change] = ()
    places: Sequence[int] = ()
    """Where each change stands in it: its LSN in PostgreSQL, which not all else tells."""
    sent_count: int | None = None
    """How many of its changes were sent, where the stream broke off in it."""


class Writer:
    """Writes a random log, and notes the state after each commit."""

    def __init__(
        self, rng: Random, stream: Stream, *, has_bag: bool, rotates_keys: bool = True
    ) -> None:
        self.rng = rng
        self.stream = stream
        self.has_bag = has_bag
        self.rotates_keys = rotates_keys and isinstance(stream, Postgresql)
        self.rows: dict[str, list[Row]] = defaultdict(list)
        self.steps = [Step({})]
        self.starts: list[int] = []
        """Where each transaction begins among the messages."""
        self.ends: list[int] = [0]
        """How many messages there are after each step."""
        self.value = 0

    def commit(self, changes: Sequence[Change]) -> None:
        self.starts.append(len(self.stream.landings[0]))
        if isinstance(self.stream, Postgresql):
            self.commit_to_wal(self.stream, changes)
            return
        self.stream.commit(*changes)  # type: ignore[attr-defined] # every kind has it
        begins = [one for one in self.stream.landings[0] if '"BEGIN"' in str(one["value"])]
        transaction_id = json.loads(begins[-1]["value"])["id"] if begins else None
        self.note(transaction_id, changes, range(1, len(changes) + 1))

    def commit_to_wal(
        self, stream: Postgresql, changes: Sequence[Change], sent_count: int | None = None
    ) -> None:
        """Commit in PostgreSQL; with a count the stream breaks off behind so many changes."""
        places = [stream.lsn + 8 * at for at in range(1, len(changes) + 1)]
        lost = () if sent_count is None else range(sent_count, len(changes))
        stream.commit(*changes, lost=lost, has_end=sent_count is None)
        self.note(str(stream.transaction), changes, places, sent_count)

    def note(self, *what: Any) -> None:
        """The state after a step, and what else `Step` has."""
        self.steps.append(Step(state_of(self.rows), *what))
        self.ends.append(len(self.stream.landings[0]))

    def new(self, key: int) -> Row:
        self.value += 1
        return {"id": key, "v": f"v{self.value}"}

    def apply(self, change: Change) -> Change:
        rows = self.rows[change.table]
        if change.op == "t":
            rows.clear()
        elif change.table == BAG and change.before:
            rows.remove(change.before)
        elif change.op == "d":
            # Of two rows with one key, inside a statement, the older.
            rows.remove(next(row for row in rows if row["id"] == change.key["id"]))
        elif change.op == "u":
            rows[:] = [row for row in rows if row["id"] != change.key["id"]]
        if change.after:
            rows.append(change.after)
        return change

    def changes(self) -> list[Change]:
        """Of one transaction. Logs of change tables hold none without changes, nor does anything
        tell of one where no markers are sent."""
        changes: list[Change] = []
        shows_all = self.stream.has_metadata and not isinstance(self.stream, LogSequence)
        least = 0 if shows_all else 1
        count = max(least, self.rng.choice((0, 1, 1, 2, 3, 4)))
        while count > 0 or len(changes) < least:
            changes += map(self.apply, self.action(changes))
            count -= 1
        return changes

    def action(self, before: Sequence[Change]) -> list[Change]:
        """One statement. Between positions of two kinds of log a delete and the insert behind it
        are one key change."""
        rng = self.rng
        may_create = not (isinstance(self.stream, LogSequence) and before and before[-1].op == "d")
        if self.has_bag and rng.random() < 0.15:
            bag = self.rows[BAG]
            if bag and rng.random() < 0.5:
                return [delete(BAG, **rng.choice(bag))]
            return [create(BAG, a=rng.randint(1, 2))] if may_create else []
        table = rng.choice(TABLES)
        rows = self.rows[table]
        free = [key for key in IDS if all(row["id"] != key for row in rows)]
        kind = rng.random()
        if isinstance(self.stream, Postgresql) and kind < 0.04:
            return [truncate(table)]
        if free and may_create and (not rows or kind < 0.4):
            return [create(table, **self.new(rng.choice(free)))]
        if not rows:
            return []
        if self.rotates_keys and len(rows) > 1 and kind < 0.55:
            return self.rotation(table)
        row = rng.choice(rows)
        if kind < 0.75 or not free:
            return [update(table, **self.new(row["id"]))]
        if kind < 0.9:
            return [delete(table, **row)]
        return [delete(table, **row), create(table, **{**row, "id": rng.choice(free)})]

    def rotation(self, table: str) -> list[Change]:
        """Rows take on each other's keys in one statement, which checks keys at its end."""
        rows = self.rng.sample(self.rows[table], self.rng.randint(2, len(self.rows[table])))
        others = [*rows[1:], rows[0]]
        return [
            change
            for row, other in zip(rows, others, strict=True)
            for change in move(table, other["id"], **row)
        ]

    def lose_slot(self) -> None:
        """The stream breaks off in a transaction, and goes on anew behind what nobody sent."""
        assert isinstance(self.stream, Postgresql)
        changes = self.changes()
        while not changes:
            changes = self.changes()
        sent_count = self.rng.randint(1, len(changes))
        end = self.stream.end
        self.commit_to_wal(self.stream, changes, sent_count)
        for _ in range(self.rng.randint(0, 2)):
            self.changes()
        self.stream.end = end if self.rng.random() < 0.5 else None

    def write(
        self,
        partition_count: int,
        *,
        begins_read: bool,
        reads_again: bool,
        loses_slot: bool = False,
    ) -> int:
        """The whole log; where its last transaction begins."""
        if begins_read:
            self.read(is_first=True)
        if begins_read or reads_again or not self.stream.has_metadata:
            self.touch(partition_count)
        commit_count = self.rng.randint(2, 7)
        lost_at = self.rng.randrange(commit_count) if loses_slot else None
        for at in range(commit_count):
            if at == lost_at:
                self.lose_slot()
            self.commit(self.changes())
            if reads_again and (at == commit_count // 2 or self.rng.random() < 0.1):
                self.read(is_first=False)
        self.touch(partition_count)
        behind = len(self.stream.landings[0])
        self.touch(partition_count)
        return behind

    def touch(self, partition_count: int) -> None:
        """Change something in every partition of every table."""
        changes = []
        for table in TABLES:
            held = {row["id"] for row in self.rows[table]}
            for key in range(1, partition_count + 1):
                write = update if key in held else create
                changes.append(self.apply(write(table, **self.new(key))))
        if self.has_bag:
            changes.append(self.apply(create(BAG, a=1)))
        self.commit(changes)

    def read(self, *, is_first: bool) -> None:
        """A snapshot of all tables, after what the connector has not seen.

        No table is empty: rows of one of which nothing is read are kept (README: settings,
        `repeated_snapshot_missing_table`).
        """
        stream = self.stream
        assert isinstance(stream, SNAPSHOTTING)
        for _ in range(self.rng.randint(0, 2)):
            self.changes()
            if not is_first:
                self.note()
        for table in TABLES:
            if not self.rows[table]:
                self.apply(create(table, **self.new(self.rng.choice(IDS))))
        reads = [create(table, **row) for table in TABLES for row in self.rows[table]]
        if self.rng.random() < 0.3:
            stream.read(*reads[: self.rng.randint(1, len(reads) - 1)], is_complete=False)
        stream.read(*reads)
        self.note()


@dataclass(slots=True)
class Source:
    """One source: what it held, and what lands of it when."""

    prefix: str
    steps: list[Step]
    """Each commit, also of those that a snapshot alone tells."""
    parts: list[list[Message]]
    is_whole: bool
    """Whether nothing is lost."""
    is_behind: bool
    """Whether its last transaction needs the next one."""
    quirks: list[str] = field(default_factory=list)
    """What was done to it."""

    @property
    def states(self) -> list[State]:
        return [step.state for step in self.steps]

    @property
    def name(self) -> str:
        """As tables name it."""
        return f"{self.prefix}.testDB" if self.prefix.endswith("sqlserver") else self.prefix


def counted_messages(prefix: str, landed: Sequence[Message]) -> int:
    """How many messages the source of a prefix has, of those that have landed.

    BEGIN and END are of no source before a change tells whose they are (decision 10).
    """
    markers = sum(one["topic"] == f"{prefix}.transaction" for one in landed)
    changes = (one["value"] for one in landed if one["topic"] != f"{prefix}.transaction")
    has_change = any(value not in (None, GARBAGE) for value in changes)
    return len(landed) if has_change else len(landed) - markers


def restarted(rng: Random, log: list[Message], end: int) -> list[Message]:
    """The log of a connector that was killed somewhere and sent its last transactions again.

    Args:
        end: before which it was killed.
    """
    stop = rng.randint(1, end)
    begins = [at for at in range(stop) if '"BEGIN"' in str(log[at]["value"])]
    reads = [at for at in range(stop) if '"op": "r"' in str(log[at]["value"])]
    begins = [at for at in begins if at > max(reads, default=-1)][-3:]
    return log[:stop] + log[rng.choice(begins) :] if begins else log


def delivered(log: Iterable[Message], rng: Random, partition_count: int) -> list[Message]:
    """The log with partitions by key, and offsets."""
    offsets: Counter[tuple[str, int]] = Counter()
    sent = []
    for message in log:
        partition = 0
        if not message["topic"].endswith((f".{TRANSACTIONS}", f".{BAG}")):
            key = json.loads(message["key"] or "{}").get("id", rng.randrange(partition_count))
            partition = key % partition_count
        place = message["topic"], partition
        sent.append({**message, "partition": partition, "offset": offsets[place]})
        offsets[place] += 1
    return sent


def bounds_of(
    rng: Random, places: Sequence[int], moments: Sequence[float], jitter: float
) -> list[int]:
    """Where the landings of one partition end: near common moments, or anywhere."""
    if not jitter:
        return sorted(rng.randint(0, len(places)) for _ in moments)
    return sorted(sum(at < moment + rng.gauss(0, jitter) for at in places) for moment in moments)


def landings_of(
    rng: Random,
    log: Sequence[Message],
    part_count: int,
    *,
    shows_partitions: bool,
    names_tables: bool,
) -> tuple[list[int], set[int]]:
    """The landing of each message, each partition cut by itself, and what must not be missing.

    Partitions of which nothing landed are unknown (docs/limits.md), so of a source with snapshots
    or without markers something of each is in the first landing; or what names the tables: END of
    the first transaction, which changes all, and a read.
    """
    partitions: dict[tuple[str, int], list[int]] = defaultdict(list)
    for at, message in enumerate(log):
        partitions[message["topic"], message["partition"]].append(at)
    moments = sorted(rng.uniform(0, len(log)) for _ in range(part_count - 1))
    jitter = rng.choice((0.0, 0.05, 0.3)) * len(log)
    late_topic = rng.choice([topic for topic, _ in partitions]) if rng.random() < 0.3 else None
    ends = [at for at, message in enumerate(log) if '"END"' in str(message["value"])]
    known: set[int] = set()
    landings = [0] * len(log)
    for (topic, _), places in partitions.items():
        bounds = bounds_of(rng, places, moments, jitter)
        if topic == late_topic:
            empty = rng.randint(1, part_count - 1)
            bounds = [0] * empty + bounds[empty:]
        least = 1 if shows_partitions else 0
        if names_tables and topic.endswith(f".{TRANSACTIONS}"):
            least = places.index(ends[0]) + 1
        elif names_tables and not topic.endswith(".orders"):
            least = 0
        known.update(places[:least])
        for order, at in enumerate(places):
            landings[at] = sum(order >= max(least, bound) for bound in bounds)
    return landings, known


def spoil(
    rng: Random, log: Sequence[Message], hits: list[int], parts: Sequence[list[Message]]
) -> str:
    """Lose a message, let it land last, or let garbage stand in its place until it lands whole.

    Garbage and the message land apart; `test_faults` has both in one landing.
    """
    if rng.random() < 0.3:
        hits = [at for at in hits if '"END"' in str(log[at]["value"])] or hits
    hit = log[rng.choice(hits)]
    landing = next(number for number, part in enumerate(parts) if hit in part)
    for part in parts:
        part[:] = [message for message in part if message is not hit]
    fault = rng.choice(("lost", "last", "garbage"))
    if fault == "last":
        parts[-1].append(hit)
    elif fault == "garbage":
        early = min(landing, len(parts) - 2)
        parts[early].append({**hit, "value": GARBAGE})
        parts[rng.randint(early + 1, len(parts) - 1)].append(hit)
    return f"{fault} {hit['topic']} {hit['partition']} {hit['offset']}"


def draw(rng: Random, number: int, part_count: int, *, is_decided: bool = False) -> Source:
    """A random source and its landings.

    Args:
        rng: same state, same source.
        number: which connector, and the name.
        part_count: how many landings.
        is_decided: whether operators decide: then slots are lost, and no row depends on one that
            may not be there, as of a rotation or in a table without a key. Some of PostgreSQL have
            no transaction metadata.
    """
    kind = KINDS[number % len(KINDS)]
    decided = "decided_" if is_decided else ""
    stream = kind(f"r{number:04d}_{decided}{kind.connector}")
    can_read = isinstance(stream, SNAPSHOTTING)
    begins_read = can_read and rng.random() < 0.5
    reads_again = can_read and rng.random() < 0.4
    has_reads = begins_read or reads_again
    loses_slot = is_decided and kind is Postgresql and rng.random() < 0.6
    if isinstance(stream, Postgresql) and is_decided and rng.random() < 0.4:
        stream.has_metadata = False
    # Rows of a keyless table that is read may stand twice (docs/limits.md).
    has_bag = not has_reads and rng.random() < 0.4 and not is_decided
    writer = Writer(rng, stream, has_bag=has_bag, rotates_keys=not is_decided)
    partition_count = rng.choice((1, 1, 2))
    # A transaction that was begun twice is proven by a later change in every partition.
    behind = writer.write(
        partition_count, begins_read=begins_read, reads_again=reads_again, loses_slot=loses_slot
    )

    quirks = []
    log = stream.landings[0]
    if loses_slot:
        quirks.append("slot lost")
    elif rng.random() < 0.35:
        quirks.append("restart")
        log = restarted(rng, log, behind)
    elif rng.random() < 0.2:
        at = rng.randrange(behind)
        if '"op": "r"' not in str(log[at]["value"]):
            quirks.append("sent twice")
            log = [*log[: at + 1], log[at], *log[at + 1 :]]
    log = delivered(log, rng, partition_count)

    names_tables = has_reads and partition_count == 1 and rng.random() < 0.6
    landings, known = landings_of(
        rng,
        log,
        part_count,
        shows_partitions=has_reads or not stream.has_metadata,
        names_tables=names_tables,
    )
    if loses_slot:
        known |= show_break(writer.steps, log, landings)
    # What begins after a snapshot looks like a stream that began with empty tables (README).
    elif not has_reads and stream.has_metadata and rng.random() < 0.2:
        mixed = rng.sample(range(part_count), part_count)
        landings = [mixed[part] for part in landings]
        quirks.append(f"order {mixed}")
    parts: list[list[Message]] = [[] for _ in range(part_count)]
    for message, landing in zip(log, landings, strict=True):
        parts[landing].append(message)
        if rng.random() < 0.03:
            parts[rng.randint(landing, part_count - 1)].append(message)
    # What nothing counts waits for good behind what is lost.
    if stream.has_metadata and rng.random() < 0.4:
        hits = [at for at in range(len(log)) if at not in known]
        quirks.append(spoil(rng, log, hits, parts))
    for part in parts:
        rng.shuffle(part)
    is_whole = not any(quirk.startswith("lost") for quirk in quirks)
    is_behind = kind is Db2 or not stream.has_metadata
    return Source(stream.prefix, writer.steps, parts, is_whole, is_behind, quirks)


def show_break(steps: Sequence[Step], log: Sequence[Message], landings: list[int]) -> set[int]:
    """Let nothing of a new stream land before what shows where the old one broke off.

    Returns:
        BEGIN and a change of the transaction in which it did (docs/limits.md).
    """
    torn = next(step.transaction_id for step in steps if step.sent_count is not None)
    changes = [at for at, one in enumerate(log) if f'"txId": {torn},' in str(one["value"])]
    begins = [at for at, one in enumerate(log) if f'"BEGIN", "id": "{torn}:' in str(one["value"])]
    shown = {*begins, min(changes, key=landings.__getitem__)}
    first = max(landings[at] for at in shown)
    for at in range(changes[-1] + 1, len(log)):
        landings[at] = max(landings[at], first)
    return shown
