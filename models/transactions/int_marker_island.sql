with

marker_offset as (

    select
        source,
        topic,
        partition,
        `offset`
    from {{ ref('stg_transaction_marker') }}
    group by source, topic, partition, `offset`

),

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

-- Markers of several partitions have no common order, so their offsets prove nothing.
single_partition as (

    select
        marker_offset.source,
        count(distinct marker_offset.topic) as topic_count,
        max(greatest(marker_offset.partition, coalesce(starting_commit.last_marker_partition, 0)))
            as last_partition
    from marker_offset
    left join starting_commit
        on marker_offset.source = starting_commit.source
    group by marker_offset.source
    having topic_count = 1 and last_partition = 0

),

known_offset as (

    select
        marker_offset.source,
        marker_offset.`offset`
    from marker_offset
    inner join single_partition
        on marker_offset.source = single_partition.source
    union distinct
    select
        starting_commit.source,
        starting_commit.marker_offset as `offset`
    from starting_commit
    inner join single_partition
        on starting_commit.source = single_partition.source

)

select
    -- identity
    source,
    `offset`,

    -- proof
    `offset` - row_number() over (partition by source order by `offset`) as island
from known_offset
where `offset` is not null
