with

judged_transaction as (

    select * from {{ ref('int_judged_transaction') }}
    where mark_kind in ('counted', 'unplaced')

),

marker as (

    select
        *,
        split_part(log_position, '#', 1) as log,
        split_part(log_position, '#', 2) as log_number,
        -- A message can land twice. A topic made again has other messages at the same offsets.
        row_number() over (
            partition by source, topic, partition, `offset`, transaction_id, marker
            order by landing_id
        ) as delivery_number
    from {{ ref('stg_transaction_marker') }}

),

partition_count as (

    select
        topic,
        max(partition) + 1 as partition_count
    from {{ ref('partition_progress') }}
    where cut_id = {{ candidate('cut_id') }}
    group by topic

),

-- Of several partitions, all together show whether an END is missing before this one.
surrounded_end as (

    select
        ended.source,
        ended.transaction_id,
        max(partition_count.partition_count) as partition_count
    from {{ ref('int_partitioned_end') }} as ended
    inner join partition_count
        on ended.topic = partition_count.topic
    where {{ run_has('split_topic') }} and ended.has_every_marker_before
    group by ended.source, ended.transaction_id

),

begin_mark as (

    select
        marker.source,
        judged_transaction.position,
        marker.transaction_id,
        marker.partition,
        marker.`offset`
    from marker
    inner join judged_transaction
        on
            marker.source = judged_transaction.source
            and marker.transaction_id = judged_transaction.transaction_id
    where marker.marker = 'BEGIN' and marker.delivery_number = 1

),

end_mark as (

    select
        marker.source,
        judged_transaction.position,
        marker.transaction_id,
        marker.partition,
        marker.`offset`,
        coalesce(marker.event_count, 0) as event_count,
        judged_transaction.committed_at,
        coalesce(marker.event_count, 0) = coalesce(
            aggregate(map_values(marker.collection_counts), 0L, (total, one) -> total + one), 0L
        ) as has_true_sum,
        case when {{ is_gtid('marker.log_position') }} then marker.log end as log,
        case
            when {{ is_gtid('marker.log_position') }} then cast(marker.log_number as bigint)
        end as log_number,
        case
            when surrounded_end.partition_count is not null
                then sequence(0, surrounded_end.partition_count - 1)
            else cast(array() as array<int>)
        end as surrounding_partitions,
        case
            when {{ ordered_by_end('judged_source.connector') }}
                then judged_transaction.following_position
        end as following_place,
        coalesce(transaction_topic.is_leading, true) as is_leading
    from marker
    inner join judged_transaction
        on
            marker.source = judged_transaction.source
            and marker.transaction_id = judged_transaction.transaction_id
    inner join {{ ref('int_judged_source') }} as judged_source
        on marker.source = judged_source.source
    left join surrounded_end
        on
            marker.source = surrounded_end.source
            and marker.transaction_id = surrounded_end.transaction_id
    left join {{ ref('int_transaction_topic') }} as transaction_topic
        on marker.topic = transaction_topic.topic
    where marker.marker = 'END' and marker.delivery_number = 1

)

select
    -- identity
    source,
    'begin' as kind,

    -- order
    position,
    transaction_id,

    -- payload
    to_json(
        struct(position, transaction_id, partition, `offset`), map('ignoreNullFields', 'false')
    ) as mark
from begin_mark
union all
select
    source,
    'end' as kind,
    position,
    transaction_id,
    to_json(
        struct(
            position,
            transaction_id,
            partition,
            `offset`,
            event_count,
            has_true_sum,
            log,
            log_number,
            surrounding_partitions,
            following_place,
            committed_at,
            is_leading
        ),
        map('ignoreNullFields', 'false')
    ) as mark
from end_mark
