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

progress as (

    select * from latest_progress
    where source is not null

),

-- In the topic of a table that an incremental snapshot reads, any partition may still hold a read.
read_topic as (

    select
        coalesce(source, topic_source) as source,
        min(case when has_every_partition then coalesce(link_position, '') else '' end)
            as link_position,
        min(case when has_every_partition then coalesce(event_position, '') else '' end)
            as event_position
    from latest_progress
    where is_read_topic
    group by coalesce(source, topic_source)

),

-- What nothing counts may lack a message that cannot be read (S8, S15).
unreadable as (

    select
        coalesce(source, topic_source) as source,
        flatten(collect_list(unreadable_spans)) as unreadable_spans
    from latest_progress
    where is_table_topic and size(quarantined_offsets) > 0
    group by coalesce(source, topic_source)

)

-- A partition whose changes name no predecessor yet reaches nowhere, so it counts as the lowest.
select
    -- identity
    progress.source,

    -- position
    min(coalesce(progress.link_position, '')) as low_water_position,
    any_value(read_topic.link_position) as incremental_low_water_position,
    max(progress.link_position) as high_water_position,

    -- The same by the place of the changes themselves, where they are in the order of commits.
    min(coalesce(progress.event_position, '')) as event_low_water_position,
    any_value(read_topic.event_position) as incremental_event_low_water_position,
    max(progress.event_position) as event_high_water_position,

    -- Offsets of one partition say nothing of another.
    count(*) as partition_count,

    -- Between which places something cannot be read.
    any_value(unreadable.unreadable_spans) as unreadable_spans
from progress
left join read_topic
    on progress.source = read_topic.source
left join unreadable
    on progress.source = unreadable.source
group by progress.source
