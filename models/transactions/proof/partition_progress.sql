-- Several sources may send to one partition. What has landed of it is the same for each.
with

reached as (

    select
        topic,
        partition,
        any_value(known_ranges) as known_ranges,
        any_value(contiguous_offset) as contiguous_offset,
        any_value(last_offset) as last_offset,
        any_value(unplaced_offsets) as unplaced_offsets,
        max(event_position) as event_position,
        max(link_position) as link_position,
        bool_or(has_signals) as has_signals,
        array_sort(array_distinct(flatten(collect_list(data_collections)))) as data_collections,
        count(*) as source_count
    from {{ ref('proof') }}
    where cut_id = {{ candidate('cut_id') }} and kind = 'progress'
    group by topic, partition

)

select
    {{ candidate('cut_id') }}L as cut_id,

    -- identity
    reached.topic,
    reached.partition,

    -- where it comes from
    topic.sources,
    topic.topic_source,
    topic.marker_source,

    -- what has landed
    reached.contiguous_offset,
    reached.last_offset,
    reached.known_ranges,
    reached.unplaced_offsets,

    -- how far its changes reach; places of two sources do not compare
    case when reached.source_count = 1 then reached.event_position end as event_position,
    case when reached.source_count = 1 then reached.link_position end as link_position,

    -- what it is
    reached.has_signals,
    reached.data_collections
from reached
inner join {{ ref('int_topic') }} as topic
    on reached.topic = topic.topic and topic.cut_id = {{ candidate('cut_id') }}
