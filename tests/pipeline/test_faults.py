"""Each fault meets one source; the others of the same run are as if it were not there.

Every source has a table `t` of id, n and note, and messages of its own making. `@pytest.mark.fault`
names the fault's number in the catalogue, which `make coverage-faults` prints.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest
import streams
from arrivals import Arrival
from engines import agreed_status
from lake import Lake, open_lake, tables_of
from oracle import Message, Row

from dbt_debezium.quarantine.again import land_again
from dbt_debezium.quarantine.messages import Wanted, quarantined
from dbt_debezium.readers.spark_reader import SparkReader
from dbt_debezium.scaffold.captured import Group
from dbt_debezium.status.notices import idle_decisions

FIRST_SETTINGS = "{not_ingested_tables: [public.unseen]}"
LATER_SETTINGS = (
    "{not_ingested_tables: [public.unseen], refused_proofs: [watermark], "
    "repeated_snapshot_missing_table: empty, "
    "generic_sources: {f_unknown: [commit_lsn, change_lsn]}}"
)
SECRET = "hunter2-and-nobody-else"
SIGNAL = "debezium_signal"
FIRST_BEGIN = ("transaction", 0)
OF_THE_THIRD = (("transaction", 4), ("public.t", 2), ("transaction", 5))
"""Its BEGIN, its change and its END."""
BACKUP = "backup"
"""A table whose rows look like signals."""
MILLIS = 1_795_228_000_000
EARLIER = "2026-11-01 00:00:00"
"""Before all messages."""


def flags_of(cut: dict[str, Any]) -> set[tuple[str, str]]:
    """The tables that are flagged, with their flags."""
    return {(one["table"], one["flag"]) for one in cut["flags"]}


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a row of `t`, or of another table."""

    operation: str
    id: int
    n: int = 0
    table: str = "t"
    topic: str | None = None
    row: dict[str, Any] | str | None = None
    """The row in place of id, n and note; a text is sent as it is."""
    key: dict[str, Any] | None = None
    edit: Callable[[dict[str, Any]], object] = lambda value: None
    """Changes the envelope before it is sent."""
    text: str | None = None
    """What is sent in its place."""
    partition: int = 0


def create(id: int, n: int = 0, **more: Any) -> Change:
    return Change("c", id, n, **more)


def update(id: int, n: int = 0, **more: Any) -> Change:
    return Change("u", id, n, **more)


def delete(id: int, **more: Any) -> Change:
    return Change("d", id, **more)


def signal_row(id: str, type: str, data: str | None = None, **more: Any) -> Change:
    row = {"id": id, "type": type, "data": data}
    return create(1, table=SIGNAL, row=row, key={"id": id}, **more)


@dataclass(slots=True)
class Source:
    """A PostgreSQL connector that sends what a test tells it to."""

    name: str
    messages: list[Message] = field(default_factory=list)
    previous: int | None = None
    """Where the last transaction ended."""
    ends: Counter[tuple[str, int]] = field(default_factory=Counter)

    def send(self, topic: str, key: object, value: object, partition: int = 0) -> Message:
        """One message; an object is sent as JSON, a text as it is."""
        texts = [
            part if part is None or isinstance(part, str) else json.dumps(part)
            for part in (key, value)
        ]
        topic = f"{self.name}.{topic}"
        message = {
            "topic": topic,
            "partition": partition,
            "offset": self.ends[topic, partition],
            "timestamp": MILLIS,
            "key": texts[0],
            "value": texts[1],
            "headers": [],
        }
        self.ends[topic, partition] += 1
        self.messages.append(message)
        return message

    def lose(self, topic: str, partition: int = 0) -> None:
        """A message that Kafka has removed."""
        self.ends[f"{self.name}.{topic}", partition] += 1

    def source(self, table: str, lsn: int | None, **more: Any) -> dict[str, Any]:
        before = None if self.previous is None else str(self.previous)
        return {
            "version": "3.6.3.Final",
            "connector": "postgresql",
            "name": self.name,
            "ts_ms": MILLIS + (lsn or 0),
            "snapshot": "false",
            "db": "bank",
            "sequence": json.dumps([before, None if lsn is None else str(lsn)]),
            "schema": "public",
            "table": table,
            "txId": None,
            "lsn": lsn,
        } | more

    def read(
        self, id: int, n: int, marker: str, lsn: int | None = 10, partition: int = 0, **more: Any
    ) -> None:
        """A read of a snapshot; `table` is another than t, what else there is goes to `source`.

        `topic` is another than the table's own.
        """
        table = more.pop("table", "t")
        topic = more.pop("topic", f"public.{table}")
        row = {"id": id, "n": n, "note": None}
        source = self.source(table, lsn, **({"snapshot": marker} | more))
        value = {"before": None, "after": row, "source": source, "transaction": None, "op": "r"}
        self.send(topic, {"id": id}, value, partition)

    def event(self, transaction: int, lsn: int, change: Change, orders: tuple[int, int]) -> None:
        row = {"id": change.id, "n": change.n, "note": None} if change.row is None else change.row
        old = {"id": change.id, "n": None, "note": None}
        value = {
            "before": old if change.operation == "d" else None,
            "after": None if change.operation == "d" else row,
            "source": self.source(change.table, lsn, txId=transaction),
            "transaction": {
                "id": f"{transaction}:{lsn}",
                "total_order": orders[0],
                "data_collection_order": orders[1],
            },
            "op": change.operation,
        }
        change.edit(value)
        text = json.dumps(value)
        if isinstance(row, str):
            text = text.replace(json.dumps(row), row)
        key = {"id": change.id} if change.key is None else change.key
        topic = change.topic or f"public.{change.table}"
        self.send(topic, key or None, change.text or text, change.partition)

    def message(self, lsn: int, *, names_itself: bool = False) -> None:
        """A message outside of transactions, which what follows names as its predecessor."""
        if names_itself:
            self.previous = lsn
        value = {
            "op": "m",
            "source": self.source("", lsn),
            "transaction": None,
            "message": {"prefix": "p", "content": ""},
        }
        self.send("message", {"prefix": "p"}, value)
        self.previous = lsn

    def marker(
        self, status: str, id: str, counts: dict[str, int] | None, partition: int = 0
    ) -> None:
        tables = [
            {"data_collection": name, "event_count": count}
            for name, count in (counts or {}).items()
        ]
        value = {
            "status": status,
            "id": id,
            "event_count": None if counts is None else sum(counts.values()),
            "data_collections": None if counts is None else tables,
            "ts_ms": MILLIS + int(id.rpartition(":")[2]),
        }
        self.send("transaction", {"id": id}, value, partition)

    def commit(
        self,
        transaction: int,
        end: int,
        *changes: Change,
        counts: dict[str, int] | None = None,
        sent: str = "begin events end",
        marker_partition: int = 0,
    ) -> None:
        """A transaction that ends at a position. `sent` says which parts are sent, in order."""
        if counts is None:
            counts = dict(Counter(f"public.{change.table}" for change in changes))
        for part in sent.split():
            if part == "begin":
                id = f"{transaction}:{end - 50}"
                self.marker("BEGIN", id, None, marker_partition)
            elif part == "end":
                self.marker("END", f"{transaction}:{end}", counts, marker_partition)
            else:
                in_table: Counter[str] = Counter()
                for order, change in enumerate(changes, 1):
                    in_table[change.table] += 1
                    orders = (order, in_table[change.table])
                    self.event(transaction, end - 50 + order, change, orders)
        self.previous = end


Maker = Callable[[Source], None]
FIRST: dict[str, Maker] = {}
"""What each source sends before the first run."""
SECOND: dict[str, Maker] = {}
LATE: dict[str, Maker] = {}
LAST: dict[str, Maker] = {}


def sends(landing: dict[str, Maker], name: str) -> Callable[[Maker], Maker]:
    def register(maker: Maker) -> Maker:
        landing[f"f_{name}"] = maker
        return maker

    return register


def began(source: Source) -> Source:
    """With one good transaction, which ends at 1000."""
    source.commit(1, 1000, create(1, 1))
    return source


def in_bag(operation: str, id: int, n: int) -> Change:
    """A change of a table without a key whose REPLICA IDENTITY is FULL."""
    row = {"id": id, "n": n, "note": None}
    has_row = {"before": row} if operation == "d" else {}
    return Change(operation, id, n, "bag", key={}, edit=lambda value: value.update(has_row))


@sends(FIRST, "bag")
def bag(source: Source) -> None:
    source.commit(1, 1000, in_bag("c", 1, 1), in_bag("c", 1, 1), create(1, 1))
    source.commit(2, 2000, in_bag("d", 1, 1))


@sends(SECOND, "bag")
def row_that_is_not_in_the_bag(source: Source) -> None:
    source.previous = 2000
    source.commit(3, 3000, in_bag("c", 2, 2))
    source.commit(4, 4000, update(1, 4), in_bag("d", 7, 7))
    source.commit(5, 5000, update(1, 5), in_bag("d", 8, 8))


FIRST["f_bag_discarded"] = bag


@sends(SECOND, "bag_discarded")
def discarded_row_that_is_not_in_the_bag(source: Source) -> None:
    source.previous = 2000
    source.commit(3, 3000, in_bag("c", 2, 2))
    source.commit(4, 4000, update(1, 4), in_bag("d", 7, 7))
    source.commit(5, 5000, update(1, 5))


@sends(FIRST, "healthy")
def healthy(source: Source) -> None:
    source.commit(1, 1000, create(1, 1), create(2, 1))
    source.commit(2, 2000, update(1, 2), delete(2), create(3, 1))


@sends(FIRST, "garbage")
def garbage(source: Source) -> None:
    began(source)
    for value in ("", "{", "[]", '"str"', "{]", "{}", f'{{"op":"c","after":{{"n":"{SECRET}"}}'):
        source.send("public.t", None, value)
    source.commit(2, 2000, update(1, 2))


@sends(FIRST, "not_envelope")
def not_envelope(source: Source) -> None:
    began(source)
    source.send("public.t", {"id": 1}, {"id": 1, "n": SECRET})
    source.commit(2, 2000, update(1, 2))


@sends(FIRST, "no_position")
def no_position(source: Source) -> None:
    def without(value: dict[str, Any]) -> None:
        value["source"] |= {"lsn": None, "txId": None, "sequence": None}
        value["transaction"] = None

    began(source)
    source.commit(2, 2000, update(1, 2, edit=without))
    source.commit(3, 3000, update(1, 3))


@sends(FIRST, "read_without_position")
def read_without_position(source: Source) -> None:
    source.read(1, 1, "first")
    source.read(2, 1, "true", lsn=None, sequence=None)
    source.read(3, 1, "last")
    source.commit(2, 2000, update(1, 2))


def snapshot_and_more(source: Source) -> None:
    source.read(1, 1, "first")
    source.read(2, 1, "true")
    source.read(3, 1, "last")
    source.commit(1, 1000, update(1, 2))
    source.commit(2, 2000)
    source.commit(3, 3000, create(4, 1))


def placed(source: Source, topic: str, offset: int, partition: int = 0) -> Message:
    at = (f"{source.name}.{topic}", partition, offset)
    (message,) = (
        message
        for message in source.messages
        if (message["topic"], message["partition"], message["offset"]) == at
    )
    return message


def cut_off(source: Source, topic: str, offset: int, partition: int = 0) -> None:
    """A message that has been sent lands only in part."""
    message = placed(source, topic, offset, partition)
    message["value"] = message["value"][:40]


def whole_again(source: Source, sent: Maker, topic: str, offset: int, partition: int = 0) -> None:
    """One message lands as it was sent."""
    whole = Source(source.name)
    sent(whole)
    source.messages.append(placed(whole, topic, offset, partition))


@sends(FIRST, "read_cut_off")
def read_cut_off(source: Source) -> None:
    snapshot_and_more(source)
    cut_off(source, "public.t", 1)


@sends(FIRST, "begin_cut_off")
def begin_cut_off(source: Source) -> None:
    snapshot_and_more(source)
    cut_off(source, "transaction", 2)


def reads_around_a_message(source: Source) -> None:
    """A message outside of transactions, with which the stream begins, stands where reads do."""
    source.read(1, 1, "first")
    source.read(2, 1, "true")
    source.read(3, 1, "last")
    source.message(10)
    source.commit(1, 1000, update(1, 2), create(4, 1))


@sends(FIRST, "message_at_snapshot")
def read_before_a_message_cut_off(source: Source) -> None:
    reads_around_a_message(source)
    cut_off(source, "public.t", 1)


@sends(SECOND, "message_at_snapshot")
def read_before_a_message_whole_again(source: Source) -> None:
    whole_again(source, reads_around_a_message, "public.t", 1)


@sends(FIRST, "ends_cut_off")
def ends_cut_off(source: Source) -> None:
    """A restart sends three transactions again, of which the second has not landed yet.

    The first one's END has landed behind that of the third, which is empty.
    """
    began(source)
    source.marker("BEGIN", "2:1950", None)
    source.marker("END", "2:2000", {"public.t": 1})
    for offset in range(4):
        cut_off(source, "transaction", offset)
    source.commit(3, 3000)
    source.commit(1, 1000, sent="begin end", counts={"public.t": 1})


@sends(SECOND, "ends_cut_off")
def ends_again(source: Source) -> None:
    source.previous = 1000
    source.commit(2, 2000, update(1, 2))
    source.commit(3, 3000)


