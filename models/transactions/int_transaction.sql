with

starting_commit as (

    select * from {{ ref('int_starting_commit') }}

),

marked_transaction as (

    select
        source,
        transaction_id,
        max(commit_position) as commit_position,
        min(committed_at) as committed_at,
        min(case when marker = 'END' then `offset` end) as marker_offset,
        bool_or(marker = 'END') as has_end,
        bool_and(
            event_count = coalesce(
                aggregate(map_values(collection_counts), 0L, (total, one) -> total + one), 0L
            )
        ) filter (where marker = 'END') as has_true_sum,
        max(event_count) as event_count
    from {{ ref('stg_transaction_marker') }}
    group by source, transaction_id

),

counted_transaction as (

    select
        source,
        transaction_id,
        min(previous_commit_position) as previous_commit_position,
        sum(received_count) as received_count,
        bool_or(received_count < expected_count) as is_short,
        bool_or(received_count > expected_count) as is_long,
        bool_and(has_every_order) as has_every_order,
        bool_and(has_equal_copies) as has_equal_copies,
        sum(key_leave_count) as key_leave_count,
        sum(key_enter_count) as key_enter_count,
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

known_transaction as (

    select
        marked_transaction.commit_position,
        counted_transaction.previous_commit_position,
        marked_transaction.marker_offset,
        marked_transaction.committed_at,
        marked_transaction.event_count,
        coalesce(marked_transaction.source, counted_transaction.source) as source,
        coalesce(
            marked_transaction.transaction_id, counted_transaction.transaction_id
        ) as transaction_id,
        coalesce(counted_transaction.received_count, 0) as received_count,
        coalesce(counted_transaction.miscounted_tables, array()) as miscounted_tables,
        case
            when not coalesce(marked_transaction.has_end, false) then 'no_end'
            when marked_transaction.commit_position is null then 'no_commit_position'
            when counted_transaction.is_short then 'missing_events'
            when counted_transaction.is_long then 'too_many_events'
            when
                not counted_transaction.has_every_order
                or not counted_transaction.has_equal_copies
                or not ordered_transaction.has_one_order
                or not marked_transaction.has_true_sum
                then 'contradicting_events'
            when counted_transaction.key_leave_count != counted_transaction.key_enter_count
                then 'key_change_torn'
        end as incomplete_reason
    from marked_transaction
    full join counted_transaction
        on
            marked_transaction.source = counted_transaction.source
            and marked_transaction.transaction_id = counted_transaction.transaction_id
    left join ordered_transaction
        on
            counted_transaction.source = ordered_transaction.source
            and counted_transaction.transaction_id = ordered_transaction.transaction_id

)

select
    -- identity
    known.source,
    known.transaction_id,

    -- position
    known.commit_position,
    known.previous_commit_position,
    known.marker_offset,
    known.committed_at,

    -- counts
    known.event_count,
    known.received_count,
    known.miscounted_tables,

    -- proof
    known.incomplete_reason
from known_transaction as known
left join starting_commit
    on known.source = starting_commit.source
-- Only END tells the position, so that BEGIN and the counts of a published transaction go with it.
where coalesce(known.commit_position > starting_commit.commit_position, true)
