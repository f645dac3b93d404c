"""What connectors send, written by hand: a small stream of messages for each case, by landings.

A transaction block, BEGIN and END stand where the connector puts them; offsets count up in each
partition. A message may be `lost`, which leaves a hole, or `late`, which lands second.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from oracle import Message, Row

SCHEMA = "app"
MILLIS = 1_790_000_000_000
RESTORED = "2026-09-22 00:00:00"
"""When sources are restored from a backup, UTC; what they send before has the time MILLIS."""


class Change(NamedTuple):
    """One row change, before a connector gives it a place."""

    op: str
    table: str
    key: Row | None
    before: Row | None
    after: Row | None
    headers: Sequence[tuple[str, str]] = ()


def key_of(row: Row) -> Row | None:
    """The key of a row: its `id`. A row without one is of a keyless table."""
    return {"id": row["id"]} if "id" in row else None


def create(table: str, **row: Any) -> Change:
    return Change("c", table, key_of(row), None, row)


def update(table: str, **row: Any) -> Change:
    return Change("u", table, key_of(row), None, row)


def delete(table: str, **row: Any) -> Change:
    return Change("d", table, key_of(row), row, None)


def move(table: str, new_id: int, **row: Any) -> tuple[Change, Change]:
    """A row takes on another key: what a connector sends, in this order (S9)."""
    left, entered = delete(table, **row), create(table, **{**row, "id": new_id})
    return (
        left._replace(headers=[("__debezium.newkey", text(entered.key))]),
        entered._replace(headers=[("__debezium.oldkey", text(left.key))]),
    )


def truncate(table: str) -> Change:
    return Change("t", table, None, None, None)


def text(document: object) -> str:
    return json.dumps(document, ensure_ascii=False)


class Stream:
    """One connector's messages, each in the landing that brings it."""

    connector: ClassVar[str]

    def __init__(self, prefix: str, schema: str = SCHEMA, *, has_metadata: bool = True) -> None:
        self.prefix = prefix
        self.schema = schema
        self.has_metadata = has_metadata
        self.landings: tuple[list[Message], ...] = ([], [], [])
        self.landing = 0
        self.offsets: Counter[tuple[str, int]] = Counter()
        self.clock = MILLIS
        self.is_restored = False

    def restore(self) -> None:
        """Begin the log anew, as a database does that comes back from a backup; Kafka goes on."""
        self.is_restored = True

    def remake(self, topic: str) -> None:
        """Delete a topic below the prefix and make it again."""
        self.offsets[f"{self.prefix}.{topic}", 0] = 0

    def send(
        self,
        topic: str,
        value: str | None,
        key: str | None = None,
        headers: Iterable[tuple[str, str]] = (),
        *,
        is_late: bool = False,
        is_lost: bool = False,
    ) -> None:
        """Send a message to a topic below the prefix."""
        name = f"{self.prefix}.{topic}" if topic else self.prefix
        offset = self.offsets[name, 0]
        self.offsets[name, 0] += 1
        if not is_lost:
            self.landings[1 if is_late else self.landing].append(
                {
                    "topic": name,
                    "partition": 0,
                    "offset": offset,
                    "timestamp": MILLIS + self.is_restored * 86_400_000,
                    "key": key,
                    "value": value,
                    "headers": [{"key": one, "value": other} for one, other in headers],
                }
            )

    def send_again(self, only: str | None = None) -> None:
        """What was sent for the first landing, at new offsets, as after a restart.

        Args:
            only: the topic below the prefix; all without.
        """
        for message in list(self.landings[0]):
            topic = message["topic"].removeprefix(f"{self.prefix}.")
            if only in (None, topic):
                self.send(topic, message["value"], message["key"])

    def delay(self, table: str) -> None:
        """Let what was sent to a table for the first landing land second."""
        first, second, _ = self.landings
        late = [message for message in first if message["topic"].endswith(f".{table}")]
        second += late
        first[:] = [message for message in first if message not in late]

    def source(self, table: str, **fields: Any) -> Row:
        self.clock += 1
        return {
            "version": "test",
            "connector": self.connector,
            "name": self.prefix,
            "ts_ms": self.clock,
            "snapshot": "false",
            "schema": self.schema,
            "table": table,
            **fields,
        }

    def topic(self, table: str) -> str:
        return f"{self.schema}.{table}"

    def envelope(self, change: Change, source: Row, block: Row | None = None) -> str:
        images = {} if change.op == "t" else {"before": change.before, "after": change.after}
        return text({**images, "source": source, "op": change.op, "transaction": block})

    def send_change(
        self, change: Change, source: Row, block: Row | None = None, **how: bool
    ) -> None:
        key = None if change.key is None else text(change.key)
        value = self.envelope(change, source, block)
        self.send(self.topic(change.table), value, key, change.headers, **how)

    def send_changes(
        self,
        transaction_id: str,
        changes: Sequence[Change],
        sources: Sequence[Row],
        late: Collection[int],
        lost: Collection[int],
    ) -> None:
        """The changes of a transaction with their places, and a tombstone after each delete."""
        orders: Counter[str] = Counter()
        for at, (change, source) in enumerate(zip(changes, sources, strict=True)):
            orders[change.table] += 1
            block = {
                "id": transaction_id,
                "total_order": at + 1,
                "data_collection_order": orders[change.table],
            }
            how = {"is_late": at in late, "is_lost": at in lost}
            self.send_change(change, source, block if self.has_metadata else None, **how)
            if change.op == "d" and change.key is not None:
                self.send(self.topic(change.table), None, text(change.key), **how)

    def send_reads(
        self, reads: Sequence[Change], place: Callable[[str, str], Row], *, is_complete: bool
    ) -> None:
        """An initial snapshot; without its last reads it was interrupted.

        Args:
            reads: its rows, table by table.
            place: the source block of a read, by its table and its snapshot marker.
            is_complete: whether it came to its end.
        """
        tables = list(dict.fromkeys(read.table for read in reads))
        for at, read in enumerate(reads):
            is_last_of_table = at + 1 == len(reads) or reads[at + 1].table != read.table
            mark = "first" if at == 0 else "true"
            if is_complete and is_last_of_table:
                mark = "last" if read.table == tables[-1] else "last_in_data_collection"
            self.send_change(read._replace(op="r"), place(read.table, mark))

    def send_marker(
        self,
        status: str,
        transaction_id: str,
        counts: Mapping[str, int] | None = None,
        **how: bool,
    ) -> None:
        if not self.has_metadata:
            return
        marker = {
            "status": status,
            "id": transaction_id,
            "ts_ms": self.clock,
            "event_count": None if counts is None else sum(counts.values()),
            "data_collections": None
            if counts is None
            else [
                {"data_collection": name, "event_count": count} for name, count in counts.items()
            ],
        }
        self.send("transaction", text(marker), text({"id": transaction_id}), **how)