def restarted(source: Source, *orders: tuple[int, int]) -> None:
    """Transaction 2: a BEGIN before the first event and before each that is the first again."""
    for number, order in enumerate(orders):
        if order[0] == 1:
            source.marker("BEGIN", "2:1950", None)
        source.event(2, 1951 + number, create(2 + number), order)


@sends(FIRST, "restart_over_garbage")
def event_before_a_restart_cut_off(source: Source) -> None:
    """What was sent behind the restart is as many as END counts."""
    restarted(began(source), (1, 1), (1, 1), (2, 2))
    cut_off(source, "public.t", 1)
    source.marker("END", "2:2000", {"public.t": 2})
    source.previous = 2000
    source.commit(3, 3000, update(1, 3))


@sends(FIRST, "restart_after_garbage")
def second_event_before_a_restart_cut_off(source: Source) -> None:
    """What was sent before the restart and can be read has the places of what follows."""
    restarted(began(source), (1, 1), (2, 2), (1, 1), (2, 2))
    cut_off(source, "public.t", 2)
    source.marker("END", "2:2000", {"public.t": 2})
    source.previous = 2000
    source.commit(3, 3000, update(1, 3))


@sends(FIRST, "restart_with_two_ends")
def restart_whose_first_half_lags(source: Source) -> None:
    began(source)
    source.marker("BEGIN", "2:1950", None)
    restarted(source, (1, 1), (2, 2))
    for _ in range(2):
        source.marker("END", "2:2000", {"public.t": 2})


@sends(SECOND, "restart_with_two_ends")
def first_half_lands(source: Source) -> None:
    source.previous = 1000
    for number in (1, 2):
        source.event(2, 1940 + number, create(7 + number, partition=1), (number, number))
    source.previous = 2000
    source.commit(3, 3000, update(1, 3), create(9, 3, partition=1))


@sends(FIRST, "window_cut_off")
def read_of_a_window_cut_off(source: Source) -> None:
    began(source)
    for id in (1, 5, 6):
        source.read(id, 9, "incremental", lsn=1951)
    cut_off(source, "public.t", 2)
    source.commit(2, 2000, signal_row("w", "snapshot-window-close"))
    source.commit(3, 3000, update(1, 3), signal_row("x", "snapshot-window-close"))
    source.commit(4, 4000, update(1, 4), signal_row("y", "snapshot-window-close"))


@sends(SECOND, "window_cut_off")
def what_follows_the_window(source: Source) -> None:
    source.previous = 4000
    source.commit(5, 5000, update(1, 5))


@sends(FIRST, "released_window")
def window_of_which_a_read_has_not_landed(source: Source) -> None:
    began(source)
    source.read(5, 9, "incremental", lsn=1951)
    source.commit(2, 2000, signal_row("w", "snapshot-window-close"))


@sends(FIRST, "window_cut_off_in_a_restart")
def read_of_a_window_before_what_is_sent_again_cut_off(source: Source) -> None:
    """A restart goes on with the transaction before the window, and sends the window no more."""
    began(source)
    source.commit(2, 2000, update(1, 2))
    for id in (6, 5):
        source.read(id, 9, "incremental", lsn=2951)
    cut_off(source, "public.t", 3)
    source.previous = 1000
    source.commit(2, 2000, update(1, 2))
    source.commit(3, 3000, signal_row("w", "snapshot-window-close"))
    source.commit(4, 4000, update(1, 4), signal_row("x", "snapshot-window-close"))


@sends(FIRST, "uncounted_key_change_torn")
def key_change_torn_without_metadata(source: Source) -> None:
    source.commit(1, 1000, uncounted("c", 1, 1), sent="events")
    source.commit(2, 2000, uncounted("d", 1), sent="events")
    deleted = placed(source, "public.t", 1)
    deleted["headers"] = [{"key": "__debezium.newkey", "value": '{"id":7}'}]
    source.commit(3, 3000, uncounted("c", 3, 3), sent="events")
    source.commit(4, 4000, uncounted("c", 4, 4), sent="events")


def uncounted(operation: str, id: int, n: int = 0) -> Change:
    """A change of a source without transaction metadata."""
    return Change(operation, id, n, edit=lambda value: value.update(transaction=None))


def uncounted_log(name: str, lost: Collection[int] = ()) -> list[Message]:
    """Five transactions of SQL Server without metadata, some of which have not landed."""
    one = streams.Sqlserver(name, "public", has_metadata=False, database="bank")
    for n in range(1, 6):
        change = streams.create if n == 1 else streams.update
        one.commit(change("t", id=1, n=n, note=None), lost=[0] if n in lost else [])
    return one.landings[0]


@sends(FIRST, "uncounted_log")
def transactions_without_end(source: Source) -> None:
    source.messages += uncounted_log(source.name)


@sends(FIRST, "uncounted_hole")
def hole_between_transactions_without_end(source: Source) -> None:
    source.messages += uncounted_log(source.name, lost=[3])


def messages_between_uncounted(source: Source, *, names_itself: bool) -> None:
    """As `pg_logical_emit_message` sends them for heartbeats; one while the next one is open."""
    for lsn in (900, 910):
        source.message(lsn, names_itself=names_itself)
    source.commit(1, 1000, uncounted("c", 1, 1), sent="events")
    for lsn in (1100, 1200, 1300):
        source.message(lsn, names_itself=names_itself)
    source.commit(2, 2000, uncounted("u", 1, 2), sent="events")
    source.message(2970, names_itself=names_itself)
    source.commit(3, 3000, uncounted("u", 1, 3), sent="events")
    for lsn in (3100, 3200):
        source.message(lsn, names_itself=names_itself)
    source.commit(4, 4000, uncounted("u", 1, 4), sent="events")


FIRST["f_messages_of_others"] = partial(messages_between_uncounted, names_itself=False)
FIRST["f_messages_of_themselves"] = partial(messages_between_uncounted, names_itself=True)


def messages_that_name_themselves(source: Source) -> None:
    source.message(900, names_itself=True)
    source.commit(1, 1000, create(1, 1))
    source.message(1100, names_itself=True)
    source.message(1200, names_itself=True)
    source.commit(2, 2000, update(1, 2))
    source.commit(3, 3000, update(1, 3))
    source.message(3100, names_itself=True)
    source.commit(4, 4000, update(1, 4))


@sends(FIRST, "messages_that_name_themselves")
def messages_around_what_has_not_landed(source: Source) -> None:
    """The message tells nothing of the transaction before it, of which nothing has landed."""
    messages_that_name_themselves(source)
    for topic, offset in OF_THE_THIRD:
        source.messages.remove(placed(source, topic, offset))


@sends(SECOND, "messages_that_name_themselves")
def what_had_not_landed(source: Source) -> None:
    for topic, offset in OF_THE_THIRD:
        whole_again(source, messages_that_name_themselves, topic, offset)


@sends(FIRST, "blocking_clock")
def reads_of_a_clock_that_is_behind(source: Source) -> None:
    """The connector's clock says that it read before the transaction was committed that asks."""
    began(source)
    signal(source, 2, 1951)
    source.marker("END", "2:2000", {f"public.{SIGNAL}": 1})
    for id, marker in ((1, "first"), (5, "last")):
        source.read(id, 9, marker, lsn=1951, ts_ms=MILLIS + 1500)
    source.previous = 2000
    source.commit(3, 3000, update(1, 3), sent="begin events")


@sends(SECOND, "blocking_clock")
def what_follows_the_reads(source: Source) -> None:
    source.marker("END", "3:3000", {"public.t": 1})


def read_lost_behind_another_source(source: Source, other: str) -> None:
    """It has not landed, and what stands before it is another's."""
    source.read(1, 1, "first", name=other, partition=1)
    source.read(2, 1, "last", name=other, partition=1)
    source.lose("public.t", 1)
    source.read(1, 1, "first")
    source.read(3, 1, "last")


@sends(FIRST, "shared_topic_late")
def read_behind_a_message_of_another_source(source: Source) -> None:
    read_lost_behind_another_source(source, "f_shared_topic_before")
    source.commit(2, 2000, update(1, 2), update(2, 2, partition=1))


@sends(FIRST, "shared_topic_unknown")
def read_where_only_another_source_has_landed(source: Source) -> None:
    read_lost_behind_another_source(source, "f_shared_topic_known")
    source.commit(2, 2000, update(1, 2))


ALL = "all"
"""The topic of all tables."""


@sends(FIRST, "one_topic_with_signals")
def reads_beside_signals(source: Source) -> None:
    source.read(1, 1, "first", topic=ALL)
    source.read(2, 1, "last", topic=ALL)
    source.commit(2, 2000, signal_row("s", "execute-snapshot", topic=ALL))
    source.commit(3, 3000, update(1, 3, topic=ALL))


@sends(FIRST, "two_topics_with_signals")
def read_beside_signals_that_has_not_landed(source: Source) -> None:
    source.read(1, 1, "first", table="my_table")
    source.read(2, 1, "last_in_data_collection", table="my_table")
    source.read(1, 1, "first_in_data_collection", topic=ALL)
    source.lose(ALL, 1)
    source.read(3, 1, "last", topic=ALL)
    source.commit(2, 2000, signal_row("s", "execute-snapshot", topic=ALL))
    in_both = (update(1, 3, topic=ALL), update(2, 3, topic=ALL, partition=1))
    source.commit(3, 3000, *in_both, update(1, 3, table="my_table"))


@sends(FIRST, "tombstone")
def tombstone(source: Source) -> None:
    source.commit(1, 1000, create(1, 1), create(2, 1))
    source.send("public.t", {"id": 1}, None)
    source.send("public.t", None, None)
    source.commit(2, 2000, delete(2))


@sends(FIRST, "no_identity")
def no_identity(source: Source) -> None:
    began(source)
    source.commit(2, 2000, delete(1, key={}, edit=lambda value: value.update(before=None)))
    source.commit(3, 3000, create(3, 1))


def with_before(**row: Any) -> Callable[[dict[str, Any]], None]:
    return lambda value: value.update(before=row)


@sends(FIRST, "key_of_zeros")
def delete_by_another_index(source: Source) -> None:
    """REPLICA IDENTITY USING INDEX on n, which is not the key."""
    began(source)
    source.commit(2, 2000, delete(0, edit=with_before(id=0, n=1, note=None)))


@sends(SECOND, "key_of_zeros")
def new_snapshot(source: Source) -> None:
    source.previous = None
    source.read(2, 1, "first", lsn=2500)
    source.read(3, 1, "last", lsn=2500)
    source.commit(3, 3000, update(2, 2))


@sends(FIRST, "row_of_zeros")
def delete_of_the_row_whose_key_is_zero(source: Source) -> None:
    source.commit(1, 1000, create(0, 1), create(1, 1))
    source.commit(2, 2000, delete(0, edit=with_before(id=0, n=0, note=None)))


@sends(FIRST, "no_after")
def no_after(source: Source) -> None:
    began(source)
    source.commit(2, 2000, update(1, 2, edit=lambda value: value.update(after=None)))


@sends(FIRST, "same_name_twice")
def same_name_twice(source: Source) -> None:
    source.commit(1, 1000, create(1, row='{"id": 1, "n": 1, "n": 2, "note": null}'))


@sends(FIRST, "delivered_twice")
def delivered_twice(source: Source) -> None:
    healthy(source)
    source.messages += list(source.messages)


@sends(FIRST, "replayed")
def replayed(source: Source) -> None:
    healthy(source)
    source.previous = None
    healthy(source)


@sends(FIRST, "end_first")
def end_first(source: Source) -> None:
    source.commit(1, 1000, create(1, 1), sent="end events")
    source.commit(2, 2000, update(1, 2), sent="end events")


@sends(FIRST, "end_only")
def end_only(source: Source) -> None:
    began(source)
    source.commit(2, 2000, update(1, 2), sent="begin end")


@sends(FIRST, "no_end")
def no_end(source: Source) -> None:
    began(source)
    source.commit(2, 2000, update(1, 2), sent="begin events")


@sends(FIRST, "no_end_ever")
def no_end_ever(source: Source) -> None:
    no_end(source)
    source.commit(3, 3000, create(3, 3))


FIRST["f_released"] = FIRST["f_discarded"] = no_end_ever


def slot_lost_in_a_transaction(source: Source, torn: int, first: int) -> None:
    """The slot is lost while it is sent, and a new one begins behind the same predecessor."""
    began(source)
    source.commit(torn, 2000, update(1, 2), sent="begin events")
    source.previous = 1000
    source.commit(first, 3000, update(1, 3))
    source.commit(4, 4000, create(4, 4))


TORN = {"slot_lost_23": (2, 3), "slot_lost_32": (3, 2)}
"""Ids of the transaction that the slot was lost in, and of the first of the new stream."""
for name, (torn, first) in TORN.items():
    for decided in ("", "_undecided"):
        FIRST[f"f_{name}{decided}"] = partial(slot_lost_in_a_transaction, torn=torn, first=first)


@sends(FIRST, "slot_lost_in_the_first")
def slot_lost_in_the_first_transaction(source: Source) -> None:
    source.commit(1, 1000, create(1, 1), sent="begin events")
    source.previous = None
    source.commit(2, 2000, update(1, 2))
    source.commit(3, 3000, update(1, 3))


FIRST["f_slot_lost_in_the_first_undecided"] = slot_lost_in_the_first_transaction


