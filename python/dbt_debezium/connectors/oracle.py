"""Oracle: positions are system change numbers (SCN). Never run against a server: written after the
connector's documentation and source.

A transaction's id is that of the database, `5.6.641` (XStream), sixteen hexadecimal digits
(LogMiner) or `0x0005.006.00000281` (OpenLogReplicator), the same in BEGIN, each change and END. END
holds no position: the order of END is that of transactions, and `commit_scn` of any change tells
what has been published already. Connectors before 3.3 and OpenLogReplicator send no `commit_scn`:
then the transaction block orders the changes, and the id tells what has been published.
"""

import re
from typing import ClassVar, Final

from msgspec import field

from dbt_debezium.connectors.base import (
    NATURAL_DIGITS,
    Mark,
    Natural,
    Place,
    Source,
    Transaction,
    padded,
    position_of,
)
from dbt_debezium.errors import EnvelopeError

TRANSACTION_ID: Final = re.compile(
    r"[0-9a-fA-F]{16}|[0-9]{1,10}\.[0-9]{1,10}\.[0-9]{1,10}"
    r"|0x[0-9a-fA-F]{1,8}\.[0-9a-fA-F]{1,8}\.[0-9a-fA-F]{1,8}"
)
REDO_ADDRESS: Final = re.compile(
    r"\s*(?:0x)?([0-9a-f]{1,8})\.([0-9a-f]{1,8})\.([0-9a-f]{1,4})\s*", re.IGNORECASE
)
NO_REDO_ADDRESS: Final = "00000000.00000000.0000"


class OracleSource(Source, tag_field="connector", tag="oracle"):
    """The source block of an Oracle change."""

    connector: ClassVar[str] = "oracle"
    has_own_transaction_ids: ClassVar[bool] = True
    position_fields: ClassVar[tuple[str, ...]] = ("commit_scn", "scn", "rs_id", "ssn")

    tx_id: str | None = field(name="txId", default=None)
    scn: Natural = None
    commit_scn: Natural = None
    rs_id: str | None = None
    ssn: Natural = None

    def named(self) -> tuple[str | None, str | None, str]:
        """END says `database.schema.table`, the database being the pluggable one."""
        return self.name, self.schema, f"{self.db}.{self.schema}.{self.table}"

    def place(self, transaction: Transaction | None, snapshot: str | None, operation: str) -> Place:
        """The transaction by its block, else by `txId`; its commit position by `commit_scn`."""
        scn = padded(self.scn, NATURAL_DIGITS)
        commit_scn = padded(self.commit_scn, NATURAL_DIGITS)
        log_position = None if commit_scn is None else f"scn#{commit_scn}"
        if snapshot is not None:
            # A read is in no redo record; that of an initial snapshot tells its SCN alone.
            if snapshot != "incremental":
                commit_scn, log_position = scn, None
            position = position_of(commit_scn, scn, NO_REDO_ADDRESS, "0" * NATURAL_DIGITS)
            return Place(None, None, None, position, log_position=log_position)
        position = position_of(
            commit_scn, scn, self._redo_address(), padded(self.ssn, NATURAL_DIGITS)
        )
        transaction_id = self.tx_id or None
        if transaction is not None and transaction.id is not None:
            transaction_id = transaction.id
        if transaction_id is not None and TRANSACTION_ID.fullmatch(transaction_id) is None:
            raise EnvelopeError("bad_type", "transaction.id: expected an id as '5.6.641'")
        return Place(transaction_id, None, None, position, log_position=log_position)

    def _redo_address(self) -> str | None:
        """`rs_id` at one width; None in a form that is not known."""
        parts = REDO_ADDRESS.fullmatch(self.rs_id or "")
        if parts is None:
            return None
        return f"{parts[1].zfill(8)}.{parts[2].zfill(8)}.{parts[3].zfill(4)}".lower()

    @staticmethod
    def read_transaction_id(transaction_id: str) -> Mark | None:
        """The id as it is.

        >>> OracleSource.read_transaction_id("5.6.641")
        Mark(transaction_id='5.6.641', commit_position=None, log_position=None)
        >>> OracleSource.read_transaction_id("07000d005a030000")
        Mark(transaction_id='07000d005a030000', commit_position=None, log_position=None)
        >>> OracleSource.read_transaction_id("739:26521408")
        """
        return Mark(transaction_id) if TRANSACTION_ID.fullmatch(transaction_id) else None
