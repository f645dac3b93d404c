with

counted_transaction as (

    select * from {{ ref('int_transaction_count') }}

),

-- Reads of other connectors name the commit that closes their window.
unplaced_window as (

    select source
    from {{ ref('stg_change_event') }}
    where
        {{ run_has('window_read') }}
        and snapshot = 'incremental'
        and {{ ordered_by_end('connector') }}
        and not is_already_published
    group by source

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
    pending.unplaced_reason,
    pending.has_window_close,
    unix_micros(pending.committed_at) as committed_at,
    pending.has_window_close
    and pending.log_position is null
    and unplaced_window.source is not null as lacks_window_place,
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
        when pending.unplaced_reason is not null then 'unplaced'
        when pending.is_uncounted then 'uncounted'
        when pending.is_whole_transaction then 'truncate'
        else 'counted'
    end as mark_kind
from {{ ref('int_transaction') }} as pending
inner join counted_transaction as counted
    on
        pending.source = counted.source
        and pending.transaction_id = counted.transaction_id
left join unplaced_window
    on pending.source = unplaced_window.source
left join {{ ref('int_unanswered_signal') }} as unanswered
    on
        pending.source = unanswered.source
        and pending.transaction_id = unanswered.transaction_id
