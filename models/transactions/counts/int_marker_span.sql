with

-- Where the landing reaches the end, the end of each partition counts as one more marker.
bound as (

    select
        source,
        topic,
        partition,
        `offset`,
        position,
        has_own_topic
    from {{ ref('int_numbered_marker') }}
    {% if var('landing_reaches_the_end') -%}
    union all
    select
        sent.source,
        sent.topic,
        split.partition,
        split.last_offset + 1 as `offset`,
        '~' as position,
        sent.has_own_topic
    from (
        select
            source,
            topic,
            bool_and(has_own_topic) as has_own_topic
        from {{ ref('int_numbered_marker') }}
        group by source, topic
    ) as sent
    inner join {{ ref('int_partitioned_topic') }} as split
        on sent.topic = split.topic
    {%- endif %}

),

run_of_marker as (

    select
        bound.*,
        max(marker_run.first_offset) as first_offset
    from bound
    inner join {{ ref('int_marker_run') }} as marker_run
        on
            bound.topic = marker_run.topic
            and bound.partition = marker_run.partition
            and bound.`offset` >= marker_run.first_offset
    group by all

),

-- No marker can be missing between two whose messages are in one unbroken stretch.
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

)

select
    -- identity
    topic,
    source,
    partition,
    position,

    -- proof
    min(coalesce(previous_position, '')) filter (
        where case
            when previous_offset is not null then previous_offset >= first_offset
            else first_offset = 0 or (has_own_topic and first_offset < `offset`)
        end
    ) as after_position
from preceded_marker
group by topic, source, partition, position
