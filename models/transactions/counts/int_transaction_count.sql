with

ordered_transaction as (

    select
        source,
        transaction_id,
        count(distinct total_order) = count(*) as has_one_order
    from {{ ref('stg_change_event') }}
    where transaction_id is not null and copy_number = 1 and not is_already_published
    group by source, transaction_id

),

change_group as (

    select
        source,
        group_id,
        max(boundary_position) as boundary_position
    from {{ ref('stg_change_group') }}
    group by source, group_id

)

select
    -- position
    case
        when
            numbered.source is null
            and marked.commit_position is null
            and (marked.is_begin_alone or received.is_whole_transaction)
            then marked.begin_position
        when numbered.source is null then marked.commit_position
        when
            marked.log_position is null
            and not coalesce(
                {{ ordered_by_end('coalesce(received.connector, marked.connector)') }}, false
            )
            then marked.commit_position
        when numbered.has_one_log and marked.has_end
            then
                concat(
                    numbered.position_prefix,
                    split_part(coalesce(marked.log_position, received.log_position), '#', 2)
                )
    end as end_position,
    case
        when numbered.has_one_log
            then
                concat(
                    numbered.position_prefix,
                    split_part(coalesce(marked.log_position, received.log_position), '#', 2)
                )
    end as number_position,
    coalesce(not numbered.has_one_log, false) as has_no_order,
    received.commit_position as change_position,
    received.previous_commit_position,
    received.first_event_position,
    received.first_naming_event_position,
    received.last_nameless_event_position,
    received.last_event_position,
    change_group.boundary_position,
    end_marker.end_markers,

    -- counts
    marked.event_count,

    -- identity
    coalesce(marked.source, received.source) as source,
    coalesce(marked.transaction_id, received.transaction_id) as transaction_id,
    coalesce(marked.log_position, received.log_position) as log_position,
    coalesce(marked.committed_at, received.committed_at) as committed_at,
    coalesce(received.connector, marked.connector) as connector,
    coalesce(
        coalesce(received.connector, marked.connector) = 'postgresql', false
    ) as names_predecessor,
    -- A BEGIN alone is of DDL, or of a truncate that is still to come.
    coalesce(received.is_whole_transaction, marked.is_begin_alone, false) as is_whole_transaction,
    change_group.source is not null as is_group,

    -- what came
    coalesce(received.received_count, 0) as received_count,
    coalesce(received.miscounted_tables, array()) as miscounted_tables,

    -- proof
    coalesce(marked.has_end, false)
    or coalesce(received.is_whole_transaction, marked.is_begin_alone, false) as has_end,
    coalesce(marked.has_next_marker, false) as has_next_marker,
    coalesce(received.has_block, true) as has_block,
    coalesce(received.has_window_close, false) as has_window_close,
    coalesce(received.is_short, false) as is_short,
    coalesce(received.is_long, false) as is_long,
    coalesce(received.key_leave_count != received.key_enter_count, false) as is_key_change_torn,
    coalesce(
        received.has_every_order
        and received.has_equal_copies
        and ordered_transaction.has_one_order,
        true
    )
    and coalesce(marked.has_true_sum, true) as has_one_order
from {{ ref('int_marked_transaction') }} as marked
full join {{ ref('int_received_transaction') }} as received
    on
        marked.source = received.source
        and marked.transaction_id = received.transaction_id
left join {{ ref('int_end_marker') }} as end_marker
    on
        marked.source = end_marker.source
        and marked.transaction_id = end_marker.transaction_id
left join {{ ref('int_partitioned_source') }} as numbered
    on coalesce(marked.source, received.source) = numbered.source
left join ordered_transaction
    on
        received.source = ordered_transaction.source
        and received.transaction_id = ordered_transaction.transaction_id
left join change_group
    on
        received.source = change_group.source
        and received.transaction_id = change_group.group_id
