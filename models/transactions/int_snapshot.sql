with

pending_read as (

    select * from {{ ref('stg_change_event') }}
    where snapshot != 'incremental' and not is_already_published

),

read_table as (

    select
        source,
        event_position as snapshot_position,
        data_collection,
        max(previous_commit_position) as previous_commit_position,
        bool_or({{ ordered_by_end('connector') }}) as is_ordered_by_end,
        max(committed_at) as committed_at,
        count_if(copy_number = 1) as read_count,
        -- A snapshot's first table marks its only row as first, others as last (Debezium 3.6.3).
        bool_or(snapshot in ('last_in_data_collection', 'last'))
        or (bool_or(snapshot = 'first') and count_if(copy_number = 1) = 1) as has_last_of_table,
        bool_or(snapshot = 'last') as has_last,
        -- Of one row the last marker may be the only one.
        bool_or(snapshot = 'first') or count_if(copy_number = 1) = 1 as may_be_first,
        -- Every other marker comes once.
        count_if(snapshot != 'true' and not is_repeated_delivery)
        > size(collect_set(nullif(snapshot, 'true'))) as is_read_twice
    from pending_read
    group by source, event_position, data_collection

),

snapshot as (

    select
        source,
        snapshot_position,
        max(previous_commit_position) as previous_commit_position,
        bool_or(is_ordered_by_end) as is_ordered_by_end,
        max(committed_at) as committed_at,
        sum(read_count) as read_count,
        bool_and(has_last_of_table) and bool_or(has_last) and bool_or(may_be_first)
            as has_every_marker,
        bool_or(is_read_twice) as is_read_twice
    from read_table
    group by source, snapshot_position

),

read_topic as (

    select
        source,
        snapshot_position,
        topic,
        max(partition) + 1 = count(*) or not bool_or(has_reads) as has_every_partition,
        bool_and(has_no_gap) as has_no_gap,
        bool_and(has_later_message) as has_later_message
    from {{ ref('int_snapshot_partition') }}
    group by source, snapshot_position, topic

),

-- What the first transaction of a stream signals names no predecessor, as an initial snapshot does.
signalled_snapshot as (

    select
        snapshot.source,
        snapshot.snapshot_position
    from snapshot
    inner join {{ ref('stg_change_event') }} as signalling
        on
            snapshot.source = signalling.source
            and snapshot.snapshot_position >= signalling.event_position
    left join {{ ref('int_transaction_count') }} as counted
        on
            signalling.source = counted.source
            and signalling.transaction_id = counted.transaction_id
    where
        snapshot.previous_commit_position is null
        and signalling.previous_commit_position is null
        and signalling.connector = 'postgresql'
        and signalling.snapshot is null
        and not signalling.is_already_published
        and coalesce(snapshot.snapshot_position < counted.end_position, true)
        and {{ is_blocking_signal('signalling.after') }}
    group by snapshot.source, snapshot.snapshot_position

),

awaiting_source as (

    select source from {{ ref('int_unlanded_table') }}
    group by source

),

proven_topic as (

    select
        source,
        snapshot_position,
        bool_and(
            has_no_gap and (has_every_partition or {{ var('landing_reaches_the_end') }})
        ) as has_no_gap,
        bool_and(has_later_message) as has_later_message
    from read_topic
    group by source, snapshot_position

)

select
    -- identity
    snapshot.source,
    snapshot.snapshot_position,

    -- position
    snapshot.previous_commit_position,
    snapshot.is_ordered_by_end,
    snapshot.committed_at,

    -- counts
    snapshot.read_count,

    -- A blocking snapshot carries the position of its signal, which has a predecessor (S7).
    snapshot.previous_commit_position is not null
    or signalled_snapshot.source is not null as is_blocking,

    -- It was interrupted, and begun again before the source had committed anything.
    snapshot.is_read_twice,

    -- proof
    case
        -- Nor is one proved whose topics belong to another source that sends to them too.
        when not snapshot.has_every_marker or not coalesce(proven_topic.has_no_gap, false)
            then 'missing_reads'
        when
            awaiting_source.source is not null
            and snapshot.previous_commit_position is null
            and not {{ var('landing_reaches_the_end') }}
            then 'missing_reads'
        when not proven_topic.has_later_message and not {{ var('landing_reaches_the_end') }}
            then 'unproven_reads'
    end as incomplete_reason
from snapshot
left join proven_topic
    on
        snapshot.source = proven_topic.source
        and snapshot.snapshot_position = proven_topic.snapshot_position
left join signalled_snapshot
    on
        snapshot.source = signalled_snapshot.source
        and snapshot.snapshot_position = signalled_snapshot.snapshot_position
left join awaiting_source
    on snapshot.source = awaiting_source.source
