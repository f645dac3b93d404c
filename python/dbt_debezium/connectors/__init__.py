"""One module for each connector whose order of transactions is known, and one line here."""

from dbt_debezium.connectors.base import Source
from dbt_debezium.connectors.postgresql import PostgresqlSource

SOURCES: dict[str, type[Source]] = {
    "postgresql": PostgresqlSource,
}
