select
    -- identity
    source,
    transaction_id,

    -- position
    min(previous_commit_position) as previous_commit_position,
    max(commit_position) as commit_position,
    max(log_position) as log_position,
    min(first_event_position) as first_event_position,
    min(first_naming_event_position) as first_naming_event_position,
    max(last_nameless_event_position) as last_nameless_event_position,
    max(last_event_position) as last_event_position,

    -- what it is
    max(connector) as connector,
    max(committed_at) as committed_at,
    bool_or(is_whole_transaction) as is_whole_transaction,
    bool_and(has_block) as has_block,
    bool_or(has_window_close) as has_window_close,

    -- counts
    sum(received_count) as received_count,
    sum(key_leave_count) as key_leave_count,
    sum(key_enter_count) as key_enter_count,
    bool_or(received_count < expected_count) as is_short,
    bool_or(received_count > expected_count) as is_long,
    bool_and(has_every_order) as has_every_order,
    bool_and(has_equal_copies) as has_equal_copies,
    array_sort(collect_list(
        case
            when received_count != expected_count
                then named_struct(
                    'data_collection', data_collection,
                    'expected_count', expected_count,
                    'received_count', received_count
                )
        end
    )) as miscounted_tables
from {{ ref('int_table_count') }}
group by source, transaction_id
