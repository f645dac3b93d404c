"""Rows that are older than a project keeps them: landed messages, and closed versions of rows.

Messages go by landing. A landing goes once all of its messages are old and published, and none of
them is held or quarantined. The newest landing stays, so that numbers of landings go on.

Versions go by commit. The pointer first says from which commit on histories answer
(`history_from`), and then those go that were closed until then. The table of a killed run is
done by the next one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from dbt_debezium.landing.land import TABLE
from dbt_debezium.lease import HeldLease
from dbt_debezium.maintenance.snapshots import replaced_before
from dbt_debezium.maintenance.tables import LakeTable, lake_table
from dbt_debezium.message_tables.removed import note_removed
from dbt_debezium.quarantine.query import QUARANTINED_QUERY
from dbt_debezium.writers import sql

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

REMOVED_UP_TO: Final = "dbt_debezium.removed_up_to"
"""A property of `landing.message`: the highest landing that was removed. No run may begin before
it, which the macro check_landed_messages sees to."""
MOST_SPANS: Final = 1000
"""Of landings in one statement: each is a condition of it. The next round removes the others."""

LANDINGS: Final = """
with needed as (
    select landing_id from {schema}.held_message
    where cut_id = {published.cut_id}
    union
    select landing_id from ({quarantined})
)
select
    message.landing_id,
    -- Kafka's -1 says that a message has no timestamp.
    bool_and(coalesce(
        message.timestamp >= timestamp '1970-01-02 00:00:00Z' and message.timestamp < {since}, false
    ))
    and max(needed.landing_id) is null as is_removable
from {table} as message
left join needed
    on message.landing_id = needed.landing_id
where
    message.landing_id <= {last}
    and message.landing_id < (select max(landing_id) from {table})
    -- If the pointer alone is rolled back, nothing tells what its cut held: then all messages stay.
    and exists (select 1 from {schema}.partition_progress where cut_id = {published.cut_id})
group by message.landing_id
order by message.landing_id
"""

STARTS: Final = """
with earlier as (
    select max(cut_id) as cut_id from {pointer} version as of {snapshot_id}
    where channel = 'published'
),
commits as (
    select
        source, commit_number, committed_at, cut_id,
        -- A source's clock can go back: no commit goes that follows one which stays.
        min(case when committed_at >= {since} then commit_number end)
            over (partition by source) as first_kept
    from {schema}.commit
)
select
    commits.source,
    max(commits.commit_number) as commit_number,
    max_by(commits.committed_at, commits.commit_number) as committed_at
from commits
-- By cut, because a full refresh can give commits other numbers. Readers may be back at an older
-- cut: what was published and is not any more does not count.
inner join earlier
    on commits.cut_id <= earlier.cut_id and commits.cut_id <= {published.cut_id}
where
    -- A connector may write 0 where it knows no time.
    commits.committed_at >= timestamp '1970-01-02 00:00:00Z' and commits.committed_at < {since}
    and (commits.first_kept is null or commits.commit_number < commits.first_kept)
group by commits.source
"""


@dataclass(frozen=True, slots=True)
class Retention:
    """What is too old in a lake."""

    landings: Sequence[tuple[int, int]] = ()
    """The first and the last of the landings that go, as `spans` has them."""
    starts: "Mapping[str, Row]" = field(default_factory=dict)
    """By source: the commit from which on histories are kept, with its time."""

    def condition_of(self, table: LakeTable) -> str | None:
        """Which rows of a table go, as a condition of SQL."""
        if table.name == TABLE:
            found = (f"landing_id between {first} and {last}" for first, last in self.landings)
            return " or ".join(found) or None
        if not (self.starts and table.is_history):
            return None
        return " or ".join(
            f"(_source = {sql.literal(source)} and _valid_to <= {start.commit_number})"
            for source, start in sorted(self.starts.items())
        )


def kept_since(now: int, newest: int, days: int) -> str:
    """The midnight, UTC, from which on rows are kept, as a literal of SQL.

    The days before the newest row are kept whatever this machine's clock says: one that is wrong
    by years would have everything removed.

    Args:
        now: by the clock of this machine, in milliseconds since 1970.
        newest: time of the newest row, in milliseconds since 1970.
        days: how many whole days are kept.

    >>> kept_since(3 * 86_400_000 + 5, 4 * 86_400_000, 2)
    "timestamp '1970-01-02 00:00:00Z'"
    >>> kept_since(4_102_444_800_000, 3 * 86_400_000 + 5, 2)
    "timestamp '1970-01-02 00:00:00Z'"
    """
    midnight = datetime.fromtimestamp(min(now, newest) / 1000, UTC) - timedelta(days=days)
    return f"timestamp '{midnight:%Y-%m-%d} 00:00:00Z'"


def newest_message(spark: "SparkSession") -> int | None:
    """Kafka's timestamp of the newest landed message, in milliseconds since 1970."""
    return _milliseconds(spark, f"select unix_millis(max(timestamp)) from {TABLE}")


def newest_commit(spark: "SparkSession", schema: str, published: "Row") -> int | None:
    """When a source made the newest published commit, in milliseconds since 1970."""
    return _milliseconds(
        spark,
        f"select unix_millis(max(committed_at)) from {schema}.commit"
        f" where cut_id <= {published.cut_id}",
    )


def _milliseconds(spark: "SparkSession", query: str) -> int | None:
    row = spark.sql(query).head()
    return row[0] if row else None


