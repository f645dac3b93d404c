with

ranked_transaction as (

    select
        *,
        -- A truncate has no END: it stands behind those of its log, if all of them have a place.
        is_whole_transaction
        and (
            coalesce(
                bool_or(received_count > 0 and not is_uncounted and known_position is null) over (
                    partition by source, split_part(log_position, '#', 1)
                    order by log_position
                    rows between unbounded preceding and 1 preceding
                ),
                false
            )
            or (
                startswith(log_position, 'file#')
                and bool_or(not startswith(log_position, 'file#')) over (partition by source)
                -- GTIDs may have come later.
                and coalesce(
                    not bool_or(has_end and not is_whole_transaction) over (
                        partition by source, split_part(log_position, '#', 1)
                        order by log_position
                        rows between unbounded preceding and 1 preceding
                    ),
                    true
                )
            )
        ) as has_no_known_place
    from {{ ref('int_located_transaction') }}

)

select
    -- identity
    known.source,
    known.transaction_id,

    -- position
    known.previous_commit_position,
    known.log_position,
    known.last_event_position,
    known.preceding_event_position,
    known.reached_position,
    known.committed_at,

    -- counts
    known.event_count,
    known.received_count,

    -- what it is
    known.names_predecessor,
    known.is_whole_transaction,
    known.has_next_marker,
    known.is_uncounted,
    known.has_window_close,

    -- proof
    known.proof,
    known.decision,
    known.decision_sentence,

    -- Offsets of several partitions tell no order, but two places.
    case
        when known.has_several_partitions
            then concat(known.known_position, '/', known.transaction_id)
        else known.known_position
    end as commit_position,
    -- If PostgreSQL's slot was lost, a released or discarded transaction never gets an END, and
    -- nothing shows what follows it.
    case
        when
            known.decision in ('release', 'discard')
            and not known.has_end
            and known.names_predecessor
            then array(named_struct(
                'transaction_id', known.transaction_id,
                'topic', cast(null as string),
                'offset', cast(null as bigint),
                'known_from', cast(null as bigint)
            ))
        else known.end_markers
    end as end_markers,
    -- Without a position of its own it follows what was committed before it.
    coalesce(
        known.known_position,
        known.change_position,
        known.position_without_end,
        greatest(known.previous_commit_position, known.last_event_position)
    ) as log_order,
    -- Only END says how many there are.
    case
        when known.has_end and not known.is_uncounted then known.miscounted_tables else array()
    end as miscounted_tables,
    -- Numbers that a restart began again are in no order: the places of its changes are (S13).
    coalesce(
        known.is_uncounted or known.is_long or not known.has_one_order, false
    ) as has_reset_counters,
    case
        when known.has_several_partitions then 'several_partitions'
        when known.has_known_offset then 'topic_made_again'
        when known.has_no_known_place then 'no_commit_position'
        when known.is_uncounted then null
        -- Another transaction has begun since.
        when not known.has_end and known.end_position is not null then 'end_not_sent'
        when not known.has_end then null
        when known.commit_position is null
            then
                case
                    when known.has_no_order then 'unordered_partitions'
                    -- It stands behind what it names, only to hold what follows.
                    when known.is_whole_transaction or known.known_position is not null
                        then 'no_commit_position'
                end
        when known.has_unknown_place then 'unplaced_truncate'
    end as unplaced_reason
from ranked_transaction as known
left anti join {{ ref('int_replayed_transaction') }} as replayed
    -- With changes that have a place it is another, which has been given the id again.
    on
        known.source = replayed.source
        and known.transaction_id = replayed.transaction_id
        and known.last_event_position is null
-- Only END tells the position, so that BEGIN and the counts of a published transaction go with it.
where coalesce(known.known_position > known.starting_position, true)
