"""One small source for each field that a message can lack, and the states that it held.

Each connector writes the same transactions. In a variant one field of one kind of message is null,
or is not there, in all of them or in one.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from oracle import Message, Row
from random_streams import State, state_of
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
    text,
    truncate,
    update,
)

KINDS = (Postgresql, Mysql, Mariadb, Sqlserver, Db2, Oracle, Generic)
STREAMED = ("source", "transaction")
"""Blocks of a change of which fields are dropped; the second may be dropped whole."""
CLOSE = create("signals", id="close", type="snapshot-window-close", data="{}")
MARKER_FIELDS = ("event_count", "data_collections", "ts_ms")


@dataclass(frozen=True, slots=True)
class Variant:
    """A source of which some messages lack a field."""

    prefix: str
    what: str
    """Connector, kind of message, field, and how it is dropped."""
    states: Sequence[State]
    """After each commit, in order."""
    states_without_reads: Sequence[State]
    parts: tuple[list[Message], list[Message]]
    has_counts: bool
    """Whether it has transaction metadata."""
    lacks_nothing: bool = False

    @property
    def names(self) -> tuple[str, str]:
        """The source may have the database in its name, also by a mistake."""
        return self.prefix, f"{self.prefix}.testDB"


class Log:
    """Writes the transactions of one connector, and notes the state after each."""

    def __init__(self, kind: type[Stream], prefix: str, *, has_metadata: bool) -> None:
        self.stream = kind(prefix)
        self.stream.has_metadata = has_metadata
        self.rows: dict[str, list[Row]] = defaultdict(list)
        self.states: list[State] = [{}]
        self.states_without_reads: list[State] = []
        """After commits that close a window, for readers to whom its reads are held."""

    def read(self, *reads: Change) -> None:
        self.stream.read(*reads)  # type: ignore[attr-defined] # every kind has it
        self.rows.clear()
        self.note(*reads)

    def commit(self, *changes: Change) -> None:
        self.stream.commit(*changes)  # type: ignore[attr-defined] # likewise
        self.note(*changes)

    def truncate(self, table: str) -> None:
        """MySQL sends no transaction block, and SQL Server and Db2 no truncate (S8)."""
        stream = self.stream
        if isinstance(stream, LogSequence | Generic):
            return
        if isinstance(stream, Mysql):
            stream.number += 1
            gtid = f"{stream.server}{stream.number}" if stream.has_metadata else None
            place = stream.place(table, stream.pos + 10, gtid=gtid)
            stream.pos += 1000
            stream.send_change(truncate(table), place)
            self.note(truncate(table))
        else:
            self.commit(truncate(table))

    def read_window(self, *reads: Change) -> None:
        """An incremental snapshot: rows that nothing has shown yet, and the row that closes it."""
        for read in reads:
            self.stream.send_change(read._replace(op="r"), self.window_place(read.table))
        self.commit(CLOSE)
        self.states_without_reads.append(self.states.pop())
        self.note(*reads)

    def window_place(self, table: str) -> Row:
        """The source block of a read whose window closes in the next transaction."""
        stream = self.stream
        mark = {"snapshot": "incremental"}
        if isinstance(stream, Postgresql):
            place = stream.place(table, stream.lsn + 8, **mark)
            return place | {"txId": None, "lsn": None}
        if isinstance(stream, Mysql):
            gtid = f"{stream.server}{stream.number + 1}"
            return stream.place(table, stream.pos + 10, gtid=gtid, **mark)
        if isinstance(stream, LogSequence):
            lsn = f"{stream.log + 1:08x}:00000758:00ff"
            return stream.place(table, None, **mark) | {"commit_lsn": lsn}
        if isinstance(stream, Oracle):
            scn = stream.scn + 10
            place = {"scn": str(scn), "commit_scn": str(scn + 9)}
            return stream.source(table, db="ORCL", **place, **mark)
        assert isinstance(stream, Generic)
        lsn = stream.lsn + 100
        place = {"commit_lsn": str(lsn + 99), "change_lsn": str(lsn)}
        return stream.source(table, db="bank", **place, **mark)

    def note(self, *changes: Change) -> None:
        for change in changes:
            rows = self.rows[change.table]
            if change.op == "t":
                rows.clear()
                continue
            rows[:] = [row for row in rows if row["id"] != (change.key or {}).get("id")]
            if change.after:
                rows.append(change.after)
        self.states.append(state_of(self.rows))

    def end(self) -> None:
        if isinstance(self.stream, Db2):
            self.stream.end_waiting()


def write(kind: type[Stream], prefix: str, *, has_metadata: bool = True) -> Log:
    """The transactions that every source has; the second landing brings some of them again."""
    log = Log(kind, prefix, has_metadata=has_metadata)
    log.read(
        create("orders", id=1, v="a"), create("orders", id=2, v="b"), create("items", id=1, v="x")
    )
    log.commit(create("orders", id=3, v="c"), update("orders", id=1, v="a2"))
    log.commit(delete("orders", id=2, v="b"), create("items", id=2, v="y"))
    # A row that changes twice, and one that comes and goes, in one transaction.
    log.commit(
        update("orders", id=3, v="c2"),
        create("orders", id=4, v="d"),
        update("orders", id=3, v="c3"),
        delete("orders", id=4, v="d"),
    )
    log.truncate("items")
    if has_metadata:
        log.read_window(create("orders", id=9, v="read"))
    begin = len(log.stream.landings[0])
    log.commit(create("items", id=5, v="z"), *move("orders", 6, id=1, v="a2"))
    log.commit(update("orders", id=3, v="c4"), update("items", id=5, v="z2"))
    log.end()
    again = log.stream.landings[0][begin:]
    log.stream.landing = 1
    for message in again:
        topic = message["topic"].removeprefix(f"{prefix}.")
        headers = [(header["key"], header["value"]) for header in message["headers"]]
        log.stream.send(topic, message["value"], message["key"], headers)
    log.commit(update("orders", id=6, v="a3"))
    log.commit(update("orders", id=3, v="last"), create("items", id=7, v="last"))
    log.end()
    return log


def fields_of(log: Log) -> Iterator[tuple[str, str, str]]:
    """Kind of message, block and field of all that can be dropped; '' is the block itself."""
    found: dict[tuple[str, str, str], None] = {}
    for message in [*log.stream.landings[0], *log.stream.landings[1]]:
        envelope = json.loads(message["value"] or "null") or {}
        kind = kind_of(envelope)
        if "op" in envelope:
            for block in STREAMED:
                for name in envelope[block] or ():
                    found[kind, block, name] = None
            if envelope["transaction"]:
                found[kind, "transaction", ""] = None
        elif kind:
            found.update(dict.fromkeys((kind, "", name) for name in MARKER_FIELDS))
    yield from found


def kind_of(envelope: Row) -> str:
    """BEGIN, END, incremental, or the operation; '' for a tombstone."""
    if (envelope.get("source") or {}).get("snapshot") == "incremental":
        return "incremental"
    return str(envelope.get("op") or envelope.get("status") or "")


def variants(kind: type[Stream], number: int, *, has_metadata: bool = True) -> Iterator[Variant]:
    """Every source of one connector, the first of which lacks nothing."""
    prefix = partial("f_{}_{}".format, kind.__name__.lower())
    form = kind.__name__ + ("" if has_metadata else " without metadata")
    whole = write(kind, prefix(number), has_metadata=has_metadata)
    yield Variant(
        prefix(number),
        f"{form}: nothing",
        whole.states,
        whole.states_without_reads,
        whole.stream.landings[:2],
        has_metadata,
        lacks_nothing=True,
    )
    # Which message of its kind lacks the field, where not all do.
    for op, block, name in fields_of(whole):
        for at in (None, 0, 1):
            number += 1
            log = write(kind, prefix(number), has_metadata=has_metadata)
            is_null = (number % 2) == 0
            what = f"{form}: {op} {block}.{name} {'null' if is_null else 'absent'}"
            what += " in all" if at is None else f" in number {at}"
            parts = drop(log.stream.landings[:2], op, block, name, at, is_null=is_null)
            if parts is not None:
                states = log.states, log.states_without_reads
                yield Variant(prefix(number), what, *states, parts, has_metadata)


def drop(
    parts: Sequence[list[Message]],
    op: str,
    block: str,
    name: str,
    at: int | None,
    *,
    is_null: bool,
) -> tuple[list[Message], list[Message]] | None:
    """The messages without the field; None where there is no such message."""
    seen: list[str] = []
    """Values of the messages that may lack it: a copy lacks what the first one lacks."""
    is_dropped = False
    changed: list[list[Message]] = []
    for part in parts:
        changed.append([])
        for message in part:
            value = message["value"]
            envelope = json.loads(value or "null") or {}
            inner = envelope.get(block) if block else envelope
            if op == kind_of(envelope) and inner and (not name or name in inner):
                if value not in seen:
                    seen.append(value)
                if at is None or seen.index(value) == at:
                    is_dropped = True
                    owner, field = (inner, name) if name else (envelope, block)
                    if is_null:
                        owner[field] = None
                    else:
                        del owner[field]
                    message = {**message, "value": text(envelope)}
            changed[-1].append(message)
    return (changed[0], changed[1]) if is_dropped else None


def all_variants() -> Iterator[Variant]:
    """Those with transaction metadata and those without, of every connector."""
    for kind in KINDS:
        yield from variants(kind, 0)
        yield from variants(kind, 1000, has_metadata=False)
