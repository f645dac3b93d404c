with

read_snapshot as (

    select
        source,
        event_position as snapshot_position,
        max(previous_commit_position) as previous_commit_position,
        min(committed_at) as first_read_at
    from {{ ref('int_pending_read') }}
    group by source, event_position

),

-- The first transaction of a stream names no predecessor, nor do reads that it signals.
first_signal as (

    select
        source,
        event_position,
        max(transaction_id) as transaction_id,
        max(committed_at) as committed_at
    from {{ ref('stg_change_event') }}
    where
        connector = 'postgresql'
        and snapshot is null
        and previous_commit_position is null
        and not is_already_published
        and is_blocking_signal
    group by source, event_position

)

-- Reads carry the position of their signal (S7). On an idle server an initial snapshot can have it
-- too, but was read before.
select
    -- identity
    read_snapshot.source,
    read_snapshot.snapshot_position,

    -- what signals it
    read_snapshot.previous_commit_position,
    first_signal.transaction_id as first_transaction_id
from read_snapshot
left join first_signal
    on
        read_snapshot.source = first_signal.source
        and read_snapshot.snapshot_position = first_signal.event_position
        and read_snapshot.first_read_at > first_signal.committed_at
where read_snapshot.previous_commit_position is not null or first_signal.source is not null
