with

latest_progress as (

    select
        built.*,
        {{ is_table_topic('built') }} as is_table_topic,
        bool_or(built.has_incremental_reads) over (partition by built.topic) as is_read_topic,
        max(built.partition) over (partition by built.topic) + 1
        = count(*) over (partition by built.topic) as has_every_partition
    from {{ ref('partition_progress') }} as built
    where built.cut_id = {{ candidate('cut_id') }}

),

-- Positions of two sources that share a partition do not compare, so neither has a place there.
placed_progress as (

    select
        * except (sources, link_position, event_position),
        explode(
            case when size(sources) > 0 then sources else array(topic_source) end
        ) as source,
        size(sources) > 0 as has_changes,
        case when size(sources) = 1 then link_position end as link_position,
        case when size(sources) = 1 then event_position end as event_position
    from latest_progress

),

-- In the topic of a table that an incremental snapshot reads, any partition may still hold a read.
read_topic as (

    select
        source,
        min(case when has_every_partition then coalesce(link_position, '') else '' end)
            as link_position,
        min(case when has_every_partition then coalesce(event_position, '') else '' end)
            as event_position
    from placed_progress
    where is_read_topic
    group by source

),

-- An uncounted transaction may lack a message that cannot be read (S8, S15).
unreadable as (

    select
        source,
        flatten(collect_list(unreadable_spans)) as unreadable_spans
    from placed_progress
    where is_table_topic and size(unplaced_offsets) > 0
    group by source

)

-- A partition whose changes name no predecessor yet reaches nowhere, so it counts as the lowest.
select
    -- identity
    progress.source,

    -- position
    min(coalesce(progress.link_position, '')) as low_water_position,
    any_value(read_topic.link_position) as incremental_low_water_position,

    -- The same by the place of the changes themselves, where they are in the order of commits.
    min(coalesce(progress.event_position, '')) as event_low_water_position,
    any_value(read_topic.event_position) as incremental_event_low_water_position,

    -- Offsets of one partition say nothing of another.
    count(*) as partition_count,

    -- Between which places something cannot be read.
    any_value(unreadable.unreadable_spans) as unreadable_spans
from placed_progress as progress
left join read_topic
    on progress.source = read_topic.source
left join unreadable
    on progress.source = unreadable.source
where progress.has_changes
group by progress.source
