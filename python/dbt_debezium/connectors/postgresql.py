"""PostgreSQL: a position is a log sequence number (LSN), a transaction id is `txId:LSN`.

BEGIN, each change and END of one transaction carry different ids: only the part before the colon is
the transaction's. In an END the LSN is the end of the commit record, so it orders transactions.
Before Debezium 2.0 the id is the bare `txId`.
"""

from typing import ClassVar

from msgspec import field

from dbt_debezium.connectors.base import Mark, Natural, Place, Source, Transaction
from dbt_debezium.errors import EnvelopeError
from dbt_debezium.json_values import json_decoder

POSITION_DIGITS = 20
BARE_ID_DIGITS = 10
"""Of 32 bits. An id of Oracle may be sixteen digits too."""
_sequence = json_decoder(tuple[str | None, str | None])


class PostgresqlSource(Source, tag_field="connector", tag="postgresql"):
    """The source block of a PostgreSQL change."""

    connector: ClassVar[str] = "postgresql"
    has_own_transaction_ids: ClassVar[bool] = True
    position_fields: ClassVar[tuple[str, ...]] = ("lsn", "sequence")

    tx_id: Natural = field(name="txId", default=None)
    lsn: Natural = None
    sequence: str | None = None
    """A JSON list in a string: LSN of the previous transaction's END, and LSN of this change."""

    def place(self, transaction: Transaction | None, snapshot: str | None, operation: str) -> Place:
        """The transaction by its block, else by `txId`; positions by `sequence` and `lsn`.

        Raises:
            EnvelopeError: an id or a position has another form.
        """
        transaction_id = position = None
        if transaction is not None and transaction.id is not None:
            mark = self.read_transaction_id(transaction.id)
            if mark is None:
                raise EnvelopeError("bad_type", "transaction.id: expected 'txId:lsn'")
            transaction_id, position, _ = mark
        elif self.tx_id is not None:
            transaction_id = str(int(self.tx_id))
        if snapshot is not None:
            transaction_id = position = None
        previous = None
        if self.sequence is not None:
            previous = read_sequence(self.sequence, 0)
            # An incremental read has no LSN of its own, only that of its window's end (S6).
            position = read_sequence(self.sequence, 1) or position
        elif snapshot is None and transaction is not None and transaction.total_order is not None:
            # Such a change could pass for one of the first transaction of a stream. The order of
            # END in its topic and that of the block place it instead (S14).
            return Place(transaction_id, None, None, None)
        if self.lsn is not None:
            position = str(self.lsn).zfill(POSITION_DIGITS)
        return Place(transaction_id, None, previous, position)

    @staticmethod
    def read_transaction_id(transaction_id: str) -> Mark | None:
        """Split `txId:lsn`.

        >>> PostgresqlSource.read_transaction_id("739:26521408")
        Mark(transaction_id='739', commit_position='00000000000026521408', log_position=None)
        >>> PostgresqlSource.read_transaction_id("3ff300ed-e55c-11f1-98c4-02fc00000001:65")
        """
        transaction, colon, lsn = transaction_id.partition(":")
        if not is_position(transaction) or (colon and not is_position(lsn)):
            return None
        if not colon and len(transaction) > BARE_ID_DIGITS:
            return None
        return Mark(transaction, lsn.zfill(POSITION_DIGITS) if colon else None)


def read_sequence(sequence: str, place: int) -> str | None:
    """One of the two LSNs.

    Raises:
        EnvelopeError: it is not there.

    >>> read_sequence('[null,"26521408"]', 1)
    '00000000000026521408'
    """
    try:
        position = _sequence(sequence)[place]
    except ValueError:
        raise EnvelopeError(
            "bad_type", 'source.sequence: expected a list of two LSNs, as "[null,\\"1\\"]"'
        ) from None
    if position is None:
        return None
    if not is_position(position):
        raise EnvelopeError("bad_type", "source.sequence: expected LSNs of at most 20 digits")
    return position.zfill(POSITION_DIGITS)


def is_position(text: str) -> bool:
    """Whether the text is an unsigned 64-bit number.

    >>> is_position("26521408"), is_position("-1"), is_position("٣"), is_position("")
    (True, False, False, False)
    """
    return text.isdigit() and text.isascii() and len(text) <= POSITION_DIGITS