def old_landings(
    spark: "SparkSession", schema: str, published: "Row", since: str
) -> list[tuple[int, int]]:
    """Which landings go, as `spans` has them.

    Args:
        published: the row of the pointer that says what readers see.
        since: the time from which on messages are kept, as a literal.
    """
    # The bound spares reading landings that have young messages alone.
    old = spark.sql(f"select max(landing_id) from {TABLE} where timestamp < {since}").head()
    if old is None or old[0] is None:
        return []
    rows = spark.sql(
        LANDINGS.format(
            schema=schema,
            quarantined=QUARANTINED_QUERY.format(schema=schema),
            table=TABLE,
            since=since,
            published=published,
            last=min(old[0], published.landing_id),
        )
    ).collect()
    return spans((row.landing_id, row.is_removable) for row in rows)


def spans(landings: Iterable[tuple[int, bool]], most: int = MOST_SPANS) -> list[tuple[int, int]]:
    """The first and the last of landings that go, as far as none stays between them.

    Args:
        landings: their numbers in order, and whether each may go.
        most: how many spans; the oldest go first.

    >>> spans([(1, True), (4, True), (5, False), (6, True)])
    [(1, 4), (6, 6)]
    >>> spans([(1, True), (4, True), (5, False), (6, True)], most=1)
    [(1, 4)]
    """
    found: list[tuple[int, int]] = []
    is_open = False
    for landing_id, is_removable in landings:
        if is_removable:
            first = found.pop()[0] if is_open else landing_id
            found.append((first, landing_id))
        is_open = is_removable
    return found[:most]


def history_starts(
    spark: "SparkSession",
    schema: str,
    pointer: LakeTable,
    published: "Row",
    since: str,
    readers_since: int,
) -> "Mapping[str, Row]":
    """By source: the newest commit that closed versions need not be kept for.

    Args:
        published: the row of the pointer that says what readers see.
        since: the time from which on each state of a source must be shown, as a literal.
        readers_since: milliseconds since 1970. Queries that have begun then may still read the cut
            that was published, so its versions stay too.
    """
    replaced = replaced_before(pointer.snapshots(), readers_since)
    if not replaced:
        return {}
    rows = spark.sql(
        STARTS.format(
            schema=schema,
            pointer=pointer.name,
            snapshot_id=replaced[-1].snapshot_id,
            published=published,
            since=since,
        )
    ).collect()
    return {row.source: row for row in rows}


def remove_rows(
    spark: "SparkSession", table: LakeTable, retention: Retention, lease: HeldLease | None
) -> int:
    """Remove the rows of one table that are too old; how many there were.

    Args:
        lease: None only counts them.

    Raises:
        LostLeaseError: the lease is gone. Nothing is removed.
    """
    condition = retention.condition_of(table)
    if condition is None:
        return 0
    count = spark.table(table.name).where(condition).count()
    if not count or lease is None:
        return count
    # Another run may need by now what nothing needed when this one looked.
    lease.confirm()
    if table.name == TABLE:
        removed = max(
            retention.landings[-1][1], int(table.iceberg.properties().get(REMOVED_UP_TO) or 0)
        )
        spark.sql(f"alter table {TABLE} set tblproperties ('{REMOVED_UP_TO}' = '{removed}')")
        note_removed(spark, condition)
    spark.sql(f"delete from {table.name} where {condition}")
    table.iceberg.refresh()
    return count


def announce(spark: "SparkSession", pointer: LakeTable, starts: "Mapping[str, Row]") -> None:
    """Say in the published cut from which commits on histories answer. It is never taken back.

    A restored pointer may say less than what is gone, so it is said whether or not rows go now.
    """
    from pyspark.sql import Column
    from pyspark.sql import functions as F  # noqa: N812 - as all of Spark writes it

    def with_start(cut: Column) -> Column:
        number, at = cut["history_from"], cut["history_from_at"]
        for source, start in starts.items():
            is_later = (cut["source"] == source) & (
                F.coalesce(cut["history_from"], F.lit(0)) < start.commit_number
            )
            number = F.when(is_later, F.lit(start.commit_number)).otherwise(number)
            at = F.when(is_later, F.lit(start.committed_at)).otherwise(at)
        return cut.withField("history_from", number).withField("history_from_at", at)

    pointer.iceberg.refresh()
    seen = pointer.iceberg.currentSnapshot().snapshotId()
    (row,) = spark.table(pointer.name).where("channel = 'published'").collect()
    told = {cut.source: cut.history_from or 0 for cut in row.source_cuts}
    if all(told.get(source, 0) >= start.commit_number for source, start in starts.items()):
        return
    cuts = F.when(
        F.col("channel") == "published", F.transform("source_cuts", with_start)
    ).otherwise(F.col("source_cuts"))
    told_cuts = spark.table(pointer.name).withColumn("source_cuts", cuts)
    # It fails if a run has moved the pointer since, because it would move it back.
    told_cuts.writeTo(pointer.name).options(
        **{"isolation-level": "serializable", "validate-from-snapshot-id": str(seen)}
    ).overwrite(F.lit(True))
    pointer.iceberg.refresh()


def other_readers(spark: "SparkSession", *ours: str) -> list[str]:
    """Other schemas that are built from the same landed messages, as those of another target.

    Args:
        ours: the schemas of this one, in which a plain table can be a captured one called cut.
    """
    named = sorted(row.namespace for row in spark.sql("show schemas").collect())
    return [
        other
        for other in named
        if other not in ours
        # A captured table that is called cut has a public view, which this does not list.
        and any(row.tableName == "cut" for row in spark.sql(f"show tables in {other}").collect())
        and lake_table(spark, f"{other}.cut") is not None
    ]


def unpublished_refresh(channels: "Sequence[Row]") -> bool:
    """Whether runs begin with the first message again, until one of them has published."""
    cuts: dict[str, Any] = {row.channel: row for row in channels}
    candidate, published = cuts.get("candidate"), cuts.get("published")
    return (
        candidate is not None
        and published is not None
        and candidate.cut_id > published.cut_id
        and candidate.starting_cut_id == 0
    )
