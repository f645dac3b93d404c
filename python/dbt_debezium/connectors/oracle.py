"""Oracle: positions are system change numbers (SCN). Never run against a server: written after the
connector's documentation and source.

A transaction's id is that of the database, `5.6.641` or sixteen hexadecimal digits, the same in
BEGIN, each change and END. END holds no position: the order of END is that of transactions, and
`commit_scn` of any change tells what has been published already.
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
)
from dbt_debezium.errors import EnvelopeError

TRANSACTION_ID: Final = re.compile(r"[0-9a-fA-F]{16}|[0-9]{1,10}\.[0-9]{1,10}\.[0-9]{1,10}")
REDO_ADDRESS: Final = re.compile(
    r"\s*(?:0x)?([0-9a-f]{1,8})\.([0-9a-f]{1,8})\.([0-9a-f]{1,4})\s*", re.IGNORECASE
)


class OracleSource(Source, tag_field="connector", tag="oracle"):
    """The source block of an Oracle change."""

    connector: ClassVar[str] = "oracle"
    has_own_transaction_ids: ClassVar[bool] = True

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
        position = None
        # A read of a snapshot tells the SCN of the snapshot alone.
        commit_scn = self.commit_scn
        if commit_scn is None and snapshot not in (None, "incremental"):
            commit_scn = self.scn
        if self.scn is not None or commit_scn is not None:
            position = "/".join(
                (
                    padded(commit_scn, NATURAL_DIGITS),
                    padded(self.scn, NATURAL_DIGITS),
                    self._redo_address(),
                    padded(self.ssn, NATURAL_DIGITS),
                )
            )
        log_position = None
        if self.commit_scn is not None:
            log_position = f"scn#{padded(self.commit_scn, NATURAL_DIGITS)}"
        if snapshot is not None:
            if snapshot != "incremental":
                log_position = None
            return Place(None, None, None, position, log_position=log_position)
        transaction_id = self.tx_id or None
        if transaction is not None and transaction.id is not None:
            transaction_id = transaction.id
        if transaction_id is not None and TRANSACTION_ID.fullmatch(transaction_id) is None:
            raise EnvelopeError("bad_type", "transaction.id: expected an id as '5.6.641'")
        return Place(transaction_id, None, None, position, log_position=log_position)

    def _redo_address(self) -> str:
        """`rs_id` at one width; zeros in a form that is not known."""
        parts = REDO_ADDRESS.fullmatch(self.rs_id or "")
        if parts is None:
            return "00000000.00000000.0000"
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
