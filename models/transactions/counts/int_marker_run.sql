with

lone_begin as (

    select
        source,
        transaction_id,
        topic,
        partition,
        `offset`
    from {{ ref('int_numbered_marker') }}
    where marker = 'BEGIN' and position is null and has_own_topic

),

-- Published commits are read only if there is such a BEGIN.
published_begin as (

    select /*+ broadcast(lone_begin) */
        published.source,
        published.transaction_id
    from {{ source('pointer', 'commit') }} as published
    left semi join lone_begin
        on
            published.source = lone_begin.source
            and published.transaction_id = lone_begin.transaction_id
    where published.cut_id <= {{ candidate('starting_cut_id') }}

)

-- A message that cannot be read may be a BEGIN or END. A BEGIN of PostgreSQL without an END ends a
-- stream, unless it is sent again and its transaction was published.
select
    -- identity
    topic,
    partition,
    explode(concat(
        transform(known_ranges, known -> known.first_offset),
        transform(unplaced_offsets, bad -> bad + 1)
    )) as first_offset
from {{ ref('int_partitioned_topic') }}
union all
select
    lone_begin.topic,
    lone_begin.partition,
    lone_begin.`offset` + 1 as first_offset
from lone_begin
left anti join published_begin
    on
        lone_begin.source = published_begin.source
        and lone_begin.transaction_id = published_begin.transaction_id
