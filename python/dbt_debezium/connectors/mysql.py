"""MySQL and MariaDB: a position is file, offset and row of the binary log.

A transaction's id is its GTID, or else `file=...,pos=...` of its start; BEGIN, each change and END
carry the same one. Neither orders transactions: GTIDs of several servers have no order, and only
the order of END in the transaction topic says which transaction came first. TRUNCATE is DDL, hence
a transaction by itself, without BEGIN and END. A database is a schema.
"""

import re
from typing import ClassVar, Final

from dbt_debezium.connectors.base import (
    NATURAL_DIGITS,
    SMALL_DIGITS,
    Mark,
    Natural,
    Place,
    Small,
    Source,
    Transaction,
    padded,
)
from dbt_debezium.errors import EnvelopeError

FILE_NUMBER: Final = re.compile(r"\.([0-9]{1,10})$", re.ASCII)
TRANSACTION_ID: Final = re.compile(
    r"""
    [0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?::[a-zA-Z_][a-zA-Z0-9_]{0,31})?:[0-9]{1,19}
    | [0-9]{1,10}-[0-9]{1,10}-[0-9]{1,20}  # MariaDB: domain, server, number
    | file=.{1,255},pos=[0-9]{1,19}
    """,
    re.VERBOSE,
)


class MysqlSource(Source, tag_field="connector", tag="mysql"):
    """The source block of a MySQL change."""

    connector: ClassVar[str] = "mysql"

    gtid: str | None = None
    file: str | None = None
    pos: Natural = None
    row: Small = None
    server_id: Small = None

    def named(self) -> tuple[str | None, str | None, str]:
        """END says `database.table`."""
        return self.name, self.db, f"{self.db}.{self.table}"

    def place(self, transaction: Transaction | None, snapshot: str | None, operation: str) -> Place:
        """The transaction by its block, else by `gtid`; a truncate's by its place in the log."""
        transaction_id = self.gtid or None
        is_whole = False
        if transaction is not None and transaction.id is not None:
            transaction_id = transaction.id
            if TRANSACTION_ID.fullmatch(transaction_id) is None:
                raise EnvelopeError("bad_type", "transaction.id: expected a GTID or file and pos")
        elif operation == "t" and snapshot is None:
            if transaction_id is None and self.file and self.pos is not None:
                transaction_id = f"file={self.file},pos={int(self.pos)}"
            is_whole = transaction_id is not None
        if snapshot is not None:
            transaction_id = None
        return transaction_id, None, None, self._position(), is_whole

    def _position(self) -> str | None:
        """File, offset, row and server: the server only tells events of two logs apart."""
        if not self.file or self.pos is None:
            return None
        number = FILE_NUMBER.search(self.file)
        if number is None:
            raise EnvelopeError("bad_type", "source.file: expected a name that ends in a number")
        return ":".join(
            (
                number[1].zfill(SMALL_DIGITS),
                padded(self.pos, NATURAL_DIGITS),
                padded(self.row, SMALL_DIGITS),
                padded(self.server_id, SMALL_DIGITS),
            )
        )

    @staticmethod
    def read_transaction_id(transaction_id: str) -> Mark | None:
        """The id as it is.

        >>> MysqlSource.read_transaction_id("3ff300ed-e55c-11f1-98c4-02fc00000001:65")
        ('3ff300ed-e55c-11f1-98c4-02fc00000001:65', None)
        >>> MysqlSource.read_transaction_id("file=binlog.000013,pos=4441")
        ('file=binlog.000013,pos=4441', None)
        >>> MysqlSource.read_transaction_id("739:26521408")
        """
        return (transaction_id, None) if TRANSACTION_ID.fullmatch(transaction_id) else None


class MariadbSource(MysqlSource, tag="mariadb"):
    """The source block of a MariaDB change, by the connector that Debezium has from 2.5 on."""

    connector: ClassVar[str] = "mariadb"
