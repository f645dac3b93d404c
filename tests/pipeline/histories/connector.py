"""What the connector sends of the source's log, and to which partition, restarts included."""

from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import Final
from zlib import crc32

from histories.cdl_form import ROWS
from histories.knobs import Knobs
from histories.mysql_log import is_truncate, transaction_id
from histories.plan import (
    LANDED_TABLES,
    MESSAGE,
    SIGNAL,
    TABLES,
    Entry,
    Epoch,
    Kind,
    Row,
    Transaction,
)
from histories.source import Segment, Source

GARBAGE: Final = (
    "{]",
    "",
    "[]",
    "{}",
    '"text"',
    '{"before":null,"after":{"id":1,"own',
    '{"op":"x","source":{"connector":"postgresql","name":"h","ts_ms":1}}',
    '{"op":"c","source":{"connector":"unknown","name":"h","ts_ms":1,"table":"account"}}',
)


OTHER_MARKERS: Final[tuple[Kind, ...]] = ("other_begin", "other_end")


def key_text(key: Row | None) -> str | None:
    """A key as the partitioner sees it."""
    return None if key is None else repr(tuple(key.values()))


class Connector:
    """One connector, from its first start to its last message."""

    def __init__(self, rng: Random, knobs: Knobs, source: Source) -> None:
        self.rng = rng
        self.knobs = knobs
        self.source = source
        self.epochs: list[Epoch] = []
        self.entries: list[Entry] = []
        self.resets_counters = rng.random() < knobs.reset_counters
        self.ends_last = knobs.last_end == 1 or rng.random() < knobs.last_end
        self.has_one_partition = knobs.one_partition > 0 and rng.random() < knobs.one_partition
        self.begins_again = knobs.begin_again > 0 and rng.random() < knobs.begin_again
        self._partition_count = {
            topic: rng.randint(1, rng.randint(1, knobs.partition_count))
            for topic in (*TABLES, SIGNAL, "message")
        }
        # BEGIN and END have other keys: with counters that restart, a BEGIN that lags would be
        # missed, and nothing else tells of the restart.
        self._partition_count["transaction"] = (
            1
            if self.resets_counters or rng.random() < 0.7
            else rng.randint(1, knobs.transaction_partition_count)
        )
        self._streamed: dict[str, set[int]] = defaultdict(set)
        """Partitions that hold a streamed message of the last epoch."""
        self._is_last_epoch = False
        self._windows_sent: set[int] = set()
        self._windows_drawn: set[int] = set()
        self.has_metadata = not knobs.lost_metadata or rng.random() >= knobs.lost_metadata
        self._last_commit: int | None = None
        """The end of the latest transaction that was sent whole."""

    def run(self, segments: Sequence[Segment]) -> None:
        """Start in each segment that says so, and stream it."""
        committed = streamed = 0
        starts = [
            segment for segment in segments if segment.is_streamed or segment.snapshot != "none"
        ]
        for at, segment in enumerate(segments):
            rest = segments[at + 1 :]
            following = committed + len(segment.tasks)
            self._is_last_epoch = self._is_last_epoch or segment is starts[-1]
            first = committed
            if segment.snapshot != "none":
                self._streamed.clear()
                self._read(committed, is_interrupted=segment.snapshot == "interrupted")
            elif segment.is_streamed:
                is_known = segment.anew == "lost_slot"
                self.epochs.append(Epoch(None, predecessor=self._last_commit if is_known else None))
                if segment.anew == "kept_slot":
                    first = streamed
            if segment.is_streamed:
                following_anew = next((one.anew for one in rest if one.is_streamed), "no")
                chain = [number for number in range(first, following) if self._is_seen(number)]
                self.epochs[-1].chain.extend(chain)
                streamed = self._stream(chain, ends_anywhere=following_anew != "no")
            committed = following
        if not self.has_metadata:
            self.entries = [entry for entry in self.entries if entry.topic != "transaction"]
        if self.rng.random() < self.knobs.garbage_event:
            self._spoil_one()

    # --- sending

    def _send(self, entry: Entry, key: str | None) -> None:
        count = self._partition_count.get(entry.topic, 1)
        if key is None and entry.kind == "tombstone" and self._stays():
            entry.partition = self.entries[-1].partition
        elif key is None:
            entry.partition = self.rng.randrange(count)
        else:
            entry.partition = crc32(f"{entry.topic} {key}".encode()) % count
        self.entries.append(entry)
        if entry.kind in ("event", "tombstone"):
            self._streamed[entry.topic].add(entry.partition)
        if entry.kind == "event" and key is None:
            return  # a tombstone may follow, and nothing comes between them
        if self.rng.random() < self.knobs.heartbeat:
            self.entries.append(Entry("heartbeat", len(self.epochs) - 1, "heartbeat"))
        if self.rng.random() < self.knobs.garbage:
            self._send_garbage()

    def _stays(self) -> bool:
        return self.rng.random() >= self.knobs.stray_tombstone

    def _send_garbage(self) -> None:
        """Garbage where it proves nothing wrong; where reads stand it may be a read."""
        topic = self.rng.choice((*TABLES, "transaction", "message"))
        if topic in TABLES and self.has_one_partition:
            self.entries.append(Entry("garbage", 0, ROWS, text=self.rng.choice(GARBAGE)))
            return
        partitions = set(range(self._partition_count[topic]))
        if topic in TABLES:
            if not self._is_last_epoch:
                return
            if len(self.epochs) > 1 or not self._garbage_in_reads():
                partitions = self._streamed[topic]
        if partitions:
            self.entries.append(
                Entry(
                    "garbage",
                    len(self.epochs) - 1,
                    topic,
                    text=self.rng.choice(GARBAGE),
                    partition=self.rng.choice(sorted(partitions)),
                )
            )

    def _garbage_in_reads(self) -> bool:
        return self.rng.random() < self.knobs.garbage_in_reads

    def _spoil_one(self) -> None:
        last = len(self.epochs) - 1
        kinds = {"event", "end", "window_read"}
        # With the only read gone, nothing tells of the snapshot.
        if (
            last == 0
            and self._garbage_in_reads()
            and sum(e.kind == "read" for e in self.entries) > 1
        ):
            kinds.add("read")
        if some := [e for e in self.entries if e.kind in kinds and e.epoch == last]:
            # Nothing counts a truncate of MySQL, so those are what may be missed.
            truncates = [e for e in some if e.kind == "event" and self._is_truncate(e.transaction)]
            spoiled = self.rng.choice(truncates or some)
            if spoiled.topic == "transaction" and self._partition_count["transaction"] > 1:
                return
            spoiled.kind, spoiled.text = "garbage", self.rng.choice(GARBAGE)

    # --- snapshots

    def _read(self, committed: int, *, is_interrupted: bool) -> None:
        """Read all tables; the lock on the log stands behind the last commit."""
        lsn = self.source.transactions[committed - 1].end_lsn
        tables = [(table, self.source.rows_before[committed][table]) for table in TABLES]
        self.rng.shuffle(tables)
        reads: list[tuple[str, Row, str]] = []
        for number, (table, rows) in enumerate(tables):
            for at, row in enumerate(rows):
                marker = "true"
                if at == 0:
                    marker = "first" if number == 0 else "first_in_data_collection"
                if at == len(rows) - 1 and marker != "first":
                    marker = "last_in_data_collection"
                reads.append((table, row, marker))
        # A snapshot of nothing leaves no trace.
        self.epochs.append(Epoch(lsn if reads else None, is_interrupted))
        if reads:
            reads[-1] = (*reads[-1][:2], "last")
        if is_interrupted:
            reads = reads[: self.rng.randint(0, max(0, len(reads) - 1))]
        for table, row, marker in reads:
            entry = Entry("read", len(self.epochs) - 1, table, row=row, marker=marker)
            self._send(entry, key_text(TABLES[table].key_of(row)))

    # --- streaming

    def _is_seen(self, number: int) -> bool:
        """Whether the connector sends anything: a change table knows nothing of an empty one."""
        events = self.source.transactions[number].events
        if self.knobs.connector == "cdl":
            return any(event.table in TABLES for event in events)
        return self.knobs.connector in ("postgresql", "mysql") or bool(events)

    def _stream(self, chain: Sequence[int], *, ends_anywhere: bool) -> int:
        """Send the transactions.

        Args:
            chain: their numbers.
            ends_anywhere: whether it breaks off before the last, and another stream follows.

        Returns:
            the number of the transaction with which a slot begins again, if it breaks off.
        """
        self._last_commit = self.epochs[-1].predecessor
        units = [unit for number in chain for unit in self._units(number)]
        if units and not self.ends_last:
            units.pop()
        again = 0
        if ends_anywhere:
            units = units[: self.rng.randint(0, len(units))]
            last = units[-1].transaction if units else chain[0]
            if units and units[-1].kind not in ("end", "message"):
                self.epochs[-1].torn = last
            # What is confirmed lags behind what was sent.
            again = max(chain[0], (last or 0) - self.rng.choice((-1, 0, 0, 1, 2)))
        counted_from: dict[int, int] = {}
        floor, at, furthest = 0, 0, 0
        while at < len(units):
            self._send_unit(units[at], counted_from)
            at += 1
            furthest = max(furthest, at)
            if self.rng.random() >= self.knobs.restart or at <= floor:
                continue
            number = units[at - 1].transaction
            assert number is not None
            if point := self._middle(units, at, furthest, number):
                if self.resets_counters:
                    counted_from[number] = units[point].event or 0
                    begin = next(unit for unit in units if unit.transaction == number)
                    self._send_unit(begin, counted_from)
                    # What is counted two ways must not be sent a third way.
                    floor = max(i for i, unit in enumerate(units) if unit.transaction == number) + 1
                elif self.begins_again:
                    begin = next(unit for unit in units if unit.transaction == number)
                    self._send_unit(begin, counted_from)
                if number == chain[0] and self._names_changes():
                    self._name_change(units, point)
                at = point
            else:
                begins = [i for i in range(floor, at) if self._may_begin(units[i])]
                if begins:
                    at = self.rng.choice(begins[-4:])
        return again

    def _names_changes(self) -> bool:
        chance = self.knobs.named_change
        is_named = self.epochs[-1].predecessor is not None
        return chance > 0 and not is_named and self.rng.random() < chance

    def _name_change(self, units: Sequence[Entry], point: int) -> None:
        """The rest of the first transaction names the change before it, as no commit is known."""
        number = units[point].transaction
        assert number is not None
        events = self.source.transactions[number].events
        at = units[point].event or 0
        lsn = events[at - 1].lsn
        # Where the change before does not land, or the next looks older than the snapshot, nothing
        # tells that it is of this stream (docs/limits.md).
        snapshot_lsn = self.epochs[-1].snapshot_lsn
        if events[at - 1].table not in LANDED_TABLES or events[at].lsn <= (snapshot_lsn or 0):
            return
        for unit in units[point:]:
            if unit.transaction == number:
                unit.predecessor = lsn

    def _may_begin(self, unit: Entry) -> bool:
        """Whether a restart may go on there, outside of transactions."""
        if self.knobs.connector == "mysql":
            return unit.kind in ("begin", "ddl") or self._is_truncate(unit.transaction)
        if self.knobs.connector == "cdl":
            assert unit.transaction is not None
            return unit.event == self._units(unit.transaction)[0].event
        # END comes with the next transaction, so a restart may begin with it.
        return unit.kind in (
            "begin",
            "message" if self.knobs.connector == "postgresql" else "end",
        )

    def _is_truncate(self, number: int | None) -> bool:
        """Whether it is one of MySQL, which has neither BEGIN nor END."""
        assert number is not None
        return self.knobs.connector == "mysql" and is_truncate(self.source.transactions[number])

    def _units(self, number: int) -> list[Entry]:
        """What is sent for one commit when nothing goes wrong."""
        transaction = self.source.transactions[number]
        epoch = len(self.epochs) - 1
        if transaction.id is None:
            kind: Kind = "ddl" if self.knobs.connector == "mysql" else "message"
            return [Entry(kind, epoch, kind, number)]
        if self._is_truncate(number):
            return [Entry("event", epoch, transaction.events[0].table, number, 0)]
        if self.knobs.connector == "cdl":
            return [
                Entry("event", epoch, ROWS if self.has_one_partition else event.table, number, at)
                for at, event in enumerate(transaction.events)
                if event.table in TABLES
            ]
        units = [Entry("begin", epoch, "transaction", number)]
        if number in self.source.windows and number not in self._windows_drawn:
            self._windows_drawn.add(number)
            units += [
                Entry("window_read", epoch, table, number, row=row)
                for table, row in self._window(number)
            ]
        for at, event in enumerate(transaction.events):
            if event.table in LANDED_TABLES or event.table == MESSAGE:
                topic = event.table or "message"
                units.append(Entry("event", epoch, topic, number, at))
                if event.operation == "d":
                    units.append(Entry("tombstone", epoch, topic, number, at))
        units.append(Entry("end", epoch, "transaction", number))
        return units

    def _window(self, number: int) -> list[tuple[str, Row]]:
        """Some rows of a table, as they are when the window closes."""
        table = self.rng.choice([name for name, table in TABLES.items() if table.key])
        rows = self.source.rows_before[number][table]
        return [(table, row) for row in rows if self.rng.random() < 0.7]

    def _send_unit(self, unit: Entry, counted_from: dict[int, int]) -> None:
        number = unit.transaction
        assert number is not None
        if self._is_interleaved(unit):
            for kind in OTHER_MARKERS:
                self.entries.append(Entry(kind, unit.epoch, "transaction", number))
        if unit.kind == "window_read":
            # The window is in memory only: a restart does not send it again.
            if id(unit) in self._windows_sent:
                return
            self._windows_sent.add(id(unit))
        entry = Entry(unit.kind, unit.epoch, unit.topic, number, unit.event, row=unit.row)
        entry.counted_from = counted_from.get(number, 0)
        entry.predecessor = unit.predecessor
        if unit.kind in ("end", "message"):
            self._last_commit = self.source.transactions[number].end_lsn
        self._send(entry, self._key(unit, self.source.transactions[number]))
        if unit.kind in ("begin", "end") and self.rng.random() < self.knobs.repeat_marker:
            again = Entry(unit.kind, unit.epoch, unit.topic, number)
            again.counted_from = entry.counted_from
            self._send(again, self._key(unit, self.source.transactions[number]))

    def _is_interleaved(self, unit: Entry) -> bool:
        """Whether a transaction of another database comes first; none parts a row's last two."""
        chance = self.knobs.other_database
        return unit.kind != "tombstone" and chance > 0 and self.rng.random() < chance

    def _key(self, unit: Entry, transaction: Transaction) -> str | None:
        if unit.kind in ("begin", "end"):
            # Of MySQL both have the same key.
            is_mysql = self.knobs.connector == "mysql"
            return transaction_id(transaction) if is_mysql else f"{transaction.id} {unit.kind}"
        if unit.kind in ("message", "ddl"):
            return "bank"
        if unit.row is not None:
            return key_text(TABLES[unit.topic].key_of(unit.row))
        return key_text(transaction.events[unit.event or 0].key)

    def _middle(self, units: list[Entry], at: int, furthest: int, number: int) -> int | None:
        """Where a restart goes on inside the transaction; None: at the start of some transaction.

        The connector skips all of an LSN at once, so it goes on where an LSN begins. That of MySQL
        begins again with the transaction, and skips the rows that it has sent.

        Args:
            furthest: how many of the units have been sent at all.
        """
        events = self.source.transactions[number].events
        last = units[at - 1]
        if last.kind not in ("event", "tombstone") or self.rng.random() < 0.4:
            return None
        if self._is_truncate(number) or self.knobs.connector == "cdl":
            return None
        points = []
        for point, unit in enumerate(units[: at + 1]):
            if unit.transaction == number and unit.kind == "end" and self.begins_again:
                points.append(point)
            if unit.transaction != number or unit.kind != "event" or not unit.event:
                continue
            if point == at and last.event == unit.event:
                continue
            if (events[unit.event].lsn, events[unit.event].row) != (
                events[unit.event - 1].lsn,
                events[unit.event - 1].row,
            ) and (not self.resets_counters or self._may_overlap(units[point:furthest], number)):
                points.append(point)
        return self.rng.choice(points) if points else None

    def _may_overlap(self, again: Sequence[Entry], number: int) -> bool:
        """Whether what is sent again and counted anew can be told: by its key, and from one END.

        Events of keyless tables are told by their order, so that a copy with another is another.
        """
        events = self.source.transactions[number].events
        return all(
            unit.event is not None
            and events[unit.event].key is not None
            and events[unit.event].operation != "m"
            for unit in again
            if unit.transaction == number
        )
