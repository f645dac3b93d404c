"""The landing of quarantined messages again."""

from typing import TYPE_CHECKING, Final

from dbt_debezium.home import lake_dir
from dbt_debezium.landing.land import append_landing, landed_base, next_landing
from dbt_debezium.lease import Lease, writing
from dbt_debezium.quarantine.messages import Wanted, as_landed_query, quarantined
from dbt_debezium.readers.spark_reader import SparkReader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LAND_AGAIN: Final = """
select {landing_id}L as landing_id, topic, partition, `offset`, timestamp, key, value, headers
from ({messages})
where is_unreadable
"""


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
        found = quarantined(SparkReader(spark), schema, wanted)
        rows = [row for row in found if row["is_unreadable"]]
        if not rows:
            return 0, None
        landing_id = next_landing(spark, lease, base)
        messages = as_landed_query(wanted.query(schema), rows)
        copies = LAND_AGAIN.format(landing_id=landing_id, messages=messages)
        append_landing(spark, spark.sql(copies), landing_id, base)
    return len(rows), landing_id