class Postgresql(Stream):
    connector = "postgresql"

    def __init__(self, prefix: str, schema: str = SCHEMA, *, has_metadata: bool = True) -> None:
        super().__init__(prefix, schema, has_metadata=has_metadata)
        self.lsn = 1000
        self.transaction = 500
        self.end: int | None = None
        """LSN of the latest END."""

    def restore(self) -> None:
        super().restore()
        self.lsn, self.transaction, self.end = 1000, 500, None

    def place(self, table: str, lsn: int, **fields: Any) -> Row:
        end = None if self.end is None else str(self.end)
        place = {"db": "d", "txId": self.transaction, "lsn": lsn, "xmin": None}
        sequence = json.dumps([end, str(lsn)])
        return self.source(table, **place, sequence=sequence, **fields)

    def commit(
        self,
        *changes: Change,
        late: Collection[int] = (),
        lost: Collection[int] = (),
        has_end: bool = True,
        one_lsn: bool = False,
    ) -> None:
        """A transaction; with `one_lsn` all its changes stand at one position."""
        self.transaction += 1
        sources = []
        for change in changes:
            self.lsn += 0 if one_lsn and sources else 8
            sources.append(self.place(change.table, self.lsn))
        block_id = f"{self.transaction}:{self.lsn}"
        self.send_marker("BEGIN", block_id)
        self.send_changes(block_id, changes, sources, late, lost)
        self.lsn += 8
        self.end = self.lsn
        if has_end:
            counts = Counter(f"{self.schema}.{change.table}" for change in changes)
            self.send_marker("END", f"{self.transaction}:{self.lsn}", counts)

    def read(self, *reads: Change) -> None:
        """An initial snapshot."""

        def place(table: str, mark: str) -> Row:
            return self.place(table, self.lsn, snapshot=mark)

        self.send_reads(reads, place, is_complete=True)


