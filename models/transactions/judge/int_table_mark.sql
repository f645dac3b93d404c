with

judged_transaction as (

    select * from {{ ref('int_judged_transaction') }}
    where mark_kind in ('counted', 'unplaced')

),

ordered_transaction as (

    select
        source,
        transaction_id,
        count(distinct total_order) = count(*) as has_one_order
    from {{ ref('stg_change_event') }}
    where transaction_id is not null and copy_number = 1 and not is_already_published
    group by source, transaction_id

),

table_mark as (

    select
        counted.source,
        judged.position,
        counted.transaction_id,
        counted.data_collection,
        counted.expected_count,
        counted.least_expected_count,
        counted.received_count,
        counted.has_equal_copies as copies_agree,
        counted.key_leave_count,
        counted.key_enter_count,
        counted.first_event_position as first_place,
        counted.last_event_position as last_place,
        judged.has_window_close as closes_window,
        judged.lacks_window_place,
        judged.is_unanswered,
        judged.committed_at,
        counted.received_count = 0 or counted.has_every_order as has_every_number,
        coalesce(ordered_transaction.has_one_order, true) as has_one_order,
        -- Behind a restart inside the first transaction of a stream its changes name none.
        case
            when judged.previous_commit_position is not null
                then counted.previous_commit_position
        end as previous_position,
        case
            when {{ is_gtid('counted.log_position') }} then split_part(counted.log_position, '#', 1)
        end as log,
        case
            when {{ is_gtid('counted.log_position') }}
                then cast(split_part(counted.log_position, '#', 2) as bigint)
        end as log_number
    from {{ ref('int_table_count') }} as counted
    inner join judged_transaction as judged
        on
            counted.source = judged.source
            and counted.transaction_id = judged.transaction_id
    left join ordered_transaction
        on
            counted.source = ordered_transaction.source
            and counted.transaction_id = ordered_transaction.transaction_id

)

select
    -- identity
    source,
    'table' as kind,

    -- order
    position,
    transaction_id,

    -- payload
    to_json(
        struct(
            position,
            transaction_id,
            data_collection,
            expected_count,
            least_expected_count,
            received_count,
            has_every_number,
            copies_agree,
            previous_position,
            key_leave_count,
            key_enter_count,
            closes_window,
            lacks_window_place,
            first_place,
            last_place,
            log,
            log_number,
            has_one_order,
            is_unanswered,
            committed_at
        ),
        map('ignoreNullFields', 'false')
    ) as mark
from table_mark
