"""SQL Server: positions are LSNs, and one connector may capture several databases.

Each database has a log of its own, where equal LSNs may occur, so the database is a part of the
source. `event_serial_no` tells the delete (1) from the create (2) of a key change.
"""

from typing import ClassVar

from dbt_debezium.connectors.base import NATURAL_DIGITS, Natural, Place, Transaction, padded
from dbt_debezium.connectors.log_sequence import LogSequenceSource
from dbt_debezium.errors import EnvelopeError


class SqlserverSource(LogSequenceSource, tag_field="connector", tag="sqlserver"):
    """The source block of a SQL Server change."""

    connector: ClassVar[str] = "sqlserver"
    position_fields: ClassVar[tuple[str, ...]] = ("commit_lsn", "change_lsn", "event_serial_no")
    serial_of_read: ClassVar[tuple[str, ...]] = ("0" * NATURAL_DIGITS,)

    event_serial_no: Natural = None

    def named(self) -> tuple[str | None, str | None, str]:
        """The source is `name.database`."""
        name, schema, collection = super().named()
        return (f"{name}.{self.db}" if name and self.db else name), schema, collection

    def place(self, transaction: Transaction | None, snapshot: str | None, operation: str) -> Place:
        """As that of Db2, in the log of its database.

        Raises:
            EnvelopeError: it names no database, so it could be of any.
        """
        if not self.db:
            raise EnvelopeError("no_source", "source.db: expected the database")
        return super().place(transaction, snapshot, operation)

    def serial(self) -> tuple[str | None, ...]:
        """The place among the events of one change."""
        return (padded(self.event_serial_no, NATURAL_DIGITS),)