@sends(FIRST, "slot_lost_before_any_end")
def slot_lost_in_the_second_transaction_before_end_of_the_first_has_landed(source: Source) -> None:
    source.commit(1, 1000, create(1, 1), sent="begin events")
    source.previous = 1000
    source.commit(2, 2000, update(1, 2), sent="begin events")
    source.previous = None
    source.commit(3, 3000, update(1, 3))
    source.commit(4, 4000, create(4, 4))


@sends(FIRST, "slot_lost_in_the_first_uncounted")
def slot_lost_in_the_first_without_metadata(source: Source) -> None:
    source.commit(1, 1000, uncounted("c", 1, 1), sent="events")
    source.previous = None
    for id, end in ((2, 2000), (3, 3000), (4, 4000)):
        source.commit(id, end, uncounted("u", 1, id), sent="events")


@sends(FIRST, "slot_lost_in_the_first_landed")
def slot_lost_in_the_first_that_landed(source: Source) -> None:
    source.previous = 500
    slot_lost_in_the_first_without_metadata(source)


@sends(SECOND, "slot_lost_before_empty_later")
def the_new_stream_begins_without_changes(source: Source) -> None:
    source.previous = 2000
    source.commit(3, 3000)
    source.commit(4, 4000, update(1, 4))


@sends(FIRST, "slot_lost_before_empty")
def slot_lost_and_the_new_stream_begins_without_changes(source: Source) -> None:
    no_end(source)
    the_new_stream_begins_without_changes(source)


FIRST["f_slot_lost_before_empty_undecided"] = slot_lost_and_the_new_stream_begins_without_changes
FIRST["f_slot_lost_before_empty_later"] = FIRST["f_end_behind_its_release"] = no_end


def a_new_stream_names_what_the_old_one_followed(source: Source) -> None:
    source.previous = 1000
    source.commit(2, 2000, update(1, 2), sent="events")
    source.previous = 1000
    source.commit(3, 3000, update(1, 3))
    source.commit(4, 4000, create(4, 4))


LATER_DECISIONS = {"released": "release", "discarded": "discard"}
"""What operators decide on the transaction that the slot was lost in."""
for name in LATER_DECISIONS:
    for decided in ("", "_undecided"):
        FIRST[f"f_slot_lost_later_{name}{decided}"] = no_end
        SECOND[f"f_slot_lost_later_{name}{decided}"] = a_new_stream_names_what_the_old_one_followed


@sends(FIRST, "released_before_an_end")
def no_end_and_then_an_end_without_its_changes(source: Source) -> None:
    no_end(source)
    source.commit(3, 3000, update(1, 3), sent="begin end")
    source.commit(4, 4000, create(4, 4))


@sends(SECOND, "released_before_an_end")
def changes_behind_their_end(source: Source) -> None:
    source.previous = 2000
    source.commit(3, 3000, update(1, 3), sent="events")


@sends(SECOND, "end_behind_its_release")
def the_end_comes_and_one_without_changes(source: Source) -> None:
    source.marker("END", "2:2000", {"public.t": 1})
    the_new_stream_begins_without_changes(source)


@sends(FIRST, "begin_without_its_end")
def begin_and_end_in_two_partitions(source: Source) -> None:
    source.marker("BEGIN", "1:950", None)
    source.event(1, 951, create(1, 1), (1, 1))
    source.marker("END", "1:1000", {"public.t": 1}, 1)


@sends(SECOND, "begin_without_its_end")
def begin_again_and_one_of_which_nothing_has_landed(source: Source) -> None:
    source.marker("BEGIN", "1:950", None)
    source.previous = 1000
    source.commit(2, 2000, update(1, 2))
    source.previous = 3000
    source.commit(4, 4000)
    source.commit(5, 5000, update(1, 5))


def slot_lost_without_metadata(source: Source, predecessor: int | None) -> None:
    source.commit(1, 1000, uncounted("c", 1, 1), sent="events")
    source.commit(2, 2000, uncounted("u", 1, 2), sent="events")
    source.previous = predecessor
    for id, end in ((3, 3000), (4, 4000), (5, 5000)):
        source.commit(id, end, uncounted("u", 1, id), sent="events")


UNCOUNTED = {
    "slot_lost_none_known": None,
    "slot_lost_between": 1500,
    "slot_lost_uncounted": 1000,
}
"""What the new stream names as its predecessor."""
for name, predecessor in UNCOUNTED.items():
    for decided in ("", "_undecided"):
        FIRST[f"f_{name}{decided}"] = partial(slot_lost_without_metadata, predecessor=predecessor)


def slot_lost_before_what_is_older(source: Source, *lsns: int) -> None:
    """The first transaction of the new stream was open when the last of the old one wrote."""
    source.commit(1, 1000, uncounted("u", 1, 1), sent="events")
    source.commit(2, 2000, uncounted("u", 1, 2), sent="events")
    source.previous = None
    for order, lsn in enumerate(lsns, 1):
        source.event(3, lsn, uncounted("c", lsn, 3), (order, order))
    source.previous = 3000
    source.commit(4, 4000, uncounted("u", 1, 4), sent="events")
    source.commit(5, 5000, uncounted("u", 1, 5), sent="events")


@sends(FIRST, "slot_lost_overlapping")
def slot_lost_and_first_of_the_new_stream_is_older(source: Source) -> None:
    slot_lost_before_what_is_older(source, 990, 2951)


@sends(FIRST, "slot_lost_older")
def slot_lost_and_all_of_the_first_of_the_new_stream_is_older(source: Source) -> None:
    slot_lost_before_what_is_older(source, 990)


@sends(FIRST, "slot_lost_older_snapshot")
def the_same_behind_a_snapshot(source: Source) -> None:
    source.read(1, 0, "first")
    source.read(2, 0, "last")
    slot_lost_before_what_is_older(source, 990)


@sends(FIRST, "uncounted_behind_unseen")
def first_without_metadata_follows_one_that_sends_nothing(source: Source) -> None:
    source.read(1, 1, "first")
    source.read(2, 1, "last")
    source.previous = 500
    for id, end in ((1, 1000), (2, 2000), (3, 3000)):
        source.commit(id, end, uncounted("u", 1, id * 10), sent="events")


@sends(FIRST, "restart_in_the_first")
def restart_inside_the_first_transaction_of_a_stream(source: Source) -> None:
    """What is sent after it names the last change before it as its predecessor."""
    source.read(1, 1, "first")
    source.read(2, 1, "last")
    source.marker("BEGIN", "1:951", None)
    source.event(1, 951, update(1, 2), (1, 1))
    source.event(1, 952, update(2, 2), (2, 2))
    source.previous = 952
    source.event(1, 953, create(3, 3), (3, 3))
    source.marker("END", "1:1000", {"public.t": 3})
    source.previous = 1000
    source.commit(2, 2000, update(1, 3))


@sends(FIRST, "restart_in_the_first_uncounted")
def restart_inside_the_first_transaction_without_metadata(source: Source) -> None:
    source.read(1, 1, "first")
    source.read(2, 1, "last")
    source.event(1, 951, uncounted("u", 1, 2), (1, 1))
    source.previous = 951
    source.event(1, 952, uncounted("u", 2, 2), (2, 2))
    source.previous = 1000
    source.commit(2, 2000, uncounted("u", 1, 3), sent="events")
    source.commit(3, 3000, uncounted("u", 1, 4), sent="events")


@sends(FIRST, "restart_in_the_first_cut_off")
def restart_inside_the_first_transaction_of_which_one_change_is_late(source: Source) -> None:
    source.read(1, 1, "first")
    source.read(3, 1, "true", partition=1)
    source.read(2, 1, "last")
    source.event(1, 951, uncounted("u", 1, 2), (1, 1))
    source.previous = 951
    source.event(1, 952, replace(uncounted("u", 3, 2), partition=1), (2, 2))
    source.previous = 1000
    source.commit(2, 2000, uncounted("u", 1, 3), sent="events")
    source.commit(3, 3000, uncounted("u", 1, 4), sent="events")


@sends(FIRST, "restart_in_a_new_stream")
def restart_inside_the_first_of_a_new_stream_without_metadata(source: Source) -> None:
    source.commit(1, 1000, uncounted("c", 1, 1), sent="events")
    source.commit(2, 2000, uncounted("u", 1, 2), sent="events")
    source.previous = None
    source.event(3, 3001, uncounted("u", 1, 3), (1, 1))
    source.previous = 3001
    source.event(3, 3002, uncounted("u", 1, 4), (2, 2))
    source.previous = 4000
    source.commit(4, 5000, uncounted("u", 1, 5), sent="events")
    source.commit(5, 6000, uncounted("u", 1, 6), sent="events")


@sends(FIRST, "restart_behind_snapshot")
def first_behind_a_snapshot_wrote_before_it(source: Source) -> None:
    source.read(1, 1, "first", lsn=900)
    source.read(2, 1, "last", lsn=900)
    source.marker("BEGIN", "1:890", None)
    source.event(1, 890, update(1, 2), (1, 1))


@sends(SECOND, "restart_behind_snapshot")
def restart_inside_what_wrote_before_the_snapshot(source: Source) -> None:
    source.previous = 890
    source.event(1, 951, update(2, 2), (2, 2))
    source.marker("END", "1:1000", {"public.t": 2})
    source.previous = 1000
    source.commit(2, 2000, create(3, 3))


@sends(FIRST, "released_older")
def no_end_of_changes_that_are_older_than_the_end_before(source: Source) -> None:
    """As transactions interleave: it wrote before the one in front of it committed."""
    began(source)
    source.commit(2, 2000, update(1, 2))
    source.marker("BEGIN", "3:1500", None)
    source.event(3, 1501, update(1, 3), (1, 1))


@sends(FIRST, "contradicting")
def contradicting(source: Source) -> None:
    began(source)
    source.marker("BEGIN", "2:1950", None)
    for lsn, id in ((1951, 1), (1952, 5)):
        source.event(2, lsn, update(id, 2), (1, 1))
    source.marker("END", "2:2000", {"public.t": 2})


def second(source: Source, *events: tuple[int, Change, tuple[int, int]], count: int) -> None:
    """A transaction of events at these LSNs and orders, which its END counts so."""
    source.marker("BEGIN", "2:1950", None)
    for lsn, change, orders in events:
        source.event(2, lsn, change, orders)
    source.marker("END", "2:2000", {"public.t": count})
    source.previous = 2000


@sends(FIRST, "order_from_zero")
def order_from_zero(source: Source) -> None:
    second(began(source), (1951, update(1, 2), (1, 0)), (1952, create(2, 2), (2, 2)), count=2)
    source.commit(3, 3000, update(1, 3))


@sends(FIRST, "order_in_table_repeated")
def order_in_table_repeated(source: Source) -> None:
    events = [(1951, update(1, 2), (1, 1)), (1952, create(2, 2), (2, 1))]
    second(began(source), *events, (1953, create(3, 2), (3, 3)), count=3)
    source.commit(3, 3000, update(1, 3))


@sends(FIRST, "order_repeated")
def order_repeated(source: Source) -> None:
    second(began(source), (1951, update(1, 2), (1, 1)), (1952, create(2, 2), (1, 2)), count=2)


@sends(FIRST, "copies_of_other_content")
def copies_of_other_content(source: Source) -> None:
    second(began(source), (1951, update(1, 2), (1, 1)), (1951, update(1, 3), (1, 1)), count=1)
    source.commit(3, 3000, update(1, 4))


@sends(FIRST, "copies_of_other_order")
def copies_of_other_order(source: Source) -> None:
    second(began(source), (1951, update(1, 2), (1, 1)), (1951, update(1, 2), (2, 1)), count=1)


@sends(FIRST, "restarted_twice")
def restarted_twice(source: Source) -> None:
    """Of ten events 1 to 7 were sent, then 4 to 8, then 7 to 10, counted from 1 each time."""
    events = [
        (
            1950 + event,
            create(event, event) if event > 1 else update(1, 2),
            (event - first + 1, event - first + 1),
        )
        for first, last in ((1, 7), (4, 8), (7, 10))
        for event in range(first, last + 1)
    ]
    second(began(source), *events, count=4)
    source.commit(3, 3000, update(1, 3))


@sends(FIRST, "incomplete_key_change")
def incomplete_key_change(source: Source) -> None:
    """A delete says which key the row has now, and END agrees that nothing has it."""
    began(source)
    source.commit(2, 2000, delete(1))
    deleted = placed(source, "public.t", 1)
    deleted["headers"] = [{"key": "__debezium.newkey", "value": '{"id":7}'}]
    source.commit(3, 3000, create(3, 3))


@sends(FIRST, "short_and_long")
def short_and_long(source: Source) -> None:
    began(source)
    changes = (update(1, 2), in_bag("c", 1, 1), in_bag("c", 2, 2))
    source.commit(2, 2000, *changes, counts={"public.t": 2, "public.bag": 1})


@sends(FIRST, "too_few")
def too_few(source: Source) -> None:
    began(source)
    source.lose("public.t")
    source.commit(2, 2000, update(1, 2), create(2, 2), counts={"public.t": 3})
    source.commit(3, 3000, update(1, 3))


@sends(FIRST, "too_many")
def too_many(source: Source) -> None:
    began(source)
    source.commit(2, 2000, update(1, 2), create(2, 2), counts={"public.t": 1})


FIRST["f_contradicting_released"] = contradicting
FIRST["f_too_many_released"] = too_many


@sends(FIRST, "unseen")
def unseen(source: Source) -> None:
    message = (
        "io.debezium.connector.postgresql.LogicalDecodingMessageMonitor"
        "$LogicalDecodingMessageId@219c5324"
    )
    began(source)
    counts = {"public.t": 1, "public.unseen": 7, message: 1}
    source.commit(2, 2000, update(1, 2), counts=counts)


