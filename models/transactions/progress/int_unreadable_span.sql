with

message as (

    select
        *,
        -- A change without transaction has no place either.
        kind = 'quarantined'
        or (kind = 'change' and snapshot is null and transaction_id is null) as has_no_place
    from {{ ref('stg_message') }}
    where {{ run_has('unplaced_message', 'earlier_unplaced_message') }}

),

earlier_progress as (

    select * from {{ source('pointer', 'partition_progress') }}
    where cut_id = {{ candidate('starting_cut_id') }}

),

-- Not from int_landed_partition, which Spark would compute a second time.
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

-- Every message of these partitions, because one without a place may stand anywhere behind what was
-- sent before it.
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

)

select
    -- identity
    topic,
    partition,

    -- what has no place
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

    -- what an earlier run lacked; what landed cut off may land again whole
    collect_set(case when is_readable_now then `offset` end) as readable_offsets,
    min_by(event_position, `offset`) filter (
        where is_new and event_position is not null and `offset` > array_max(earlier_offsets)
    ) as first_new_position,
    min_by(link_position, `offset`) filter (
        where is_new and link_position is not null and `offset` > array_max(earlier_offsets)
    ) as first_new_link_position
from surrounded_message
group by topic, partition
