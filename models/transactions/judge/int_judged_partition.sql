with

progress as (

    select
        built.*,
        {{ is_table_topic('built') }} as is_table_topic,
        flatten(collect_list(built.sources) over (partition by built.topic)) as topic_sources,
        bool_or(built.has_signals) over (partition by built.topic)
        and size(array_distinct(flatten(
            collect_list(built.data_collections) over (partition by built.topic)
        ))) <= 1 as is_of_signals
    from {{ ref('partition_progress') }} as built
    where built.cut_id = {{ candidate('cut_id') }}

),

-- A partition to which only one source has sent yet may bring changes of another, if that sends to
-- the topic too, or the topic is named like those of it.
placed_partition as (

    select
        *,
        explode(array_distinct(concat(topic_sources, array(topic_source)))) as placed_source
    from progress
    where is_table_topic

),

owned_partition as (

    select
        *,
        size(sources) = 0 or array_contains(sources, placed_source) as is_own
    from placed_partition

)

select
    -- identity
    placed.placed_source as source,
    placed.topic,
    placed.partition,

    -- what it is
    judged_source.connector,
    placed.is_own,
    placed.is_of_signals,
    placed.is_own and size(placed.sources) > 0 as has_changes,
    size(placed.sources) > 1 as is_shared,

    -- what has landed
    case when placed.is_own then placed.known_ranges end as known_ranges,
    case when placed.is_own then placed.unplaced_offsets end as unplaced_offsets,
    case when placed.is_own then placed.unreadable_spans end as unreadable_spans,
    placed.is_own and placed.has_incremental_reads as has_window_reads,

    -- How far its changes reach: the commit that they name, their own commit, or their own place.
    -- Positions of two sources that share a partition do not compare, so neither has a place there.
    case
        when size(placed.sources) != 1 or not placed.is_own then null
        when judged_source.connector = 'postgresql' then placed.link_position
        when judged_source.connector in ('sqlserver', 'db2')
            then split_part(placed.event_position, '/', 1)
        else placed.event_position
    end as reached_place
from owned_partition as placed
inner join {{ ref('int_judged_source') }} as judged_source
    on placed.placed_source = judged_source.source