@sends(FIRST, "no_block")
def no_block(source: Source) -> None:
    began(source)
    without = update(1, 2, edit=lambda value: value.update(transaction=None))
    source.commit(2, 2000, without, create(2, 2), counts={"public.t": 3})
    source.commit(3, 3000, update(1, 3))


@sends(FIRST, "no_block_but_whole")
def no_block_but_whole(source: Source) -> None:
    began(source)
    without = update(1, 2, edit=lambda value: value.update(transaction=None))
    source.commit(2, 2000, without, create(2, 2))
    source.commit(3, 3000, update(1, 3))


@sends(FIRST, "no_metadata")
def no_metadata(source: Source) -> None:
    for number in (1, 2, 3):
        without = create(number, 1, edit=lambda value: value.update(transaction=None))
        source.commit(number, 1000 * number, without, sent="events")


@sends(FIRST, "end_topic_not_landed")
def end_topic_not_landed(source: Source) -> None:
    for number in (1, 2, 3):
        source.commit(number, 1000 * number, create(number, 1), sent="events")


@sends(FIRST, "two_end_partitions")
def two_end_partitions(source: Source) -> None:
    for number in (1, 2, 3, 4):
        change = create(number, 1) if number == 1 else update(1, number)
        source.commit(number, 1000 * number, change, marker_partition=number % 2)


@sends(FIRST, "transaction_id_again")
def transaction_id_again(source: Source) -> None:
    source.commit(7, 1000, create(1, 1))
    source.commit(8, 2000, update(1, 2))
    source.commit(7, 3000, update(1, 3))


@sends(FIRST, "transaction_id_later")
def transaction_id_later(source: Source) -> None:
    source.commit(7, 1000, create(1, 1))
    source.commit(8, 2000, update(1, 2))


@sends(SECOND, "transaction_id_later")
def transaction_id_now(source: Source) -> None:
    source.previous = 2000
    source.commit(7, 3000, update(1, 3))


@sends(FIRST, "two_connectors")
def two_connectors(source: Source) -> None:
    source.commit(1, 1000, create(1, 1))
    source.commit(2, 2000, update(1, 2))
    source.previous = None
    source.commit(11, 1500, create(1, 101))
    source.commit(12, 2500, update(1, 102))


@sends(FIRST, "one_topic")
def one_topic(source: Source) -> None:
    topic = "public.my_table"
    source.commit(
        1,
        1000,
        create(1, 1, table="my table", topic=topic),
        create(1, 2, table="my_table", topic=topic),
    )
    source.commit(2, 2000, delete(1, table="my table", topic=topic))
    source.send(topic, {"id": 1}, None)


@sends(FIRST, "columns_change")
def columns_change(source: Source) -> None:
    source.commit(
        1,
        1000,
        create(1, row={"id": 1, "n": 1}),
        create(2, row={"id": 2, "n": 2, "note": "added"}),
        create(3, row={"id": 3, "note": "n is gone"}),
    )


@sends(FIRST, "read_lost")
def read_lost(source: Source) -> None:
    source.read(1, 1, "first")
    source.lose("public.t")
    source.read(3, 1, "last")
    source.commit(2, 2000, update(1, 2))


@sends(FIRST, "clock")
def clock(source: Source) -> None:
    def at(millis: int) -> Callable[[dict[str, Any]], object]:
        return lambda value: value["source"].update(ts_ms=millis)

    source.commit(1, 1000, create(1, 1, edit=at(MILLIS + 9000)))
    source.commit(2, 2000, update(1, 2, edit=at(MILLIS)))
    source.commit(3, 3000, update(1, 3, edit=at(MILLIS)))


@sends(FIRST, "long")
def long(source: Source) -> None:
    began(source)
    changes = [create(id, 1) for id in range(2, 5002)]
    source.commit(2, 2000, *changes, counts={"public.t": 5001}, sent="begin events")


@sends(SECOND, "long")
def long_ends(source: Source) -> None:
    source.previous = 1000
    source.event(2, 1950 + 5001, create(5002, 1), (5001, 5001))
    source.marker("END", "2:9000", {"public.t": 5001})


@sends(FIRST, "empty_transaction")
def empty_transaction(source: Source) -> None:
    began(source)
    source.commit(2, 2000)
    source.commit(3, 3000, update(1, 3))


@sends(FIRST, "snapshot_again")
def snapshot_again(source: Source) -> None:
    source.read(1, 1, "first")
    source.read(7, 1, "last", table="my_table")
    source.commit(2, 2000, create(2, 2))
    source.previous = None
    # Interrupted: no read of it says that it is the last.
    source.read(2, 3, "first", lsn=3000)
    source.read(8, 3, "true", lsn=3000)
    source.read(2, 4, "first", lsn=4000)
    source.read(3, 4, "last", lsn=4000)
    source.commit(5, 5000, update(3, 5))
    source.event(6, 6001, create(9, 1, table="my_table"), (1, 1))


FIRST["f_snapshot_kept"] = snapshot_again


@sends(SECOND, "snapshot_again")
def snapshot_without_a_table(source: Source) -> None:
    source.read(5, 9, "first", lsn=9000)
    source.read(6, 9, "last", lsn=9000)
    source.commit(9, 10000, update(5, 10), create(11, 1, table="my_table"))


@sends(FIRST, "blocking")
def blocking(source: Source) -> None:
    began(source)
    source.commit(2, 2000, update(1, 2), create(2, 2))
    source.previous = 1000
    for id, marker in ((1, "first"), (5, "last")):
        source.read(id, 9, marker, lsn=1951, ts_ms=MILLIS + 2500)
    source.previous = 2000


@sends(FIRST, "blocking_no_first")
def blocking_without_its_first_table(source: Source) -> None:
    """Its first table has no read, or none that has landed."""
    began(source)
    source.commit(2, 2000, update(1, 2), create(2, 2))
    source.previous = 1000
    for id, marker in ((1, "first_in_data_collection"), (5, "last")):
        source.read(id, 9, marker, lsn=1951, ts_ms=MILLIS + 2500)
    source.previous = 2000


@sends(SECOND, "blocking_no_first")
@sends(SECOND, "blocking")
def blocking_is_passed(source: Source) -> None:
    source.previous = 2000
    source.commit(3, 3000, update(2, 3))
    source.commit(4, 4000, update(2, 4))


@sends(FIRST, "signalled")
def signalled(source: Source) -> None:
    """A blocking snapshot has been signalled, and none of its reads has landed."""
    began(source)
    data = json.dumps({"data-collections": ["public.t"], "type": "BLOCKING"})
    source.commit(2, 2000, signal_row("s", "execute-snapshot", data))
    source.commit(3, 3000, update(1, 3))


@sends(SECOND, "signalled")
def signalled_reads(source: Source) -> None:
    source.previous = 1000
    for id, marker in ((1, "first"), (5, "last")):
        source.read(id, 9, marker, lsn=1951, ts_ms=MILLIS + 3500)
    source.previous = 3000
    source.commit(4, 4000, create(6, 4))
    source.commit(5, 5000, create(7, 5))


@sends(FIRST, "signalled_first")
def signalled_by_the_first_transaction(source: Source) -> None:
    """Neither the signal nor the reads name a transaction before them."""
    source.read(1, 1, "first", lsn=100)
    source.read(2, 1, "last", lsn=100)
    data = json.dumps({"data-collections": ["public.t"], "type": "blocking"})
    source.commit(1, 1000, signal_row("s", "execute-snapshot", data))
    source.previous = None
    for id, marker in ((1, "first"), (5, "last")):
        source.read(id, 9, marker, lsn=951, ts_ms=MILLIS + 2500)
    source.previous = 1000
    source.commit(2, 2000, update(1, 2))
    source.commit(3, 3000, update(1, 3))


@sends(SECOND, "signalled_first")
def signalled_first_again(source: Source) -> None:
    source.messages += arrivals({source.name: signalled_by_the_first_transaction}, {})[0].messages


def signal(source: Source, transaction: int, lsn: int, orders: tuple[int, int] = (1, 1)) -> None:
    """A row that asks for a blocking snapshot of t."""
    data = json.dumps({"data-collections": ["public.t"], "type": "blocking"})
    source.event(transaction, lsn, signal_row("s", "execute-snapshot", data), orders)


@sends(FIRST, "signalled_among_others")
def signalled_before_another_transaction_ended(source: Source) -> None:
    """The signal was written before the transaction ended that it names as the one before."""
    began(source)
    signal(source, 2, 990)
    source.marker("END", "2:2000", {f"public.{SIGNAL}": 1})
    for id, marker in ((1, "first"), (5, "last")):
        source.read(id, 9, marker, lsn=990, ts_ms=MILLIS + 2500)


@sends(SECOND, "signalled_among_others")
def what_follows_the_signal(source: Source) -> None:
    source.previous = 2000
    source.commit(3, 3000, create(3, 3))
    source.commit(4, 4000, create(4, 4))


@sends(FIRST, "signalled_from_before")
def signalled_by_a_transaction_that_was_open_at_the_first_snapshot(source: Source) -> None:
    source.read(1, 1, "first", lsn=960)
    source.read(2, 1, "last", lsn=960)
    source.event(1, 951, update(1, 2), (1, 1))
    signal(source, 1, 952, (2, 1))
    source.marker("END", "1:1000", {"public.t": 1, f"public.{SIGNAL}": 1})
    for id, marker in ((1, "first"), (5, "last")):
        source.read(id, 9, marker, lsn=952, ts_ms=MILLIS + 2500)
    source.previous = 1000
    source.commit(2, 3000, create(3, 3))


@sends(FIRST, "signalled_beside_a_table")
def signalled_first_for_one_of_two_tables(source: Source) -> None:
    source.read(1, 1, "first", lsn=100)
    source.read(7, 1, "last", lsn=100, table="my_table")
    source.event(1, 951, update(7, 2, table="my_table"), (1, 1))
    signal(source, 1, 952, (2, 1))
    source.marker("END", "1:1000", {"public.my_table": 1, f"public.{SIGNAL}": 1})
    for id, marker in ((1, "first"), (5, "last")):
        source.read(id, 9, marker, lsn=952, ts_ms=MILLIS + 2500)
    source.previous = 1000
    source.commit(2, 3000, create(3, 3))


@sends(FIRST, "released_at_an_end")
def released_where_the_one_before_ended(source: Source) -> None:
    began(source)
    source.event(2, 1000, update(1, 2), (1, 1))


@sends(FIRST, "released_without_a_table")
def released_of_which_a_table_never_landed(source: Source) -> None:
    source.read(1, 1, "first")
    source.read(2, 1, "last")
    source.commit(1, 1000, update(1, 2))
    source.commit(2, 2000, update(1, 3), counts={"public.t": 1, "public.gone": 1})


@sends(FIRST, "replaced_server")
def before_the_server_was_replaced(source: Source) -> None:
    source.read(1, 1, "first", lsn=5000)
    source.read(2, 1, "last", lsn=5000)
    source.commit(6, 6000, update(1, 6))


@sends(FIRST, "behind_a_hole")
def snapshot_behind_a_hole(source: Source) -> None:
    """Kafka has removed a change, and a new snapshot makes up for it."""
    began(source)
    source.lose("public.t")
    source.commit(2, 2000, counts={"public.t": 1})
    source.commit(3, 3000, update(1, 3))
    source.previous = None
    source.read(1, 3, "first", lsn=3100)
    source.read(2, 7, "last", lsn=3100)
    source.commit(4, 4000, create(4, 4))


@sends(FIRST, "discarded_snapshot")
def discarded_snapshot(source: Source) -> None:
    """What waits before a snapshot that is discarded still waits."""
    began(source)
    source.commit(2, 2000, update(1, 2), counts={"public.t": 2})
    source.previous = None
    source.read(1, 3, "first", lsn=3100)
    source.commit(4, 4000, create(4, 4))


def doubtful_snapshot(source: Source) -> None:
    source.commit(1, 1000, create(1, 1), create(2, 1, partition=1))
    source.commit(2, 2000, update(2, 2, partition=1))
    source.previous = None
    source.read(1, 7, "first", lsn=3000)
    source.read(2, 7, "last", lsn=3000)
    source.commit(3, 4000, create(3, 3), create(4, 4, partition=1))


@sends(FIRST, "change_cut_off")
def change_cut_off(source: Source) -> None:
    """It could be a read of the snapshot after it."""
    doubtful_snapshot(source)
    cut_off(source, "public.t", 1, 1)


@sends(SECOND, "change_cut_off")
def change_whole_again(source: Source) -> None:
    whole_again(source, doubtful_snapshot, "public.t", 1, 1)


def one_after_the_other(source: Source) -> None:
    source.commit(1, 1000, create(1, 1))
    source.commit(2, 2000, update(1, 2))


@sends(FIRST, "event_cut_off")
def event_cut_off(source: Source) -> None:
    one_after_the_other(source)
    cut_off(source, "public.t", 1)


@sends(SECOND, "event_cut_off")
def event_whole_and_one_lost(source: Source) -> None:
    whole_again(source, one_after_the_other, "public.t", 1)
    source.previous = 2000
    source.commit(3, 3000, update(1, 3), sent="begin end")


