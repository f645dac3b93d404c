with

ended_transaction as (

    select
        source,
        transaction_id,
        end_position,
        last_event_position,
        previous_commit_position,
        received_count,
        is_short,
        array_min(transform(end_markers, one -> one.`offset`)) as end_offset,
        array_max(transform(end_markers, one -> one.known_from)) as known_from
    from {{ ref('int_transaction_count') }}
    where connector = 'postgresql' and has_end

),

-- The next one that changes something names where this one ended.
followed_transaction as (

    select
        *,
        lead(
            case
                when received_count > 0 or is_short
                    then array(
                        case when received_count > 0 then previous_commit_position end,
                        {{ offset_position('known_from - 1') }}
                    )
            end
        ) ignore nulls over (
            partition by source
            order by end_offset nulls last
        ) as follower
    from ended_transaction

)

-- Debezium before 2.0 sends an END without position (S2). No END may be missing between the two.
select
    -- identity
    source,
    transaction_id,

    -- position
    follower[0] as commit_position
from followed_transaction
where
    end_position is null
    and follower[0] > last_event_position
    and follower[1] <= {{ offset_position('end_offset') }}
