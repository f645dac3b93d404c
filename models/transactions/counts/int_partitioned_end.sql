with

-- Offsets of several partitions have no common order; numbers of one log, and LSNs, have one.
progress as (

    select
        *,
        max(partition) over (partition by topic) + 1 as partition_count
    from {{ ref('partition_progress') }}
    where cut_id = {{ candidate('cut_id') }} and marker_source is not null

),

partition_end as (

    select * from progress
    where partition_count > 1

),

-- If BEGIN and END have no number, as Oracle's, the changes have it.
change_number as (

    select
        source,
        transaction_id,
        max(log_position) as log_position
    from {{ ref('int_table_count') }}
    where log_position is not null
    group by source, transaction_id

),

marker as (

    select
        marker.*,
        coalesce(marker.log_position, change_number.log_position) as numbered_position,
        marker.log_position is null
        and not coalesce({{ ordered_by_end('marker.connector') }}, false) as has_lsn
    from {{ ref('stg_transaction_marker') }} as marker
    left semi join partition_end
        on marker.topic = partition_end.topic
    left join change_number
        on
            marker.source = change_number.source
            and marker.transaction_id = change_number.transaction_id

),

ordered_marker as (

    select
        source,
        transaction_id,
        topic,
        partition,
        `offset`,
        marker,
        -- Another database of SQL Server may have sent what is before its first marker.
        not has_lsn or connector is not null as has_own_topic,
        case
            -- The id is the LSN of the commit, also in a BEGIN.
            when has_lsn and connector is null then transaction_id
            when has_lsn
                then max(commit_position) over (partition by source, transaction_id)
            else split_part(numbered_position, '#', 2)
        end as position
    from marker

),

lone_begin as (

    select
        source,
        transaction_id,
        topic,
        partition,
        `offset`
    from ordered_marker
    where marker = 'BEGIN' and position is null and has_own_topic

),

-- Commits are read where there is one.
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

),

-- What cannot be read may be a marker. A BEGIN of PostgreSQL without an END ends a stream, unless
-- it is sent again and its END was published.
known_run as (

    select
        topic,
        partition,
        explode(concat(
            transform(known_ranges, known -> known.first_offset),
            transform(unplaced_offsets, bad -> bad + 1)
        )) as first_offset
    from partition_end
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

),

-- Behind the last message of a partition nothing is missing where the landing reaches the end.
bound as (

    select
        source,
        topic,
        partition,
        `offset`,
        position,
        has_own_topic,
        cast(null as bigint) as first_offset
    from ordered_marker
    {% if var('landing_reaches_the_end') -%}
    union all
    select
        sent.source,
        sent.topic,
        partition_end.partition,
        partition_end.last_offset + 1 as `offset`,
        '~' as position,
        sent.has_own_topic,
        null as first_offset
    from (
        select
            source,
            topic,
            bool_and(has_own_topic) as has_own_topic
        from ordered_marker
        group by source, topic
    ) as sent
    inner join partition_end
        on sent.topic = partition_end.topic
    {%- endif %}

),

run_of_marker as (

    select
        bound.source,
        bound.topic,
        bound.partition,
        bound.`offset`,
        bound.position,
        bound.has_own_topic,
        max(known_run.first_offset) as first_offset
    from bound
    inner join known_run
        on
            bound.topic = known_run.topic
            and bound.partition = known_run.partition
            and bound.`offset` >= known_run.first_offset
    group by
        bound.source,
        bound.topic,
        bound.partition,
        bound.`offset`,
        bound.position,
        bound.has_own_topic

),

-- Between a marker and the one before it in its partition no marker is missing.
preceded_marker as (

    select
        *,
        lag(position) over (
            partition by topic, source, partition
            order by `offset`
        ) as previous_position,
        lag(`offset`) over (
            partition by topic, source, partition
            order by `offset`
        ) as previous_offset
    from run_of_marker
    where position is not null

),

span as (

    select
        topic,
        source,
        partition,
        position,
        min(coalesce(previous_position, '')) filter (
            where case
                when previous_offset is not null then previous_offset >= first_offset
                else first_offset = 0 or (has_own_topic and first_offset < `offset`)
            end
        ) as after_position
    from preceded_marker
    group by topic, source, partition, position

),

placed_end as (

    select
        topic,
        source,
        position
    from ordered_marker
    where marker = 'END' and position is not null
    group by topic, source, position

),

-- In each partition the first marker that is not before END.
compared_end as (

    select
        topic,
        source,
        partition,
        position,
        is_end,
        last_value(after_position, true) over (
            partition by topic, source, partition
            order by position desc
            range between unbounded preceding and current row
        ) as after_position
    from (
        select
            topic,
            source,
            partition,
            position,
            -- No marker shows what is before this one.
            coalesce(after_position, position) as after_position,
            false as is_end
        from span
        union all
        select
            placed.topic,
            placed.source,
            partition_end.partition,
            placed.position,
            null as after_position,
            true as is_end
        from placed_end as placed
        inner join partition_end
            on placed.topic = partition_end.topic
    ) as compared

),

proven_position as (

    select
        compared.topic,
        compared.source,
        compared.position
    from compared_end as compared
    inner join partition_end
        on compared.topic = partition_end.topic and compared.partition = partition_end.partition
    where compared.is_end
    group by compared.topic, compared.source, compared.position
    having
        count_if(compared.after_position < compared.position) = max(partition_end.partition_count)

)

select
    -- identity
    ended.source,
    ended.transaction_id,

    -- delivery
    ended.topic,
    ended.`offset`,

    -- proof
    proven.position is not null as has_every_marker_before
from ordered_marker as ended
left join proven_position as proven
    on
        ended.topic = proven.topic
        and ended.source = proven.source
        and ended.position = proven.position
where ended.marker = 'END'