@sends(FIRST, "cut_off_and_whole")
def cut_off_and_whole_in_one_landing(source: Source) -> None:
    one_after_the_other(source)
    message = placed(source, "public.t", 1)
    source.messages.append(message | {"value": message["value"][:40]})


@sends(FIRST, "late_begin")
def begin_lands_later(source: Source) -> None:
    one_after_the_other(source)
    source.messages.remove(placed(source, *FIRST_BEGIN))


@sends(SECOND, "late_begin")
def begin_alone(source: Source) -> None:
    whole_again(source, one_after_the_other, *FIRST_BEGIN)


@sends(FIRST, "no_last")
def no_last(source: Source) -> None:
    source.read(1, 1, "first")
    source.read(2, 1, "true")
    source.commit(2, 2000, update(1, 2))


FIRST["f_released_snapshot"] = no_last


@sends(FIRST, "no_first")
def snapshot_whose_first_table_is_empty(source: Source) -> None:
    """Nor is any read the first one where threads read several tables at once."""
    source.read(1, 1, "first_in_data_collection")
    source.read(2, 1, "last")
    source.commit(2, 2000, update(1, 2))


@sends(FIRST, "epoch")
def restored(source: Source) -> None:
    began(source)


@sends(FIRST, "epoch.more")
def restored_beside_the_source_before_its_dot(source: Source) -> None:
    began(source)
    heartbeat = source.send("heartbeat", {"serverName": source.name}, {"ts_ms": MILLIS})
    heartbeat["topic"] = f"__debezium-heartbeat.{source.name}"


@sends(FIRST, "captured_later")
def tables_that_no_snapshot_has_read(source: Source) -> None:
    source.read(1, 1, "first")
    source.read(2, 1, "last")
    source.commit(1, 1000, update(1, 2), update(7, 2, table="captured_later"))
    source.commit(2, 2000, create(1, 1, table="created_later"))
    source.commit(
        3, 3000, create(8, 1, table="captured_later"), update(1, 2, table="created_later")
    )


@sends(SECOND, "captured_later")
def tables_that_change_on(source: Source) -> None:
    source.previous = 3000
    source.commit(4, 4000, create(9, 1, table="captured_later"), delete(1, table="created_later"))


@sends(SECOND, "released_snapshot")
def snapshot_that_nobody_released(source: Source) -> None:
    source.previous = None
    source.read(7, 7, "first", lsn=3000)


@sends(FIRST, "shared_topic")
def shared_topic(source: Source) -> None:
    for name in (source.name, "f_shared_topic_too"):
        source.read(1, 1, "first", name=name)
        source.read(2, 1, "last", name=name)
    source.commit(2, 2000, update(1, 2))


@sends(FIRST, "shared_topic_hole")
def read_lost_before_a_message_of_another_source(source: Source) -> None:
    source.lose("public.t")
    source.read(1, 1, "first", name="f_shared_topic_other")
    source.read(1, 1, "first")
    source.read(2, 1, "last")
    source.commit(2, 2000, update(1, 2))


@sends(FIRST, "shared_topic_uncounted")
def two_uncounted_sources_in_one_topic(source: Source) -> None:
    """Positions of the other one are far ahead."""

    def of_another(value: dict[str, Any]) -> None:
        value["transaction"] = None
        value["source"] |= {"name": "f_shared_topic_ahead", "sequence": '["9000", "9100"]'}

    no_metadata(source)
    source.commit(4, 9200, create(4, 1, edit=of_another), sent="events")


def table_late(source: Source) -> None:
    source.read(1, 1, "first")
    source.read(7, 1, "last", table="my_table")
    source.commit(1, 1000, update(1, 2), update(7, 2, table="my_table"))
    source.commit(2, 2000, create(4, 1))


@sends(FIRST, "table_late")
def all_but_a_table(source: Source) -> None:
    table_late(source)
    source.messages = [one for one in source.messages if "my_table" not in one["topic"]]


@sends(SECOND, "table_late")
def the_table(source: Source) -> None:
    whole = Source(source.name)
    table_late(whole)
    source.messages += [one for one in whole.messages if "my_table" in one["topic"]]


@sends(FIRST, "nightly")
def rows_like_signals(source: Source) -> None:
    """Rows of a table that has a `type`, of whose reads one is lost."""
    for id, marker in ((1, "first"), (2, "true"), (3, "last")):
        if marker == "true":
            source.lose(f"public.{BACKUP}")
            continue
        value = {
            "before": None,
            "after": {"id": id, "type": "nightly-snapshot"},
            "source": source.source(BACKUP, 10, snapshot=marker),
            "op": "r",
            "transaction": None,
        }
        source.send(f"public.{BACKUP}", {"id": id}, value)
    source.commit(2, 2000, create(1, 1))


@sends(FIRST, "old_garbage")
def old_garbage(source: Source) -> None:
    """What cannot be read is older than the second snapshot, which has no read beside it."""
    began(source)
    source.commit(2, 2000, create(1, 1, table="my_table"))
    source.send("public.my_table", None, "{")
    source.commit(3, 3000, create(2, 1, table="my_table"))


@sends(SECOND, "old_garbage")
def snapshot_after_the_garbage(source: Source) -> None:
    source.previous = None
    source.read(5, 5, "first", lsn=9000)
    source.read(6, 6, "last", lsn=9000)
    source.commit(9, 10000, update(5, 10), create(11, 1, table="my_table"))


@sends(FIRST, "slow_partition")
def slow_partition(source: Source) -> None:
    source.read(1, 1, "first")
    source.read(2, 1, "true", partition=1)
    source.read(3, 1, "last")
    source.commit(2, 2000, update(1, 2))


@sends(FIRST, "snapshot_at_newest")
def snapshot_where_the_newest_commit_ends(source: Source) -> None:
    began(source)
    source.previous = None
    source.read(1, 5, "first", lsn=1000)
    source.read(2, 5, "true", lsn=1000)


@sends(SECOND, "snapshot_at_newest")
def rest_of_the_snapshot(source: Source) -> None:
    source.read(3, 5, "last", lsn=1000)
    source.previous = 1000
    source.commit(2, 2000, create(4, 1))


@sends(FIRST, "old_read")
def old_read(source: Source) -> None:
    began(source)
    close = signal_row("s", "snapshot-window-close", f"{{{{ '; drop {SECRET}' }}}}")
    # Reads stand in front of all that the transaction of the signal does.
    source.commit(2, 2000, create(6, 2), close)
    source.commit(3, 3000, update(1, 3))
    source.previous = 1000
    sequence = json.dumps(["1000", "1951"])
    source.read(1, 1, "incremental", lsn=None, sequence=sequence)
    source.read(4, 1, "incremental", lsn=None, sequence=sequence)
    source.read(6, 1, "incremental", lsn=None, sequence=sequence)
    source.previous = 3000
    source.commit(4, 4000, create(5, 1))


NOTES = {
    1: "'; drop table public.t; --",
    2: "{{ run_query('drop table public.t') }}{% raw %}",
    3: "a\0b",
    4: f"{SECRET} \\ ` ${{x}}",
}


@sends(FIRST, "notes")
def notes(source: Source) -> None:
    rows = [create(id, row={"id": id, "n": 1, "note": note}) for id, note in NOTES.items()]
    lone = create(5, row={"id": 5, "n": 1, "note": "\ud800"})
    source.commit(1, 1000, *rows, lone)


@sends(SECOND, "read_cut_off")
def read_again_whole(source: Source) -> None:
    whole_again(source, snapshot_and_more, "public.t", 1)


@sends(SECOND, "begin_cut_off")
def begin_again_whole(source: Source) -> None:
    whole_again(source, snapshot_and_more, "transaction", 2)


@sends(SECOND, "healthy")
def healthy_again(source: Source) -> None:
    replayed(source)
    source.send("public.t", {"id": 1}, None)


@sends(SECOND, "replayed")
def only_heartbeats(source: Source) -> None:
    source.ends[f"__debezium-heartbeat.{source.name}", 0] = 0
    message = source.send("heartbeat", {"serverName": source.name}, {"ts_ms": MILLIS})
    message["topic"] = f"__debezium-heartbeat.{source.name}"


FIRST["f_snapshot_late"] = lambda source: began(source).commit(2, 2000, update(1, 2))


@sends(LAST, "snapshot_late")
def snapshot_behind_the_published_cut(source: Source) -> None:
    source.read(1, 0, "first")
    source.read(9, 0, "last")
    source.previous = 2000
    source.commit(3, 3000, update(1, 3))


@sends(LATE, "replaced_server")
def positions_below_the_snapshot(source: Source) -> None:
    """Nobody has declared a new epoch."""
    source.read(1, 1, "first", lsn=100)
    source.read(3, 1, "last", lsn=100)
    source.commit(1, 1000, update(1, 1))
    source.commit(2, 2000, update(1, 2))


@sends(LATE, "released")
def rest_of_a_released_transaction(source: Source) -> None:
    source.previous = 1000
    source.event(2, 1952, update(3, 9), (2, 2))


@sends(LATE, "released_snapshot")
def rest_of_a_released_snapshot(source: Source) -> None:
    source.read(9, 1, "last")


@sends(LATE, "released_window")
def rest_of_a_released_window(source: Source) -> None:
    source.previous = 1000
    source.read(6, 9, "incremental", lsn=1951, partition=1)


@sends(LATE, "unseen")
def late_event(source: Source) -> None:
    source.previous = 1000
    source.event(2, 1999, update(1, 9), (2, 2))


@sends(LATE, "clock")
def position_goes_back(source: Source) -> None:
    source.previous = 400
    source.commit(90, 500, update(1, 9))


@sends(FIRST, "unknown")
def connector_that_the_first_settings_do_not_name(source: Source) -> None:
    stream = streams.Generic(source.name, "public")
    stream.commit(streams.create("t", id=1, n=1, note=None))
    for message in stream.landings[0]:
        # No connector that is known has ids of this form.
        value = message["value"].replace(f'"id": "{stream.lsn}"', '"id": "one"')
        source.messages.append(message | {"value": value})


@dataclass(slots=True)
class Seen:
    """What readers and operators see after a run."""

    cuts: dict[str, Row]
    rows: dict[tuple[str, str], dict[object, object]]
    """n by id, by source and table."""

    def table(self, name: str, table: str = "t") -> dict[object, object]:
        return self.rows.get((f"f_{name}", table), {})

    def cut(self, name: str) -> Row:
        return self.cuts[f"f_{name}"]

    def held(self, name: str) -> dict[str, str]:
        """Why each transaction waits, or each snapshot."""
        return {entry["transaction_id"]: entry["reason"] for entry in self.cut(name)["held"]}

    def quarantined(self, name: str) -> list[str]:
        return [entry["reason"] for entry in self.cut(name)["quarantined"]]

    def count(self, name: str, outcome: str) -> int:
        return int(self.cut(name)["counts"][outcome])


def seen(lake: Lake) -> Seen:
    rows: dict[tuple[str, str], dict[object, object]] = {}
    for table in lake.tables:
        query = f"select _change.source, id, n from public.{table.model_name}"
        for source, id, n in lake.rows(query):
            rows.setdefault((str(source), table.table), {})[id] = n
    return Seen(lake.cuts(), rows)


@dataclass(slots=True)
class Runs:
    lake: Lake
    ends: dict[str, Counter[tuple[str, int]]] = field(default_factory=dict)
    """How far each partition of each source is."""

    def land(self, name: str, landing: dict[str, Maker]) -> None:
        self.lake.land_arrivals(name, arrivals(landing, self.ends))


def arrivals(landing: dict[str, Maker], ends: dict[str, Counter[tuple[str, int]]]) -> list[Arrival]:
    """What each source sends for a landing, offsets going on from those before."""
    made = []
    for name, maker in landing.items():
        source = Source(name, ends=ends.setdefault(name, Counter()))
        maker(source)
        made.append(Arrival(name, source.messages, []))
    return made


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    messages = [message for one in arrivals(FIRST, {}) for message in one.messages]
    tables = tables_of(messages, [Group("f_*", "faults")])
    kept = [table for table in tables if table.table not in (SIGNAL, BACKUP)]
    with open_lake(tmp_path_factory.mktemp("faults"), kept) as lake:
        with (lake.project / "seeds" / "operator_decision.csv").open("a") as lines:
            lines.write("f_released,2,release,Ann,2026-11-21,checked\n")
            lines.write("f_released_older,3,release,Ann,2026-11-21,checked\n")
            lost = TORN | dict.fromkeys(UNCOUNTED, (2, 3)) | {"slot_lost_in_the_first": (1, 2)}
            for name, (torn, first) in lost.items():
                lines.write(f"f_{name},{torn},release,Ann,2026-11-21,checked\n")
                lines.write(f"f_{name},{first},new_epoch,Ann,2026-11-21,slot lost\n")
            lines.write("f_slot_lost_before_empty,2,discard,Ann,2026-11-21,not wanted\n")
            lines.write("f_slot_lost_before_empty,3,new_epoch,Ann,2026-11-21,slot lost\n")
            lines.write("f_slot_lost_before_empty_later,2,release,Ann,2026-11-21,checked\n")
            for name, decision in LATER_DECISIONS.items():
                for decided in ("", "_undecided"):
                    one = f"f_slot_lost_later_{name}{decided}"
                    lines.write(f"{one},2,{decision},Ann,2026-11-21,checked\n")
                lines.write(f"f_slot_lost_later_{name},3,new_epoch,Ann,2026-11-21,slot lost\n")
            lines.write("f_released_before_an_end,2,release,Ann,2026-11-21,checked\n")
            lines.write("f_end_behind_its_release,2,release,Ann,2026-11-21,checked\n")
            lines.write("f_released_window,2,release,Ann,2026-11-21,checked\n")
            lines.write("f_contradicting_released,2,release,Ann,2026-11-21,checked\n")
            lines.write("f_released_at_an_end,2,release,Ann,2026-11-21,checked\n")
            lines.write("f_released_without_a_table,2,release,Ann,2026-11-21,checked\n")
            lines.write("f_too_many_released,2,release,Ann,2026-11-21,checked\n")
            lines.write("f_discarded,2,discard,Ann,2026-11-21,not wanted\n")
            # Of two on one day the one that goes further counts.
            lines.write("f_bag_discarded,4,discard,Ann,2026-11-21,no such row\n")
            lines.write("f_bag_discarded,4,new_epoch,Ann,2026-11-21,no such row\n")
            lines.write("f_released_snapshot,snapshot 10,release,Ann,2026-11-21,checked\n")
            for name in ("f_epoch", "f_epoch.more"):
                lines.write(f"{name},messages since {EARLIER},new_epoch,Ann,2026-11-21,restored\n")
            lines.write("f_discarded_snapshot,snapshot 3100,discard,Ann,2026-11-21,not wanted\n")
        yield Runs(lake)