class LogSequence(Stream):
    """SQL Server or Db2: positions are LSNs."""

    def __init__(
        self,
        prefix: str,
        schema: str = SCHEMA,
        *,
        has_metadata: bool = True,
        database: str = "testDB",
        counted_database: str | None = "testDB",
    ) -> None:
        super().__init__(prefix, schema, has_metadata=has_metadata)
        self.database = database
        self.counted_database = counted_database
        """What END's names of tables begin with."""
        self.log = 0

    def restore(self) -> None:
        super().restore()
        self.log = 0

    def lsn(self, part: int) -> str:
        return f"{self.log:08x}:00000758:{part:04x}"

    def place(self, table: str, change_lsn: str | None, **fields: Any) -> Row:
        lsns = {"change_lsn": change_lsn, "commit_lsn": self.lsn(0xFF)}
        return self.source(table, db=self.database, **lsns, **fields)

    def counted(self, changes: Iterable[Change]) -> Counter[str]:
        parts = (self.counted_database, self.schema)
        prefix = ".".join(part for part in parts if part)
        return Counter(f"{prefix}.{change.table}" for change in changes)

    def commit(
        self,
        *changes: Change,
        late: Collection[int] = (),
        lost: Collection[int] = (),
        has_end: bool = True,
    ) -> str:
        """A transaction; its commit LSN."""
        self.log += 1
        sources = [self.change_place(at, change, changes) for at, change in enumerate(changes)]
        commit_lsn = self.lsn(0xFF)
        self.begin(commit_lsn)
        self.send_changes(commit_lsn, changes, sources, late, lost)
        if has_end:
            self.close(commit_lsn, self.counted(changes))
        return commit_lsn

    def change_place(self, at: int, change: Change, changes: Sequence[Change]) -> Row:
        return self.place(change.table, self.lsn(at + 1))

    def begin(self, commit_lsn: str) -> None:
        self.send_marker("BEGIN", commit_lsn)

    def close(self, commit_lsn: str, counts: Mapping[str, int]) -> None:
        self.send_marker("END", commit_lsn, counts)

    def read(self, *reads: Change, is_complete: bool = True, has_lsn: bool = True) -> None:
        """An initial snapshot; without its last reads it was interrupted."""
        self.log += 1

        def place(table: str, mark: str) -> Row:
            block = self.place(table, None, snapshot=mark)
            return block if has_lsn else block | {"commit_lsn": None}

        self.send_reads(reads, place, is_complete=is_complete)

    def read_window(self, commit_lsn: str, *reads: Change) -> None:
        """Reads of an incremental snapshot whose window closes in a transaction."""
        for read in reads:
            place = self.place(read.table, None, snapshot="incremental")
            self.send_change(read._replace(op="r"), place | {"commit_lsn": commit_lsn})


