with

judged_transaction as (

    select
        *,
        split_part(log_position, '#', 1) as log,
        split_part(log_position, '#', 2) as log_number,
        -- The next END behind it in the transaction topic.
        lead(case when mark_kind = 'counted' then end_markers[0].`offset` end) ignore nulls over (
            partition by source
            order by position nulls last
        ) as following_end_offset
    from {{ ref('int_judged_transaction') }}

),

uncounted_mark as (

    select
        source,
        position,
        transaction_id,
        proof,
        previous_commit_position as previous_position,
        preceding_event_position as older_position,
        is_key_change_torn as has_torn_key,
        has_window_close as closes_window,
        lacks_window_place,
        is_unanswered,
        committed_at,
        is_group,
        boundary_position as boundary_place,
        has_known_end,
        -- A partition that names a commit is past it.
        coalesce(
            case
                when names_predecessor
                    then coalesce(named_position, {{ epoch_of('last_event_position') }})
                else last_event_position
            end,
            ''
        ) as last_place
    from judged_transaction
    where mark_kind = 'uncounted'

),

-- In MariaDB each statement of DDL has a BEGIN that stays alone, as a TRUNCATE can.
truncate_mark as (

    select
        source,
        position,
        transaction_id,
        following_end_offset,
        has_next_marker,
        received_count > 0 as has_landed,
        coalesce(last_event_position, reached_position) as place,
        case when {{ is_gtid('log_position') }} then log end as log,
        case when {{ is_gtid('log_position') }} then cast(log_number as bigint) end as log_number
    from judged_transaction
    where mark_kind = 'truncate' and position is not null

),

unplaced_mark as (

    select
        source,
        position,
        transaction_id,
        unplaced_reason as reason,
        proof
    from judged_transaction
    where mark_kind = 'unplaced'

)

select
    -- identity
    source,
    'uncounted' as kind,

    -- order
    position,
    transaction_id,

    -- payload
    to_json(
        struct(
            position,
            transaction_id,
            last_place,
            proof,
            previous_position,
            older_position,
            has_torn_key,
            closes_window,
            lacks_window_place,
            is_unanswered,
            committed_at,
            is_group,
            boundary_place,
            has_known_end
        ),
        map('ignoreNullFields', 'false')
    ) as mark
from uncounted_mark
union all
select
    source,
    'truncate' as kind,
    position,
    transaction_id,
    to_json(
        struct(
            position,
            transaction_id,
            place,
            log,
            log_number,
            following_end_offset,
            has_landed,
            has_next_marker
        ),
        map('ignoreNullFields', 'false')
    ) as mark
from truncate_mark
union all
select
    source,
    'unplaced' as kind,
    position,
    transaction_id,
    to_json(
        struct(position, transaction_id, reason, proof), map('ignoreNullFields', 'false')
    ) as mark
from unplaced_mark
