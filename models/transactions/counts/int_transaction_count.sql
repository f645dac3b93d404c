with

marker as (

    select
        *,
        max(`offset`) over (
            partition by topic, partition
            order by `offset`
            range between 1 following and 1 following
        ) is not null as has_next_marker
    from {{ ref('stg_transaction_marker') }}

),

marked_transaction as (

    select
        source,
        transaction_id,
        -- The first END, when a restart brought it again.
        min(commit_position) as commit_position,
        max(connector) as connector,
        max(log_position) as log_position,
        min(committed_at) as committed_at,
        bool_or(marker = 'END') as has_end,
        bool_and(
            event_count = coalesce(
                aggregate(map_values(collection_counts), 0L, (total, one) -> total + one), 0L
            )
        ) filter (where marker = 'END') as has_true_sum,
        max(event_count) as event_count,
        min(begin_position) as begin_position,
        min_by(has_next_marker, begin_position) as has_next_marker,
        min(coalesce(begin_position, commit_position)) as first_position,
        max(partition) as last_partition
    from marker
    group by source, transaction_id

),

-- MariaDB's connector sends BEGIN and no END for DDL, TRUNCATE and the halves of an XA transaction.
-- A BEGIN stays alone once another transaction has begun, because its END would stand before that
-- in the one partition. A transaction that a restart sends again had begun before.
lone_transaction as (

    select
        *,
        not has_end
        and max(last_partition) over (partition by source) = 0
        and coalesce(
            begin_position < max(first_position) over (partition by source), false
        ) as is_begin_alone
    from marked_transaction

),