class Sqlserver(LogSequence):
    connector = "sqlserver"

    def topic(self, table: str) -> str:
        return f"{self.database}.{self.schema}.{table}"

    def change_place(self, at: int, change: Change, changes: Sequence[Change]) -> Row:
        """An update is serial 2; both halves of a key change have one LSN."""
        serial = 2 if change.op == "u" else 1
        if change.op == "c" and at and changes[at - 1].op == "d":
            at, serial = at - 1, 2
        return self.place(change.table, self.lsn(at + 1), event_serial_no=serial)


class Db2(LogSequence):
    """END comes with the next transaction."""

    connector = "db2"
    waiting: tuple[str, Mapping[str, int]] | None = None

    def restore(self) -> None:
        super().restore()
        self.waiting = None

    def change_place(self, at: int, change: Change, changes: Sequence[Change]) -> Row:
        """Both halves of a key change have one LSN and no serial number."""
        if change.op == "c" and at and changes[at - 1].op == "d":
            at -= 1
        return self.place(change.table, self.lsn(at + 1))

    def begin(self, commit_lsn: str) -> None:
        self.end_waiting()
        super().begin(commit_lsn)

    def close(self, commit_lsn: str, counts: Mapping[str, int]) -> None:
        self.waiting = (commit_lsn, counts)

    def end_waiting(self) -> None:
        if self.waiting:
            self.send_marker("END", *self.waiting)
            self.waiting = None


class Oracle(Stream):
    connector = "oracle"

    def __init__(self, prefix: str, schema: str = SCHEMA) -> None:
        super().__init__(prefix, schema)
        self.scn = 2000

    def restore(self) -> None:
        super().restore()
        self.scn = 2000

    def read(self, *reads: Change, is_complete: bool = True, is_idle: bool = False) -> None:
        """An initial snapshot of one SCN, which is that of no commit.

        Args:
            reads: its rows, table by table.
            is_complete: whether it came to its end.
            is_idle: whether the database has not moved since the snapshot before.
        """
        self.scn += 0 if is_idle else 10

        def place(table: str, mark: str) -> Row:
            return self.source(table, db="ORCL", scn=str(self.scn), snapshot=mark)

        self.send_reads(reads, place, is_complete=is_complete)

    def commit(self, *changes: Change, lost: Collection[int] = (), **_: object) -> None:
        self.scn += 10
        transaction_id = f"5.6.{self.scn}"
        sources = [
            self.source(
                change.table,
                db="ORCL",
                txId=transaction_id,
                scn=str(self.scn + at),
                commit_scn=str(self.scn + 9),
                rs_id=f"0x00031c.000a2b3d.{at:04x}",
                ssn=at,
            )
            for at, change in enumerate(changes)
        ]
        self.send_marker("BEGIN", transaction_id)
        self.send_changes(transaction_id, changes, sources, (), lost)
        counts = Counter(f"ORCL.{self.schema}.{change.table}" for change in changes)
        self.send_marker("END", transaction_id, counts)


class Mysql(Stream):
    """A server with GTIDs, of which a snapshot says nothing."""

    connector = "mysql"
    server = "3ff300ed-e55c-11f1-98c4-02fc00000001:"
    has_gtids = True

    def __init__(self, prefix: str, schema: str = SCHEMA) -> None:
        super().__init__(prefix, schema)
        self.pos = 1000
        """Where the binary log ends."""
        self.number = 0
        self.file = 10

    def restore(self) -> None:
        super().restore()
        self.pos, self.number = 1000, 0

    def place(self, table: str, pos: int, **fields: Any) -> Row:
        file = f"binlog.{self.file:06}"
        source = self.source(table, db=self.schema, file=file, pos=pos, row=0)
        source |= {"server_id": 9, **fields}
        del source["schema"]
        return source

    def rotate(self) -> None:
        """Go on in the next file of the log."""
        self.file += 1
        self.pos = 4

    def read(self, *reads: Change, is_complete: bool = True, is_idle: bool = False) -> None:
        """An initial snapshot, at the end of the log.

        Args:
            reads: its rows, table by table.
            is_complete: whether it came to its end.
            is_idle: whether the server has committed nothing else since what was sent before.
        """
        if not is_idle:
            self.pos += 1000
            self.number += 1

        def place(table: str, mark: str) -> Row:
            return self.place(table, self.pos, gtid=None, snapshot=mark)

        self.send_reads(reads, place, is_complete=is_complete)

    def commit(self, *changes: Change, lost: Collection[int] = (), **_: object) -> None:
        self.number += 1
        gtid = f"{self.server}{self.number}" if self.has_gtids else None
        transaction_id = gtid or f"file=binlog.{self.file:06},pos={self.pos}"
        sources = [
            self.place(change.table, self.pos + 10 * at, gtid=gtid)
            for at, change in enumerate(changes, start=1)
        ]
        self.pos += 1000
        self.send_marker("BEGIN", transaction_id)
        self.send_changes(transaction_id, changes, sources, (), lost)
        counts = Counter(f"{self.schema}.{change.table}" for change in changes)
        self.send_marker("END", transaction_id, counts)


