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
        if self.lsn is not None:
            position = str(self.lsn).zfill(POSITION_DIGITS)
        return transaction_id, self._previous_commit_position(), position

    def _previous_commit_position(self) -> str | None:
        if self.sequence is None:
            return None
        try:
            previous = SEQUENCE.decode(self.sequence)[0]
        except (ValueError, IndexError):
            raise EnvelopeError(
                "bad_type", 'source.sequence: expected a list of two LSNs, as "[null,\\"1\\"]"'
            ) from None
        if previous is None:
            return None
        if not is_position(previous):
            raise EnvelopeError("bad_type", "source.sequence: expected LSNs of at most 20 digits")
        return previous.zfill(POSITION_DIGITS)

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


def is_position(text: str) -> bool:
    """Whether the text is an unsigned 64-bit number.

    >>> is_position("26521408"), is_position("-1"), is_position("٣"), is_position("")
    (True, False, False, False)
    """
    return text.isdigit() and text.isascii() and len(text) <= POSITION_DIGITS
