"""MariaDB, by the connector that Debezium has from 2.5 on: as MySQL, with GTIDs of its own.

A GTID is domain, server and number, and the numbers of a domain follow each other. The connector up
to 3.5 sends BEGIN for every GTID, but END only for those that end with a commit. So DDL, TRUNCATE
and both halves of an XA transaction have a BEGIN alone, and TRUNCATE has a transaction block. Later
connectors send no BEGIN and no block for DDL and TRUNCATE, as MySQL's does.
"""

from typing import ClassVar

from dbt_debezium.connectors.base import Place, Transaction
from dbt_debezium.connectors.mysql import MysqlSource


class MariadbSource(MysqlSource, tag="mariadb"):
    """The source block of a MariaDB change."""

    connector: ClassVar[str] = "mariadb"

    def place(self, transaction: Transaction | None, snapshot: str | None, operation: str) -> Place:
        """As MySQL's. A truncate is a transaction by itself, with or without a block."""
        place = super().place(transaction, snapshot, operation)
        if operation != "t" or place.transaction_id is None:
            return place
        return place._replace(is_whole_transaction=True)
