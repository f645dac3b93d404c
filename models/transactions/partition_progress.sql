with

message as (

    select * from {{ ref('stg_message') }}

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
        cast(null as bigint) as first_offset,
        cast(null as bigint) as contiguous_offset,
        cast(null as bigint) as last_offset,
        cast(null as array<struct<first_offset: bigint, last_offset: bigint>>) as known_ranges,
        cast(null as array<bigint>) as quarantined_offsets,
        cast(null as string) as source,
        cast(null as string) as event_position,
        cast(null as string) as link_position,
        cast(null as array<struct<
            after_position: string,
            before_position: string,
            after_link_position: string,
            known_link_position: string,
            known_event_position: string
        >>) as unreadable_spans,
        cast(null as boolean) as has_incremental_reads,
        cast(null as boolean) as has_signals,
        cast(null as boolean) as has_controls,
        cast(null as string) as topic_source
    where false
    {%- endif %}

),

partition_message as (

    select
        topic,
        partition,
        `offset`,
        -- A change without transaction has no place either.
        max(
            case
                when
                    kind = 'quarantined'
                    or (kind = 'change' and snapshot is null and transaction_id is null)
                    then `offset`
            end
        ) as quarantined_offset,
        max(case when kind = 'change' then source end) as source,
        max(event_position) as event_position,
        max(previous_commit_position) as link_position,
        bool_or(coalesce(snapshot = 'incremental', false)) as has_incremental_reads,
        bool_or({{ is_snapshot_signal('after', [
            'execute-snapshot', 'stop-snapshot', 'pause-snapshot', 'resume-snapshot',
            'snapshot-window-open', 'snapshot-window-close'
        ]) }}) as has_signals,
        bool_or(kind not in ('change', 'tombstone', 'quarantined')) as has_controls
    from message
    group by topic, partition, `offset`

),

-- Offsets that follow each other without a hole differ from their rank by the same number.
ranked_offset as (

    select
        topic,
        partition,
        `offset`,
        `offset` - row_number() over (
            partition by topic, partition
            order by `offset`
        ) as island
    from partition_message

),

known_range as (

    select
        topic,
        partition,
        min(`offset`) as first_offset,
        max(`offset`) as last_offset
    from ranked_offset
    group by topic, partition, island
    union all
    select
        topic,
        partition,
        inline(known_ranges) as (first_offset, last_offset)
    from earlier_progress

),

