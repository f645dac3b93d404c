with

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

low_water as (

    select * from {{ ref('int_low_water') }}

),

restart_proof as (

    select * from {{ ref('int_restart_proof') }}

),

operator_decision as (

    select * from {{ ref('int_operator_decision') }}

),

-- Without a transaction block the next transaction tells where this one was committed (S15).
followed_transaction as (

    select
        *,
        received_count > 0
        and (not has_block or {{ matches_any('source', var('watermark_sources')) }})
            as is_uncounted,
        lead(previous_commit_position) over (
            partition by source
            order by coalesce(previous_commit_position, '')
        ) as following_position
    from {{ ref('int_transaction_count') }}
    where received_count > 0 or not {{ matches_any('source', var('watermark_sources')) }}

),

known_transaction as (

    select
        followed.*,
        operator_decision.decision,
        operator_decision.sentence as decision_sentence,
        restart_proof.has_overlap,
        restart_proof.has_every_place,
        {{ var('landing_reaches_the_end') }}
        or low_water.low_water_position >= followed.commit_position as is_passed_by_all,
        case
            when {{ var('landing_reaches_the_end') }}
                then coalesce(followed.previous_commit_position, '') < low_water.high_water_position
            else coalesce(followed.previous_commit_position, '') < low_water.low_water_position
        end as is_below_low_water,
        case
            when followed.is_uncounted then followed.following_position
            when followed.commit_position is not null then followed.commit_position
            when operator_decision.decision is not null
                then coalesce(followed.following_position, followed.last_event_position)
        end as known_position
    from followed_transaction as followed
    left join low_water
        on followed.source = low_water.source
    left join restart_proof
        on
            followed.source = restart_proof.source
            and followed.transaction_id = restart_proof.transaction_id
    left join operator_decision
        on
            followed.source = operator_decision.source
            and followed.transaction_id = operator_decision.transaction_id

)

select
    -- identity
    known.source,
    known.transaction_id,

    -- position
    known.known_position as commit_position,
    known.previous_commit_position,
    known.marker_offset,
    known.committed_at,

    -- counts
    known.event_count,
    known.received_count,
    known.miscounted_tables,

    known.has_window_close,

    -- proof
    known.decision,
    known.decision_sentence,
    known.is_uncounted
    or coalesce(known.has_overlap or known.has_every_place, false) as has_reset_counters,
    case when known.is_uncounted then 'watermark' else 'counted' end as proof,
    case
        when known.is_uncounted and coalesce(known.is_below_low_water, false) then null
        when known.is_uncounted then 'above_low_water'
        when not known.has_end then 'no_end'
        when known.commit_position is null then 'no_commit_position'
        when known.is_short then 'missing_events'
        when not known.is_long and known.has_one_order
            then
                case
                    when known.is_begun_again and not coalesce(known.is_passed_by_all, false)
                        then 'unproven_restart'
                    when known.is_key_change_torn then 'key_change_torn'
                end
        when
            known.has_overlap
            or (known.has_every_place and coalesce(known.is_passed_by_all, false))
            then case when known.is_key_change_torn then 'key_change_torn' end
        when known.has_every_place then 'unproven_restart'
        when known.is_long then 'too_many_events'
        else 'contradicting_events'
    end as incomplete_reason
from known_transaction as known
left join starting_commit
    on known.source = starting_commit.source
-- Only END tells the position, so that BEGIN and the counts of a published transaction go with it.
where coalesce(known.known_position > starting_commit.link_position, true)