class Mariadb(Mysql):
    connector = "mariadb"
    server = "0-1-"


class Generic(Stream):
    """A connector that the project does not know, with the fields of Informix."""

    connector = "informix"

    def __init__(self, prefix: str, schema: str = SCHEMA) -> None:
        super().__init__(prefix, schema)
        self.lsn = 900

    def restore(self) -> None:
        super().restore()
        self.lsn = 900

    def read(self, *reads: Change, is_complete: bool = True) -> None:
        """An initial snapshot, at the end of the log."""
        self.lsn += 100

        def place(table: str, mark: str) -> Row:
            lsns = {"commit_lsn": str(self.lsn), "change_lsn": None}
            return self.source(table, db="bank", **lsns, snapshot=mark)

        self.send_reads(reads, place, is_complete=is_complete)

    def commit(
        self, *changes: Change, lost: Collection[int] = (), has_end: bool = True, **_: object
    ) -> None:
        self.lsn += 100
        transaction_id = str(self.lsn)
        sources = [
            self.source(
                change.table,
                db="bank",
                txId=transaction_id,
                commit_lsn=str(self.lsn + 99),
                change_lsn=str(self.lsn + at),
            )
            for at, change in enumerate(changes)
        ]
        self.send_marker("BEGIN", transaction_id)
        self.send_changes(transaction_id, changes, sources, (), lost)
        if has_end:
            counts = Counter(f"bank.{self.schema}.{change.table}" for change in changes)
            self.send_marker("END", transaction_id, counts)


class Cdl(Stream):
    """Huawei CDL: neither BEGIN nor END, and a row's place is its LSN."""

    connector = "postgresql"

    def __init__(self, prefix: str, schema: str = "public") -> None:
        super().__init__(prefix, schema, has_metadata=False)
        self.lsn = 163_955_221_000

    def row(
        self, version: str, table: str, row: Row | None, *, topic: str = "", **fields: Any
    ) -> None:
        """An insert in a version's own form; without a row a message that cannot be read.

        Its topic is that of the table unless another is named.
        """
        self.lsn += 8
        self.clock += 1
        common = {
            "before": None,
            "unique": row and {"id": row["id"]},
            "message_version": version,
            "message_type": "0",
            "LOB_COLUMNS": None,
        }
        if version == "1.0":
            properties = [{"name": "txId", "value": self.lsn}, {"name": "lsn", "value": self.lsn}]
            own: Row = {
                "DATA_STORE": "POSTGRESQL",
                "SEG_OWNER": self.schema,
                "TABLE_NAME": table,
                "TIMESTAMP": self.clock,
                "OPERATION": "INSERT",
                "HEARTBEAT_IDENTIFIER": "279fb050",
                "transaction": {"properties": properties},
                "data": row,
            }
        else:
            place = self.source(table, db="cdl", txId=self.lsn, lsn=self.lsn)
            own = {"source": place, "op": "c", "ts_ms": self.clock, "after": row}
        self.send(topic or self.topic(table), text({**common, **own, **fields}))
