with

latest_progress as (

    select
        built.*,
        {{ is_table_topic('built') }} as is_table_topic
    from {{ ref('partition_progress') }} as built
    where built.cut_id = {{ candidate('cut_id') }}

),

progress as (

    select * from latest_progress
    where source is not null

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
    min(coalesce(progress.link_position, '')) filter (
        where progress.has_incremental_reads
    ) as incremental_low_water_position,
    max(progress.link_position) as high_water_position,

    -- The same by the place of the changes themselves, where they are in the order of commits.
    min(coalesce(progress.event_position, '')) as event_low_water_position,
    min(coalesce(progress.event_position, '')) filter (
        where progress.has_incremental_reads
    ) as incremental_event_low_water_position,
    max(progress.event_position) as event_high_water_position,

    -- Offsets of one partition say nothing of another.
    count(*) as partition_count,

    -- Between which places something cannot be read.
    any_value(unreadable.unreadable_spans) as unreadable_spans
from progress
left join unreadable
    on progress.source = unreadable.source
group by progress.source
