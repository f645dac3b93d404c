"""Db2: positions are LSNs without a serial number; END comes with the next transaction.

So the last transaction of a stream has no END. The d and c of a key change share commit and change
LSN; `total_order` orders them.
"""

from typing import ClassVar

from dbt_debezium.connectors.log_sequence import LogSequenceSource


class Db2Source(LogSequenceSource, tag_field="connector", tag="db2"):
    """The source block of a Db2 change."""

    connector: ClassVar[str] = "db2"
