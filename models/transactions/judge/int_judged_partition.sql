with

progress as (

    select
        built.*,
        {{ is_table_topic('built') }} as is_table_topic,
        bool_or(built.has_signals) over (partition by built.topic)
        and size(array_distinct(flatten(
            collect_list(built.data_collections) over (partition by built.topic)
        ))) <= 1 as is_of_signals
    from {{ ref('partition_progress') }} as built
    where built.cut_id = {{ candidate('cut_id') }}

),

-- Positions of two sources that share a partition do not compare, so neither has a place there.
placed_partition as (

    select
        *,
        explode(
            case when size(sources) > 0 then sources else array(topic_source) end
        ) as placed_source
    from progress
    where is_table_topic

)

select
    -- identity
    placed.placed_source as source,
    placed.topic,
    placed.partition,

    -- what has landed
    placed.known_ranges,
    placed.unplaced_offsets,
    placed.unreadable_spans,
    placed.has_incremental_reads as has_window_reads,
    placed.is_of_signals,

    -- what it is
    judged_source.connector,
    size(placed.sources) > 0 as has_changes,

    -- How far its changes reach: the commit that they name, their own commit, or their own place.
    case
        when size(placed.sources) != 1 then null
        when judged_source.connector = 'postgresql' then placed.link_position
        when judged_source.connector in ('sqlserver', 'db2')
            then split_part(placed.event_position, '/', 1)
        else placed.event_position
    end as reached_place
from placed_partition as placed
inner join {{ ref('int_judged_source') }} as judged_source
    on placed.placed_source = judged_source.source
