with

message as (

    select
        *,
        -- A change without transaction has no place either.
        kind = 'quarantined'
        or (kind = 'change' and snapshot is null and transaction_id is null) as has_no_place,
        kind = 'change' and signal_type is not null as is_signal
    from {{ ref('stg_message') }}

),

earlier_progress as (

    {% if is_incremental() -%}
    select built.*
    from {{ this }} as built
    where built.cut_id = {{ candidate('starting_cut_id') }}
    {%- else -%}
    select
        cast(null as string) as topic,
        cast(null as int) as partition,
        cast(null as bigint) as contiguous_offset,
        cast(null as bigint) as last_offset,
        cast(null as array<struct<first_offset: bigint, last_offset: bigint>>) as known_ranges,
        cast(null as array<bigint>) as unplaced_offsets,
        cast(null as array<string>) as sources,
        cast(null as string) as event_position,
        cast(null as string) as link_position,
        cast(null as array<struct<
            `offset`: bigint,
            after_position: string,
            before_position: string,
            after_link_position: string,
            before_link_position: string,
            known_link_position: string,
            known_event_position: string
        >>) as unreadable_spans,
        cast(null as boolean) as has_incremental_reads,
        cast(null as boolean) as has_signals,
        cast(null as boolean) as has_controls,
        cast(null as array<string>) as data_collections,
        cast(null as string) as topic_source,
        cast(null as string) as marker_source
    where false
    {%- endif %}

),

-- The offsets of a partition as bits, 64 to a number: messages need not be put in order.
offset_block as (

    select
        topic,
        partition,
        min(`offset`) as first_offset,
        max(`offset`) as last_offset,
        bit_or(shiftleft(1L, cast(`offset` % 64 as int))) as bits
    from message
    group by topic, partition, `offset` div 64

),

-- What was fetched from Kafka, and what the cluster has of it: all partitions, also empty ones.
fetched_range as (

    select
        topic,
        partition,
        start_offset,
        end_offset,
        cleanup_policy
    from {{ source('landing', 'range') }}
    where
        is_landed
        and landing_id > {{ candidate('starting_landing_id') }}
        and landing_id <= {{ candidate('landing_id') }}

),

-- An earlier part may land later, so ranges of this run and of those before can meet and overlap.
known_range as (

    select
        topic,
        partition,
        inline(
            case
                when bit_count(bits) = last_offset - first_offset + 1
                    then array(struct(first_offset, last_offset))
                else
                    transform(
                        filter(
                            sequence(first_offset, last_offset),
                            one -> getbit(bits, one % 64) = 1
                        ),
                        one -> struct(one as first_offset, one as last_offset)
                    )
            end
        ) as (first_offset, last_offset)
    from offset_block
    union all
    -- An offset without a message is a control record of a transaction of Kafka, or belongs to an
    -- aborted one, unless compaction has removed the message.
    select
        topic,
        partition,
        start_offset as first_offset,
        end_offset - 1 as last_offset
    from fetched_range
    where end_offset > start_offset and cleanup_policy = 'delete'
    union all
    select
        topic,
        partition,
        inline(known_ranges) as (first_offset, last_offset)
    from earlier_progress

),

-- Once all that was sent has landed, an offset without a message is no gap: Kafka's transactions
-- take one each.
joined_range as (

    select
        *,
        coalesce(
            {% if var('landing_reaches_the_end') -%}
            false and
            {%- endif %} first_offset > 1 + max(last_offset) over (
                partition by topic, partition
                order by first_offset, last_offset
                rows between unbounded preceding and 1 preceding
            ),
            true
        ) as is_behind_a_hole
    from known_range

),

numbered_range as (

    select
        *,
        sum(cast(is_behind_a_hole as int)) over (
            partition by topic, partition
            order by first_offset, last_offset
        ) as range_number
    from joined_range

),

whole_range as (

    select
        topic,
        partition,
        range_number,
        min(first_offset) as first_offset,
        max(last_offset) as last_offset
    from numbered_range
    group by topic, partition, range_number

),

known_progress as (

    select
        topic,
        partition,
        max(case when range_number = 1 then last_offset end) as contiguous_offset,
        max(last_offset) as last_offset,
        array_sort(
            collect_list(struct(first_offset, last_offset)) filter (where first_offset is not null)
        ) as known_ranges
    from (
        select
            topic,
            partition,
            range_number,
            first_offset,
            last_offset
        from whole_range
        union all
        -- A partition in which nothing has been found yet may still bring something.
        select
            topic,
            partition,
            null as range_number,
            null as first_offset,
            null as last_offset
        from fetched_range
        union all
        select
            topic,
            partition,
            null as range_number,
            null as first_offset,
            null as last_offset
        from earlier_progress
    ) as known
    group by topic, partition

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
        bool_or(message.is_signal) as has_signals,
        bool_or(message.kind not in ('change', 'tombstone', 'quarantined')) as has_controls,
        array_distinct(array_compact(array(
            min(message.data_collection), max(message.data_collection)
        ))) as data_collections
    from message
    inner join known_progress as known
        on message.topic = known.topic and message.partition = known.partition
    group by message.topic, message.partition

),

