"""SQL Server: positions are LSNs, and one connector may capture several databases.

Each database has a log of its own, where equal LSNs may occur, so the database is a part of the
source. `event_serial_no` tells the delete (1) from the create (2) of a key change.
"""

from typing import ClassVar

from dbt_debezium.connectors.base import NATURAL_DIGITS, Natural, padded
from dbt_debezium.connectors.log_sequence import LogSequenceSource


class SqlserverSource(LogSequenceSource, tag_field="connector", tag="sqlserver"):
    """The source block of a SQL Server change."""

    connector: ClassVar[str] = "sqlserver"

    event_serial_no: Natural = None

    def named(self) -> tuple[str | None, str | None, str]:
        """The source is `name.database`."""
        name, schema, collection = super().named()
        return (f"{name}.{self.db}" if name and self.db else name), schema, collection

    def serial(self) -> str:
        """The place among the events of one change; zero when it is not sent."""
        return f"/{padded(self.event_serial_no, NATURAL_DIGITS)}"
