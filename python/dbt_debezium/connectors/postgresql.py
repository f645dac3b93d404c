"""PostgreSQL: a position is a log sequence number (LSN), a transaction id is `txId:LSN`.

BEGIN, each change and END of one transaction carry different ids: only the part before the colon is
the transaction's. In an END the LSN is the end of the commit record, so it orders transactions.
Before Debezium 2.0 the id is the bare `txId`.
"""

from typing import ClassVar

import msgspec
from msgspec import field

from dbt_debezium.connectors.base import Mark, Natural, Place, Source, Transaction
from dbt_debezium.errors import EnvelopeError

POSITION_DIGITS = 20
SEQUENCE = msgspec.json.Decoder(list[str | None])


class PostgresqlSource(Source, tag_field="connector", tag="postgresql"):
    """The source block of a PostgreSQL change."""

    connector: ClassVar[str] = "postgresql"

    tx_id: Natural = field(name="txId", default=None)
    lsn: Natural = None
    sequence: str | None = None
    """A JSON list in a string: LSN of the previous transaction's END, and LSN of this change."""

    def place(self, transaction: Transaction | None, is_snapshot: bool) -> Place:
        """The transaction by its block, else by `txId`; positions by `sequence` and `lsn`."""
        transaction_id = position = None
        if transaction is not None and transaction.id is not None:
            mark = self.read_transaction_id(transaction.id)
            if mark is None:
                raise EnvelopeError("bad_type", "transaction.id: expected 'txId:lsn'")
            transaction_id, position = mark
        elif self.tx_id is not None:
            transaction_id = str(int(self.tx_id))
        if is_snapshot:
            transaction_id = position = None
        previous_commit_position, sequence_position = self._positions()
        if self.lsn is not None:
            position = str(self.lsn).zfill(POSITION_DIGITS)
        elif is_snapshot:
            # An incremental read has no LSN of its own, only that of its window's end (S6).
            position = sequence_position
        return transaction_id, previous_commit_position, position

    def _positions(self) -> tuple[str | None, str | None]:
        """Positions of the transaction before this one and of this change, by `sequence`."""
        if self.sequence is None:
            return None, None
        try:
            previous, position = SEQUENCE.decode(self.sequence)
        except ValueError:
            raise EnvelopeError(
                "bad_type", 'source.sequence: expected a list of two LSNs, as "[null,\\"1\\"]"'
            ) from None
        for lsn in (previous, position):
            if lsn is not None and not is_position(lsn):
                raise EnvelopeError(
                    "bad_type", "source.sequence: expected LSNs of at most 20 digits"
                )
        return padded(previous), padded(position)

    @staticmethod
    def read_transaction_id(transaction_id: str) -> Mark | None:
        """Split `txId:lsn`.

        >>> PostgresqlSource.read_transaction_id("739:26521408")
        ('739', '00000000000026521408')
        >>> PostgresqlSource.read_transaction_id("3ff300ed-e55c-11f1-98c4-02fc00000001:65")
        """
        transaction, colon, lsn = transaction_id.partition(":")
        if not is_position(transaction) or (colon and not is_position(lsn)):
            return None
        return transaction, lsn.zfill(POSITION_DIGITS) if colon else None


def padded(lsn: str | None) -> str | None:
    """The LSN in the width in which LSNs compare as text."""
    return lsn and lsn.zfill(POSITION_DIGITS)


def is_position(text: str) -> bool:
    """Whether the text is an unsigned 64-bit number.

    >>> is_position("26521408"), is_position("-1"), is_position("٣"), is_position("")
    (True, False, False, False)
    """
    return text.isdigit() and text.isascii() and len(text) <= POSITION_DIGITS