@pytest.fixture(scope="module")
def shown(runs: Runs) -> Seen:
    runs.land("first", FIRST)
    assert runs.lake.build("--vars", FIRST_SETTINGS), runs.lake.lines
    return seen(runs.lake)


@pytest.fixture(scope="module")
def later(runs: Runs, shown: Seen) -> Seen:
    runs.land("second", SECOND)
    for retried, count in (("f_unknown.*", 3), ("f_garbage.*", 7), ("f_healthy.*", 0)):
        assert land_again(runs.lake.spark, "build", Wanted(topic=retried))[0] == count
    # A keyless table was to lose a row: one run fails on it, and the next one holds it.
    assert not runs.lake.build("--vars", LATER_SETTINGS, command="run")
    assert "f_bag: the next run holds transaction 4, which " in str(runs.lake.lines)
    assert seen(runs.lake) == shown
    assert runs.lake.build("--vars", LATER_SETTINGS, command="run"), runs.lake.lines
    return seen(runs.lake)


def test_a_source_without_a_fault_is_published_to_its_end(shown: Seen) -> None:
    assert shown.table("healthy") == {1: 2, 3: 1}
    assert (shown.cut("healthy")["commit_number"], shown.held("healthy")) == (2, {})


@pytest.mark.fault(1, 2)
@pytest.mark.parametrize(
    ("name", "reasons"), [("garbage", ["bad_json"] * 7), ("not_envelope", ["flattened"])]
)
def test_garbage_is_quarantined_and_the_run_goes_on(
    shown: Seen, name: str, reasons: list[str]
) -> None:
    assert shown.table(name) == {1: 2}
    assert shown.quarantined(name) == reasons


def test_what_a_setting_makes_readable_is_read_when_it_lands_again(
    shown: Seen, later: Seen
) -> None:
    assert shown.quarantined("unknown") == ["unknown_connector"] * 3
    assert (later.quarantined("unknown"), later.table("unknown")) == ([], {1: 1})


def test_what_lands_again_and_cannot_be_read_is_quarantined_once(later: Seen) -> None:
    assert later.quarantined("garbage") == ["bad_json"] * 7
    assert later.count("garbage", "quarantined") == 14


def test_quarantined_messages_are_listed_with_their_values_where_asked(
    runs: Runs, shown: Seen
) -> None:
    wanted = Wanted(source="f_garbage", reason="bad_*")
    reader = SparkReader(runs.lake.spark)
    masked = quarantined(reader, "build", wanted)
    told = quarantined(reader, "build", wanted, as_landed=True)
    assert len(masked) == len(told) == 7
    assert SECRET not in str(masked)
    assert SECRET in str(told)
    assert quarantined(reader, "build", Wanted(source="f_garb")) == []


@pytest.mark.fault(5, 10, 11, 18, 19, 21, 22, 23, 25, 35)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no_position", "missing_events"),
        ("no_identity", "quarantined_event"),
        ("no_after", "quarantined_event"),
        ("end_only", "missing_events"),
        ("no_end", "no_end"),
        ("no_end_ever", "no_end"),
        ("contradicting", "contradicting_events"),
        ("order_from_zero", "contradicting_events"),
        ("order_in_table_repeated", "contradicting_events"),
        ("order_repeated", "unproven_restart"),
        ("copies_of_other_content", "contradicting_events"),
        ("copies_of_other_order", "unproven_restart"),
        ("restarted_twice", "too_many_events"),
        ("incomplete_key_change", "incomplete_key_change"),
        ("short_and_long", "missing_events"),
        ("restart_over_garbage", "unproven_restart"),
        ("restart_after_garbage", "unproven_restart"),
        ("restart_with_two_ends", "unproven_restart"),
        ("window_cut_off", "snapshot_unconfirmed"),
        ("too_few", "missing_events"),
        ("too_many", "too_many_events"),
        ("no_block", "missing_events"),
        ("no_block_but_whole", "contradicting_events"),
    ],
)
def test_a_transaction_that_is_not_proved_is_held_with_its_reason(
    shown: Seen, name: str, reason: str
) -> None:
    assert shown.table(name) == {1: 1}
    assert shown.cut(name)["commit_number"] == 1
    assert shown.cut(name)["proof"] == "counted"
    assert shown.held(name)["2"] == reason


@pytest.mark.fault(22)
def test_a_held_transaction_says_which_table_lacks_how_many(shown: Seen) -> None:
    (entry,) = (held for held in shown.cut("too_few")["held"] if held["transaction_id"] == "2")
    assert (entry["table"], entry["expected"], entry["received"]) == ("public.t", 3, 2)


@pytest.mark.fault(10, 11)
@pytest.mark.parametrize(
    ("name", "reason"), [("no_identity", "delete_without_identity"), ("no_after", "no_after")]
)
def test_a_change_that_names_no_row_is_quarantined(shown: Seen, name: str, reason: str) -> None:
    assert shown.quarantined(name) == [reason]


@pytest.mark.fault(10)
def test_a_table_of_which_a_delete_names_no_row_is_flagged(shown: Seen) -> None:
    assert ("public.t", "identity_lost") in flags_of(shown.cut("no_identity"))
    assert all(flag["flag"] != "identity_lost" for flag in shown.cut("healthy")["flags"])


def test_a_table_whose_delete_has_a_key_of_zeros_is_flagged_until_a_snapshot_replaces_it(
    shown: Seen, later: Seen
) -> None:
    flag = ("public.t", "identity_not_in_key")
    assert flag in flags_of(shown.cut("key_of_zeros"))
    assert shown.table("key_of_zeros") == {1: 1}
    assert later.table("key_of_zeros") == {2: 2, 3: 1}
    assert flag not in flags_of(later.cut("key_of_zeros"))


def test_a_table_that_was_captured_later_lacks_a_baseline_and_one_created_later_does_not(
    shown: Seen, later: Seen
) -> None:
    for seen in (shown, later):
        flags = flags_of(seen.cut("captured_later"))
        assert ("public.captured_later", "no_baseline") in flags
        assert {flag for table, flag in flags if table == "public.created_later"} == set()


def test_a_row_whose_key_is_zero_is_deleted_and_raises_no_flag(shown: Seen) -> None:
    assert shown.table("row_of_zeros") == {1: 1}
    flags = [flag["flag"] for flag in shown.cut("row_of_zeros")["flags"]]
    assert "identity_not_in_key" not in flags


@pytest.mark.fault(8, 9)
def test_a_tombstone_is_counted_and_deletes_nothing(shown: Seen) -> None:
    assert shown.table("tombstone") == {1: 1}
    assert shown.count("tombstone", "tombstone") == 2


@pytest.mark.fault(12)
def test_of_two_columns_of_one_name_the_last_counts(shown: Seen) -> None:
    assert shown.table("same_name_twice") == {1: 2}


@pytest.mark.fault(1)
@pytest.mark.parametrize(
    ("name", "rows", "waiting", "reason"),
    [
        ("read_cut_off", {}, "snapshot 10", "snapshot_incomplete"),
        ("message_at_snapshot", {}, "snapshot 10", "snapshot_incomplete"),
        ("begin_cut_off", {1: 2, 2: 1, 3: 1}, "2", "missing_predecessor"),
    ],
)
def test_what_lands_cut_off_holds_until_it_lands_whole(
    shown: Seen, later: Seen, name: str, rows: dict[object, object], waiting: str, reason: str
) -> None:
    assert shown.table(name) == rows
    assert shown.held(name)[waiting] == reason
    assert later.table(name) == {1: 2, 2: 1, 3: 1, 4: 1}
    assert later.held(name) == {}


def test_a_restart_is_shown_when_all_partitions_have_passed_it(later: Seen) -> None:
    assert later.table("restart_with_two_ends") == {1: 3, 2: 0, 3: 0, 8: 0, 9: 3}
    assert later.held("restart_with_two_ends") == {}


def test_a_window_that_may_lack_a_read_is_never_shown(later: Seen) -> None:
    assert later.table("window_cut_off") == {1: 1}
    assert later.held("window_cut_off")["2"] == "snapshot_unconfirmed"


def test_a_window_is_not_whole_since_an_older_change_comes_again(shown: Seen) -> None:
    assert shown.table("window_cut_off_in_a_restart") == {1: 2}
    assert shown.held("window_cut_off_in_a_restart")["3"] == "snapshot_unconfirmed"


def test_a_topic_that_tables_share_with_signals_holds_reads(shown: Seen) -> None:
    assert shown.table("one_topic_with_signals") == {1: 3, 2: 1}
    assert shown.table("two_topics_with_signals") == {}
    assert shown.held("two_topics_with_signals")["snapshot 10"] == "snapshot_incomplete"


def test_a_torn_key_change_is_held_where_nothing_counts_transactions(shown: Seen) -> None:
    assert shown.table("uncounted_key_change_torn") == {1: 1}
    assert shown.held("uncounted_key_change_torn")["2"] == "incomplete_key_change"


@pytest.mark.parametrize("name", ["messages_of_others", "messages_of_themselves"])
def test_messages_hold_nothing_of_a_source_without_metadata(shown: Seen, name: str) -> None:
    assert shown.table(name) == {1: 3}
    assert shown.held(name) == {"4": "awaiting_watermark"}


def test_a_message_that_names_itself_does_not_hide_what_has_not_landed(
    shown: Seen, later: Seen
) -> None:
    assert shown.table("messages_that_name_themselves") == {1: 2}
    assert shown.held("messages_that_name_themselves") == {"4": "missing_predecessor"}
    assert later.table("messages_that_name_themselves") == {1: 4}
    assert later.held("messages_that_name_themselves") == {}


def test_no_cut_stands_between_a_signal_and_its_blocking_snapshot(shown: Seen, later: Seen) -> None:
    assert shown.table("blocking_clock") == {1: 1}
    assert later.table("blocking_clock") == {1: 3, 5: 9}


@pytest.mark.parametrize("name", ["shared_topic_late", "shared_topic_unknown"])
def test_a_read_behind_what_another_source_sent_is_waited_for(shown: Seen, name: str) -> None:
    assert shown.table(name) == {}
    assert shown.held(name)["snapshot 10"] == "snapshot_incomplete"


def test_an_end_that_came_before_is_not_one_that_follows(shown: Seen, later: Seen) -> None:
    assert shown.table("ends_cut_off") == {1: 1}
    assert shown.cut("ends_cut_off")["commit_number"] == 1
    assert shown.held("ends_cut_off")["3"] == "missing_predecessor"
    assert later.table("ends_cut_off") == {1: 2}
    assert later.cut("ends_cut_off")["commit_number"] == 3


def test_a_change_that_lands_whole_is_no_read_that_is_missing(shown: Seen, later: Seen) -> None:
    assert shown.table("change_cut_off") == {1: 1, 2: 1}
    assert "snapshot_incomplete" in shown.held("change_cut_off").values()
    assert later.table("change_cut_off") == {1: 7, 2: 7, 3: 3, 4: 4}
    assert later.held("change_cut_off") == {}


def test_an_event_that_landed_whole_is_no_reason_to_hold_another(shown: Seen, later: Seen) -> None:
    assert shown.held("event_cut_off") == {"2": "quarantined_event"}
    assert later.table("event_cut_off") == {1: 2}
    assert later.held("event_cut_off") == {"3": "missing_events"}


def test_a_message_that_lands_cut_off_and_whole_at_once_is_read(shown: Seen) -> None:
    assert shown.table("cut_off_and_whole") == {1: 2}
    assert shown.count("cut_off_and_whole", "quarantined") == 1
    assert shown.quarantined("cut_off_and_whole") == []


def test_a_begin_behind_its_published_transaction_is_not_held(shown: Seen, later: Seen) -> None:
    assert shown.cut("late_begin")["commit_number"] == 2
    assert later.held("late_begin") == {}
    assert later.count("late_begin", "held") == 0


def test_a_new_snapshot_makes_up_for_what_kafka_removed(shown: Seen) -> None:
    assert shown.table("behind_a_hole") == {1: 3, 2: 7, 4: 4}
    assert shown.held("behind_a_hole") == {}


