"""The quarantined messages of a lake, for any engine that reads it.

A message is quarantined until a later landing of the same offset can be read. Changes of a
transaction that an operator has discarded are listed too (S16), but can be read, and do not land
again.
"""

from dataclasses import dataclass
from typing import Any, Final

from dbt_debezium.patterns import regular_expression
from dbt_debezium.quarantine.query import QUARANTINED_QUERY
from dbt_debezium.readers import Reader
from dbt_debezium.writers.sql import literal

WANTED: Final = """
select * from ({quarantined})
where coalesce(source, '') rlike {source} and topic rlike {topic} and reason rlike {reason}
"""

AS_LANDED: Final = """
select
    wanted.*, landed.timestamp,
    unix_micros(landed.timestamp) as sent_at_micros,
    landed.key, landed.value, landed.headers
from ({wanted}) as wanted
inner join landing.message as landed
    on wanted.landing_id = landed.landing_id
    and wanted.topic = landed.topic
    and wanted.partition = landed.partition
    and wanted.`offset` = landed.`offset`
-- Iceberg opens the files of these landings alone.
where landed.landing_id in ({landings})
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which quarantined messages, by patterns in which `*` stands for any text."""

    source: str = "*"
    topic: str = "*"
    reason: str = "*"

    def query(self, schema: str) -> str:
        """Spark's SQL for them."""
        return WANTED.format(
            quarantined=QUARANTINED_QUERY.format(schema=schema),
            source=literal(regular_expression(self.source)),
            topic=literal(regular_expression(self.topic)),
            reason=literal(regular_expression(self.reason)),
        )


def quarantined(
    lake: Reader, schema: str, wanted: Wanted, *, as_landed: bool = False
) -> list[dict[str, Any]]:
    """The quarantined messages in the order of their offsets, one row each.

    Args:
        lake: what reads it.
        schema: of the models.
        wanted: which.
        as_landed: whether rows also have when they were sent in microseconds, key, value and
            headers.
    """
    query = wanted.query(schema)
    found = lake.rows(query)
    if as_landed and found:
        found = lake.rows(as_landed_query(query, found))
    return sorted(found, key=lambda row: (row["topic"], row["partition"], row["offset"]))


def as_landed_query(query: str, rows: list[dict[str, Any]]) -> str:
    """The query of the same messages with timestamp, key, value and headers.

    Args:
        query: of `Wanted`.
        rows: what it has found.
    """
    landings = sorted({int(row["landing_id"]) for row in rows})
    return AS_LANDED.format(wanted=query, landings=", ".join(map(str, landings)))
