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
        source,
        max(topic) as topic
    from marker_offset
    group by source
    having count(distinct topic, partition) = 1

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