def test_a_discarded_snapshot_replaces_nothing_that_is_held(shown: Seen) -> None:
    assert shown.table("discarded_snapshot") == {1: 1}
    held = shown.held("discarded_snapshot")
    assert held["2"] == "missing_events"


@pytest.mark.fault(15)
def test_a_delivery_that_lands_twice_counts_once(shown: Seen) -> None:
    assert shown.table("delivered_twice") == shown.table("healthy")
    assert shown.count("delivered_twice", "duplicate") == shown.count("healthy", "landed")


@pytest.mark.fault(16)
def test_a_change_that_is_sent_again_counts_once(shown: Seen) -> None:
    assert shown.table("replayed") == shown.table("healthy")
    assert shown.cut("replayed")["commit_number"] == 2
    assert shown.count("replayed", "duplicate") == shown.count("healthy", "applied")


@pytest.mark.fault(18)
def test_an_end_may_come_first_and_a_begin_not_at_all(shown: Seen) -> None:
    assert shown.table("end_first") == {1: 2}
    assert shown.held("end_first") == {}


@pytest.mark.fault(20)
def test_only_an_operator_ends_a_transaction_without_an_end(shown: Seen) -> None:
    assert shown.table("released") == {1: 2, 3: 3}
    assert shown.table("discarded") == {1: 1, 3: 3}
    assert shown.cut("released")["decisions"] == [
        "transaction 2: release by Ann on 2026-11-21 (checked)"
    ]
    assert shown.quarantined("discarded") == ["discarded"]


def test_status_says_the_same_with_duckdb_as_with_spark(runs: Runs, shown: Seen) -> None:
    report = agreed_status(runs.lake.project)
    for part in ("held", "quarantined", "flags", "decisions"):
        assert any(entry[part] for entry in report), part


def test_a_decision_whose_reason_was_corrected_has_had_its_effect(runs: Runs, shown: Seen) -> None:
    report = list(shown.cuts.values())
    before = [
        {**cut, "decisions": [text.replace("checked", "chekced") for text in cut["decisions"]]}
        for cut in report
    ]
    assert before != report
    reader = SparkReader(runs.lake.spark)
    assert idle_decisions(reader, before) == idle_decisions(reader, report)


def test_a_released_transaction_follows_what_had_ended_when_it_was_committed(shown: Seen) -> None:
    assert (shown.table("released_older"), shown.held("released_older")) == ({1: 3}, {})


@pytest.mark.parametrize("name", TORN)
def test_a_released_transaction_comes_before_a_new_stream_behind_the_same_predecessor(
    shown: Seen, name: str
) -> None:
    assert (shown.table(name), shown.held(name)) == ({1: 3, 4: 4}, {})
    assert shown.table(f"{name}_undecided") == {1: 1}
    torn, first = map(str, TORN[name])
    assert shown.held(f"{name}_undecided") == {
        torn: "no_end",
        first: "missing_predecessor",
        "4": "follows_held_transaction",
    }


def test_a_new_stream_waits_for_a_decision_on_the_only_transaction_of_the_old_one(
    shown: Seen,
) -> None:
    name = "slot_lost_in_the_first"
    assert (shown.table(name), shown.held(name)) == ({1: 3}, {})
    assert shown.table(f"{name}_undecided") == {}
    assert shown.held(f"{name}_undecided") == {
        "1": "no_end",
        "2": "missing_predecessor",
        "3": "follows_held_transaction",
    }


def test_a_new_stream_waits_for_the_old_one_of_which_no_end_has_landed(shown: Seen) -> None:
    assert shown.table("slot_lost_before_any_end") == {}
    assert shown.held("slot_lost_before_any_end") == {
        "1": "no_end",
        "2": "no_end",
        "3": "missing_predecessor",
        "4": "follows_held_transaction",
    }


@pytest.mark.parametrize("place", ["uncounted", "landed"])
def test_a_new_stream_that_nothing_counts_waits_for_the_only_transaction_of_the_old_one(
    shown: Seen, place: str
) -> None:
    assert shown.table(f"slot_lost_in_the_first_{place}") == {}
    assert shown.held(f"slot_lost_in_the_first_{place}") == {
        "1": "awaiting_watermark",
        "2": "missing_predecessor",
        "3": "follows_held_transaction",
        "4": "awaiting_watermark",
    }


@pytest.mark.parametrize("name", UNCOUNTED)
def test_a_new_stream_that_nothing_counts_waits_for_a_decision(shown: Seen, name: str) -> None:
    assert (shown.table(name), shown.held(name)) == ({1: 4}, {"5": "awaiting_watermark"})
    assert shown.table(f"{name}_undecided") == {1: 1}
    assert shown.held(f"{name}_undecided") == {
        "2": "awaiting_watermark",
        "3": "missing_predecessor",
        "4": "follows_held_transaction",
        "5": "awaiting_watermark",
    }


def test_a_new_stream_whose_first_transaction_is_older_than_the_old_one_is_held(
    shown: Seen,
) -> None:
    assert shown.table("slot_lost_overlapping") == {}
    assert shown.held("slot_lost_overlapping") == dict.fromkeys("12345", "awaiting_watermark")
    assert shown.table("slot_lost_older") == {}
    assert shown.table("slot_lost_older_snapshot") == {1: 0, 2: 0}
    for name in ("slot_lost_older", "slot_lost_older_snapshot"):
        assert shown.held(name) == {
            "1": "awaiting_watermark",
            "2": "follows_held_transaction",
            "3": "missing_predecessor",
            "4": "follows_held_transaction",
            "5": "awaiting_watermark",
        }


def test_the_first_transaction_that_nothing_counts_may_follow_one_that_sends_nothing(
    shown: Seen,
) -> None:
    assert shown.table("uncounted_behind_unseen") == {1: 20, 2: 1}
    assert shown.held("uncounted_behind_unseen") == {"3": "awaiting_watermark"}


def test_a_restart_inside_the_first_transaction_of_a_stream_is_no_predecessor(shown: Seen) -> None:
    assert shown.table("restart_in_the_first") == {1: 3, 2: 2, 3: 3}
    assert shown.held("restart_in_the_first") == {}
    assert shown.table("restart_in_the_first_uncounted") == {1: 3, 2: 2}
    assert shown.held("restart_in_the_first_uncounted") == {"3": "awaiting_watermark"}


def test_a_restarted_first_transaction_waits_for_every_partition_to_pass_the_restart(
    shown: Seen,
) -> None:
    name = "restart_in_the_first_cut_off"
    assert shown.table(name) == {1: 1, 2: 1, 3: 1}
    assert shown.held(name) == dict.fromkeys("123", "awaiting_watermark")


def test_a_begin_without_its_end_is_a_hole_before_a_transaction_without_changes(
    shown: Seen,
) -> None:
    name = "slot_lost_before_empty"
    assert (shown.table(name), shown.held(name)) == ({1: 4}, {})
    assert shown.table(f"{name}_undecided") == {1: 1}
    assert shown.held(f"{name}_undecided") == {
        "2": "no_end",
        "3": "missing_predecessor",
        "4": "follows_held_transaction",
    }


@pytest.mark.parametrize(("name", "first_row"), [("released", 2), ("discarded", 1)])
def test_a_new_stream_that_names_what_a_decided_transaction_did_waits_for_a_decision_of_its_own(
    shown: Seen, later: Seen, name: str, first_row: int
) -> None:
    name = f"slot_lost_later_{name}"
    assert shown.table(name) == shown.table(f"{name}_undecided") == {1: first_row}
    assert (later.table(name), later.held(name)) == ({1: 3, 4: 4}, {})
    # A copy of the decided one has come, too.
    assert later.cuts[f"f_{name}"]["counts"]["held"] == 0
    assert later.table(f"{name}_undecided") == {1: first_row}
    assert later.held(f"{name}_undecided") == {
        "3": "missing_predecessor",
        "4": "follows_held_transaction",
    }


def test_a_release_without_end_does_not_end_where_another_transaction_does(
    shown: Seen, later: Seen
) -> None:
    name = "released_before_an_end"
    assert shown.table(name) == later.table(name) == {1: 2}
    assert shown.held(name) == {"3": "missing_events", "4": "follows_held_transaction"}
    assert later.held(name) == {"3": "missing_predecessor", "4": "follows_held_transaction"}


def test_a_release_without_end_is_a_hole_before_a_transaction_without_changes(
    shown: Seen, later: Seen
) -> None:
    for name in ("slot_lost_before_empty_later", "end_behind_its_release"):
        assert (shown.table(name), shown.held(name)) == ({1: 2}, {})
    assert later.table("slot_lost_before_empty_later") == {1: 2}
    assert later.held("slot_lost_before_empty_later") == {
        "3": "missing_predecessor",
        "4": "follows_held_transaction",
    }
    assert later.table("end_behind_its_release") == {1: 4}
    assert later.held("end_behind_its_release") == {}


def test_a_begin_without_its_end_proves_no_hole_to_be_the_only_one_of_two_partitions(
    shown: Seen, later: Seen
) -> None:
    name = "begin_without_its_end"
    assert (shown.table(name), shown.held(name)) == ({1: 1}, {})
    assert later.table(name) == {1: 2}
    assert later.held(name) == {"4": "partition_behind", "5": "follows_held_transaction"}


def test_a_restart_inside_the_first_transaction_does_not_link_a_new_stream_to_the_old_one(
    shown: Seen,
) -> None:
    assert shown.table("restart_in_a_new_stream") == {1: 1}
    assert shown.held("restart_in_a_new_stream") == {
        "2": "awaiting_watermark",
        "3": "missing_predecessor",
        "4": "follows_held_transaction",
        "5": "awaiting_watermark",
    }


def test_a_restart_inside_what_wrote_before_a_snapshot_is_shown_behind_it(
    shown: Seen, later: Seen
) -> None:
    name = "restart_behind_snapshot"
    assert (shown.table(name), shown.held(name)) == ({1: 1, 2: 1}, {"1": "no_end"})
    assert (later.table(name), later.held(name)) == ({1: 2, 2: 2, 3: 3}, {})


def test_a_window_of_which_a_read_may_lack_is_shown_when_its_transaction_is_released(
    shown: Seen,
) -> None:
    assert (shown.table("released_window"), shown.held("released_window")) == ({1: 1, 5: 9}, {})


@pytest.mark.fault(19, 23)
def test_a_released_transaction_whose_counters_contradict_each_other_is_in_the_order_of_the_log(
    shown: Seen,
) -> None:
    assert shown.table("contradicting_released") == {1: 2, 5: 2}
    assert shown.table("too_many_released") == {1: 2, 2: 2}


def test_a_transaction_that_takes_a_row_from_a_bag_without_it_is_held(
    shown: Seen, later: Seen
) -> None:
    assert (shown.table("bag", "bag"), shown.held("bag")) == ({1: 1}, {})
    assert later.table("bag", "bag") == {1: 1, 2: 2}
    assert later.table("bag") == {1: 1}
    assert later.held("bag") == {"4": "missing_row", "5": "follows_held_transaction"}
    assert later.cut("bag")["commit_number"] == 3


def test_without_a_discarded_transaction_a_bag_goes_on(later: Seen) -> None:
    assert later.table("bag_discarded", "bag") == {1: 1, 2: 2}
    assert later.table("bag_discarded") == {1: 5}
    assert later.held("bag_discarded") == {}
    assert later.cut("bag_discarded")["commit_number"] == 4
    assert later.quarantined("bag_discarded") == ["discarded"] * 2


@pytest.mark.fault(24)
def test_tables_that_do_not_land_are_not_waited_for(shown: Seen) -> None:
    assert shown.table("unseen") == {1: 2}


@pytest.mark.fault(26)
def test_a_source_without_metadata_is_published_by_watermark_and_says_so(shown: Seen) -> None:
    assert shown.table("no_metadata") == {1: 1, 2: 1}
    assert shown.cut("no_metadata")["proof"] == "watermark"
    assert shown.held("no_metadata") == {"3": "awaiting_watermark"}


def test_nothing_behind_a_hole_is_published_by_watermark(shown: Seen) -> None:
    assert shown.table("uncounted_log.bank") == {1: 4}
    assert shown.table("uncounted_hole.bank") == {1: 1}


@pytest.mark.fault(26)
def test_transactions_whose_topic_does_not_land_are_held(shown: Seen) -> None:
    assert shown.table("end_topic_not_landed") == {}
    assert set(shown.held("end_topic_not_landed").values()) == {"no_end"}


@pytest.mark.fault(26)
def test_a_watermark_that_is_refused_publishes_nothing(later: Seen) -> None:
    assert later.table("no_metadata") == {1: 1, 2: 1}
    assert later.held("no_metadata")["3"] == "refused_proof"


@pytest.mark.fault(26, 30)
@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("refused_proof", ": is held as refused_proof"),
        ("snapshot_incomplete", ": is held as snapshot_incomplete"),
    ],
)
def test_a_run_fails_where_a_reason_to_hold_is_refused(
    runs: Runs, later: Seen, reason: str, sentence: str
) -> None:
    settings = LATER_SETTINGS.replace("}", f", refused_holds: [{reason}]}}")
    options = ("--select", "+held_transaction", "--vars", settings)
    assert not runs.lake.build(*options, command="run")
    assert runs.lake.lines[-1].startswith("nothing published: 1 of ")
    (said,) = (line for line in runs.lake.lines if "refused_holds names" in line)
    assert sentence in said
    assert seen(runs.lake) == later


