with

-- If nothing counts transactions, and a new stream begins with changes that are older than what the
-- old one sent, predecessors do not show which transaction ended where.
streamed_transaction as (

    select
        *,
        bool_or(
            is_uncounted
            and names_predecessor
            and previous_commit_position is null
            and (
                first_event_position <= preceding_event_position
                or nullif(following_previous_position, '')
                <= greatest(last_event_position, starting_position)
            )
        ) over (partition by source) as has_overlapping_streams
    from {{ ref('int_followed_transaction') }}

),

-- Without a transaction block the next transaction tells where this one was committed (S15), unless
-- its changes do.
followed_transaction as (

    select
        *,
        case
            -- A truncate of MySQL has no END (S8), and one of MariaDB may have a BEGIN.
            when is_whole_transaction then coalesce(end_position, position_without_end)
            -- Its offset says nothing, so its place is right behind the cut. It is held there, and
            -- with it everything that follows.
            when has_known_offset
                then concat(split_part(starting_position, '+', 1), '+', last_event_position)
            else end_position
        end as commit_position,
        case
            when names_predecessor and has_overlapping_streams then null
            when names_predecessor
                then
                    coalesce(
                        -- Nothing of a transaction lies behind its END, nor does the END before.
                        nullif(
                            greatest(
                                following_previous_position,
                                last_event_position,
                                previous_commit_position
                            ),
                            greatest(last_event_position, previous_commit_position)
                        ),
                        -- Transactions of the next epoch do not name it.
                        case
                            when
                                {{ epoch_of('last_event_position') }}
                                < max({{ epoch_of('last_event_position') }}) over (
                                    partition by source
                                )
                                then last_event_position
                        end,
                        -- Nothing follows it, and all of it has landed.
                        case
                            when
                                {{ var('landing_reaches_the_end') }}
                                and following_previous_position is null
                                then
                                    concat(
                                        greatest(last_event_position, previous_commit_position),
                                        '+end'
                                    )
                        end
                    )
            else coalesce(position_without_end, change_position, last_event_position)
        end as uncounted_position
    from streamed_transaction

)

-- A step adds to what it reads.
select
    followed.*,  -- noqa: AM04
    -- Nothing says that CDL sends transactions in the order of their positions (S22).
    case
        when not followed.is_uncounted then 'counted'
        when followed.connector = 'cdl' and not followed.is_watermark_source then 'none'
        else 'watermark'
    end as proof,
    operator_decision.decision,
    operator_decision.sentence as decision_sentence,
    {{ is_ordered_by_offset('followed', var('watermark_sources')) }}
    and sent.partition_count > 1 as has_several_partitions,
    coalesce(
        followed.first_event_position, followed.following_event_position
    ) as reached_position,
    coalesce(
        case
            when followed.is_uncounted then followed.uncounted_position
            else followed.commit_position
        end,
        case
            when
                operator_decision.decision in ('release', 'discard')
                -- An END without position holds what follows it.
                or (followed.has_end and followed.names_predecessor)
                or followed.following_previous_position
                in ('', followed.previous_commit_position)
                -- It follows what it names, whose position no later commit has.
                then coalesce(
                    followed.uncounted_position,
                    concat(
                        followed.previous_commit_position, '+', followed.last_event_position
                    ),
                    concat(followed.last_event_position, '+')
                )
        end
    ) as known_position
from followed_transaction as followed
left join {{ ref('int_partition_count') }} as sent
    on followed.source = sent.source
left join {{ ref('int_operator_decision') }} as operator_decision
    on
        followed.source = operator_decision.source
        and followed.transaction_id = operator_decision.transaction_id
