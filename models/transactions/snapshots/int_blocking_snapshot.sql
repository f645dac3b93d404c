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

signal as (

    select
        source,
        event_position,
        max(previous_commit_position) as previous_commit_position,
        max(transaction_id) as transaction_id,
        max(committed_at) as committed_at
    from {{ ref('stg_change_event') }}
    where
        connector = 'postgresql'
        and snapshot is null
        and not is_already_published
        and is_blocking_signal
    group by source, event_position

),

-- The first transaction of a stream names no predecessor, nor do reads that it signals.
first_signal as (

    select * from signal
    where previous_commit_position is null

),

-- Transactions that hold a signal, by the predecessor that they name.
open_signal as (

    select
        source,
        previous_commit_position,
        min(event_position) as event_position
    from signal
    where previous_commit_position is not null
    group by source, previous_commit_position

)

-- Reads carry the position that the connector had come to (S7). On an idle server an initial
-- snapshot can have that of a signal too, but was read before.
select
    -- identity
    read_snapshot.source,
    read_snapshot.snapshot_position,

    -- what signals it
    read_snapshot.previous_commit_position,
    first_signal.transaction_id as first_transaction_id,

    -- The connector streams more of the log before it reads (Debezium 3.6.3). If it paused between
    -- two transactions, the reads follow the one whose END they name. Otherwise they follow the
    -- transaction that was open, such as the one that signals the snapshot.
    case
        when
            read_snapshot.snapshot_position <= read_snapshot.previous_commit_position
            and coalesce(open_signal.event_position > read_snapshot.snapshot_position, true)
            then read_snapshot.previous_commit_position
    end as followed_position
from read_snapshot
left join first_signal
    on
        read_snapshot.source = first_signal.source
        and read_snapshot.snapshot_position = first_signal.event_position
        and read_snapshot.first_read_at > first_signal.committed_at
left join open_signal
    on
        read_snapshot.source = open_signal.source
        and read_snapshot.previous_commit_position = open_signal.previous_commit_position
where read_snapshot.previous_commit_position is not null or first_signal.source is not null
