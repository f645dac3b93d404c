"""One module for each connector whose order of transactions is known, and one line here."""

from dbt_debezium.connectors.base import Source
from dbt_debezium.connectors.db2 import Db2Source
from dbt_debezium.connectors.mariadb import MariadbSource
from dbt_debezium.connectors.mysql import MysqlSource
from dbt_debezium.connectors.oracle import OracleSource
from dbt_debezium.connectors.postgresql import PostgresqlSource
from dbt_debezium.connectors.sqlserver import SqlserverSource

SOURCES: dict[str, type[Source]] = {
    "postgresql": PostgresqlSource,
    "mysql": MysqlSource,
    "mariadb": MariadbSource,
    "sqlserver": SqlserverSource,
    "db2": Db2Source,
    "oracle": OracleSource,
}
