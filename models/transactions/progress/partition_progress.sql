with

known_progress as (

    select * from {{ ref('int_landed_partition') }}

),

earlier_progress as (

    select * from {{ source('pointer', 'partition_progress') }}
    where cut_id = {{ candidate('starting_cut_id') }}

),

-- Behind a gap nobody knows what is missing.
new_partition as (

    select
        message.topic,
        message.partition,
        max(message.event_position) filter (
            where message.`offset` <= known.contiguous_offset
        ) as event_position,
        max(message.previous_commit_position) filter (
            where message.`offset` <= known.contiguous_offset
        ) as link_position,
        collect_set(case when message.kind = 'change' then message.source end) as sources,
        bool_or(message.snapshot = 'incremental') as has_incremental_reads,
        bool_or(message.kind = 'change' and message.signal_type is not null) as has_signals,
        bool_or(message.kind not in ('change', 'tombstone', 'quarantined')) as has_controls,
        array_distinct(array_compact(array(
            min(message.data_collection), max(message.data_collection)
        ))) as data_collections
    from {{ ref('stg_message') }} as message
    inner join known_progress as known
        on message.topic = known.topic and message.partition = known.partition
    group by message.topic, message.partition

)

select
    {{ candidate('cut_id') }}L as cut_id,

    -- identity
    known_progress.topic,
    known_progress.partition,

    -- where it comes from
    array_sort(array_union(
        coalesce(new_partition.sources, array()), coalesce(earlier_progress.sources, array())
    )) as sources,
    coalesce(topic.source, renamed_topic.source, earlier_progress.topic_source) as topic_source,

    -- what has landed
    known_progress.contiguous_offset,
    known_progress.last_offset,
    known_progress.known_ranges,
    array_sort(array_except(
        coalesce(new_span.doubtful_offsets, earlier_progress.unplaced_offsets, array()),
        coalesce(new_span.readable_offsets, array())
    )) as unplaced_offsets,

    -- how far its changes reach
    case
        when known_progress.contiguous_offset < earlier_progress.contiguous_offset
            then new_partition.event_position
        else greatest(new_partition.event_position, earlier_progress.event_position)
    end as event_position,
    case
        when known_progress.contiguous_offset < earlier_progress.contiguous_offset
            then new_partition.link_position
        else greatest(new_partition.link_position, earlier_progress.link_position)
    end as link_position,
    filter(
        concat(
            transform(
                coalesce(earlier_progress.unreadable_spans, array()),
                span -> struct(
                    span.`offset` as `offset`,
                    span.after_position as after_position,
                    coalesce(span.before_position, new_span.first_new_position) as before_position,
                    span.after_link_position as after_link_position,
                    coalesce(span.before_link_position, new_span.first_new_link_position)
                        as before_link_position,
                    span.known_link_position as known_link_position,
                    span.known_event_position as known_event_position
                )
            ),
            transform(
                coalesce(new_span.unreadable_spans, array()),
                span -> struct(
                    span.`offset` as `offset`,
                    span.after_position as after_position,
                    span.before_position as before_position,
                    span.after_link_position as after_link_position,
                    span.before_link_position as before_link_position,
                    coalesce(starting_commit.link_position, '') as known_link_position,
                    coalesce(starting_commit.event_position, '') as known_event_position
                )
            )
        ),
        span -> not coalesce(array_contains(new_span.readable_offsets, span.`offset`), false)
    ) as unreadable_spans,
    coalesce(new_partition.has_incremental_reads, false)
    or coalesce(earlier_progress.has_incremental_reads, false) as has_incremental_reads,

    -- what it is
    coalesce(new_partition.has_signals, false)
    or coalesce(earlier_progress.has_signals, false) as has_signals,
    coalesce(new_partition.has_controls, false)
    or coalesce(earlier_progress.has_controls, false) as has_controls,
    array_sort(array_union(
        coalesce(new_partition.data_collections, array()),
        coalesce(earlier_progress.data_collections, array())
    )) as data_collections,
    coalesce(
        transaction_topic.source_prefix, earlier_progress.marker_source
    ) as marker_source
from known_progress
left join new_partition
    on
        known_progress.topic = new_partition.topic
        and known_progress.partition = new_partition.partition
left join earlier_progress
    on
        known_progress.topic = earlier_progress.topic
        and known_progress.partition = earlier_progress.partition
left join {{ ref('int_unreadable_span') }} as new_span
    on
        known_progress.topic = new_span.topic
        and known_progress.partition = new_span.partition
left join {{ ref('int_topic') }} as topic
    on known_progress.topic = topic.topic
left join {{ ref('int_renamed_topic') }} as renamed_topic
    on known_progress.topic = renamed_topic.topic
left join {{ ref('int_transaction_topic') }} as transaction_topic
    on known_progress.topic = transaction_topic.topic
left join {{ ref('int_starting_commit') }} as starting_commit
    on
        coalesce(
            array_min(new_partition.sources),
            array_min(earlier_progress.sources),
            topic.source
        )
        = starting_commit.source
