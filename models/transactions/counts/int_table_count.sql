with

pending_event as (

    select * from {{ ref('stg_change_event') }}
    where
        transaction_id is not null
        and not is_already_published
        and not {{ matches_any('data_collection', var('not_ingested_tables')) }}

),

transaction_end as (

    select * from {{ ref('stg_transaction_marker') }}
    where marker = 'END'

),

table_of_end as (

    select
        source,
        transaction_id,
        explode(collection_counts) as (data_collection, expected_count)
    from transaction_end

),

-- Copies of one END are equal, unless a restart inside the transaction lost its counters.
expected_count as (

    select
        source,
        transaction_id,
        data_collection,
        max(expected_count) as expected_count,
        min(expected_count) as least_expected_count,
        count(*) as end_count
    from table_of_end
    where
        not {{ matches_any('data_collection', var('not_ingested_tables')) }}
        and not {{ matches_any('data_collection', [message_collection()]) }}
    group by source, transaction_id, data_collection

),

transaction_end_count as (

    select
        source,
        transaction_id,
        count(*) as end_count
    from transaction_end
    group by source, transaction_id

),

received_count as (

    select
        source,
        transaction_id,
        data_collection,
        count_if(copy_number = 1) as received_count,
        count(distinct data_collection_order) as order_count,
        min(data_collection_order) as first_order,
        max(data_collection_order) as last_order,
        bool_and(has_content_of_first_copy and has_order_of_first_copy) as has_equal_copies,
        min(previous_commit_position) as previous_commit_position,
        min(event_position) as first_event_position,
        min(event_position) filter (where previous_commit_position is not null)
            as first_naming_event_position,
        max(event_position) filter (where previous_commit_position is null)
            as last_nameless_event_position,
        max(event_position) as last_event_position,
        max(connector) as connector,
        max(log_position) as log_position,
        max(commit_position) as commit_position,
        bool_or(is_whole_transaction) as is_whole_transaction,
        max(committed_at) as committed_at,
        bool_and(total_order is not null) as has_block,
        bool_or(is_window_close) as has_window_close,
        count_if(
            copy_number = 1 and operation = {{ op('delete') }} and new_row_key is not null
        ) as key_leave_count,
        count_if(
            copy_number = 1 and operation = {{ op('create') }} and old_row_key is not null
        ) as key_enter_count
    from pending_event
    group by source, transaction_id, data_collection

)

select
    -- position
    received_count.previous_commit_position,
    received_count.commit_position,
    received_count.log_position,
    received_count.first_event_position,
    received_count.first_naming_event_position,
    received_count.last_nameless_event_position,
    received_count.last_event_position,
    received_count.connector,
    received_count.is_whole_transaction,
    received_count.committed_at,
    received_count.has_block,
    received_count.has_window_close,

    -- identity
    coalesce(expected_count.source, received_count.source) as source,
    coalesce(expected_count.transaction_id, received_count.transaction_id) as transaction_id,
    coalesce(expected_count.data_collection, received_count.data_collection) as data_collection,

    -- counts
    coalesce(
        expected_count.expected_count,
        case when received_count.is_whole_transaction then received_count.received_count end,
        0
    ) as expected_count,
    coalesce(received_count.received_count, 0) as received_count,
    coalesce(received_count.key_leave_count, 0) as key_leave_count,
    coalesce(received_count.key_enter_count, 0) as key_enter_count,

    -- A table that one END counts and another does not has the least count 0.
    case
        when expected_count.end_count = transaction_end_count.end_count
            then expected_count.least_expected_count
        else 0
    end as least_expected_count,

    -- order
    coalesce(
        received_count.order_count = received_count.received_count
        and received_count.first_order = 1
        and received_count.last_order = received_count.received_count,
        expected_count.expected_count = 0
    ) as has_every_order,
    coalesce(received_count.has_equal_copies, true) as has_equal_copies
from expected_count
full join received_count
    on
        expected_count.source = received_count.source
        and expected_count.transaction_id = received_count.transaction_id
        and expected_count.data_collection = received_count.data_collection
left join transaction_end_count
    on
        expected_count.source = transaction_end_count.source
        and expected_count.transaction_id = transaction_end_count.transaction_id
