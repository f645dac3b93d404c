with

marker_offset as (

    select
        topic,
        `offset`,
        max(partition) as last_partition
    from {{ ref('stg_message') }}
    where kind = 'transaction_marker'
    group by topic, `offset`

),

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

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
        marker_offset.`offset`,
        marker_offset.last_partition
    from source_topic
    inner join marker_offset
        on source_topic.topic = marker_offset.topic
    union distinct
    select
        source,
        marker_topic as topic,
        marker_offset as `offset`,
        coalesce(last_marker_partition, 0) as last_partition
    from starting_commit
    where marker_offset is not null

),

-- Markers of several partitions have no common order, so their offsets prove nothing.
single_partition as (

    select
        source,
        count(distinct topic) as topic_count,
        max(last_partition) as last_partition
    from known_offset
    group by source
    having topic_count = 1 and last_partition = 0

),

-- Up to the cut's own offset the topic is known without a gap.
reached_offset as (

    select
        known_offset.source,
        known_offset.`offset`,
        greatest(known_offset.`offset`, max(starting_commit.marker_offset)) as reached_offset
    from known_offset
    inner join single_partition
        on known_offset.source = single_partition.source
    left join starting_commit
        on known_offset.source = starting_commit.source
    group by known_offset.source, known_offset.`offset`

)

select
    -- identity
    source,
    `offset`,

    -- proof
    reached_offset - dense_rank() over (
        partition by source
        order by reached_offset
    ) as island
from reached_offset