-- Partitions in which something has no place. From the messages: Spark would make the ranges again.
doubtful_partition as (

    select
        earlier_progress.unplaced_offsets as earlier_offsets,
        earlier_progress.last_offset as earlier_last_offset,
        earlier_progress.event_position as earlier_event_position,
        earlier_progress.link_position as earlier_link_position,
        coalesce(unplaced.topic, earlier_progress.topic) as topic,
        coalesce(unplaced.partition, earlier_progress.partition) as partition,
        array_union(
            coalesce(unplaced.new_offsets, array()),
            coalesce(earlier_progress.unplaced_offsets, array())
        ) as doubtful_offsets
    from (
        select
            topic,
            partition,
            collect_set(`offset`) as new_offsets
        from message
        where has_no_place
        group by topic, partition
    ) as unplaced
    full join earlier_progress
        on
            unplaced.topic = earlier_progress.topic
            and unplaced.partition = earlier_progress.partition

),

-- It may stand anywhere behind what was sent before it.
doubtful_message as (

    select
        message.topic,
        message.partition,
        message.`offset`,
        message.event_position,
        message.previous_commit_position as link_position,
        doubtful.earlier_offsets,
        doubtful.doubtful_offsets,
        message.copy_number = 1 and not message.is_already_published as is_new,
        message.has_no_place
        and not coalesce(array_contains(doubtful.earlier_offsets, message.`offset`), false)
            as is_unplaced,
        not message.has_no_place
        and array_contains(doubtful.doubtful_offsets, message.`offset`) as is_readable_now,
        case
            when message.`offset` > doubtful.earlier_last_offset
                then doubtful.earlier_event_position
        end as earlier_event_position,
        case
            when message.`offset` > doubtful.earlier_last_offset
                then doubtful.earlier_link_position
        end as earlier_link_position
    from message
    inner join doubtful_partition as doubtful
        on
            message.topic = doubtful.topic
            and message.partition = doubtful.partition
    where not message.is_repeated_delivery and size(doubtful.doubtful_offsets) > 0

),

surrounded_message as (

    select
        *,
        greatest(
            max(event_position) over (
                partition by topic, partition
                order by `offset`
                rows between unbounded preceding and 1 preceding
            ),
            earlier_event_position
        ) as preceding_position,
        greatest(
            max(link_position) over (
                partition by topic, partition
                order by `offset`
                rows between unbounded preceding and 1 preceding
            ),
            earlier_link_position
        ) as preceding_link_position,
        -- Not first_value of the rows behind it: Spark would read them all for each row. A copy
        -- tells nothing of what is before it.
        lead(case when is_new then event_position end) ignore nulls over (
            partition by topic, partition
            order by `offset`
        ) as following_position,
        lead(case when is_new then link_position end) ignore nulls over (
            partition by topic, partition
            order by `offset`
        ) as following_link_position
    from doubtful_message

),

new_span as (

    select
        topic,
        partition,
        collect_list(
            case
                when is_unplaced
                    then struct(
                        `offset`,
                        coalesce(preceding_position, '') as after_position,
                        following_position as before_position,
                        coalesce(preceding_link_position, '') as after_link_position,
                        following_link_position as before_link_position
                    )
            end
        ) as unreadable_spans,
        any_value(doubtful_offsets) as doubtful_offsets,
        -- What landed cut off may land again whole.
        collect_set(case when is_readable_now then `offset` end) as readable_offsets,
        min_by(event_position, `offset`) filter (
            where is_new and event_position is not null and `offset` > array_max(earlier_offsets)
        ) as first_new_position,
        min_by(link_position, `offset`) filter (
            where is_new and link_position is not null and `offset` > array_max(earlier_offsets)
        ) as first_new_link_position
    from surrounded_message
    group by topic, partition

),

new_source as (

    select distinct explode(sources) as source
    from new_partition

),

guessed_topic as (

    select topic
    from earlier_progress
    group by topic
    having max(size(sources)) = 0 and max(marker_source) is null

),

-- Of a topic in which nothing could be read yet, an earlier run has guessed the source. Messages
-- are read for it where there is such a topic.
renamed_topic as (

    select /*+ broadcast(guessed) */
        guessed.topic,
        max_by(new_source.source, length(new_source.source)) as source
    from guessed_topic as guessed
    inner join new_source
        on contains(concat('.', guessed.topic), concat('.', new_source.source, '.'))
    group by guessed.topic

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
left join new_span
    on
        known_progress.topic = new_span.topic
        and known_progress.partition = new_span.partition
left join {{ ref('int_topic') }} as topic
    on known_progress.topic = topic.topic
left join renamed_topic
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
