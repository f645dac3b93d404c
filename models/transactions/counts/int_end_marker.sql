with

-- What follows a BEGIN without an END is of another stream: the one before it broke off there.
marker as (

    select
        *,
        case
            when
                marker = 'BEGIN'
                and connector = 'postgresql'
                and not bool_or(marker = 'END') over (partition by source, transaction_id)
                then `offset` + 1
        end as broken_from
    from {{ ref('stg_transaction_marker') }}

),

-- That of the published cut may come again and then be what the next one follows.
known_marker as (

    select
        source,
        transaction_id,
        topic,
        `offset`,
        commit_position = {{ offset_position('`offset`') }} as is_position,
        marker = 'END' as is_end,
        broken_from
    from marker
    where marker = 'END' or broken_from is not null
    union distinct
    select
        source,
        published.transaction_id,
        published.topic,
        published.`offset`,
        cast(null as boolean) as is_position,
        true as is_end,
        cast(null as bigint) as broken_from
    from (
        select
            source,
            explode(end_markers) as published
        from {{ ref('int_starting_commit') }}
    )

),

-- Markers of several partitions have no common order, so int_partitioned_end looks at all of them
-- together. Any message shows that there is another partition. One that cannot be read may be a
-- marker.
readable_run as (

    select
        topic,
        explode(concat(
            transform(known_ranges, known -> known.first_offset),
            transform(unplaced_offsets, bad -> bad + 1)
        )) as first_offset
    from (
        select
            *,
            max(partition) over (partition by topic) as last_partition
        from {{ ref('partition_progress') }}
        where cut_id = {{ candidate('cut_id') }}
    )
    where last_partition = 0

),

placed_marker as (

    select
        *,
        cast(null as bigint) as first_offset
    from known_marker
    union all
    select
        null as source,
        null as transaction_id,
        topic,
        first_offset as `offset`,
        null as is_position,
        false as is_end,
        null as broken_from,
        first_offset
    from readable_run

),

reached_marker as (

    select
        * except (broken_from),
        max(first_offset) over (
            partition by topic
            order by `offset`
            range between unbounded preceding and current row
        ) as readable_from,
        max(broken_from) over (
            partition by topic
            order by `offset`
            range between unbounded preceding and current row
        ) as broken_from
    from placed_marker

),

linked_marker as (

    select
        *,
        greatest(readable_from, broken_from) as known_from
    from reached_marker
    -- What was published without its END has no topic: until END lands, nothing follows it.
    where is_end and (readable_from is not null or topic is null)
    union all
    select
        source,
        transaction_id,
        topic,
        `offset`,
        null as is_position,
        true as is_end,
        null as first_offset,
        null as readable_from,
        null as broken_from,
        case when has_every_marker_before then -1 end as known_from
    from {{ ref('int_partitioned_end') }}

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
from linked_marker
group by source, transaction_id
