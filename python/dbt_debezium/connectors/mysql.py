"""MySQL: a position is file, offset and row of the binary log.

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
    position_of,
)
from dbt_debezium.errors import EnvelopeError

FILE_NUMBER: Final = re.compile(r"(?:\.|-(?=[0-9]+\.ibb$))([0-9]{1,10})(?:\.ibb)?$", re.ASCII)
"""Of `mysql-bin.000042`, or of `binlog-000000.ibb`, a log in InnoDB's pages (MariaDB 12.3)."""
NUMBER_DIGITS: Final = 20
TRANSACTION_ID: Final = re.compile(
    r"""
    (?P<server>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}
        (?::[a-zA-Z_][a-zA-Z0-9_]{0,31})?):(?P<number>[0-9]{1,19})
    | (?P<domain>[0-9]{1,10})-[0-9]{1,10}-(?P<sequence>[0-9]{1,20})  # MariaDB
    | file=(?P<file>.{1,255}),pos=(?P<pos>[0-9]{1,19})
    """,
    re.VERBOSE,
)


class MysqlSource(Source, tag_field="connector", tag="mysql"):
    """The source block of a MySQL change."""

    connector: ClassVar[str] = "mysql"
    position_fields: ClassVar[tuple[str, ...]] = ("file", "pos", "row", "server_id")

    gtid: str | None = None
    file: str | None = None
    pos: Natural = None
    row: Small = None
    server_id: Small = None

    def named(self) -> tuple[str | None, str | None, str]:
        """END says `database.table`."""
        return self.name, self.db, f"{self.db}.{self.table}"

    def place(self, transaction: Transaction | None, snapshot: str | None, operation: str) -> Place:
        """The transaction by its block, else by `gtid`, else the change's own place in the log.

        Such a place says of a truncate all that there is to say. Other changes of one transaction
        have places of their own then (docs/decisions/0014).
        """
        is_ordered = transaction is not None and transaction.total_order is not None
        position = self._position(is_needed=not is_ordered)
        if snapshot is not None and snapshot != "incremental":
            # Its GTID, where there is one, is the set of all that the snapshot has seen.
            return Place(None, None, None, position)
        transaction_id = self.gtid or None
        is_whole = False
        if transaction is not None and transaction.id is not None:
            transaction_id = transaction.id
        else:
            is_whole = operation == "t" and snapshot is None
            # A schema change has no operation, and waits for nothing.
            if operation and transaction_id is None and position is not None:
                transaction_id = f"file={self.file},pos={int(self.pos or 0)}"
        mark = self.read_transaction_id(transaction_id or "")
        if transaction_id is not None and mark is None:
            raise EnvelopeError("bad_type", "transaction.id: expected a GTID or file and pos")
        log_position = mark and mark.log_position
        if snapshot is not None:
            # The transaction that closed the window it was read in (S6).
            return Place(None, None, None, position, log_position=log_position)
        is_whole = is_whole and transaction_id is not None
        return Place(transaction_id, None, None, position, is_whole, log_position)

    def _position(self, *, is_needed: bool) -> str | None:
        """File, offset, row and server: the server only tells events of two logs apart.

        Raises:
            EnvelopeError: nothing else orders the change, and the file's name has no number.
        """
        if not self.file:
            return None
        number = FILE_NUMBER.search(self.file)
        if number is None:
            if not is_needed:
                return None
            raise EnvelopeError(
                "bad_type",
                "source.file: expected a name with a number, as binlog.000042 or binlog-000042.ibb",
            )
        return position_of(
            number[1].zfill(SMALL_DIGITS),
            padded(self.pos, NATURAL_DIGITS),
            padded(self.row, SMALL_DIGITS),
            padded(self.server_id, SMALL_DIGITS),
            separator=":",
        )

    @staticmethod
    def read_transaction_id(transaction_id: str) -> Mark | None:
        """The id as it is; its log is a server, a domain of MariaDB, or the binary log.

        BEGIN and END name no connector, so this one reads MariaDB's ids too.

        >>> MysqlSource.read_transaction_id("3ff300ed-e55c-11f1-98c4-02fc00000001:65").log_position
        '3ff300ed-e55c-11f1-98c4-02fc00000001#00000000000000000065'
        >>> MysqlSource.read_transaction_id("file=binlog.000013,pos=4441").log_position
        'file#0000000013:0000000000000004441'
        >>> MysqlSource.read_transaction_id("file=binlog-000013.ibb,pos=4441").log_position
        'file#0000000013:0000000000000004441'
        >>> MysqlSource.read_transaction_id("0-7-665").log_position
        'domain-0#00000000000000000665'
        >>> MysqlSource.read_transaction_id("739:26521408")
        """
        found = TRANSACTION_ID.fullmatch(transaction_id)
        if found is None:
            return None
        if found["file"]:
            file = FILE_NUMBER.search(found["file"])
            if file is None:
                return None
            place = f"{file[1].zfill(SMALL_DIGITS)}:{found['pos'].zfill(NATURAL_DIGITS)}"
            return Mark(transaction_id, None, f"file#{place}")
        if found["domain"]:
            log, number = f"domain-{found['domain']}", found["sequence"]
        else:
            log, number = found["server"].lower(), found["number"]
        return Mark(transaction_id, None, f"{log}#{number.zfill(NUMBER_DIGITS)}")
