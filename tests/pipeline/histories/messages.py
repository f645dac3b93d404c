"""The messages of a history, as Debezium 3.6 writes them and Spark's Kafka source shows them."""

import base64
from collections.abc import Iterator
from typing import Final, TypeAlias

import msgspec

from histories import mysql_log
from histories.cdl_form import ROWS, value_text
from histories.log_sequence import OTHER_DATABASE, commit_lsn, place, read_place
from histories.plan import MESSAGE, SIGNAL, TABLES, Entry, Event, Plan, Row, Transaction, counters

Message: TypeAlias = dict[str, object]
"""topic, partition, offset, timestamp, key, value, headers."""

DATABASE: Final = "bank"
EPOCH_MILLIS: Final = 1_795_228_000_000
MESSAGE_TABLE: Final = (
    "io.debezium.connector.postgresql.LogicalDecodingMessageMonitor"
    "$LogicalDecodingMessageId@219c5324"
)


def json_text(value: object) -> str:
    """Compact, names in their order, nothing but what JSON must escape is escaped."""
    return msgspec.json.encode(value).decode()


def source_name(plan: Plan) -> str:
    """What the tables call the source: of several databases of a connector, each is one."""
    return f"{plan.name}.{DATABASE}" if plan.connector == "sqlserver" else plan.name


def messages(plan: Plan) -> Iterator[tuple[Entry, Message]]:
    """Each entry's message, in the order of sending."""
    writer = _Writer(plan)
    for sent, (entry, offset) in enumerate(zip(plan.entries, plan.offsets(), strict=True)):
        key, value, headers = writer.write(entry, sent)
        topic = f"{plan.name}.{entry.topic}"
        if entry.kind == "heartbeat":
            topic = f"__debezium-heartbeat.{plan.name}"
        elif entry.kind == "ddl":
            topic = plan.name
        elif entry.topic in (*TABLES, SIGNAL, ROWS):
            topic = f"{source_name(plan)}.public.{entry.topic}"
        yield (
            entry,
            {
                "topic": topic,
                "partition": entry.partition,
                "offset": offset,
                "timestamp": EPOCH_MILLIS + sent,
                "key": key,
                "value": value,
                "headers": headers,
            },
        )


Written: TypeAlias = tuple[str | None, str | None, list[dict[str, str]]]


