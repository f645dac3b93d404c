"""Connectors whose changes are no rows of tables, or have no order of transactions."""

from typing import Final

UNSUPPORTED: Final = {
    "mongodb": "MongoDB, whose changes are documents",
    "cassandra": "Cassandra, whose nodes have no common order of changes",
    "vitess": "Vitess, whose shards have no common order of transactions",
    "spanner": "Spanner, whose partitions have no common order of transactions",
    "yugabytedb": "YugabyteDB, whose gRPC connector leaves unchanged columns out",
    "cockroachdb": "CockroachDB, whose ranges have no common order of transactions",
}
"""By the name that the connector gives itself: the database, and why it is not read."""
