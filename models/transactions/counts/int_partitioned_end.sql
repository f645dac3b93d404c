{%- if not run_has('split_topic') -%}
{{ no_rows({
    'source': 'string', 'transaction_id': 'string', 'topic': 'string', 'offset': 'bigint',
    'has_every_marker_before': 'boolean',
}) }}
{%- else -%}
with

placed_end as (

    select
        topic,
        source,
        position
    from {{ ref('int_numbered_marker') }}
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
        partition_count,
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
            -- Something may be missing before this one.
            coalesce(after_position, position) as after_position,
            cast(null as int) as partition_count
        from {{ ref('int_marker_span') }}
        union all
        select
            placed.topic,
            placed.source,
            split.partition,
            placed.position,
            null as after_position,
            split.partition_count
        from placed_end as placed
        inner join {{ ref('int_partitioned_topic') }} as split
            on placed.topic = split.topic
    ) as compared

),

proven_position as (

    select
        topic,
        source,
        position
    from compared_end
    where partition_count is not null
    group by topic, source, position
    having count_if(after_position < position) = max(partition_count)

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
from {{ ref('int_numbered_marker') }} as ended
left join proven_position as proven
    on
        ended.topic = proven.topic
        and ended.source = proven.source
        and ended.position = proven.position
where ended.marker = 'END'
{%- endif %}
