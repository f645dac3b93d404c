"""Ranges of offsets that follow each other become one: each landing from Kafka adds some.

An empty range says when a partition still ended where it had. Only the last one is kept.
"""

from typing import TYPE_CHECKING, Final

from dbt_debezium.landing.land import RANGE
from dbt_debezium.maintenance.tables import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEWEST_RANGES: Final = 1000
"""Fewer, as a join would remove, are not worth it."""

JOINED: Final = f"""
with known as (
    select
        *,
        start_offset = end_offset as is_empty,
        is_landed and (landing_id <= {{landing_id}} or start_offset = end_offset) as is_settled
    from {RANGE} version as of {{snapshot_id}}
),
settled as (
    select
        *,
        landing_id < max(landing_id) over (partition by topic, topic_id, partition) as is_followed
    from known
    where is_settled
),
placed as (
    select
        *,
        coalesce(
            start_offset > max(end_offset) over (
                partition by topic, topic_id, partition, cleanup_policy, is_empty
                order by start_offset, end_offset
                rows between unbounded preceding and 1 preceding
            ),
            true
        ) as is_behind_a_hole
    from settled
    where not (is_empty and is_followed)
),
numbered as (
    select
        *,
        sum(cast(is_behind_a_hole as int)) over (
            partition by topic, topic_id, partition, cleanup_policy, is_empty
            order by start_offset, end_offset
        ) as number
    from placed
)
select
    max(landing_id) as landing_id, topic, topic_id, partition,
    min(start_offset) as start_offset, max(end_offset) as end_offset,
    max_by(log_start_offset, landing_id) as log_start_offset,
    max_by(log_end_offset, landing_id) as log_end_offset,
    cleanup_policy, max_by(is_sure_end, landing_id) as is_sure_end,
    max_by(fetched_at, landing_id) as fetched_at, true as is_landed
from numbered
group by topic, topic_id, partition, cleanup_policy, is_empty, number
union all
select
    landing_id, topic, topic_id, partition, start_offset, end_offset, log_start_offset,
    log_end_offset, cleanup_policy, is_sure_end, fetched_at, is_landed
from known
where not is_settled
"""


def join_ranges(spark: "SparkSession", table: LakeTable, landing_id: int) -> None:
    """Join the ranges of `landing.range`, in one commit.

    Args:
        landing_id: the newest landing that is published. Later ones are still read one by one: an
            offset without a message is a gap until all that was fetched of it is read.
    """
    from pyspark.sql import functions as F  # noqa: N812 - as all of Spark writes it

    snapshot = table.iceberg.currentSnapshot()
    if snapshot is None:
        return
    seen = snapshot.snapshotId()
    joined = spark.sql(JOINED.format(landing_id=landing_id, snapshot_id=seen))
    if spark.table(RANGE).count() - joined.count() < FEWEST_RANGES:
        return
    # It fails if a landing has written a range since, because it would remove it.
    joined.coalesce(1).writeTo(RANGE).options(
        **{
            "fanout-enabled": "true",
            "isolation-level": "serializable",
            "validate-from-snapshot-id": str(seen),
        }
    ).overwrite(F.lit(True))
    table.iceberg.refresh()
