with

sent_change as (

    select
        read_partition.source,
        read_partition.snapshot_position,
        event.transaction_id,
        min(event.`offset`) < min(read_partition.first_read_offset) as is_before
    from {{ ref('int_read_range') }} as read_partition
    inner join {{ ref('stg_change_event') }} as event
        on
            read_partition.source = event.source
            and read_partition.topic = event.topic
            and read_partition.partition = event.partition
    where
        event.snapshot is null
        and not event.is_already_published
        and {{ ordered_by_end('event.connector') }}
    group by
        read_partition.source,
        read_partition.snapshot_position,
        read_partition.topic,
        read_partition.partition,
        event.transaction_id

)

-- Positions of two logs do not compare, as after a failover of MySQL. Where a partition has reads
-- and changes, their offsets tell which came first. A transaction that was sent again may have
-- offsets on both sides in one partition: the first counts.
select
    -- identity
    source,
    snapshot_position,
    transaction_id,

    -- position
    case
        when bool_and(is_before) then true
        when not bool_or(is_before) then false
    end as is_before
from sent_change
group by source, snapshot_position, transaction_id
