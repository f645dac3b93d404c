"""MySQL's binary log: whole transactions one after the other, in files that roll over between them.

A place is a file and an offset in it, here one number. The rows of one statement share it and
differ in `row`; the delete and the create of a key change share that too. TRUNCATE is a statement
of DDL: a transaction of its own, which the connector sends without BEGIN, END and block (S8).
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from histories.knobs import Knobs
from histories.plan import Event, Transaction

FILE_BYTES: Final = 10**10
SERVER: Final = "3ff300ed-e55c-11f1-98c4-02fc00000001"


class BinaryLog:
    """One server's log, which is written to its end."""

    def __init__(self, rng: Random, knobs: Knobs) -> None:
        self.rng = rng
        self.knobs = knobs
        self.file = rng.randint(1, 40)
        if rng.random() < knobs.long_file_number:
            self.file = 999_999 - rng.randint(0, 1)
        self.offset = rng.randint(157, 9_000)
        self.has_gtids = rng.random() < knobs.gtid
        self.number = rng.choice((0, rng.randint(1, 300)))

    def append(self, transaction: Transaction, records: Sequence[Sequence[Event]]) -> None:
        """Write one transaction, one truncate, or one statement of DDL."""
        rng = self.rng
        if rng.random() < self.knobs.rollover:
            self.file, self.offset = self.file + 1, 157
        self.number += 1
        if rng.random() < self.knobs.hidden_number:
            self.number += rng.randint(1, 2)
            self.offset += rng.randint(100, 300)
        if self.has_gtids:
            transaction.number = self.number
        self.offset += rng.randint(70, 90)
        transaction.begin_lsn = self._place()
        if not is_truncate(transaction):
            self.offset += rng.randint(60, 80)
            self._append_rows(records)
        else:
            transaction.events[0].lsn = transaction.begin_lsn
        self.offset += rng.randint(31, 120)
        transaction.end_lsn = self._place()

    def _append_rows(self, records: Sequence[Sequence[Event]]) -> None:
        last: tuple[str, str] | None = None
        row = 0
        for record in records:
            # A change of key is an update: its delete and its create are one row.
            operation = "u" if record[-1].old_key is not None else record[0].operation
            statement = (record[0].table, operation)
            if statement != last or self.rng.random() < 0.5:
                self.offset += self.rng.randint(100, 400)
                row = -1
            last = statement
            for event in record:
                row += event.old_key is None
                event.lsn, event.row = self._place(), row

    def _place(self) -> int:
        return self.file * FILE_BYTES + self.offset


def is_truncate(transaction: Transaction) -> bool:
    """Whether it is a statement, without BEGIN and END."""
    return [event.operation for event in transaction.events] == ["t"]


def gtid(transaction: Transaction) -> str | None:
    return None if transaction.number is None else f"{SERVER}:{transaction.number}"


def transaction_id(transaction: Transaction) -> str:
    """The GTID, else where it begins.

    >>> transaction_id(Transaction(1, [], begin_lsn=13 * FILE_BYTES + 4441))
    'file=binlog.000013,pos=4441'
    """
    file, offset = _file_and_offset(transaction.begin_lsn)
    return gtid(transaction) or f"file={file},pos={offset}"


def source_text(
    name: str,
    table: str,
    millis: int,
    transaction: Transaction | None,
    place: tuple[int, int],
    snapshot: str = "false",
) -> str:
    """The source block.

    Args:
        name: the connector's.
        table: the table's name.
        millis: when it was committed.
        transaction: None for a read of a snapshot, which says neither server nor GTID.
        place: where the event is in the log, and its row.
        snapshot: the marker of a read.
    """
    file, offset = _file_and_offset(place[0])
    known = gtid(transaction) if transaction else None
    gtid_text = f'"{known}"' if known else "null"
    return (
        f'{{"version":"3.6.3.Final","connector":"mysql","name":"{name}","ts_ms":{millis},'
        f'"snapshot":"{snapshot}","db":"public","sequence":null,"ts_us":{millis}000,'
        f'"ts_ns":{millis}000000,"table":"{table}","server_id":{9 if transaction else 0},'
        f'"gtid":{gtid_text},"file":"{file}","pos":{offset},'
        f'"row":{place[1]},"thread":null,"query":null}}'
    )


def _file_and_offset(place: int) -> tuple[str, int]:
    """A number of more than six digits takes as many as it needs.

    >>> _file_and_offset(1_000_000 * FILE_BYTES + 4)
    ('binlog.1000000', 4)
    """
    file, offset = divmod(place, FILE_BYTES)
    return f"binlog.{file:06}", offset
