with

marker as (

    select * from {{ ref('stg_transaction_marker') }}

),

-- That of the published cut may come again and then be what the next one follows.
end_marker as (

    select
        source,
        transaction_id,
        topic,
        `offset`,
        commit_position = {{ offset_position('`offset`') }} as is_position
    from marker
    where marker = 'END'
    union distinct
    select
        source,
        published.transaction_id,
        published.topic,
        published.`offset`,
        cast(null as boolean) as is_position
    from (
        select
            source,
            explode(end_markers) as published
        from {{ ref('int_starting_commit') }}
    )

),

progress as (

    select
        *,
        max(partition) over (partition by topic) as last_partition
    from {{ ref('partition_progress') }}
    where cut_id = {{ candidate('cut_id') }}

),

-- Markers of several partitions have no common order, so their offsets prove nothing. Another
-- partition shows itself by any message. What cannot be read may be a marker.
readable_run as (

    select
        topic,
        explode(concat(
            transform(known_ranges, known -> known.first_offset),
            transform(unplaced_offsets, bad -> bad + 1)
        )) as first_offset
    from progress
    where last_partition = 0

),

-- What follows a BEGIN without an END is of another stream: the one before it broke off there.
broken_run as (

    select
        begun.topic,
        begun.`offset` + 1 as first_offset
    from marker as begun
    left semi join readable_run
        on begun.topic = readable_run.topic
    left anti join marker as ended
        on
            begun.source = ended.source
            and begun.transaction_id = ended.transaction_id
            and ended.marker = 'END'
    where begun.marker = 'BEGIN' and begun.connector = 'postgresql'

),

known_run as (

    select * from readable_run
    union all
    select * from broken_run

),

placed_marker as (

    select
        topic,
        `offset`,
        source,
        transaction_id,
        is_position,
        cast(null as bigint) as first_offset
    from end_marker
    union all
    select
        topic,
        first_offset as `offset`,
        null as source,
        null as transaction_id,
        null as is_position,
        first_offset
    from known_run

),

reached_marker as (

    select
        *,
        max(first_offset) over (
            partition by topic
            order by `offset`
            range between unbounded preceding and current row
        ) as known_from
    from placed_marker

)

select
    -- identity
    source,
    transaction_id,

    -- Where the offset of END is its place among the others, only the first END has that place.
    case
        when bool_or(is_position)
            then array(min(struct(transaction_id, topic, `offset`, known_from)))
        else collect_list(struct(transaction_id, topic, `offset`, known_from))
    end as end_markers
from reached_marker
where source is not null and known_from is not null
group by source, transaction_id
