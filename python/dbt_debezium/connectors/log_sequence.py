"""What SQL Server and Db2 share: log sequence numbers in hexadecimal, and ids that are one.

A transaction's id is the LSN of its commit, the same in BEGIN, each change and END. END's names of
tables have a database before schema and table (SQL Server; Db2 in its documentation) or have none
(Db2's own test), and records of the transaction topic name no connector. So tables go by the last
two parts of the name, and what stands before them is the database.
"""

import re
from typing import ClassVar, Final

from dbt_debezium.connectors.base import Mark, Place, Source, Transaction, position_of
from dbt_debezium.errors import EnvelopeError

LSN: Final = re.compile(r"[0-9a-fA-F]{8}:[0-9a-fA-F]{8}:(?:[0-9a-fA-F]{4}|[0-9a-fA-F]{16})")
"""Ten bytes, or the sixteen of Db2 since version 10. One database has one width."""


NOWHERE: Final = "00000000:00000000:0000"
"""Below each LSN: where an initial read stands that comes without one (SQL Server 1.0)."""


class LogSequenceSource(Source):
    """The part of a source block that both have."""

    names_databases: ClassVar[bool] = True
    position_fields: ClassVar[tuple[str, ...]] = ("commit_lsn", "change_lsn")

    serial_of_read: ClassVar[tuple[str, ...]] = ()
    """Of the width of `serial`."""

    commit_lsn: str | None = None
    change_lsn: str | None = None

    def named(self) -> tuple[str | None, str | None, str]:
        """The last two parts of schema and table, as `read_collection` has them."""
        return self.name, self.schema, self.read_collection(f"{self.schema}.{self.table}")[1]

    def place(self, transaction: Transaction | None, snapshot: str | None, operation: str) -> Place:
        """The transaction by its block, else by `commit_lsn`, which is also its commit position."""
        commit_position = read_lsn("source.commit_lsn", self.commit_lsn)
        change_position = read_lsn("source.change_lsn", self.change_lsn)
        if snapshot is not None:
            return self._place_of_read(commit_position, is_incremental=snapshot == "incremental")
        transaction_id = commit_position
        if transaction is not None and transaction.id is not None:
            transaction_id = read_lsn("transaction.id", transaction.id)
        commit_position = commit_position or transaction_id
        position = position_of(commit_position, change_position, *self.serial())
        return Place(transaction_id, commit_position, None, position)

    def _place_of_read(self, commit_position: str | None, *, is_incremental: bool) -> Place:
        """A read stands before the changes of a commit, so zeros stand in the place of a change.

        Its LSN says how far the log had come, not which transaction wrote the row. That of an
        incremental read is its window's end (S6).
        """
        place = commit_position or (None if is_incremental else NOWHERE)
        no_change = None if place is None else re.sub("[^:]", "0", place)
        position = position_of(place, no_change, *self.serial_of_read)
        return Place(None, commit_position if is_incremental else None, None, position)

    def serial(self) -> tuple[str | None, ...]:
        """What tells events of one commit and change apart."""
        return ()

    @staticmethod
    def read_transaction_id(transaction_id: str) -> Mark | None:
        """The LSN, which in an END is the commit position too.

        >>> LogSequenceSource.read_transaction_id("00000025:00000D08:0025")[:2]
        ('00000025:00000d08:0025', '00000025:00000d08:0025')
        >>> LogSequenceSource.read_transaction_id("739:26521408")
        """
        if LSN.fullmatch(transaction_id) is None:
            return None
        position = transaction_id.lower()
        return Mark(position, position)

    @staticmethod
    def read_collection(name: str) -> tuple[str | None, str]:
        """Split the database off.

        >>> LogSequenceSource.read_collection("testDB.dbo.tablea")
        ('testDB', 'dbo.tablea')
        >>> LogSequenceSource.read_collection("DB2INST1.TABLEA")
        (None, 'DB2INST1.TABLEA')
        """
        *database, schema, table = name.split(".") if "." in name else ("", name)
        table_name = f"{schema}.{table}" if schema else table
        return ".".join(database) or None, table_name


def read_lsn(name: str, text: str | None) -> str | None:
    """The LSN in lower case, so that it compares as text.

    Raises:
        EnvelopeError: it is none.

    >>> read_lsn("source.commit_lsn", "00000027:00000AC0:0002")
    '00000027:00000ac0:0002'
    """
    if text is None:
        return None
    if LSN.fullmatch(text) is None:
        raise EnvelopeError("bad_type", f"{name}: expected an LSN, as 00000027:00000758:0005")
    return text.lower()
