with

pending_transaction as (

    select * from {{ ref('int_transaction') }}
    where commit_position is not null

),

snapshot as (

    select * from {{ ref('int_snapshot') }}

),

operator_decision as (

    select * from {{ ref('int_operator_decision') }}

),

read_partition as (

    select
        source,
        event_position as snapshot_position,
        topic,
        partition,
        min(`offset`) as first_read_offset
    from {{ ref('int_pending_read') }}
    group by source, event_position, topic, partition

),

sent_change as (

    select
        read_partition.source,
        read_partition.snapshot_position,
        event.transaction_id,
        min(event.`offset`) < min(read_partition.first_read_offset) as is_before
    from read_partition
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

),

-- Positions of two logs do not compare, as after a failover of MySQL. Where a partition has reads
-- and changes, their offsets tell which came first. What was sent again has lower offsets, too.
sent_transaction as (

    select
        source,
        snapshot_position,
        transaction_id,
        case
            when bool_and(is_before) then true
            when not bool_or(is_before) then false
        end as is_before
    from sent_change
    group by source, snapshot_position, transaction_id

),

-- The first of the transactions that were sent after a snapshot.
following_transaction as (

    select
        sent.source,
        sent.snapshot_position,
        min(pending_transaction.commit_position) as commit_position
    from sent_transaction as sent
    inner join pending_transaction
        on
            sent.source = pending_transaction.source
            and sent.transaction_id = pending_transaction.transaction_id
    where not sent.is_before
    group by sent.source, sent.snapshot_position

),

-- A blocking snapshot follows the transaction that was open when the connector paused for it, else
-- the one before (S7).
placed_snapshot as (

    select
        snapshot.source,
        snapshot.snapshot_position,
        snapshot.is_blocking,
        snapshot.committed_at,
        snapshot.incomplete_reason,
        snapshot.is_ordered_by_end,
        coalesce(
            snapshot.followed_position,
            min(pending_transaction.commit_position) filter (
                where
                snapshot.previous_commit_position = pending_transaction.previous_commit_position
                or snapshot.first_transaction_id = pending_transaction.transaction_id
            )
        ) as signalled_position,
        -- A snapshot that END's order does not place stands behind what it has seen.
        max(pending_transaction.commit_position) filter (
            where
            coalesce(
                sent.is_before,
                pending_transaction.last_event_position <= snapshot.snapshot_position
            )
            and coalesce(pending_transaction.commit_position < later.commit_position, true)
        ) as seen_position
    from snapshot
    left join pending_transaction
        on
            (snapshot.is_blocking or snapshot.is_ordered_by_end)
            and snapshot.source = pending_transaction.source
    left join sent_transaction as sent
        on
            snapshot.source = sent.source
            and snapshot.snapshot_position = sent.snapshot_position
            and pending_transaction.transaction_id = sent.transaction_id
    left join following_transaction as later
        on
            snapshot.source = later.source
            and snapshot.snapshot_position = later.snapshot_position
    group by
        snapshot.source,
        snapshot.snapshot_position,
        snapshot.is_blocking,
        snapshot.committed_at,
        snapshot.incomplete_reason,
        snapshot.followed_position,
        snapshot.is_ordered_by_end

),

-- The position of a message outside of transactions is what the next transaction names as its
-- predecessor, and mostly the message too (Debezium 3.6.3).
logical_message as (

    select
        source,
        event_position,
        max(previous_commit_position) as previous_commit_position,
        max(committed_at) as committed_at
    from {{ ref('stg_message') }}
    where kind = 'logical_message' and transaction_id is null and not is_already_published
    group by source, event_position

),

