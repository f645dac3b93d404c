with

counted_transaction as (

    select * from {{ ref('int_transaction_count') }}

),

-- Reads of PostgreSQL name the commit before the transaction that closes their window.
incremental_window as (

    select
        source,
        previous_commit_position
    from {{ ref('stg_change_event') }}
    where snapshot = 'incremental' and connector = 'postgresql' and not is_already_published
    group by source, previous_commit_position

)

select
    -- identity
    pending.source,
    pending.transaction_id,

    -- position
    pending.commit_position as position,
    pending.previous_commit_position,
    counted.previous_commit_position as named_position,
    pending.last_event_position,
    pending.preceding_event_position,
    pending.reached_position,
    pending.log_position,
    counted.boundary_position,
    pending.end_markers,

    -- counts
    pending.received_count,

    -- what it is
    pending.names_predecessor,
    pending.has_next_marker,
    pending.proof,
    counted.is_group,
    counted.is_key_change_torn,
    pending.incomplete_reason,
    unix_micros(pending.committed_at) as committed_at,
    pending.has_window_close or incremental_window.source is not null as has_window_close,
    unanswered.source is not null as is_unanswered,
    -- Else it stands behind what it names, only to hold what a new stream has sent.
    pending.commit_position is not null
    and coalesce(
        pending.commit_position not in (
            concat(pending.previous_commit_position, '+', pending.last_event_position),
            concat(pending.last_event_position, '+')
        ),
        true
    ) as has_known_end,

    -- Where the changes of the next transaction begin.
    lead(counted.first_event_position) ignore nulls over (
        partition by pending.source
        order by counted.end_position
    ) as following_position,

    -- The kind of its mark; `counted` for those that END counts, which have several.
    case
        when
            pending.incomplete_reason in (
                'end_not_sent',
                'several_partitions',
                'topic_made_again',
                'unordered_partitions',
                'unplaced_truncate'
            )
            or (pending.incomplete_reason = 'no_commit_position' and pending.is_whole_transaction)
            then 'unplaced'
        when pending.is_uncounted then 'uncounted'
        when pending.is_whole_transaction then 'truncate'
        else 'counted'
    end as mark_kind
from {{ ref('int_transaction') }} as pending
inner join counted_transaction as counted
    on
        pending.source = counted.source
        and pending.transaction_id = counted.transaction_id
left join incremental_window
    on
        pending.source = incremental_window.source
        and pending.previous_commit_position <=> incremental_window.previous_commit_position
        and pending.names_predecessor
left join {{ ref('int_unanswered_signal') }} as unanswered
    on
        pending.source = unanswered.source
        and pending.transaction_id = unanswered.transaction_id