-- An earlier part may land later, so ranges of this run and of those before can meet and overlap.
joined_range as (

    select
        *,
        coalesce(
            first_offset > 1 + max(last_offset) over (
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

known_offset as (

    select
        topic,
        partition,
        min(first_offset) as first_offset,
        max(last_offset) as last_offset,
        max(case when range_number = 1 then last_offset end) as contiguous_offset,
        array_sort(collect_list(struct(first_offset, last_offset))) as known_ranges
    from whole_range
    group by topic, partition

),

placed_message as (

    select
        partition_message.*,
        earlier_progress.quarantined_offsets as earlier_quarantined_offsets,
        partition_message.`offset` <= known_offset.contiguous_offset as is_contiguous,
        case
            when partition_message.`offset` > earlier_progress.last_offset
                then earlier_progress.event_position
        end as earlier_event_position,
        case
            when partition_message.`offset` > earlier_progress.last_offset
                then earlier_progress.link_position
        end as earlier_link_position
    from partition_message
    inner join known_offset
        on
            partition_message.topic = known_offset.topic
            and partition_message.partition = known_offset.partition
    left join earlier_progress
        on
            partition_message.topic = earlier_progress.topic
            and partition_message.partition = earlier_progress.partition

),

known_message as (

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
        -- Not first_value of the rows behind it: Spark would read them all for each row.
        lead(event_position) ignore nulls over (
            partition by topic, partition
            order by `offset`
        ) as following_position
    from placed_message

),

new_progress as (

    select
        topic,
        partition,
        collect_set(quarantined_offset) as quarantined_offsets,
        max(source) as source,
        max(event_position) filter (where is_contiguous) as event_position,
        max(link_position) filter (where is_contiguous) as link_position,
        -- What has no place may stand anywhere behind what was sent before it.
        collect_list(
            case
                when
                    quarantined_offset is not null
                    and not coalesce(
                        array_contains(earlier_quarantined_offsets, quarantined_offset), false
                    )
                    then struct(
                        coalesce(preceding_position, '') as after_position,
                        following_position as before_position,
                        coalesce(preceding_link_position, '') as after_link_position
                    )
            end
        ) as unreadable_spans,
        min_by(event_position, `offset`) filter (
            where event_position is not null
            and `offset` > array_max(earlier_quarantined_offsets)
        ) as first_new_position,
        bool_or(has_incremental_reads) as has_incremental_reads,
        coalesce(bool_or(has_signals), false) as has_signals,
        bool_or(has_controls) as has_controls
    from known_message
    group by topic, partition

)

select
    {{ candidate('cut_id') }}L as cut_id,

    -- identity
    coalesce(new_progress.topic, earlier_progress.topic) as topic,
    coalesce(new_progress.partition, earlier_progress.partition) as partition,

    -- where it comes from
    coalesce(new_progress.source, earlier_progress.source) as source,
    coalesce(topic.source, earlier_progress.topic_source) as topic_source,

    -- what has landed
    known_offset.first_offset,
    known_offset.contiguous_offset,
    known_offset.last_offset,
    known_offset.known_ranges,
    array_sort(array_union(
        coalesce(new_progress.quarantined_offsets, array()),
        coalesce(earlier_progress.quarantined_offsets, array())
    )) as quarantined_offsets,

    -- how far its changes reach
    case
        when known_offset.contiguous_offset < earlier_progress.contiguous_offset
            then new_progress.event_position
        else greatest(new_progress.event_position, earlier_progress.event_position)
    end as event_position,
    case
        when known_offset.contiguous_offset < earlier_progress.contiguous_offset
            then new_progress.link_position
        else greatest(new_progress.link_position, earlier_progress.link_position)
    end as link_position,
    concat(
        transform(
            coalesce(earlier_progress.unreadable_spans, array()),
            span -> struct(
                span.after_position as after_position,
                coalesce(span.before_position, new_progress.first_new_position) as before_position,
                span.after_link_position as after_link_position,
                span.known_link_position as known_link_position,
                span.known_event_position as known_event_position
            )
        ),
        transform(
            coalesce(new_progress.unreadable_spans, array()),
            span -> struct(
                span.after_position as after_position,
                span.before_position as before_position,
                span.after_link_position as after_link_position,
                coalesce(starting_commit.link_position, '') as known_link_position,
                coalesce(
                    starting_commit.log_positions['place'], starting_commit.link_position, ''
                ) as known_event_position
            )
        )
    ) as unreadable_spans,
    coalesce(new_progress.has_incremental_reads, false)
    or coalesce(earlier_progress.has_incremental_reads, false) as has_incremental_reads,

    -- what it is
    coalesce(new_progress.has_signals, false)
    or coalesce(earlier_progress.has_signals, false) as has_signals,
    coalesce(new_progress.has_controls, false)
    or coalesce(earlier_progress.has_controls, false) as has_controls
from new_progress
full join earlier_progress
    on
        new_progress.topic = earlier_progress.topic
        and new_progress.partition = earlier_progress.partition
inner join known_offset
    on
        coalesce(new_progress.topic, earlier_progress.topic) = known_offset.topic
        and coalesce(new_progress.partition, earlier_progress.partition) = known_offset.partition
left join {{ ref('int_topic') }} as topic
    on new_progress.topic = topic.topic
left join {{ ref('int_starting_commit') }} as starting_commit
    on
        coalesce(new_progress.source, earlier_progress.source, topic.source)
        = starting_commit.source