@pytest.mark.fault(27)
def test_ends_in_two_partitions_are_ordered_by_their_positions(shown: Seen) -> None:
    assert shown.table("two_end_partitions") == {1: 4}
    assert shown.cut("two_end_partitions")["commit_number"] == 4


@pytest.mark.fault(28)
def test_a_transaction_id_that_is_used_again_is_another_transaction(
    shown: Seen, later: Seen
) -> None:
    assert shown.table("transaction_id_later") == {1: 2}
    assert later.table("transaction_id_later") == {1: 3}
    assert shown.table("transaction_id_again") == {}
    assert shown.held("transaction_id_again")["7"] == "missing_predecessor"


@pytest.mark.fault(30)
def test_two_connectors_of_one_prefix_do_not_mix(shown: Seen) -> None:
    assert shown.table("two_connectors") == {1: 1}
    assert set(shown.held("two_connectors").values()) == {"missing_predecessor"}


@pytest.mark.fault(32)
def test_two_tables_in_one_topic_stay_apart(shown: Seen) -> None:
    assert shown.table("one_topic", "my table") == {}
    assert shown.table("one_topic", "my_table") == {1: 2}


@pytest.mark.fault(33)
def test_a_row_has_the_columns_of_its_own_event(runs: Runs, shown: Seen) -> None:
    rows = runs.lake.rows(
        "select id, n, note from public.t where _change.source = 'f_columns_change'"
    )
    assert sorted(rows, key=str) == [(1, 1, None), (2, 2, "added"), (3, None, "n is gone")]


@pytest.mark.fault(5, 35, 48, 49)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("read_without_position", "snapshot_incomplete"),
        ("read_lost", "snapshot_incomplete"),
        ("no_last", "snapshot_incomplete"),
        ("slow_partition", "snapshot_unconfirmed"),
    ],
)
def test_a_snapshot_that_may_lack_reads_is_held(shown: Seen, name: str, reason: str) -> None:
    assert shown.table(name) == {}
    assert shown.held(name) == {"snapshot 10": reason, "2": "follows_held_snapshot"}


@pytest.mark.fault(48)
def test_a_first_snapshot_without_a_first_read_is_shown(shown: Seen) -> None:
    assert shown.table("no_first") == {1: 2, 2: 1}
    assert shown.held("no_first") == {}


@pytest.mark.fault(46, 48)
def test_a_blocking_snapshot_without_a_first_read_may_lack_its_first_table(later: Seen) -> None:
    assert later.table("blocking_no_first") == {1: 1}
    assert later.held("blocking_no_first")["snapshot 1951"] == "snapshot_incomplete"


@pytest.mark.fault(28)
@pytest.mark.parametrize("name", ["epoch", "epoch.more"])
def test_an_epoch_of_one_source_is_not_one_of_a_source_of_a_longer_name(
    shown: Seen, name: str
) -> None:
    assert shown.table(name) == {1: 1}
    assert shown.cut(name)["decisions"] == [
        f"messages since {EARLIER}: new_epoch by Ann on 2026-11-21 (restored)"
    ]


@pytest.mark.fault(48)
def test_a_decision_on_one_snapshot_says_nothing_of_the_next(shown: Seen, later: Seen) -> None:
    assert shown.table("released_snapshot") == {1: 2, 2: 1}
    assert shown.cut("released_snapshot")["decisions"] == [
        "snapshot 10: release by Ann on 2026-11-21 (checked)"
    ]
    assert later.table("released_snapshot") == {1: 2, 2: 1}
    assert later.held("released_snapshot") == {"snapshot 3000": "snapshot_incomplete"}


def test_reads_wait_for_their_snapshot_where_the_newest_commit_ends(
    shown: Seen, later: Seen
) -> None:
    assert shown.table("snapshot_at_newest") == {1: 1}
    assert shown.held("snapshot_at_newest") == {"snapshot 1000": "snapshot_incomplete"}
    assert later.table("snapshot_at_newest") == {1: 5, 2: 5, 3: 5, 4: 1}


@pytest.mark.fault(32)
def test_a_snapshot_in_a_topic_of_another_source_is_held(shown: Seen) -> None:
    assert shown.table("shared_topic") == {1: 2, 2: 1}
    assert shown.table("shared_topic_too") == {}
    assert shown.held("shared_topic_too") == {"snapshot 10": "snapshot_unconfirmed"}


@pytest.mark.fault(32)
def test_a_message_of_another_source_does_not_show_that_no_read_is_missing(shown: Seen) -> None:
    assert shown.table("shared_topic_hole") == {}
    assert shown.held("shared_topic_hole")["snapshot 10"] == "snapshot_incomplete"


@pytest.mark.fault(26, 32)
def test_a_partition_that_two_sources_share_tells_of_neither_how_far_it_has_come(
    shown: Seen,
) -> None:
    assert shown.table("shared_topic_uncounted") == {}
    assert set(shown.held("shared_topic_uncounted").values()) == {"awaiting_watermark"}


@pytest.mark.fault(48)
def test_a_snapshot_without_the_topic_of_a_table_that_end_counts_is_held(
    shown: Seen, later: Seen
) -> None:
    assert shown.table("table_late") == {}
    assert shown.held("table_late")["snapshot 10"] == "snapshot_incomplete"
    assert later.table("table_late") == {1: 2, 4: 1}
    assert later.table("table_late", "my_table") == {7: 2}


@pytest.mark.fault(48)
def test_a_row_that_looks_like_a_signal_proves_no_snapshot(shown: Seen) -> None:
    assert shown.table("nightly") == {}
    assert shown.held("nightly")["snapshot 10"] == "snapshot_incomplete"


@pytest.mark.fault(1)
def test_garbage_that_is_older_than_a_snapshot_does_not_hold_it(shown: Seen, later: Seen) -> None:
    assert shown.table("old_garbage", "my_table") == {1: 1, 2: 1}
    assert later.table("old_garbage") == {5: 10, 6: 6}


@pytest.mark.fault(36)
def test_a_clock_that_goes_back_or_stands_still_changes_no_order(shown: Seen) -> None:
    assert shown.table("clock") == {1: 3}


@pytest.mark.fault(37)
def test_a_long_transaction_over_two_landings_is_shown_whole(shown: Seen, later: Seen) -> None:
    assert shown.table("long") == {1: 1}
    assert len(later.table("long")) == 5002


@pytest.mark.fault(38)
def test_a_transaction_without_changes_is_a_link_like_others(shown: Seen) -> None:
    assert shown.table("empty_transaction") == {1: 3}
    assert shown.cut("empty_transaction")["commit_number"] == 3


@pytest.mark.fault(43, 44, 45)
def test_the_newest_complete_snapshot_replaces_the_tables(shown: Seen) -> None:
    assert shown.table("snapshot_again") == {2: 4, 3: 5}
    assert shown.table("snapshot_again", "my_table") == {7: 1}


@pytest.mark.fault(45)
def test_a_table_without_reads_is_emptied_where_the_setting_says_so(later: Seen) -> None:
    assert later.table("snapshot_again") == {5: 10, 6: 9}
    assert later.table("snapshot_again", "my_table") == {11: 1}


def test_a_table_that_a_snapshot_left_as_it_was_is_flagged_whatever_the_setting_says_later(
    shown: Seen, later: Seen
) -> None:
    for cut in (shown.cut("snapshot_kept"), later.cut("snapshot_kept")):
        assert ("public.my_table", "not_in_latest_snapshot") in flags_of(cut)


@pytest.mark.fault(46)
def test_a_blocking_snapshot_adds_rows_once_the_stream_has_passed_it(
    shown: Seen, later: Seen
) -> None:
    assert shown.table("blocking") == {1: 1}
    assert later.table("blocking") == {1: 9, 2: 4, 5: 9}


@pytest.mark.fault(46)
def test_a_transaction_that_asks_for_a_blocking_snapshot_waits_for_it(
    shown: Seen, later: Seen
) -> None:
    assert shown.table("signalled") == {1: 1}
    assert shown.held("signalled") == {"2": "snapshot_incomplete", "3": "follows_held_transaction"}
    assert later.table("signalled") == {1: 3, 5: 9, 6: 4, 7: 5}


@pytest.mark.fault(41, 46)
def test_a_blocking_snapshot_that_the_first_transaction_signals_is_no_initial_one(
    shown: Seen, later: Seen
) -> None:
    assert shown.table("signalled_first") == {1: 3, 2: 1, 5: 9}
    assert shown.cut("signalled_first")["commit_number"] == 5
    assert later.table("signalled_first") == shown.table("signalled_first")
    assert later.cut("signalled_first")["commit_number"] == 5


@pytest.mark.fault(46)
def test_a_blocking_snapshot_whose_signal_is_older_than_the_cut_waits_for_the_stream(
    shown: Seen, later: Seen
) -> None:
    assert shown.table("signalled_among_others") == {1: 1}
    assert later.table("signalled_among_others") == {1: 9, 3: 3, 4: 4, 5: 9}


@pytest.mark.fault(46)
def test_a_first_snapshot_is_not_taken_for_the_one_that_a_transaction_open_then_signals(
    shown: Seen,
) -> None:
    assert shown.table("signalled_from_before") == {1: 9, 2: 1, 3: 3, 5: 9}


@pytest.mark.fault(46)
def test_a_blocking_snapshot_waits_for_no_table_that_it_does_not_read(shown: Seen) -> None:
    assert shown.table("signalled_beside_a_table") == {1: 9, 3: 3, 5: 9}
    assert shown.table("signalled_beside_a_table", "my_table") == {7: 2}


@pytest.mark.fault(18)
def test_a_released_transaction_may_begin_where_the_one_before_ended(shown: Seen) -> None:
    assert shown.table("released_at_an_end") == {1: 2}


@pytest.mark.fault(48)
def test_a_released_transaction_holds_no_snapshot(shown: Seen) -> None:
    assert shown.table("released_without_a_table") == {1: 3, 2: 1}


@pytest.mark.fault(51)
def test_an_old_read_does_not_undo_a_later_change(shown: Seen) -> None:
    assert shown.table("old_read") == {1: 3, 4: 1, 5: 1, 6: 2}


@pytest.mark.fault(62, 63, 69)
def test_a_text_is_data_whatever_it_says(runs: Runs, shown: Seen) -> None:
    rows = runs.lake.rows(
        "select id, note, _change.unrepresentable from public.t where _change.source = 'f_notes'"
    )
    assert {id: note for id, note, _ in rows} == {**NOTES, 5: None}
    named = {id: [tuple(one) for one in lost] for id, _, lost in rows if lost}  # type: ignore[attr-defined]
    assert named == {5: [("note", r"\ud800")]}


@pytest.mark.fault(81)
def test_signals_and_heartbeats_are_counted(shown: Seen, later: Seen) -> None:
    assert shown.cut("old_read")["commit_number"] == 4
    assert later.count("replayed", "control") == shown.count("replayed", "control") + 1


@pytest.mark.fault(41, 42)
def test_what_lands_again_changes_no_row(shown: Seen, later: Seen) -> None:
    for name in ("healthy", "replayed"):
        assert later.table(name) == shown.table(name)
        assert later.cut(name)["commit_number"] == shown.cut(name)["commit_number"]
    assert later.count("healthy", "duplicate") == 2 * shown.count("healthy", "applied")
    assert later.count("healthy", "held") == 0


@pytest.mark.fault(79)
def test_no_log_and_no_artefact_holds_a_value_of_a_row(runs: Runs, later: Seen) -> None:
    files = [path for path in runs.lake.project.rglob("*") if path.is_file()]
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert SECRET not in "".join(runs.lake.lines)
    assert SECRET not in str(later.cuts)


@pytest.mark.fault(75)
def test_a_run_that_cannot_write_shows_nothing(runs: Runs, later: Seen) -> None:
    """A file stands where the folder of a table's data must be: root may write anywhere else."""
    runs.land("third", LATE)
    folder = runs.lake.folder / "lake" / "warehouse" / "build" / "stg_message" / "data"
    folder.rename(folder.with_name("away"))
    folder.touch()
    assert not runs.lake.build("--vars", LATER_SETTINGS)
    folder.unlink()
    folder.with_name("away").rename(folder)
    assert runs.lake.lines[-1].startswith("nothing published: ")
    assert seen(runs.lake) == later


@pytest.mark.fault(29, 40)
def test_a_change_below_the_published_cut_fails_the_run(runs: Runs, later: Seen) -> None:
    test = "a_late_record_is_a_copy_of_a_published_one"
    options = ("--vars", LATER_SETTINGS, "--indirect-selection", "empty")
    assert not runs.lake.build("--select", f"+{test}", *options)
    assert runs.lake.lines[-1].startswith("nothing published: ")
    (compiled,) = (runs.lake.project / "target" / "compiled").rglob(f"{test}.sql")
    late = {row[0] for row in runs.lake.rows(compiled.read_text())}
    assert late == {"f_unseen", "f_clock", "f_replaced_server"}
    assert seen(runs.lake) == later


def test_a_snapshot_below_the_published_cut_is_held(runs: Runs, later: Seen) -> None:
    runs.land("fourth", LAST)
    assert runs.lake.build("--select", "+proof", "--vars", LATER_SETTINGS, command="run")
    held = runs.lake.rows(
        "select verdict, held_reason from build.proof where source = 'f_snapshot_late'"
        " and kind = 'unit' and unit_kind = 'snapshot'"
        " and cut_id = (select max(cut_id) from build.proof)"
    )
    assert [tuple(one) for one in held] == [("hold", "late_snapshot")]
    assert seen(runs.lake) == later
