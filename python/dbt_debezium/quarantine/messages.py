"""The quarantined messages of a lake, and their landing again.

A message is quarantined until a later landing of the same offset can be read. Changes of a
transaction that an operator has discarded are listed too (S16), but can be read, and do not land
again.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dbt_debezium.home import lake_dir
from dbt_debezium.landing import TABLE, append_landing, landed_base, next_landing
from dbt_debezium.lease import Lease, writing
from dbt_debezium.patterns import regular_expression
from dbt_debezium.quarantine.query import QUARANTINED_QUERY

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

WANTED: Final = """
select * from ({quarantined})
where coalesce(source, '') rlike :source and topic rlike :topic and reason rlike :reason
"""

AS_LANDED: Final = """
select
    wanted.*, landed.timestamp,
    date_format(landed.timestamp, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'") as sent_at,
    landed.key, landed.value, landed.headers
from ({wanted}) as wanted
inner join {table} as landed
    on wanted.landing_id = landed.landing_id
    and wanted.topic = landed.topic
    and wanted.partition = landed.partition
    and wanted.`offset` = landed.`offset`
-- Iceberg opens the files of these landings alone.
where landed.landing_id in ({landings})
"""

LAND_AGAIN: Final = """
select {landing_id}L as landing_id, topic, partition, `offset`, timestamp, key, value, headers
from ({messages})
where is_unreadable
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which quarantined messages, by patterns in which `*` stands for any text."""

    source: str = "*"
    topic: str = "*"
    reason: str = "*"

    def parameters(self) -> dict[str, str]:
        """Of the query."""
        return {
            "source": regular_expression(self.source),
            "topic": regular_expression(self.topic),
            "reason": regular_expression(self.reason),
        }


def quarantined(
    spark: "SparkSession", schema: str, wanted: Wanted, *, as_landed: bool = False
) -> "list[Row]":
    """The quarantined messages in the order of their offsets, one row each.

    Args:
        schema: of the models.
        wanted: which.
        as_landed: whether rows also have timestamp, key, value and headers.
    """
    query = WANTED.format(quarantined=QUARANTINED_QUERY.format(schema=schema))
    order = "order by topic, partition, `offset`"
    found = spark.sql(query + order, wanted.parameters()).collect()
    if not as_landed or not found:
        return found
    return spark.sql(_as_landed(query, found) + order, wanted.parameters()).collect()


def land_again(spark: "SparkSession", schema: str, wanted: Wanted) -> tuple[int, int | None]:
    """Append copies of the messages to `landing.message`, all in one commit.

    The next run reads them as if they had been sent again.

    Returns:
        How many, and the number of their landing; None where there was nothing to land.

    Raises:
        DebeziumError: another run is going on.
    """
    with Lease(lake_dir(), "dbt-debezium quarantine --retry"), writing(spark) as lease:
        base = landed_base(spark)
        rows = [row for row in quarantined(spark, schema, wanted) if row["is_unreadable"]]
        if not rows:
            return 0, None
        landing_id = next_landing(spark, lease, base)
        query = WANTED.format(quarantined=QUARANTINED_QUERY.format(schema=schema))
        copies = LAND_AGAIN.format(landing_id=landing_id, messages=_as_landed(query, rows))
        append_landing(spark, spark.sql(copies, wanted.parameters()), landing_id, base)
    return len(rows), landing_id


def _as_landed(query: str, rows: "list[Row]") -> str:
    landings = sorted({int(row["landing_id"]) for row in rows})
    return AS_LANDED.format(wanted=query, table=TABLE, landings=", ".join(map(str, landings)))