counted_transaction as (

    select
        source,
        transaction_id,
        min(previous_commit_position) as previous_commit_position,
        max(connector) as connector,
        max(log_position) as log_position,
        max(commit_position) as commit_position,
        bool_or(is_whole_transaction) as is_whole_transaction,
        min(first_event_position) as first_event_position,
        min(first_naming_event_position) as first_naming_event_position,
        max(last_nameless_event_position) as last_nameless_event_position,
        sum(received_count) as received_count,
        bool_or(received_count < expected_count) as is_short,
        bool_or(received_count > expected_count) as is_long,
        bool_and(has_every_order) as has_every_order,
        bool_and(has_equal_copies) as has_equal_copies,
        bool_and(has_block) as has_block,
        bool_or(has_window_close) as has_window_close,
        sum(key_leave_count) as key_leave_count,
        sum(key_enter_count) as key_enter_count,
        max(last_event_position) as last_event_position,
        max(committed_at) as committed_at,
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

-- If the transaction topic has several partitions, offsets of END give no order. Numbers of one
-- log do: GTIDs of one server, places in the binary log, commit SCNs.
partitioned_source as (

    select progress.marker_source as source
    from {{ ref('partition_progress') }} as progress
    inner join {{ ref('int_transaction_topic') }} as transaction_topic
        on progress.topic = transaction_topic.topic
    where
        progress.cut_id = {{ candidate('cut_id') }}
        and progress.marker_source is not null
        and transaction_topic.is_leading
    group by progress.marker_source
    having max(progress.partition) > 0

),

numbered_source as (

    select
        numbered.source,
        min(split_part(numbered.log_position, '#', 1))
        = max(split_part(numbered.log_position, '#', 1)) as has_one_log
    from (
        select
            source,
            log_position
        from marked_transaction
        union all
        select
            source,
            log_position
        from counted_transaction
        union all
        select
            source,
            explode(map_keys(log_positions)) as log_position
        from {{ ref('int_starting_commit') }}
    ) as numbered
    left semi join partitioned_source
        on numbered.source = partitioned_source.source
    where numbered.log_position != 'place'
    group by numbered.source

),

partitioned_order as (

    select
        partitioned_source.source,
        coalesce(numbered_source.has_one_log, true) as has_one_log,
        -- Behind all that was published when the topic had one partition.
        concat(
            coalesce(substr(starting_commit.link_position, 1, 20), {{ offset_position(0) }}), '/'
        ) as position_prefix
    from partitioned_source
    left join numbered_source
        on partitioned_source.source = numbered_source.source
    left join {{ ref('int_starting_commit') }} as starting_commit
        on partitioned_source.source = starting_commit.source

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
            partitioned_order.source is null
            and marked_transaction.commit_position is null
            and (marked_transaction.is_begin_alone or counted_transaction.is_whole_transaction)
            then marked_transaction.begin_position
        when partitioned_order.source is null then marked_transaction.commit_position
        when
            marked_transaction.log_position is null
            and not coalesce(
                {{ ordered_by_end(
                    'coalesce(counted_transaction.connector, marked_transaction.connector)'
                ) }},
                false
            )
            then marked_transaction.commit_position
        when partitioned_order.has_one_log and marked_transaction.has_end
            then
                concat(
                    partitioned_order.position_prefix,
                    split_part(
                        coalesce(
                            marked_transaction.log_position, counted_transaction.log_position
                        ),
                        '#',
                        2
                    )
                )
    end as end_position,
    case
        when partitioned_order.has_one_log
            then
                concat(
                    partitioned_order.position_prefix,
                    split_part(
                        coalesce(
                            marked_transaction.log_position, counted_transaction.log_position
                        ),
                        '#',
                        2
                    )
                )
    end as number_position,
    coalesce(not partitioned_order.has_one_log, false) as has_no_order,
    counted_transaction.commit_position as change_position,
    counted_transaction.previous_commit_position,
    counted_transaction.first_event_position,
    counted_transaction.first_naming_event_position,
    counted_transaction.last_nameless_event_position,
    counted_transaction.last_event_position,
    change_group.boundary_position,
    end_marker.end_markers,

    -- counts
    marked_transaction.event_count,

    -- identity
    coalesce(marked_transaction.source, counted_transaction.source) as source,
    coalesce(
        marked_transaction.transaction_id, counted_transaction.transaction_id
    ) as transaction_id,
    coalesce(marked_transaction.log_position, counted_transaction.log_position) as log_position,
    coalesce(marked_transaction.committed_at, counted_transaction.committed_at) as committed_at,
    coalesce(counted_transaction.connector, marked_transaction.connector) as connector,
    coalesce(
        coalesce(counted_transaction.connector, marked_transaction.connector) = 'postgresql', false
    ) as names_predecessor,
    -- Nothing of it has landed: DDL, or a truncate that is still to come.
    coalesce(
        counted_transaction.is_whole_transaction, marked_transaction.is_begin_alone, false
    ) as is_whole_transaction,
    change_group.source is not null as is_group,

    -- what came
    coalesce(counted_transaction.received_count, 0) as received_count,
    coalesce(counted_transaction.miscounted_tables, array()) as miscounted_tables,

    -- proof
    coalesce(marked_transaction.has_end, false)
    or coalesce(
        counted_transaction.is_whole_transaction, marked_transaction.is_begin_alone, false
    ) as has_end,
    coalesce(marked_transaction.has_next_marker, false) as has_next_marker,
    coalesce(counted_transaction.has_block, true) as has_block,
    coalesce(counted_transaction.has_window_close, false) as has_window_close,
    coalesce(counted_transaction.is_short, false) as is_short,
    coalesce(counted_transaction.is_long, false) as is_long,
    coalesce(
        counted_transaction.key_leave_count != counted_transaction.key_enter_count, false
    ) as is_key_change_torn,
    coalesce(
        counted_transaction.has_every_order
        and counted_transaction.has_equal_copies
        and ordered_transaction.has_one_order,
        true
    )
    and coalesce(marked_transaction.has_true_sum, true) as has_one_order
from lone_transaction as marked_transaction
full join counted_transaction
    on
        marked_transaction.source = counted_transaction.source
        and marked_transaction.transaction_id = counted_transaction.transaction_id
left join {{ ref('int_end_marker') }} as end_marker
    on
        marked_transaction.source = end_marker.source
        and marked_transaction.transaction_id = end_marker.transaction_id
left join partitioned_order
    on coalesce(marked_transaction.source, counted_transaction.source) = partitioned_order.source
left join ordered_transaction
    on
        counted_transaction.source = ordered_transaction.source
        and counted_transaction.transaction_id = ordered_transaction.transaction_id
left join change_group
    on
        counted_transaction.source = change_group.source
        and counted_transaction.transaction_id = change_group.group_id
