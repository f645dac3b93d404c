"""Messages of a table that someone else fills, after retention has removed them from the lake.

Where the snapshots of such a table do not tell what is new, all of its rows are compared with what
has landed (`land`). So the offsets of what was removed are noted.
"""

from typing import TYPE_CHECKING, Final

from dbt_debezium.landing.land import TABLE, TABLE_READ
from dbt_debezium.table_properties import METADATA_PROPERTIES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

REMOVED: Final = "landing.removed"
CREATE_TABLE: Final = f"""
create table if not exists {REMOVED} (
    topic string,
    partition int,
    first_offset bigint comment 'Every offset from it on has landed and was removed,',
    last_offset bigint comment 'up to this one.'
)
using iceberg
tblproperties (
    'format-version' = '2',
    {METADATA_PROPERTIES}
)
"""
NOTE: Final = f"""
insert into {REMOVED}
select topic, partition, min(`offset`), max(`offset`)
from (
    select
        topic, partition, `offset`,
        `offset` - dense_rank() over (partition by topic, partition order by `offset`) as gap
    from {TABLE}
    where ({{condition}}) and landing_id in (
        select landing_id from {TABLE_READ} where position is not null
    )
)
group by topic, partition, gap
"""


def note_removed(spark: "SparkSession", condition: str) -> None:
    """Note the offsets of messages before they are removed.

    A note of what is still there, as one of a killed run, does no harm.

    Args:
        condition: which rows of `landing.message`.
    """
    if not spark.catalog.tableExists(TABLE_READ):
        return
    spark.sql(CREATE_TABLE)
    spark.sql(NOTE.format(condition=condition))


def without_removed(spark: "SparkSession", rows: "DataFrame") -> "DataFrame":
    """Leave out the messages that have landed and were removed."""
    if not spark.catalog.tableExists(REMOVED):
        return rows
    removed = spark.table(REMOVED)
    return rows.join(
        removed,
        (rows["topic"] == removed["topic"])
        & (rows["partition"] == removed["partition"])
        & rows["offset"].between(removed["first_offset"], removed["last_offset"]),
        "left_anti",
    )