class _Writer:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.named = plan.named_lsns()

    def write(self, entry: Entry, sent: int) -> Written:
        """Key, value and headers of an entry's message."""
        if entry.kind == "garbage":
            return None, entry.text, []
        if entry.kind == "heartbeat":
            value = f'{{"ts_ms":{EPOCH_MILLIS + sent}}}'
            return json_text({"serverName": self.plan.name}), value, []
        if entry.transaction is None:
            return self._read(entry, sent)
        transaction = self.plan.transactions[entry.transaction]
        if entry.kind == "window_read":
            return self._window_read(entry, entry.transaction, transaction, sent)
        if entry.kind == "message":
            return self._loose_message(entry, entry.transaction, transaction)
        if entry.kind == "ddl":
            return self._ddl(entry.transaction, transaction)
        if entry.event is None:
            return self._marker(entry, transaction, _commit_millis(entry.transaction))
        event = transaction.events[entry.event]
        if self.plan.connector == "cdl":
            version = self.plan.versions[sent % len(self.plan.versions)]
            millis = _commit_millis(entry.transaction)
            text = value_text(self.plan.name, version, transaction, event, millis)
            return json_text(event.key) if event.key else None, text, []
        if event.operation == "m":
            return self._message(entry, entry.transaction, transaction, event)
        headers = [
            {"key": name, "value": json_text(key)}
            for name, key in (
                ("__debezium.newkey", event.new_key),
                ("__debezium.oldkey", event.old_key),
            )
            if key is not None
        ]
        key = json_text(event.key) if event.key else None
        if entry.kind == "tombstone":
            return key, None, headers
        source = self._change_source(entry, entry.transaction, transaction, event)
        value = (
            f'{{"before":{json_text(event.before)},"after":{json_text(event.after)},'
            f'"source":{source},"transaction":{self._block(entry, transaction, event)},'
            f'"op":"{event.operation}","ts_ms":{EPOCH_MILLIS + sent}}}'
        )
        return key, value, headers

    def _named(self, entry: Entry, number: int) -> int | None:
        """What it says that its transaction follows."""
        known = entry.predecessor
        return self.named[entry.epoch, number] if known is None else known

    def _change_source(
        self, entry: Entry, number: int, transaction: Transaction, event: Event
    ) -> str:
        millis = _commit_millis(number)
        if self.plan.connector == "mysql":
            at = (event.lsn, event.row)
            return mysql_log.source_text(self.plan.name, event.table, millis, transaction, at)
        if self.plan.connector != "postgresql":
            return self._table_source(event.table, millis, place(self.plan, transaction, event))
        before = self._named(entry, number)
        return self._source(event.table, event.lsn, transaction.id, before, millis)

    def _table_source(self, table: str, millis: int, where: str, snapshot: str = "false") -> str:
        """The source block of SQL Server and Db2."""
        return (
            f'{{"version":"3.6.3.Final","connector":"{self.plan.connector}",'
            f'"name":"{self.plan.name}","ts_ms":{millis},"snapshot":"{snapshot}",'
            f'"db":"{DATABASE}","sequence":null,"ts_us":{millis}000,"ts_ns":{millis}000000,'
            f'"schema":"public","table":"{table}",{where}}}'
        )

    def _source(
        self,
        table: str,
        lsn: int | None,
        transaction_id: int | None,
        previous: int | None,
        millis: int,
        *,
        snapshot: str = "false",
        sequence_lsn: int | None = None,
    ) -> str:
        before = "null" if previous is None else f'\\"{previous}\\"'
        at = lsn if sequence_lsn is None else sequence_lsn
        return (
            f'{{"version":"3.6.3.Final","connector":"postgresql","name":"{self.plan.name}",'
            f'"ts_ms":{millis},"snapshot":"{snapshot}","db":"{DATABASE}",'
            f'"sequence":"[{before},\\"{at}\\"]","ts_us":{millis}000,"ts_ns":{millis}000000,'
            f'"schema":"{"public" if table else ""}","table":"{table}",'
            f'"txId":{json_text(transaction_id)},"lsn":{json_text(lsn)},'
            '"xmin":null,"origin":null,"origin_lsn":null}'
        )

    def _read(self, entry: Entry, sent: int) -> Written:
        lsn = self.plan.epochs[entry.epoch].snapshot_lsn
        millis = EPOCH_MILLIS + entry.epoch
        marker = entry.marker or ""
        if self.plan.connector == "mysql":
            at = (lsn or 0, 0)
            where = mysql_log.source_text(self.plan.name, entry.topic, millis, None, at, marker)
            return _read_written(entry, where, sent)
        if self.plan.connector != "postgresql":
            where = read_place(self.plan, lsn or 0)
            return _read_written(
                entry, self._table_source(entry.topic, millis, where, marker), sent
            )
        source = self._source(entry.topic, lsn, 600 + entry.epoch, None, millis, snapshot=marker)
        return _read_written(entry, source, sent)

    def _window_read(
        self, entry: Entry, number: int, transaction: Transaction, sent: int
    ) -> Written:
        source = self._source(
            entry.topic,
            None,
            None,
            self._named(entry, number),
            _commit_millis(number),
            snapshot="incremental",
            sequence_lsn=transaction.events[0].lsn,
        )
        return _read_written(entry, source, sent)

    def _message(
        self, entry: Entry, number: int, transaction: Transaction, event: Event
    ) -> Written:
        source = self._source(
            MESSAGE, event.lsn, transaction.id, self._named(entry, number), _commit_millis(number)
        )
        return _message_written(source, self._block(entry, transaction, event))

    def _loose_message(self, entry: Entry, number: int, transaction: Transaction) -> Written:
        end = transaction.end_lsn
        previous = end if self.plan.messages_name_themselves else self._named(entry, number)
        source = self._source(MESSAGE, end, None, previous, _commit_millis(number))
        return _message_written(source, "null")

    def _ddl(self, number: int, transaction: Transaction) -> Written:
        """A statement of DDL of MySQL, in the schema-change topic."""
        millis, at = _commit_millis(number), (transaction.begin_lsn, 0)
        source = mysql_log.source_text(self.plan.name, "unseen", millis, transaction, at)
        value = (
            f'{{"source":{source},"ts_ms":{millis},"databaseName":"public","schemaName":null,'
            '"ddl":"drop table unseen","tableChanges":[{"type":"DROP",'
            '"id":"\\"public\\".\\"unseen\\"","table":null}]}'
        )
        return '{"databaseName":"public"}', value, []

    def _block(self, entry: Entry, transaction: Transaction, event: Event) -> str:
        is_outside = self.plan.connector == "mysql" and mysql_log.is_truncate(transaction)
        if is_outside or not self.plan.has_metadata:
            return "null"
        at = (entry.event or 0) - entry.counted_from
        total_order, table_order = counters(transaction, entry.counted_from)[at]
        return (
            f'{{"id":"{self._transaction_id(transaction, event.lsn)}","total_order":{total_order},'
            f'"data_collection_order":{table_order}}}'
        )

    def _transaction_id(self, transaction: Transaction, lsn: int) -> str:
        """What a record at some LSN says of its transaction."""
        if self.plan.connector == "postgresql":
            return f"{transaction.id}:{lsn}"
        if self.plan.connector == "mysql":
            return mysql_log.transaction_id(transaction)
        return commit_lsn(transaction)

    def _marker(self, entry: Entry, transaction: Transaction, millis: int) -> Written:
        if entry.kind in ("begin", "other_begin"):
            marker_id = self._transaction_id(transaction, transaction.begin_lsn)
            status, counts = "BEGIN", '"event_count":null,"data_collections":null'
        else:
            marker_id = self._transaction_id(transaction, transaction.end_lsn)
            counted = {f"{OTHER_DATABASE}.public.account": 1}
            if entry.kind == "end":
                counted = self._counted(entry, transaction)
            # Their order is arbitrary: here the reverse of their coming.
            collections = [
                {"data_collection": name, "event_count": count}
                for name, count in reversed(counted.items())
            ]
            total = sum(counted.values())
            status = "END"
            counts = f'"event_count":{total},"data_collections":{json_text(collections)}'
        value = f'{{"status":"{status}","id":"{marker_id}",{counts},"ts_ms":{millis}}}'
        return f'{{"id":"{marker_id}"}}', value, []

    def _counted(self, entry: Entry, transaction: Transaction) -> dict[str, int]:
        schema = f"{DATABASE}.public" if self.plan.names_database else "public"
        counted: dict[str, int] = {}
        for event in transaction.events[entry.counted_from :]:
            name = f"{schema}.{event.table}" if event.table else MESSAGE_TABLE
            counted[name] = counted.get(name, 0) + 1
        return counted


def _commit_millis(number: int) -> int:
    return EPOCH_MILLIS + 1000 * (number + 1)


def _read_written(entry: Entry, source: str, sent: int) -> Written:
    row: Row = entry.row or {}
    key = TABLES[entry.topic].key_of(row)
    value = (
        f'{{"before":null,"after":{json_text(row)},"source":{source},"transaction":null,'
        f'"op":"r","ts_ms":{EPOCH_MILLIS + sent}}}'
    )
    return json_text(key) if key else None, value, []


def _message_written(source: str, block: str) -> Written:
    content = base64.b64encode(b"hello").decode()
    value = (
        f'{{"op":"m","ts_ms":{EPOCH_MILLIS},"source":{source},"transaction":{block},'
        f'"message":{{"prefix":"bank","content":"{content}"}}}}'
    )
    return '{"prefix":"bank"}', value, []
