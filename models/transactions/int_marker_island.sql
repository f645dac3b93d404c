with

marker_offset as (

    select distinct
        topic,
        `offset`
    from {{ ref('stg_message') }}
    where kind = 'transaction_marker'

),

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

-- How far a topic is known from its beginning. A BEGIN of SQL Server waits for nothing, and another
-- database's END not for this one's, so they may have been settled by an earlier run.
known_topic as (

    select
        progress.topic,
        max(progress.partition) as last_partition,
        -- What cannot be read may be a marker.
        max(
            case
                when progress.partition = 0 and progress.first_offset = 0
                    then
                        least(
                            progress.contiguous_offset,
                            array_min(progress.quarantined_offsets) - 1
                        )
            end
        ) as known_offset
    from {{ ref('partition_progress') }} as progress
    where progress.cut_id = {{ candidate('cut_id') }}
    group by progress.topic

),

-- The databases of a SQL Server connector are sources that share one topic.
source_topic as (

    select
        source,
        topic
    from {{ ref('stg_transaction_marker') }}
    union distinct
    select
        source,
        marker_topic as topic
    from starting_commit
    where marker_topic is not null

),

known_offset as (

    select
        source_topic.source,
        source_topic.topic,
        marker_offset.`offset`
    from source_topic
    inner join marker_offset
        on source_topic.topic = marker_offset.topic
    union distinct
    select
        source,
        marker_topic as topic,
        marker_offset as `offset`
    from starting_commit
    where marker_offset is not null
    union distinct
    select
        source_topic.source,
        source_topic.topic,
        known_topic.known_offset as `offset`
    from source_topic
    inner join known_topic
        on source_topic.topic = known_topic.topic
    where known_topic.known_offset >= 0

),

-- Markers of several partitions have no common order, so their offsets prove nothing. Another
-- partition shows itself by any message.
single_partition as (

    select
        source_topic.source,
        count(distinct source_topic.topic) as topic_count,
        max(known_topic.last_partition) as last_partition
    from source_topic
    left join known_topic
        on source_topic.topic = known_topic.topic
    group by source_topic.source
    having topic_count = 1 and last_partition = 0

),

-- The topic is known without a gap up to the cut's own offset, and from its beginning.
reached_offset as (

    select
        known_offset.source,
        known_offset.`offset`,
        greatest(
            known_offset.`offset`,
            max(greatest(starting_commit.marker_offset, known_topic.known_offset))
        ) as reached_offset,
        max(
            case
                when starting_commit.marker_offset is null and known_topic.known_offset >= 0
                    then known_topic.known_offset
                else 0
            end
        ) as first_reached_offset
    from known_offset
    inner join single_partition
        on known_offset.source = single_partition.source
    left join known_topic
        on known_offset.topic = known_topic.topic
    left join starting_commit
        on known_offset.source = starting_commit.source
    group by known_offset.source, known_offset.`offset`

)

select
    -- identity
    source,
    `offset`,

    -- proof
    reached_offset - first_reached_offset - dense_rank() over (
        partition by source
        order by reached_offset
    ) as island
from reached_offset