link as (

    select
        pending.source,
        'transaction' as link_kind,
        0 as link_order,
        pending.commit_position as position,
        pending.transaction_id,
        cast(null as string) as snapshot_position,
        pending.previous_commit_position,
        pending.log_position,
        pending.last_event_position,
        pending.preceding_event_position,
        pending.end_markers,
        pending.committed_at,
        pending.received_count,
        pending.names_predecessor,
        message.source is not null as follows_message,
        pending.is_whole_transaction,
        pending.has_next_marker,
        pending.is_uncounted,
        pending.may_lack_a_message,
        pending.is_reached_by_all,
        pending.reached_position,
        pending.has_reset_counters,
        pending.has_window_close,
        pending.proof,
        pending.decision,
        pending.decision_sentence,
        pending.incomplete_reason
    from pending_transaction as pending
    left join logical_message as message
        on
            pending.source = message.source
            and pending.previous_commit_position = message.event_position
            and message.event_position = message.previous_commit_position
    union all
    select
        source,
        'logical_message' as link_kind,
        -- Where a commit ends the next message can begin.
        case when previous_commit_position is null then 4 else 1 end as link_order,
        event_position as position,
        null as transaction_id,
        null as snapshot_position,
        previous_commit_position,
        null as log_position,
        null as last_event_position,
        null as preceding_event_position,
        null as end_markers,
        committed_at,
        0 as received_count,
        true as names_predecessor,
        false as follows_message,
        false as is_whole_transaction,
        false as has_next_marker,
        false as is_uncounted,
        false as may_lack_a_message,
        false as is_reached_by_all,
        null as reached_position,
        false as has_reset_counters,
        false as has_window_close,
        'counted' as proof,
        null as decision,
        null as decision_sentence,
        null as incomplete_reason
    from logical_message
    where event_position is not null and previous_commit_position is distinct from event_position
    union all
    select
        placed.source,
        case
            when placed.is_blocking then 'blocking_snapshot' else 'initial_snapshot'
        end as link_kind,
        case when placed.is_blocking then 3 else 2 end as link_order,
        case
            when placed.is_blocking
                then coalesce(placed.signalled_position, placed.snapshot_position)
            when placed.is_ordered_by_end
                then
                    concat(
                        split_part(
                            coalesce(
                                greatest(placed.seen_position, starting_commit.link_position),
                                {{ offset_position(0) }}
                            ),
                            '+',
                            1
                        ),
                        '+',
                        placed.snapshot_position
                    )
            else placed.snapshot_position
        end as position,
        null as transaction_id,
        placed.snapshot_position,
        null as previous_commit_position,
        null as log_position,
        null as last_event_position,
        null as preceding_event_position,
        null as end_markers,
        placed.committed_at,
        0 as received_count,
        false as names_predecessor,
        false as follows_message,
        false as is_whole_transaction,
        false as has_next_marker,
        false as is_uncounted,
        false as may_lack_a_message,
        false as is_reached_by_all,
        null as reached_position,
        false as has_reset_counters,
        false as has_window_close,
        'counted' as proof,
        operator_decision.decision,
        operator_decision.sentence as decision_sentence,
        case
            when placed.incomplete_reason is not null then placed.incomplete_reason
            when placed.is_blocking and placed.signalled_position is null then 'missing_signal'
        end as incomplete_reason
    from placed_snapshot as placed
    left join operator_decision
        on
            placed.source = operator_decision.source
            and {{ snapshot_id('placed.snapshot_position') }} = operator_decision.transaction_id
    left join {{ ref('int_starting_commit') }} as starting_commit
        on placed.source = starting_commit.source

),

followed_link as (

    select
        *,
        lead(case when link_kind = 'transaction' then is_uncounted end) ignore nulls over (
            partition by source
            order by position asc, link_order desc
        ) as is_before_uncounted,
        lead(
            case when link_kind = 'transaction' then coalesce(previous_commit_position, '') end
        ) ignore nulls over (
            partition by source
            order by position asc, link_order desc
        ) as following_previous_position
    from link

)

-- Spark 4.1 loses a named window in a view, so it is written out each time.
select
    -- identity
    source,
    link_kind,
    position,
    link_order,

    -- position
    transaction_id,
    snapshot_position,
    previous_commit_position,
    log_position,
    last_event_position,
    preceding_event_position,
    end_markers,
    committed_at,

    -- proof
    received_count,
    names_predecessor,
    follows_message,
    is_whole_transaction,
    has_next_marker,
    is_uncounted,
    may_lack_a_message,
    is_reached_by_all,
    reached_position,
    has_reset_counters,
    has_window_close,
    proof,
    decision,
    decision_sentence,
    incomplete_reason,
    last_value(
        case
            when link_kind != 'blocking_snapshot'
                then named_struct('link_kind', link_kind, 'position', position)
        end,
        true
    ) over (
        partition by source
        order by position, link_order
        rows between unbounded preceding and 1 preceding
    ) as predecessor,
    last_value(end_markers, true) over (
        partition by source
        order by position, link_order
        rows between unbounded preceding and 1 preceding
    ) as predecessor_end_markers,
    lead(end_markers) ignore nulls over (
        partition by source
        order by position, link_order
    ) as following_end_markers,
    max(coalesce(last_event_position, snapshot_position)) over (
        partition by source
        order by position, link_order
        rows between unbounded preceding and 1 preceding
    ) as predecessor_event_position,
    lag(log_position) over (
        partition by source, split_part(log_position, '#', 1)
        order by position, link_order
    ) as predecessor_log_position
from followed_link
-- What nothing counts ends where the next one names its predecessor: what was sent between them is
-- in its place (S15).
where
    not (
        link_kind = 'logical_message'
        and coalesce(is_before_uncounted and following_previous_position < position, false)
    )
